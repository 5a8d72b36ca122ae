// SPDX-License-Identifier: MIT
// Reads the G-buffer: depth, and the octahedral normal unfolded.
layout(binding = 0) uniform sampler2D depth_map;
layout(binding = 1) uniform sampler2D normal_map;

vec3 unfold_normal(vec2 p) {
    p = 2.0 * p - 1.0;
    vec3 n = vec3(p, 1.0 - abs(p.x) - abs(p.y));
    if (n.z < 0.0) n.xy = (1.0 - abs(n.yx)) * vec2(n.x >= 0.0 ? 1.0 : -1.0, n.y >= 0.0 ? 1.0 : -1.0);
    return normalize(n);
}
