#version 450 core
// SPDX-License-Identifier: MIT
// The ground into the G-buffer.
#include "common/frame.glsl"
#include "common/noise.glsl"
#include "common/look.glsl"
#include "common/gbuffer.glsl"
#ifndef PLAIN
#include "solids/ground.glsl"
#endif
#include "solids/floor.glsl"
layout(depth_less) out float gl_FragDepth;

void main() {
    float depth;
    vec3 color, normal;
    if (!meet_floor(gl_FragCoord.xy, depth, color, normal)) discard;
    gl_FragDepth = depth;
    leave(color, LOOK_FLOOR, normal);
}
