#version 450 core
// SPDX-License-Identifier: MIT
// Small balls without triangles: one thread per ball loops over the pixels that it may cover. The nearest depth is kept by an
// atomic maximum of its bits, which are ordered like the floats since none is negative. A second pass (numbering) over the
// balls that were nearest somewhere writes the index of the ball whose depth a pixel has: the lowest of several, as if they
// had been drawn in order. One program does both passes, since they must agree on depths to the last bit.
#include "common/frame.glsl"
#include "common/instance.glsl"
#include "common/list.glsl"
#include "balls/bound.glsl"
#ifdef LIGHT
#include "balls/disc.glsl"
#else
#include "balls/cast.glsl"
#endif
layout(local_size_x = 256) in;
layout(binding = 0, r32ui) uniform uimage2D depths; // 0: nothing
layout(location = 0) uniform uint count;
layout(location = 1) uniform vec2 size;   // of the target, in pixels
layout(location = 2) uniform float limit; // pixels across from which a ball is left to quads
#ifndef LIGHT
layout(binding = 1, r32ui) uniform uimage2D numbers;
layout(std430, binding = 1) buffer Contenders { uint contenders[]; }; // 0: the ball is nowhere the nearest
layout(location = 3) uniform bool numbering;
#endif

const float SPARE = 0.01; // pixels: bounds are rounded

// 0 outside of the ball.
float depth_at(vec2 pixel, vec4 ball) {
#ifdef LIGHT
    return disc_depth(pixel, size, ball);
#else
    Hit hit = meet(pixel, ball);
    return hides(hit, ball) ? depth_of(hit.position.z) : 0.0;
#endif
}

// Returns whether nothing was nearer.
bool mark(ivec2 at, uint depth, uint there, uint number) {
#ifndef LIGHT
    if (numbering) {
        if (depth == there && number < imageLoad(numbers, at).r) imageAtomicMin(numbers, at, number);
        return true;
    }
#endif
    if (depth > there) imageAtomicMax(depths, at, depth);
    return depth >= there;
}

// Returns whether nothing was nearer somewhere.
bool splat(uint i) {
    Instance ball = instances[i];
    vec2 low, high;
    float near, r = radius_now(ball);
    vec3 c = in_view(ball_center(ball));
    if (r <= 0.0 || !bound(c, r, size, low, high, near) || near <= 0.0 || is_large(low, high, limit)) return false;
    // Pixels whose center is within the bounds, four loads in flight at once: reading first saves most rays and nearly all
    // atomics, but has latency.
    ivec2 from = ivec2(ceil(clamp(low, vec2(0.0), size) - 0.5 - SPARE));
    ivec2 to = ivec2(floor(clamp(high, vec2(0.0), size) - 0.5 + SPARE));
    bool first = false;
    for (int y = from.y; y <= to.y; y++)
        for (int x = from.x; x <= to.x; x += 4) {
            uvec4 there = uvec4(imageLoad(depths, ivec2(x, y)).r, imageLoad(depths, ivec2(x + 1, y)).r,
                                imageLoad(depths, ivec2(x + 2, y)).r, imageLoad(depths, ivec2(x + 3, y)).r);
            for (int k = 0; k < 4; k++) {
                ivec2 at = ivec2(x + k, y);
                if (at.x > to.x || floatBitsToUint(near) < there[k]) continue;
                float depth = depth_at(vec2(at) + 0.5, vec4(c, r));
                if (depth > 0.0 && mark(at, floatBitsToUint(depth), there[k], i)) first = true;
            }
        }
    return first;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
#ifdef LIGHT
    splat(i);
#else
    // One call site, so that both passes run the same code.
    bool first = (!numbering || contenders[i] != 0u) && splat(i);
    if (!numbering) contenders[i] = first ? 1u : 0u;
#endif
}
