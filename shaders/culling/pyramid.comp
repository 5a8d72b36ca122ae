#version 450 core
// SPDX-License-Identifier: MIT
// One level of the depth pyramid from the level below. Depth is reversed: the farthest is the minimum, and beyond the edge
// nothing occludes.
layout(local_size_x = 16, local_size_y = 16) in;
layout(binding = 0) uniform sampler2D below;
layout(binding = 0, r32f) writeonly uniform image2D level;
layout(location = 0) uniform int from; // level of the texture below

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy), limit = textureSize(below, from);
    if (any(greaterThanEqual(at, imageSize(level)))) return;
    float farthest = 1.0;
    for (int k = 0; k < 4; k++) {
        ivec2 p = 2 * at + ivec2(k & 1, k >> 1);
        if (all(lessThan(p, limit))) farthest = min(farthest, texelFetch(below, p, from).r);
    }
    imageStore(level, at, vec4(farthest));
}
