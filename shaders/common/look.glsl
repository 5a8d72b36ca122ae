// SPDX-License-Identifier: MIT
// Looks: what things are made of. The numbers below 16 are those of SandLook, the others of RenderLook; DATA: a color that
// shows a quantity.
#define LOOK_SAND 0u
#define LOOK_ROCK 1u
#define LOOK_METAL 2u
#define LOOK_CHROME 3u
#define LOOK_STEEL 4u
#define LOOK_GLASS 5u
#define LOOK_GRAPHITE 6u
#define LOOK_WOOD 7u
#define LOOK_BRASS 8u
#define LOOK_RUBBER 9u
#define LOOK_PAINT 10u
#define LOOK_BRICK 11u
#define LOOK_QUARTZ 12u
#define LOOK_BLACK 13u
#define LOOK_CONCRETE 14u
#define LOOK_FLOOR 16u
#define LOOK_EARTH 17u
#define LOOK_DATA 18u
#define SOLID 32u // added to the look of a convex body: no part of it lies in front of the plane of its normal

#ifdef DATA
layout(binding = 3) uniform sampler2D colormap;
#endif
layout(std140, binding = 1) uniform Palette {
    vec4 tint[256]; // colors of the materials; w: 0 where the material has that of its look
} palette;

vec3 sand_color(uint body) {
    float h = hash(body * 2654435761u + 17u), k = hash(body + 9781u);
    vec3 c = mix(vec3(0.60, 0.30, 0.085), vec3(0.76, 0.47, 0.18), h);
    if (k > 0.955) c = vec3(0.12, 0.065, 0.045);
    else if (k > 0.83) c = vec3(0.82, 0.66, 0.42);
    else if (k > 0.70) c = vec3(0.44, 0.15, 0.045);
    return c;
}

uint kept_look(uint look) {
#ifdef DATA
    return LOOK_DATA;
#else
    return look;
#endif
}

#ifndef DATA
const vec3 look_colors[15] = vec3[](vec3(0.0), vec3(0.24, 0.20, 0.16), vec3(0.26, 0.29, 0.33), vec3(0.86, 0.87, 0.89), vec3(0.50, 0.51, 0.52),
                                    vec3(0.50, 0.72, 0.70), vec3(0.055, 0.057, 0.062), vec3(0.36, 0.20, 0.090), vec3(0.78, 0.52, 0.19),
                                    vec3(0.022, 0.022, 0.024), vec3(0.115, 0.135, 0.062), vec3(0.36, 0.095, 0.050),
                                    vec3(0.84, 0.77, 0.66), vec3(0.024, 0.025, 0.028), vec3(0.33, 0.32, 0.30));
// How much bodies of a look differ from each other in brightness.
const float look_spread[15] = float[](0.30, 0.35, 0.0, 0.0, 0.06, 0.15, 0.35, 0.25, 0.0, 0.0, 0.0, 0.40, 0.30, 0.0, 0.15);
#endif

// The base color of a body, without its marks.
vec3 base_color(uint look, uint body, float value, float material) {
#ifdef DATA
    return textureLod(colormap, vec2((0.5 + 255.0 * clamp(value, 0.0, 1.0)) / 256.0, 0.5), 0.0).rgb;
#else
    vec4 tint = palette.tint[uint(material)];
    if (look == LOOK_SAND && tint.w == 0.0) return sand_color(body);
    float h = hash(body * 2654435761u + 17u);
    vec3 c = tint.w > 0.0 ? tint.rgb : look_colors[min(look, 14u)];
    if (look == LOOK_QUARTZ && tint.w == 0.0) c = mix(c, vec3(0.80, 0.52, 0.22), h * h * h);
    return c * (1.0 + look_spread[min(look, 14u)] * (h - 0.5) * 2.0);
#endif
}

// With its marks, at a point given by its direction along the x and z axes of the body: a band and two caps, so that any
// rotation is visible. `fine` goes to 0 where they are smaller than a pixel.
vec3 marked_color(vec3 base, uint look, float x, float z, float fine) {
#ifdef DATA
    return base;
#else
    if (look == LOOK_METAL || look == LOOK_CHROME || look == LOOK_STEEL || look == LOOK_BRASS || look == LOOK_BLACK) {
        float bare = smoothstep(0.0, 0.02, abs(abs(z) - 0.45) - 0.03);
        return base * mix(look == LOOK_BLACK ? 2.5 : 0.35, 1.0, bare);
    }
    float edge = 0.04 + 0.25 * (1.0 - fine);
    float band = 1.0 - smoothstep(0.20 - edge, 0.20 + edge, abs(z));
    float cap = smoothstep(0.80 - edge, 0.80 + edge, abs(x));
    return base * (1.0 - fine * 0.36 * band) * (1.0 + fine * 0.22 * cap);
#endif
}

// A rock at a point of its own frame.
vec3 rock_color(uint body, float material, vec3 local, float size, float fine) {
    float h = hash(body * 747796405u + 3u), k = hash(body + 51u);
    vec3 base = mix(vec3(0.13, 0.12, 0.115), vec3(0.34, 0.27, 0.20), h);
    if (k > 0.8) base = vec3(0.34, 0.18, 0.11);
    else if (k > 0.62) base = vec3(0.46, 0.42, 0.36);
    vec4 tint = palette.tint[uint(material)];
    if (tint.w > 0.0) base = tint.rgb * (0.55 + 0.9 * h) * mix(vec3(1.0), vec3(1.25, 1.0, 0.8), 0.5 * k);
    vec3 p = local / size * 3.0 + float(body & 255u);
    float grain = noise(p) + fine * 0.5 * noise(p * 3.1) + fine * 0.35 * noise(p * 8.3);
    return base * (0.42 + 0.36 * grain);
}

// Turned wood: rings about an axis beside the piece, fibers along it.
vec3 wood_color(vec3 base, vec3 p) {
    float ring = length(p.xy - vec2(0.31, -0.83)) * 38.0 + 2.2 * noise(p * vec3(5.0, 5.0, 1.2));
    float late = fract(ring);
    late = late * late * (1.0 - smoothstep(0.88, 1.0, late));
    float fiber = noise(p * vec3(170.0, 170.0, 6.0)), cloud = noise(p * vec3(3.0, 3.0, 2.0) + 7.0);
    vec3 color = mix(base, base * vec3(0.34, 0.30, 0.33), 0.55 * late + 0.40 * fiber);
    return color * (0.75 + 0.5 * cloud);
}

// The pattern of a look at a point `p` in units of the size of the thing, which has this color.
vec3 textured(uint look, vec3 base, vec3 p) {
    switch (look) {
    case LOOK_WOOD: return wood_color(base, 0.35 * p);
    case LOOK_BRICK: return base * (0.60 + 0.45 * noise(p * 4.0) + 0.35 * noise(p * 23.0));
    case LOOK_CONCRETE: {
        float pore = smoothstep(0.80, 0.88, noise(p * 17.0 + 5.0));
        return base * (0.72 + 0.35 * noise(p * 2.5) + 0.2 * noise(p * 9.0)) * (1.0 - 0.45 * pore);
    }
    case LOOK_STEEL: return base * (0.86 + 0.28 * noise(p * vec3(4.0, 4.0, 90.0)));
    case LOOK_PAINT: return base * (0.92 + 0.16 * noise(p * 3.0));
    default: return base;
    }
}
