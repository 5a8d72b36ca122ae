#version 450 core
// SPDX-License-Identifier: MIT
// Ambient occlusion as a full-screen triangle.
#include "common/frame.glsl"
#include "common/unfold.glsl"
#include "light/ambient.glsl"
layout(location = 0) out float out_open;

void main() { out_open = open_sky(ivec2(gl_FragCoord.xy)); }
