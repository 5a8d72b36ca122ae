// SPDX-License-Identifier: MIT
// The ground: an infinite plane, ray-cast. Of a set it has that set's color; else the color is a factor of the backdrop's, with
// a soft grid where the scene wants one. False: the ray misses it. PLAIN: of one color, for low quality.
bool meet_floor(vec2 pixel, out float depth, out vec3 color, out vec3 normal) {
    vec3 start, direction;
    view_ray(pixel, start, direction);
    vec3 from = world_position(start), to = to_world(direction);
    float t = (frame.moment.z - from.z) / to.z;
    depth = 0.0, color = vec3(0.0), normal = vec3(0.0, 0.0, 1.0);
    if (to.z >= 0.0 || t <= 0.0) return false;
    depth = depth_of((start + direction * t).z);
    if (depth <= 0.0 || depth > 1.0) return false;

    color = vec3(1.0);
#ifdef PLAIN
    if (frame.style.z != 0) color = frame.ground.rgb;
#else
    vec2 at = (from + to * t).xy / frame.moment.w;
    float wide = 2.0 * frame.lens.y * frame.size.w * (frame.eye.w > 0.5 ? t : 1.0) / frame.moment.w; // of a pixel
    float slant = max(abs(normalize(to).z), 0.02);
    if (frame.style.z != 0) color = ground_color(at, wide * inversesqrt(slant), normal);
#endif
#ifdef GRID
    // Lines of constant width in pixels, fading where they would alias.
    vec2 p = (from + to * t).xy / frame.moment.w * 5.0;
    float pixel_wide = 2.0 * frame.lens.y * frame.size.w * (frame.eye.w > 0.5 ? t : 1.0) / frame.moment.w * 5.0;
    vec2 line_wide = vec2(pixel_wide) / max(abs(normalize(to).z), 0.02);
    vec2 off = abs(fract(p + 0.5) - 0.5);
    vec2 line = (1.0 - smoothstep(0.5 * line_wide, 1.5 * line_wide, off)) * clamp(0.25 / line_wide - 0.5, 0.0, 1.0);
    if (frame.style.x == 1) color *= 1.0 - 0.10 * max(line.x, line.y);
#endif
    return true;
}
