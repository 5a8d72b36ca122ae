#version 450 core
// SPDX-License-Identifier: MIT
// Stream compaction: selects the instances with the wanted flags and keeps their order, so that the picture does not depend on
// scheduling. Each work group counts (COUNT), one sums up (SUM), then all write.
#include "common/frame.glsl"
#include "common/instance.glsl"
#include "common/list.glsl"
#include "culling/cull.glsl"
layout(local_size_x = 256) in;
layout(std430, binding = 3) writeonly buffer Kept { Instance kept[]; };
layout(std430, binding = 4) writeonly buffer Command { uint vertices, number, first, base; };
layout(location = 1) uniform uvec2 wanted; // mask of flags, and their required values
shared uint sums[256];

// Exclusive prefix sum over the work group; `total` gets the sum.
uint sum_before(uint own, out uint total) {
    uint t = gl_LocalInvocationID.x;
    sums[t] = own;
    barrier();
    for (uint reach = 1u; reach < 256u; reach *= 2u) {
        uint add = t >= reach ? sums[t - reach] : 0u;
        barrier();
        sums[t] += add;
        barrier();
    }
    total = sums[255];
    uint before = sums[t] - own;
    barrier();
    return before;
}

void main() {
    uint total;
#ifdef SUM
    uint all = 0u, groups = (count + 255u) / 256u;
    for (uint base = 0u; base < groups; base += 256u) {
        uint g = base + gl_LocalInvocationID.x, own = g < groups ? blocks[g] : 0u, before = sum_before(own, total);
        if (g < groups) blocks[g] = all + before;
        all += total;
    }
    if (gl_LocalInvocationID.x == 0u) vertices = 4u, number = all, first = 0u, base = 0u;
#else
    uint i = gl_GlobalInvocationID.x;
    bool keep = i < count && (flags[i] & wanted.x) == wanted.y;
    uint before = sum_before(keep ? 1u : 0u, total);
#ifdef COUNT
    if (gl_LocalInvocationID.x == 0u) blocks[gl_WorkGroupID.x] = total;
#else
    if (keep) kept[blocks[gl_WorkGroupID.x] + before] = instances[i];
#endif
#endif
}
