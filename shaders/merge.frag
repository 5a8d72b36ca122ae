#version 450 core
// The depths of the balls that splat.comp drew, among everything else. Where there is none it is 0, and no test lets that
// pass.
layout(binding = 0, r32ui) readonly uniform uimage2D depths;
layout(depth_less) out float gl_FragDepth;

void main() { gl_FragDepth = uintBitsToFloat(imageLoad(depths, ivec2(gl_FragCoord.xy)).r); }
