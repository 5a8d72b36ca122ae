#version 450 core
// SPDX-License-Identifier: MIT
// The ground into the G-buffer.
#include "common/frame.glsl"
#include "common/look.glsl"
#include "common/gbuffer.glsl"
#include "solids/floor.glsl"
layout(depth_less) out float gl_FragDepth;

void main() {
    float depth;
    vec3 color;
    if (!meet_floor(gl_FragCoord.xy, depth, color)) discard;
    gl_FragDepth = depth;
    leave(color, LOOK_FLOOR, vec3(0.0, 0.0, 1.0));
}
