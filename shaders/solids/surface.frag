#version 450 core
// SPDX-License-Identifier: MIT
// Matte ground; or WOOD or BRASS, of which frames are made.
#include "common/frame.glsl"
#include "common/look.glsl"
#include "common/gbuffer.glsl"
in vec3 position;
in vec3 normal;
in vec3 local;

// Turned walnut: rings about an axis beside the piece, fibers along it.
vec3 wood_color(vec3 p) {
    float ring = length(p.xy - vec2(0.31, -0.83)) * 38.0 + 2.2 * noise(p * vec3(5.0, 5.0, 1.2));
    float late = fract(ring);
    late = late * late * (1.0 - smoothstep(0.88, 1.0, late));
    float fiber = noise(p * vec3(170.0, 170.0, 6.0)), cloud = noise(p * vec3(3.0, 3.0, 2.0) + 7.0);
    vec3 color = mix(vec3(0.175, 0.080, 0.036), vec3(0.060, 0.024, 0.012), 0.55 * late + 0.40 * fiber);
    return color * (0.75 + 0.5 * cloud);
}

vec3 earth_color(vec3 p, vec3 n) {
    float grain = 0.6 * noise(p * 30.0) + 0.4 * noise(p * 110.0);
    vec3 color = mix(vec3(0.135, 0.098, 0.066), vec3(0.235, 0.178, 0.125), grain);
    // The sides of a block show its layers.
    float side = smoothstep(0.5, 0.2, abs(n.z));
    float layer = noise(vec3(p.xy * 6.0, p.z * 90.0));
    return mix(color, mix(vec3(0.085, 0.058, 0.040), vec3(0.16, 0.112, 0.075), layer), side);
}

void main() {
    vec3 n = normalize(normal);
#if defined(WOOD)
    leave(wood_color(local / frame.moment.w), LOOK_WOOD, n);
#elif defined(BRASS)
    leave(vec3(0.72, 0.47, 0.17), LOOK_BRASS, n);
#else
    leave(earth_color(position / frame.moment.w, n), LOOK_EARTH, n);
#endif
}
