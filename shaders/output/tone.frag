#version 450 core
// SPDX-License-Identifier: MIT
// Tone map as a full-screen triangle.
#include "common/frame.glsl"
#include "output/tone.glsl"
#include "output/finish.glsl"
layout(location = 0) out vec4 out_color;

void main() { out_color = finished(ivec2(gl_FragCoord.xy)); }
