// SPDX-License-Identifier: MIT
// Shared by the culling passes: the flags of each instance.
layout(std430, binding = 1) buffer Flags { uint flags[]; };
layout(std430, binding = 2) buffer Blocks { uint blocks[]; }; // per work group: number of selected instances, then their offset
layout(location = 0) uniform uint count;

const uint WAS_DRAWN = 1u, IS_SEEN = 2u, LARGE = 4u; // WAS_DRAWN: in the first pass of this frame, because visible in the last
