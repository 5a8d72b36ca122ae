#version 450 core
// SPDX-License-Identifier: MIT
// Occlusion test: a ball is visible if its nearest point is not behind the farthest depth within its bounds. The depth pyramid
// holds in a texel of the lowest level the farthest of 2 x 2 pixels, above it the farthest of four below. Conservative: a
// visible ball is never culled.
#include "common/frame.glsl"
#include "common/instance.glsl"
#include "common/list.glsl"
#include "culling/cull.glsl"
#include "balls/bound.glsl"
layout(local_size_x = 256) in;
layout(binding = 0) uniform sampler2D pyramid;
layout(location = 1) uniform vec2 size;   // of the target, in pixels
layout(location = 2) uniform float limit; // pixels across from which a ball is large

const float MARGIN = 2.0; // pixels: the smooth edge of a ball lies outside of it
const float SPARE = 0.5;  // pixels: rounding may make a ball small here and large in splat.comp, but not that small

bool hidden(vec2 low, vec2 high, float near) {
    low -= MARGIN, high += MARGIN;
    if (any(lessThan(high, vec2(0.0))) || any(greaterThan(low, size))) return true;
    ivec2 from = ivec2(max(low, 0.0)) / 2, to = ivec2(min(high, size - 1.0)) / 2;
    // The level at which at most 2 x 2 texels cover the ball.
    int extent = max(to.x - from.x, to.y - from.y), level = extent > 1 ? findMSB(extent - 1) + 1 : 0;
    from >>= level, to >>= level;
    float farthest = min(min(texelFetch(pyramid, from, level).r, texelFetch(pyramid, to, level).r),
                         min(texelFetch(pyramid, ivec2(from.x, to.y), level).r, texelFetch(pyramid, ivec2(to.x, from.y), level).r));
    return near < farthest;
}

uint flags_of(Instance ball) {
    vec2 low, high;
    float near, r = radius_now(ball);
    if (r <= 0.0) return 0u;
    if (!bound(in_view(ball_center(ball)), r, size, low, high, near)) return IS_SEEN | LARGE;
    return (hidden(low, high, near) ? 0u : IS_SEEN) | (is_large(low, high, limit - SPARE) ? LARGE : 0u);
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    bool was_drawn = (flags[i] & (IS_SEEN | LARGE)) == (IS_SEEN | LARGE);
    flags[i] = flags_of(instances[i]) | (was_drawn ? WAS_DRAWN : 0u);
}
