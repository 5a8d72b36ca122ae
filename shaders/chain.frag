#version 450 core
// Stronger links are wider, more opaque and nearer to white; the middle of a link is its brightest.
in float across;
flat in float strength;
layout(location = 0) out vec4 out_light;
#ifdef DIRECT
#include "tone.glsl"
#else
layout(location = 1) out vec4 out_kind; // data: bypasses the tone map
#endif

void main() {
    float bright = sqrt(1.0 - across * across);
    vec3 color = mix(vec3(0.65, 0.10, 0.02), vec3(1.0, 0.80, 0.45), sqrt(strength));
    float opacity = smoothstep(0.0, 0.35, bright) * (0.12 + 0.88 * strength);
    color *= 0.45 + 0.55 * bright;
#ifdef DIRECT
    out_light = vec4(encode(color), opacity);
#else
    out_light = vec4(color, opacity);
    out_kind = vec4(1.0, 1.0, 0.0, opacity);
#endif
}
