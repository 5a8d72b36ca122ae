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

#ifndef DIRECT
// Roughness; whether it is a metal.
const vec2 look_finish[18] = vec2[](vec2(0.42, 0.0), vec2(0.80, 0.0), vec2(0.36, 1.0), vec2(0.03, 1.0), vec2(0.30, 1.0), vec2(0.03, 0.0),
                                    vec2(0.36, 0.0), vec2(0.38, 0.0), vec2(0.20, 1.0), vec2(0.70, 0.0), vec2(0.26, 0.0), vec2(0.85, 0.0),
                                    vec2(0.16, 0.0), vec2(0.24, 0.0), vec2(0.80, 0.0), vec2(1.0, 0.0), vec2(0.5, 0.0), vec2(0.90, 0.0));

// Share of the key light that is mirrored to the eye (Cook and Torrance, with the distribution of Trowbridge and Reitz), and
// of the light from around (the fit of Karis 2014 to the same).
vec3 key_mirrored(vec3 f0, float rough, vec3 n, vec3 to_eye) {
    vec3 h = normalize(to_eye + frame.sun.xyz);
    float a = max(rough * rough, 0.02), nh = clamp(dot(n, h), 0.0, 1.0), nl = clamp(dot(n, frame.sun.xyz), 0.0, 1.0);
    float nv = clamp(dot(n, to_eye), 0.05, 1.0), vh = clamp(dot(to_eye, h), 0.0, 1.0);
    float d = nh * nh * (a * a - 1.0) + 1.0, k = 0.5 * a;
    float shape = a * a / (3.14159 * d * d) / (4.0 * (nl * (1.0 - k) + k) * (nv * (1.0 - k) + k));
    return (f0 + (1.0 - f0) * pow(1.0 - vh, 5.0)) * min(shape, 30.0) * nl;
}

vec3 around_mirrored(vec3 f0, float rough, float nv) {
    vec4 r = rough * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
    float a = min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y;
    vec2 ab = vec2(-1.04, 1.04) * a + r.zw;
    return f0 * ab.x + ab.y;
}

vec3 lit_fine(vec3 color, uint look, float sun, vec3 normal, vec3 to_eye, float open) {
    vec2 finish = look_finish[min(look, 17u)];
#ifndef SET
    if (look == LOOK_FLOOR) return color * (frame.key.rgb * (DIFFUSE * sun) + frame.fill.rgb * open); // of the sweep
#endif
    float rough = look == LOOK_FLOOR ? frame.ground.w : finish.x, metal = finish.y, nv = clamp(dot(normal, to_eye), 0.0, 1.0);
    vec3 f0 = mix(vec3(0.04), color, metal), away = reflect(-to_eye, normal);
    // Interreflection tints the light: crevices glow warm rather than gray.
    vec3 dark = mix(open * (0.35 + 0.65 * color), vec3(open), open);
    vec3 c = color * (1.0 - metal) * (frame.key.rgb * (DIFFUSE * sun) + irradiance(normal) * dark);
    if (look == LOOK_GLASS || look == LOOK_QUARTZ) {
        // Light that has come through: from beyond, bent, and from the side of the sun.
        vec3 through = refract(-to_eye, normal, 0.72);
        float clear = look == LOOK_GLASS ? 0.70 : 0.30;
        c = mix(c, color * (from_around(through, look == LOOK_GLASS ? 0.12 : 0.6) + 0.9 * frame.key.rgb * pow(clamp(dot(through, frame.sun.xyz), 0.0, 1.0), 2.0)) * (0.4 + 0.6 * open), clear);
    }
    float mask = clamp(nv + open, 0.0, 2.0);
    float dimmed = clamp(mask * mask - 1.0 + open, 0.0, 1.0); // occlusion of what is mirrored (Lagarde 2014, simplified)
    if (sun > 0.0) c += 2.2 * frame.key.rgb * key_mirrored(f0, rough, normal, to_eye) * (sun / max(dot(normal, frame.sun.xyz), 1e-3));
    c += from_around(away, rough) * around_mirrored(f0, rough, nv) * dimmed;
    return c;
}
#endif

// Radiance of a surface towards the eye. `kind`: look, and SOLID; `open`: ambient visibility.
vec3 lit(vec2 pixel, vec3 color, uint kind, vec3 position, vec3 normal, float open) {
    uint look = kind & ~SOLID;
    vec3 to_eye = frame.eye.w > 0.5 ? normalize(frame.eye.xyz - position) : to_world(vec3(0.0, 0.0, 1.0));
    float facing = dot(normal, frame.sun.xyz);
    float sun = facing > 0.0 ? facing * sun_light(pixel, position, normal, (kind & SOLID) != 0u) : 0.0;
    float up = 0.5 + 0.5 * normal.z;
    if (frame.mode.x != 0 && look < LOOK_FLOOR || look == LOOK_DATA && frame.mode.x != 0) color = 0.35 * mix(color, vec3(dot(color, vec3(0.3333))), 0.4);
    if (look == LOOK_DATA) return color * (0.50 + 0.50 * min(1.0, 1.35 * sun + 0.35 * up)) * mix(0.72, 1.0, open);
#ifdef DIRECT
    vec3 ambient = mix(frame.bounce.rgb, frame.fill.rgb, up) * mix(open * (0.35 + 0.65 * color), vec3(open), open);
    bool metal = look - LOOK_METAL <= 2u || look == LOOK_BRASS, matte = look >= LOOK_FLOOR || look == LOOK_ROCK;
    // A metal shows what is above and below rather than the light.
    vec3 c = color * (frame.key.rgb * (DIFFUSE * sun) + ambient) * (metal ? 0.25 + 0.6 * up * up : 1.0);
    float mirror = clamp(dot(normal, normalize(to_eye + frame.sun.xyz)), 0.0, 1.0);
    float m8 = mirror * mirror; // by squaring, which is much cheaper than pow
    m8 *= m8, m8 *= m8;
    float m32 = m8 * m8;
    m32 *= m32;
    return c + frame.key.rgb * (sun * (metal ? 1.1 * m32 * m32 * m8 : matte ? 0.03 * m8 : 0.16 * m32));
#else
    return lit_fine(color, look, sun, normal, to_eye, open);
#endif
}
