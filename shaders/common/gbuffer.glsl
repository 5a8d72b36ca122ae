// SPDX-License-Identifier: MIT
// G-buffer encoding: square root of the linear color, look / 63; octahedral normal.
#ifndef COMPUTE
layout(location = 0) out vec4 out_color;
layout(location = 1) out vec2 out_normal;
#endif

vec4 fold_color(vec3 color, uint look) { return vec4(sqrt(clamp(color, 0.0, 1.0)), float(look) / 63.0); }

vec2 fold_normal(vec3 n) {
    n /= abs(n.x) + abs(n.y) + abs(n.z);
    vec2 p = n.xy;
    if (n.z < 0.0) p = (1.0 - abs(n.yx)) * vec2(n.x >= 0.0 ? 1.0 : -1.0, n.y >= 0.0 ? 1.0 : -1.0);
    return 0.5 * p + 0.5;
}

#ifndef COMPUTE
void leave(vec3 color, uint look, vec3 normal) {
    out_color = fold_color(color, look);
    out_normal = fold_normal(normal);
}
#endif
