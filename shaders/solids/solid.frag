#version 450 core
// SPDX-License-Identifier: MIT
// Convex bodies into the G-buffer; ROCK: stones.
#include "common/frame.glsl"
#include "common/look.glsl"
#include "common/gbuffer.glsl"
in vec3 normal;
in vec3 local;
flat in float value;
flat in float pixels;
flat in uint tag;

void main() {
    uint look = kept_look(tag >> 28), body = tag & 0x0fffffffu;
#ifdef ROCK
    vec3 color = look == LOOK_ROCK ? rock_color(body, local, 1.0, clamp((pixels - 2.0) / 6.0, 0.0, 1.0))
                                   : base_color(look, body, value);
#else
    vec3 color = base_color(tag >> 28, body, value);
    // A painted line from the middle outwards shows how it turns.
    float line = local.x > 0.0 ? clamp(0.5 + (0.06 - abs(local.y)) / max(fwidth(local.y), 1e-6), 0.0, 1.0) : 0.0;
    if (look != LOOK_DATA) color *= mix(1.0, look == LOOK_METAL ? 2.2 : 0.5, line);
#endif
    // Cut by the near plane, it is solid: what is seen of its inside is lit like a face towards the eye.
    leave(color, look | SOLID, gl_FrontFacing ? normalize(normal) : to_world(vec3(0.0, 0.0, 1.0)));
}
