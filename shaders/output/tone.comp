#version 450 core
// SPDX-License-Identifier: MIT
// Tone map as a compute shader: one thread per pixel of the picture.
#include "common/frame.glsl"
#include "output/tone.glsl"
#include "output/finish.glsl"
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) writeonly uniform image2D color_image;

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (all(lessThan(at, imageSize(color_image)))) imageStore(color_image, at, finished(at));
}
