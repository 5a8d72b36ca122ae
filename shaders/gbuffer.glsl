// What the first pass leaves for the light: colour, look and normal.
layout(location = 0) out vec4 out_color;  // square root of the linear colour; look / 8
layout(location = 1) out vec2 out_normal; // octahedral

vec2 fold_normal(vec3 n) {
    n /= abs(n.x) + abs(n.y) + abs(n.z);
    vec2 p = n.xy;
    if (n.z < 0.0) p = (1.0 - abs(n.yx)) * vec2(n.x >= 0.0 ? 1.0 : -1.0, n.y >= 0.0 ? 1.0 : -1.0);
    return 0.5 * p + 0.5;
}

void leave(vec3 color, uint look, vec3 normal) {
    out_color = vec4(sqrt(clamp(color, 0.0, 1.0)), float(look) / 8.0);
    out_normal = fold_normal(normal);
}
