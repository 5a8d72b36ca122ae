#version 450 core
// Which balls could be seen: those in the view whose nearest point is not behind everything that was drawn where they are.
// What is drawn so far is a pyramid of depths: a texel of the lowest level has the farthest of 2 x 2 pixels, one above it
// the farthest of four below. Nothing that is seen is ever taken for hidden.
#include "frame.glsl"
#include "cull.glsl"
layout(local_size_x = 256) in;
layout(binding = 0) uniform sampler2D pyramid;
layout(location = 1) uniform vec2 size; // of what is drawn, in pixels

const float MARGIN = 2.0; // pixels: the smooth edge of a ball lies outside of it

// Where the ball is along one axis of the picture, in tangents of the angle from the middle; it lies before the eye.
vec2 reach(float across, float away, float r) {
    float along = sqrt(across * across + away * away - r * r);
    return vec2((across * along - away * r) / (away * along + across * r),
                (across * along + away * r) / (away * along - across * r));
}

// Bounds on the target, -1 to 1, and the nearest depth. False: too close to have any.
bool bound(vec3 center, float r, out vec2 low, out vec2 high, out float near) {
#ifdef LIGHT
    vec3 p = (frame.light * vec4(center, 1.0)).xyz;
    low = p.xy - r * frame.light_scale.xy, high = p.xy + r * frame.light_scale.xy;
    near = p.z + r * frame.light_scale.z;
    return true;
#else
    vec3 c = (frame.view * vec4(center, 1.0)).xyz;
    near = depth_of(c.z + r);
    if (frame.eye.w < 0.5) {
        low = (c.xy - r) / frame.lens.xy, high = (c.xy + r) / frame.lens.xy;
        return true;
    }
    if (-c.z - r < 1.001 * frame.lens.z) return false;
    vec2 x = reach(c.x, -c.z, r) / frame.lens.x, y = reach(c.y, -c.z, r) / frame.lens.y;
    low = vec2(x.x, y.x), high = vec2(x.y, y.y);
    return true;
#endif
}

bool seen(Instance ball) {
    vec2 low, high;
    float near, r = ball.center.w;
    if (r <= 0.0) return false;
    vec3 center = ball.center.xyz - frame.moment.x * ball.velocity.xyz +
                  turn(turned_back(ball.rotation, uintBitsToFloat(ball.spin.xyz)), ball.offset.xyz);
    if (!bound(center, r, low, high, near)) return true;
    low = (0.5 * low + 0.5) * size - MARGIN, high = (0.5 * high + 0.5) * size + MARGIN;
    if (any(lessThan(high, vec2(0.0))) || any(greaterThan(low, size))) return false;
    ivec2 from = ivec2(max(low, 0.0)) / 2, to = ivec2(min(high, size - 1.0)) / 2;
    // The level where no more than 2 x 2 texels cover it.
    int extent = max(to.x - from.x, to.y - from.y), level = extent > 1 ? findMSB(extent - 1) + 1 : 0;
    from >>= level, to >>= level;
    float farthest = min(min(texelFetch(pyramid, from, level).r, texelFetch(pyramid, to, level).r),
                         min(texelFetch(pyramid, ivec2(from.x, to.y), level).r, texelFetch(pyramid, ivec2(to.x, from.y), level).r));
    return near >= farthest;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    flags[i] = ((flags[i] & IS_SEEN) != 0u ? WAS_SEEN : 0u) | (seen(instances[i]) ? IS_SEEN : 0u);
}
