#version 450 core
// SPDX-License-Identifier: MIT
// Merges the depths of splatted balls (splat.comp) into the depth buffer. 0 where there is none, which no depth test passes.
layout(binding = 0, r32ui) readonly uniform uimage2D depths;
layout(depth_less) out float gl_FragDepth;

void main() { gl_FragDepth = uintBitsToFloat(imageLoad(depths, ivec2(gl_FragCoord.xy)).r); }
