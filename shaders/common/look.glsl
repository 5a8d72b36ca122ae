// SPDX-License-Identifier: MIT
// Looks: the material of a thing. The numbers are those of RenderLook; DATA: a color that shows a quantity.
#define LOOK_SAND 0u
#define LOOK_ROCK 1u
#define LOOK_METAL 2u
#define LOOK_FLOOR 3u
#define LOOK_EARTH 4u
#define LOOK_DATA 6u
#define LOOK_WOOD 7u
#define LOOK_BRASS 8u
#define LOOK_RUBBER 9u
#define LOOK_PAINT 10u
#define SOLID 16u // added to the look of a convex body: no part of it lies in front of the plane of its normal

#ifdef DATA
layout(binding = 3) uniform sampler2D colormap;
#endif

float noise(vec3 p) {
    vec3 i = floor(p), f = p - i;
    f = f * f * (3.0 - 2.0 * f);
    uvec3 u = uvec3(ivec3(i) + 4096);
    uint a = u.x * 73856093u, b = u.y * 19349663u, c = u.z * 83492791u;
    uint a1 = a + 73856093u, b1 = b + 19349663u, c1 = c + 83492791u;
    vec4 low = vec4(hash(a ^ b ^ c), hash(a1 ^ b ^ c), hash(a ^ b1 ^ c), hash(a1 ^ b1 ^ c));
    vec4 high = vec4(hash(a ^ b ^ c1), hash(a1 ^ b ^ c1), hash(a ^ b1 ^ c1), hash(a1 ^ b1 ^ c1));
    vec4 at = mix(low, high, f.z);
    return mix(mix(at.x, at.y, f.x), mix(at.z, at.w, f.x), f.y);
}

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

// The base color of a body, without its marks.
vec3 base_color(uint look, uint body, float value) {
#ifdef DATA
    return textureLod(colormap, vec2((0.5 + 255.0 * clamp(value, 0.0, 1.0)) / 256.0, 0.5), 0.0).rgb;
#else
    return look == LOOK_METAL  ? vec3(0.075, 0.10, 0.125)
         : look == LOOK_BRASS  ? vec3(0.60, 0.42, 0.16)
         : look == LOOK_RUBBER ? vec3(0.022, 0.022, 0.024)
         : look == LOOK_PAINT  ? vec3(0.115, 0.135, 0.062)
                               : sand_color(body);
#endif
}

// With its marks, at a point given by its direction along the x and z axes of the body: a band and two caps, so that any
// rotation is visible. `fine` goes to 0 where they are smaller than a pixel.
vec3 marked_color(vec3 base, uint look, float x, float z, float fine) {
#ifdef DATA
    return base;
#else
    if (look == LOOK_METAL) {
        float bare = smoothstep(0.0, 0.02, abs(abs(z) - 0.45) - 0.05);
        return mix(vec3(0.03, 0.05, 0.07), base, bare);
    }
    float edge = 0.04 + 0.25 * (1.0 - fine);
    float band = 1.0 - smoothstep(0.20 - edge, 0.20 + edge, abs(z));
    float cap = smoothstep(0.80 - edge, 0.80 + edge, abs(x));
    return base * (1.0 - fine * 0.36 * band) * (1.0 + fine * 0.22 * cap);
#endif
}

// A rock at a point of its own frame.
vec3 rock_color(uint body, vec3 local, float size, float fine) {
    float h = hash(body * 747796405u + 3u), k = hash(body + 51u);
    vec3 base = mix(vec3(0.13, 0.12, 0.115), vec3(0.34, 0.27, 0.20), h);
    if (k > 0.8) base = vec3(0.34, 0.18, 0.11);
    else if (k > 0.62) base = vec3(0.46, 0.42, 0.36);
    vec3 p = local / size * 3.0 + float(body & 255u);
    float grain = noise(p) + fine * 0.5 * noise(p * 3.1) + fine * 0.35 * noise(p * 8.3);
    return base * (0.42 + 0.36 * grain);
}
