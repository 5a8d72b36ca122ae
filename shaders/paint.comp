#version 450 core
// The colours, looks and normals of the balls that splat.comp drew, by their numbers: where they are before everything else
// that is drawn so far.
#define COMPUTE
#include "frame.glsl"
#include "instance.glsl"
#include "list.glsl"
#include "look.glsl"
#include "gbuffer.glsl"
#include "cast.glsl"
#include "ball.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
layout(binding = 0, r32ui) readonly uniform uimage2D depths;
layout(binding = 1, r32ui) readonly uniform uimage2D numbers;
layout(binding = 2, rgba8) writeonly uniform image2D colors;
layout(binding = 3, rg16) writeonly uniform image2D normals;
layout(binding = 0) uniform sampler2D depth_map;
const uint NOBODY = 0xffffffffu;

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, imageSize(depths)))) return;
    uint number = imageLoad(numbers, at).r;
    if (number == NOBODY || uintBitsToFloat(imageLoad(depths, at).r) <= texelFetch(depth_map, at, 0).r) return;
    Ball ball = ball_of(instances[number]);
    Hit hit = meet(vec2(at) + 0.5, ball.place);
    uint look;
    vec3 color = color_of(ball, hit.position, hit.pixels, look);
    imageStore(colors, at, fold_color(color, look));
    imageStore(normals, at, vec4(fold_normal(to_world(hit.normal)), 0.0, 0.0));
}
