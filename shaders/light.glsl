// Lighting: sun with shadow, sky, and reflection.
layout(binding = 4) uniform sampler2DShadow shadow_map;

const vec3 SUN = vec3(3.0, 2.62, 2.15);
const vec3 SKY_LIGHT = vec3(0.36, 0.43, 0.55);
const vec3 GROUND_LIGHT = vec3(0.20, 0.165, 0.13);

float sun_light(vec2 pixel, vec3 position, vec3 normal) {
    // Offset along the normal by about a texel, against self-shadowing.
    float slope = 1.0 - clamp(dot(normal, frame.sun.xyz), 0.0, 1.0);
    vec3 p = position + normal * frame.light_scale.w * (0.8 + 1.6 * slope);
    vec3 at = (frame.light * vec4(p, 1.0)).xyz;
    vec2 uv = 0.5 * at.xy + 0.5;
    if (any(lessThan(uv, vec2(0.0))) || any(greaterThan(uv, vec2(1.0)))) return 1.0;
    float ref = max(at.z + frame.sun.w, 0.0); // beyond the map's end only what is in it casts a shadow
    int taps = frame.quality.x;
    if (taps <= 1) return texture(shadow_map, vec3(uv, ref));
    // Spiral of taps, rotated per pixel.
    vec2 texel = 1.0 / vec2(textureSize(shadow_map, 0));
    float angle = 6.2831853 * fract(52.9829189 * fract(dot(floor(pixel), vec2(0.06711056, 0.00583715))));
    float sum = 0.0;
    for (int i = 0; i < taps; i++) {
        float r = sqrt((float(i) + 0.5) / float(taps)) * float(frame.mode.z)/256.0, a = angle + float(i) * 2.3999632;
        sum += texture(shadow_map, vec3(uv + r * texel * vec2(cos(a), sin(a)), ref));
    }
    return sum / float(taps);
}

// Radiance of a surface towards the eye. `open`: ambient visibility.
vec3 lit(vec2 pixel, vec3 color, uint look, vec3 position, vec3 normal, float open) {
    vec3 to_eye = frame.eye.w > 0.5 ? normalize(frame.eye.xyz - position) : to_world(vec3(0.0, 0.0, 1.0));
    float facing = dot(normal, frame.sun.xyz);
    float sun = facing > 0.0 ? facing * sun_light(pixel, position, normal) : 0.0;
    float up = 0.5 + 0.5 * normal.z;
    if (frame.mode.x != 0 && look != LOOK_FLOOR && look != LOOK_EARTH) color = 0.35 * mix(color, vec3(dot(color, vec3(0.3333))), 0.4);
    if (look == LOOK_DATA) return color * (0.50 + 0.50 * min(1.0, 1.35 * sun + 0.35 * up)) * mix(0.72, 1.0, open);

    vec3 sky = mix(GROUND_LIGHT, SKY_LIGHT, up);
    // Interreflection tints the light: crevices glow warm rather than gray.
    vec3 ambient = sky * mix(open * (0.35 + 0.65 * color), vec3(open), open);
    vec3 c = color * (SUN * sun * 0.3183 * 2.2 + ambient);
    vec3 half_way = normalize(to_eye + frame.sun.xyz);
    float shine = look == LOOK_METAL ? 1.1 : look == LOOK_SAND ? 0.16 : 0.03;
    float mirror = clamp(dot(normal, half_way), 0.0, 1.0);
#ifdef DIRECT
    float m8 = mirror * mirror; // by squaring, which is much cheaper than pow
    m8 *= m8, m8 *= m8;
    float m32 = m8 * m8;
    m32 *= m32;
    c += SUN * (sun * shine * (look == LOOK_METAL ? m32 * m32 * m8 : look == LOOK_SAND ? m32 : m8));
#else
    float gloss = look == LOOK_METAL ? 90.0 : look == LOOK_SAND ? 34.0 : 12.0;
    c += SUN * sun * shine * pow(mirror, gloss);
    float rim = 1.0 - clamp(dot(normal, to_eye), 0.0, 1.0);
    rim *= rim;
    rim *= rim;
    vec3 mirrored = backdrop(reflect(-to_eye, normal));
    c += mirrored * open * (look == LOOK_METAL ? 0.30 + 0.6 * rim : look == LOOK_SAND ? 0.10 * rim : 0.05 * rim);
#endif
    return c;
}
