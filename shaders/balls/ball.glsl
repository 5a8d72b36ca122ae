// SPDX-License-Identifier: MIT
// Per-ball constants, and the surface color computed from them.
struct Ball {
    vec4 place; // center in view space, radius
    uint tag;
    float material;
#ifdef ROCK
    vec4 rotation; // of the body
    vec3 offset;   // of the ball in the body
#else
    vec3 base;           // the body's color
    vec3 axis_x, axis_z; // of the body, in view space
#endif
};

Ball ball_of(Instance i) {
    Ball ball;
    vec4 rotation = rotation_now(i);
    ball.place = vec4((frame.view * vec4(ball_center(i), 1.0)).xyz, radius_now(i));
    ball.tag = i.spin.w;
    ball.material = i.offset.w;
#ifdef ROCK
    ball.rotation = rotation;
    ball.offset = i.offset.xyz;
#else
    ball.axis_x = mat3(frame.view) * turn(rotation, vec3(1.0, 0.0, 0.0));
    ball.axis_z = mat3(frame.view) * turn(rotation, vec3(0.0, 0.0, 1.0));
    ball.base = base_color(ball.tag >> 28, ball.tag & 0x0fffffffu, i.velocity.w, i.offset.w);
#endif
    return ball;
}

// At a point in view space, where the radius is this many pixels.
vec3 color_of(Ball ball, vec3 position, float pixels, out uint look) {
    float fine = clamp((pixels - 2.0) / 6.0, 0.0, 1.0);
    vec3 from_middle = position - ball.place.xyz;
#ifdef ROCK
    look = ball.tag >> 28;
    if (look != LOOK_ROCK) return base_color(look, 0u, 0.0, ball.material);
    vec3 local = turn(vec4(-ball.rotation.xyz, ball.rotation.w), to_world(from_middle));
    float size = max(ball.place.w, length(ball.offset) + 0.5 * ball.place.w);
    return rock_color(ball.tag & 0x0fffffffu, ball.material, local + ball.offset, size, fine);
#else
    look = kept_look(ball.tag >> 28);
    vec3 n = from_middle / ball.place.w;
    vec3 base = ball.base;
#ifdef FINE
    base = textured(look, base, vec3(dot(n, ball.axis_x), dot(n, cross(ball.axis_z, ball.axis_x)), dot(n, ball.axis_z)));
#endif
    return marked_color(base, look, dot(n, ball.axis_x), dot(n, ball.axis_z), fine);
#endif
}
