// SPDX-License-Identifier: MIT
// Lighting: the key light with its shadow, fill, and reflection.
layout(binding = 4) uniform sampler2DShadow shadow_map;

layout(binding = 7) uniform sampler2D shadow_depth; // the same map, read as depths

const float DIFFUSE = 0.70; // share of the key light that a white surface facing it sends to the eye

#ifndef DIRECT
// Radius of a penumbra in texels: it grows with the distance from what casts the shadow (percentage-closer soft shadows),
// which a few taps around the pixel find. `slope`: of `ref` over the map.
float penumbra(vec2 uv, float ref, vec2 slope, vec2 tap, vec2 texel, int taps) {
    const float SOURCE = 0.08, LEAST = 1.5, MOST = 80.0; // half width of the light at distance 1; texels
    float sum = 0.0, found = 0.0;
    for (int i = 0; i < taps; i++) {
        vec2 by = sqrt((float(i) + 0.5) / float(taps)) * 0.6 * MOST * texel * tap;
        float there = textureLod(shadow_depth, uv + by, 0.0).r, over = there - (ref + dot(slope, by));
        float blocks = over > 0.0 ? 1.0 : 0.0;
        sum += blocks * over, found += blocks;
        tap = vec2(-0.7373688 * tap.x - 0.6754904 * tap.y, 0.6754904 * tap.x - 0.7373688 * tap.y);
    }
    return clamp(SOURCE * sum / (max(found, 1.0) * frame.light_scale.z * frame.light_scale.w), LEAST, MOST);
}
#endif

// How the depth of the tangent plane grows over the shadow map. A convex body lies behind that plane, and so does not shade
// itself, however wide the taps. Where the sun grazes the plane its slope has no bound; there it hardly lights anything.
vec2 plane_slope(vec3 normal) {
    vec3 n = mat3(frame.light) * normal / frame.light_scale.xyz; // in the axes of the light
    return -2.0 * n.xy / max(n.z, 0.05) * frame.light_scale.z / frame.light_scale.xy;
}

float sun_light(vec2 pixel, vec3 position, vec3 normal, bool solid) {
    // Offset along the normal by about a texel, against self-shadowing.
    float slope = 1.0 - clamp(dot(normal, frame.sun.xyz), 0.0, 1.0);
    vec3 p = position + normal * frame.light_scale.w * (0.8 + 1.6 * slope);
    vec3 at = (frame.light * vec4(p, 1.0)).xyz;
    vec2 uv = 0.5 * at.xy + 0.5;
    if (any(lessThan(uv, vec2(0.0))) || any(greaterThan(uv, vec2(1.0)))) return 1.0;
    float ref = max(at.z + frame.sun.w, 0.0); // beyond the map's end only what is in it casts a shadow
#ifdef DIRECT
    return texture(shadow_map, vec3(uv, ref));
#else
    int taps = frame.quality.x;
    if (taps <= 1) return texture(shadow_map, vec3(uv, ref));
    // Spiral of taps, rotated per pixel.
    vec2 texel = 1.0 / vec2(textureSize(shadow_map, 0));
    float angle = 6.2831853 * fract(52.9829189 * fract(dot(floor(pixel), vec2(0.06711056, 0.00583715))));
    vec2 tap = vec2(cos(angle), sin(angle));
    float wide = float(frame.mode.z) / 256.0;
    vec2 grow = solid ? plane_slope(normal) : vec2(0.0);
    if (taps > 8) {
        wide = penumbra(uv, ref, grow, tap, texel, taps / 3);
        ref += 0.25 * wide * frame.light_scale.w * frame.light_scale.z;
    }
    vec2 reach = texel * wide;
    float sum = 0.0;
    for (int i = 0; i < taps; i++) {
        vec2 by = sqrt((float(i) + 0.5) / float(taps)) * reach * tap;
        sum += texture(shadow_map, vec3(uv + by, ref + dot(grow, by)));
        tap = vec2(-0.7373688 * tap.x - 0.6754904 * tap.y, 0.6754904 * tap.x - 0.7373688 * tap.y); // by the golden angle
    }
    return sum / float(taps);
#endif
}

// Radiance of a surface towards the eye. `kind`: look, and SOLID; `open`: ambient visibility.
vec3 lit(vec2 pixel, vec3 color, uint kind, vec3 position, vec3 normal, float open) {
    uint look = kind & ~SOLID;
    vec3 to_eye = frame.eye.w > 0.5 ? normalize(frame.eye.xyz - position) : to_world(vec3(0.0, 0.0, 1.0));
    float facing = dot(normal, frame.sun.xyz);
    float sun = facing > 0.0 ? facing * sun_light(pixel, position, normal, (kind & SOLID) != 0u) : 0.0;
    float up = 0.5 + 0.5 * normal.z;
    bool body = look != LOOK_FLOOR && look != LOOK_EARTH && look < LOOK_WOOD || look > LOOK_BRASS;
    if (frame.mode.x != 0 && body) color = 0.35 * mix(color, vec3(dot(color, vec3(0.3333))), 0.4);
    if (look == LOOK_DATA) return color * (0.50 + 0.50 * min(1.0, 1.35 * sun + 0.35 * up)) * mix(0.72, 1.0, open);

    vec3 sky = mix(frame.bounce.rgb, frame.fill.rgb, up);
    // Interreflection tints the light: crevices glow warm rather than gray.
    vec3 ambient = sky * mix(open * (0.35 + 0.65 * color), vec3(open), open);
    vec3 c = color * (frame.key.rgb * (DIFFUSE * sun) + ambient);
    vec3 half_way = normalize(to_eye + frame.sun.xyz);
    bool metal = look == LOOK_METAL || look == LOOK_BRASS, satin = look == LOOK_SAND || look == LOOK_WOOD || look == LOOK_PAINT;
    float shine = metal ? 1.1 : satin ? 0.16 : look == LOOK_FLOOR ? 0.0 : 0.03;
    float mirror = clamp(dot(normal, half_way), 0.0, 1.0);
#ifdef DIRECT
    float m8 = mirror * mirror; // by squaring, which is much cheaper than pow
    m8 *= m8, m8 *= m8;
    float m32 = m8 * m8;
    m32 *= m32;
    c += frame.key.rgb * (sun * shine * (metal ? m32 * m32 * m8 : satin ? m32 : m8));
#else
    // A metal of that color tints what it mirrors, which is most of what is seen of it.
    bool brass = look == LOOK_BRASS;
    vec3 tint = brass ? color : vec3(1.0);
    c *= brass ? 0.35 : 1.0;
    float gloss = metal ? 90.0 : satin ? 34.0 : 12.0;
    c += frame.key.rgb * tint * (sun * shine * pow(mirror, gloss));
    float rim = 1.0 - clamp(dot(normal, to_eye), 0.0, 1.0);
    rim *= rim;
    rim *= rim;
    vec3 away = reflect(-to_eye, normal);
    vec3 mirrored = brass || look == LOOK_WOOD ? studio(away) : backdrop(away);
    float share = brass ? 0.85 : metal ? 0.30 + 0.6 * rim : look == LOOK_WOOD ? 0.035 + 0.4 * rim
                : satin ? 0.10 * rim : look == LOOK_FLOOR ? 0.0 : 0.05 * rim;
    c += mirrored * tint * (open * share);
#endif
    return c;
}
