#version 450 core
// SPDX-License-Identifier: MIT
// Depth of a ball in the shadow map.
#include "common/frame.glsl"
#include "balls/disc.glsl"
flat in vec4 ball;
layout(location = 1) uniform vec2 size; // of the shadow map
layout(depth_less) out float gl_FragDepth;

void main() { gl_FragDepth = min(disc_depth(gl_FragCoord.xy, size, ball), gl_FragCoord.z); }
