#version 450 core
// SPDX-License-Identifier: MIT
// Convex bodies into the G-buffer; ROCK: stones, FINE: with the patterns of their looks.
#include "common/frame.glsl"
#include "common/noise.glsl"
#include "common/look.glsl"
#include "common/gbuffer.glsl"
in vec3 normal;
in vec3 local; // in units of the extents of the body
flat in vec4 rotation;
flat in vec4 extent; // w: material
flat in float value;
flat in float pixels;
flat in uint tag;

#if defined(FINE) && !defined(DATA)
// Treads around a wheel, and its rim of steel. `n`: normal in the body's frame.
vec3 wheel(vec3 base, inout uint look, inout vec3 n) {
    float off = length(local.xy);
    if (off > 0.97 && abs(n.z) < 0.5) {
        float around = atan(local.y, local.x) * 3.8197186, slant = around + 1.4 * abs(local.z); // 24 in a turn
        float groove = abs(fract(slant) - 0.5);
        n += 0.8 * smoothstep(0.16, 0.22, groove) * smoothstep(0.34, 0.26, groove) * sign(fract(slant) - 0.5) * vec3(-local.y, local.x, 0.0);
        return base * mix(2.1, 0.5, smoothstep(0.20, 0.28, groove));
    }
    if (off < 0.62) {
        look = LOOK_STEEL;
        float arms = abs(fract(atan(local.y, local.x) * 0.9549297) - 0.5), hole = length(vec2(off - 0.42, (arms - 0.0) * 0.9));
        return look_colors[LOOK_STEEL] * (off < 0.20 || hole > 0.13 ? 0.85 : 0.12);
    }
    return base * (off > 0.9 ? 1.6 : 1.15);
}

// Mortar along the edges of a brick, so thick in the length of the body.
float mortar(vec3 at, vec3 size) {
    vec3 from_edge = (1.0 - abs(at)) * size;
    float middle = max(min(from_edge.x, from_edge.y), min(max(from_edge.x, from_edge.y), from_edge.z)); // the nearest but the face's own
    return smoothstep(0.075, 0.035, middle / min(size.x, min(size.y, size.z)));
}
#endif

void main() {
    uint look = kept_look(tag >> 28), body = tag & 0x0fffffffu;
    vec3 n = gl_FrontFacing ? normalize(normal) : to_world(vec3(0.0, 0.0, 1.0)); // cut by the near plane it is solid
#ifdef ROCK
    bool rock = look == LOOK_ROCK;
    float fine = clamp((pixels - 2.0) / 6.0, 0.0, 1.0);
    vec3 color = rock ? rock_color(body, extent.w, local, 1.0, fine) : base_color(look, body, value, extent.w);
#ifdef FINE
    if (rock) {
        // Chips and grains: the surface is rough on two scales.
        vec3 p = local * 4.0 + float(body & 63u);
        vec3 bump = 0.16 * fine * sloped_noise(p).xyz + 0.12 * clamp((pixels - 12.0) / 24.0, 0.0, 1.0) * sloped_noise(p * 3.7).xyz;
        n = normalize(n - turn(rotation, bump));
    } else {
        color = textured(look, color, local);
    }
#endif
#else
    vec3 color = base_color(tag >> 28, body, value, extent.w);
#if defined(FINE) && !defined(DATA)
    vec4 back = vec4(-rotation.xyz, rotation.w);
    vec3 size = extent.xyz / max(extent.x, max(extent.y, extent.z)), in_body = turn(back, n);
    color = textured(look, color, local * size);
    if (look == LOOK_BRICK) {
        color = mix(color, vec3(0.40, 0.38, 0.34) * (0.8 + 0.3 * noise(local * size * 30.0)), mortar(local, extent.xyz));
        n = normalize(n - turn(rotation, 0.10 * sloped_noise(local * size * 16.0).xyz));
    }
    if (look == LOOK_RUBBER && abs(extent.x - extent.y) < 1e-3 * extent.x) {
        color = wheel(color, look, in_body);
        n = normalize(turn(rotation, in_body));
    }
#endif
    // A painted line from the middle outwards shows how it turns.
    float line = local.x > 0.0 ? clamp(0.5 + (0.06 - abs(local.y)) / max(fwidth(local.y), 1e-6), 0.0, 1.0) : 0.0;
    bool marked = look == LOOK_METAL || look == LOOK_SAND;
    if (marked) color *= mix(1.0, look == LOOK_METAL ? 1.8 : 0.5, line);
#endif
    leave(color, look | SOLID, n);
}
