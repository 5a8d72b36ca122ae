#version 450 core
// SPDX-License-Identifier: MIT
// Ambient occlusion as a compute shader: one thread per ambient texel.
#include "common/frame.glsl"
#include "common/unfold.glsl"
#include "light/ambient.glsl"
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) writeonly uniform image2D open_image;

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (all(lessThan(at, imageSize(open_image)))) imageStore(open_image, at, vec4(open_sky(at)));
}
