// SPDX-License-Identifier: MIT
// Ray-ball intersection with analytic edge coverage.
struct Hit {
    float coverage; // of the pixel, by its distance to the silhouette
    float pixels;   // the ball's radius in pixels
    vec3 position;  // in the view
    vec3 normal;
};

// `ball`: center in view space, radius.
Hit meet(vec2 at, vec4 ball) {
    vec3 start, direction;
    view_ray(at, start, direction);
    float stretch = length(direction);
    direction /= stretch;
    vec3 c = ball.xyz - start;
    float r = ball.w, along = dot(c, direction);
    vec3 miss = along * direction - c; // from the center to the nearest point of the ray
    float apart = length(miss);

    // Growth of `apart` from one pixel to the next.
    float pixel = 2.0 * frame.lens.y * frame.size.w;
    float growth = frame.eye.w > 0.5 ? along * pixel / stretch * (apart > 1e-6 * r ? length(miss.xy) / apart : 1.0) : pixel;
    growth = max(growth, 1e-12);

    Hit hit;
    hit.pixels = r / growth;
    float shown = max(r, 0.6 * growth); // a ball smaller than a pixel keeps its share of light
    hit.coverage = clamp(0.5 + (shown - apart) / growth, 0.0, 1.0) * (r * r) / (shown * shown);
    float inside = sqrt(max(r * r - apart * apart, 0.0));
    vec3 p = miss - direction * inside;
    hit.position = ball.xyz + p;
    hit.normal = normalize(p);
    // Clipped by the near plane: the ball is solid, and shows its cut. Where the line of sight
    // passes the center before that plane, the outline is that of the cut, a disc.
    if (-hit.position.z < frame.lens.z) {
        hit.position = start + direction * (frame.lens.z / -direction.z);
        vec3 out_by = hit.position - ball.xyz;
        float away = length(out_by), wide = pixel * (frame.eye.w > 0.5 ? frame.lens.z : 1.0);
        if (-(ball.z + miss.z) < frame.lens.z)
            hit.coverage = clamp(0.5 + (r - away) / max(wide * length(out_by.xy) / max(away, 1e-9), 1e-12), 0.0, 1.0);
        hit.normal = vec3(0.0, 0.0, 1.0);
    }
    if (along < 0.0 && dot(c, c) > r * r) hit.coverage = 0.0;
    return hit;
}

// Whether rim.frag draws the edge of a ball: where silhouettes are smoothed, and the ball is large enough to show it.
bool has_rim(vec4 ball) {
    float pixel = 2.0 * frame.lens.y * frame.size.w * (frame.eye.w > 0.5 ? -ball.z : 1.0);
    return frame.mode.w != 0 && ball.w >= frame.shift.z * pixel;
}

// Whether it hides the pixel: by covering it whole, its edge being drawn by rim.frag; or else by covering its middle.
bool hides(Hit hit, vec4 ball) { return hit.coverage >= (has_rim(ball) ? 1.0 : 0.5); }
