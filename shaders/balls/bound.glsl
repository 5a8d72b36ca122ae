// SPDX-License-Identifier: MIT
// Screen-space bounds of a ball, in the view of the camera or of the sun (LIGHT).

// Along one axis of the picture, as tangents of the angle from the middle; the ball is in front of the eye.
vec2 reach(float across, float away, float r) {
    float along = sqrt(across * across + away * away - r * r);
    return vec2((across * along - away * r) / (away * along + across * r),
                (across * along + away * r) / (away * along - across * r));
}

vec3 in_view(vec3 center) {
#ifdef LIGHT
    return (frame.light * vec4(center, 1.0)).xyz;
#else
    return (frame.view * vec4(center, 1.0)).xyz;
#endif
}

// Bounds in pixels of a target of this size, and the nearest depth, with a margin for rounding. False: too close for bounds.
bool bound(vec3 c, float r, vec2 size, out vec2 low, out vec2 high, out float near) {
#ifdef LIGHT
    low = c.xy - r * frame.light_scale.xy, high = c.xy + r * frame.light_scale.xy;
    near = c.z + r * frame.light_scale.z + 1e-6;
#else
    near = depth_of(c.z * (1.0 - 2e-6) + r);
    if (frame.eye.w < 0.5) {
        low = (c.xy - r - frame.shift.xy) / frame.lens.xy, high = (c.xy + r - frame.shift.xy) / frame.lens.xy;
    } else {
        if (-c.z - r < 1.001 * frame.lens.z) return false;
        vec2 x = (reach(c.x, -c.z, r) - frame.shift.x) / frame.lens.x;
        vec2 y = (reach(c.y, -c.z, r) - frame.shift.y) / frame.lens.y;
        low = vec2(x.x, y.x), high = vec2(x.y, y.y);
    }
#endif
    low = (0.5 * low + 0.5) * size, high = (0.5 * high + 0.5) * size;
    return true;
}

bool is_large(vec2 low, vec2 high, float limit) { return max(high.x - low.x, high.y - low.y) >= limit; }
