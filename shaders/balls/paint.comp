#version 450 core
// SPDX-License-Identifier: MIT
// Color, look and normal of splatted balls (splat.comp), by their indices, and of the ground, whose depth is merged here:
// where they are in front of everything drawn so far.
#define COMPUTE
#define GRID
#include "common/frame.glsl"
#include "common/instance.glsl"
#include "common/list.glsl"
#include "common/noise.glsl"
#include "common/look.glsl"
#include "common/gbuffer.glsl"
#include "balls/cast.glsl"
#include "balls/ball.glsl"
#include "solids/ground.glsl"
#include "solids/floor.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
layout(binding = 0, r32ui) uniform uimage2D depths;
layout(binding = 1, r32ui) readonly uniform uimage2D numbers;
layout(binding = 2, rgba8) writeonly uniform image2D colors;
layout(binding = 3, rg16) writeonly uniform image2D normals;
layout(binding = 0) uniform sampler2D depth_map;
const uint NOBODY = 0xffffffffu;

void leave(ivec2 at, vec3 color, uint look, vec3 normal) {
    imageStore(colors, at, fold_color(color, look));
    imageStore(normals, at, vec4(fold_normal(normal), 0.0, 0.0));
}

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, imageSize(depths)))) return;
    vec2 pixel = vec2(at) + 0.5;
    float depth = uintBitsToFloat(imageLoad(depths, at).r), drawn = texelFetch(depth_map, at, 0).r, ground;
    uint look, number = imageLoad(numbers, at).r;
    vec3 color, normal;
    bool clear = frame.mode.y != 0 || frame.style.x == 2;
    if (!clear && meet_floor(pixel, ground, color, normal) && ground > max(depth, drawn)) {
        imageStore(depths, at, uvec4(floatBitsToUint(ground)));
        leave(at, color, LOOK_FLOOR, normal);
    } else if (number != NOBODY && depth > drawn) {
        Ball ball = ball_of(instances[number]);
        Hit hit = meet(pixel, ball.place);
        color = color_of(ball, hit.position, hit.pixels, look);
        leave(at, color, look, to_world(hit.normal));
    }
}
