// SPDX-License-Identifier: MIT
// Screen-space ambient occlusion: how much of the sky neighboring pixels hide, by their height above the tangent plane.
float open_sky(ivec2 texel) {
    int scale = frame.quality.w;
    ivec2 limit = ivec2(frame.size.xy) - 1;
    ivec2 at = min(texel * scale + scale / 2, limit);
    float depth = texelFetch(depth_map, at, 0).r;
    if (depth <= 0.0) return 1.0;
    vec3 p = view_position(vec2(at) + 0.5, depth);
    vec3 n = mat3(frame.view) * unfold_normal(texelFetch(normal_map, at, 0).rg);

    float radius = frame.moment.y;
    float pixel = 2.0 * frame.lens.y * frame.size.w * (frame.eye.w > 0.5 ? -p.z : 1.0);
    float reach = min(radius / pixel, 0.12 * frame.size.y);
    if (reach < 1.0) return 1.0;
    radius = reach * pixel;
    int side = max(frame.quality.z, 2);
    ivec2 cell = texel & (side - 1);
    float jitter = (float(cell.x ^ cell.y) * float(side) + float(cell.y)) / float(side * side);
    int count = frame.quality.y;
    float sum = 0.0;
    for (int i = 0; i < count; i++) {
        float r = (float(i) + 0.3 + 0.7 * jitter) / float(count), a = 6.2831853 * (jitter + float(i) * 0.6180340 * 1.0);
        ivec2 s = clamp(at + ivec2(round(reach * r * vec2(cos(a), sin(a)))), ivec2(0), limit);
        float d = texelFetch(depth_map, s, 0).r;
        if (d <= 0.0) continue;
        vec3 v = view_position(vec2(s) + 0.5, d) - p;
        float vv = dot(v, v), fall = max(1.0 - vv / (radius * radius), 0.0);
        sum += fall * max(dot(v, n) - 0.02 * radius, 0.0) * inversesqrt(vv + 1e-4 * radius * radius);
    }
    return clamp(1.0 - 3.3 * sum / float(count), 0.0, 1.0);
}
