// The line of sight against the ball.
flat in vec4 ball;
flat in uint tag;
#ifdef ROCK
flat in vec4 rotation;
flat in vec3 offset;
#else
flat in vec3 base;
flat in vec3 axis_x, axis_z;
#endif

struct Hit {
    float coverage; // of the pixel, from its distance to the silhouette
    float pixels;   // the ball's radius in pixels
    vec3 position;  // in the view
    vec3 normal;
};

Hit meet() {
    vec3 start, way;
    view_ray(gl_FragCoord.xy, start, way);
    float stretch = length(way);
    way /= stretch;
    vec3 c = ball.xyz - start;
    float r = ball.w, along = dot(c, way);
    vec3 miss = along * way - c; // from the centre to the nearest point of the ray
    float apart = length(miss);

    // How fast `apart` grows from one pixel to the next.
    float pixel = 2.0 * frame.lens.y * frame.size.w;
    float growth = frame.eye.w > 0.5 ? along * pixel / stretch * (apart > 1e-6 * r ? length(miss.xy) / apart : 1.0) : pixel;
    growth = max(growth, 1e-12);

    Hit hit;
    hit.pixels = r / growth;
    float shown = max(r, 0.6 * growth); // a ball smaller than a pixel keeps its share of light
    hit.coverage = clamp(0.5 + (shown - apart) / growth, 0.0, 1.0) * (r * r) / (shown * shown);
    float inside = sqrt(max(r * r - apart * apart, 0.0));
    vec3 p = miss - way * inside;
    hit.position = ball.xyz + p;
    hit.normal = normalize(p);
    // Cut by the near plane: the ball is solid, and shows its cut. Where the line of sight
    // passes the centre before that plane, the outline is that of the cut, a disc.
    if (-hit.position.z < frame.lens.z) {
        hit.position = start + way * (frame.lens.z / -way.z);
        vec3 out_by = hit.position - ball.xyz;
        float away = length(out_by), wide = pixel * (frame.eye.w > 0.5 ? frame.lens.z : 1.0);
        if (-(ball.z + miss.z) < frame.lens.z)
            hit.coverage = clamp(0.5 + (r - away) / max(wide * length(out_by.xy) / max(away, 1e-9), 1e-12), 0.0, 1.0);
        hit.normal = vec3(0.0, 0.0, 1.0);
    }
    if (along < 0.0 && dot(c, c) > r * r) hit.coverage = 0.0;
    return hit;
}

vec3 color_of(Hit hit, out uint look) {
    float fine = clamp((hit.pixels - 2.0) / 6.0, 0.0, 1.0);
    vec3 from_middle = hit.position - ball.xyz;
#ifdef ROCK
    look = LOOK_ROCK;
    vec3 local = turn(vec4(-rotation.xyz, rotation.w), to_world(from_middle));
    return rock_color(tag & 0x0fffffffu, local + offset, max(ball.w, length(offset) + 0.5 * ball.w), fine);
#else
    look = kept_look(tag >> 28);
    vec3 n = from_middle / ball.w;
    return marked_color(base, look, dot(n, axis_x), dot(n, axis_z), fine);
#endif
}
