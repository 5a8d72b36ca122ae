#version 450 core
// The balls that splat.comp drew, among everything else: by the depth that it left, and the number of the ball.
#include "frame.glsl"
#include "instance.glsl"
#include "list.glsl"
#include "look.glsl"
#include "gbuffer.glsl"
#include "cast.glsl"
#include "ball.glsl"
layout(binding = 0, r32ui) readonly uniform uimage2D depths;
layout(binding = 1, r32ui) readonly uniform uimage2D numbers;
const uint NOBODY = 0xffffffffu;
layout(depth_less) out float gl_FragDepth;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    uint number = imageLoad(numbers, at).r;
    if (number == NOBODY) discard;
    gl_FragDepth = uintBitsToFloat(imageLoad(depths, at).r);
    Ball ball = ball_of(instances[number]);
    Hit hit = meet(gl_FragCoord.xy, ball.place);
    uint look;
    vec3 color = color_of(ball, hit.position, hit.pixels, look);
    leave(color, look, to_world(hit.normal));
}
