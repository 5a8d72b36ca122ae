#version 450 core
// SPDX-License-Identifier: MIT
// What is neither a body nor glass: ground, frames, and the scenery of a scene. WOOD, STONE (brick and concrete) and METAL
// (all else) are of the look that is set; without them it is earth, in a set (PLAIN) of
// the color of its ground.
#include "common/frame.glsl"
#include "common/noise.glsl"
#include "common/look.glsl"
#include "common/gbuffer.glsl"
#ifdef FINE
#include "solids/ground.glsl"
#endif
in vec3 position;
in vec3 normal;
in vec3 local;
layout(location = 4) uniform vec4 paint; // color; look

vec3 earth_color(vec3 p, vec3 n) {
    float grain = 0.6 * noise(p * 30.0) + 0.4 * noise(p * 110.0);
    vec3 color = mix(vec3(0.135, 0.098, 0.066), vec3(0.235, 0.178, 0.125), grain);
    // The sides of a block show its layers.
    float side = smoothstep(0.5, 0.2, abs(n.z));
    float layer = noise(vec3(p.xy * 6.0, p.z * 90.0));
    return mix(color, mix(vec3(0.085, 0.058, 0.040), vec3(0.16, 0.112, 0.075), layer), side);
}

void main() {
    vec3 n = normalize(normal), at = local / frame.moment.w;
#if defined(WOOD)
    leave(wood_color(paint.rgb, at), LOOK_WOOD, n);
#elif defined(STONE)
    leave(textured(uint(paint.w), paint.rgb, at * 12.0), uint(paint.w), n);
#elif defined(METAL)
    leave(paint.rgb, uint(paint.w), n);
#elif defined(FINE)
    // In a set it is of the ground, whose bumps tilt its own normal.
    vec3 bump, p = position / frame.moment.w, away = position - frame.eye.xyz;
    if (frame.style.z != 0) {
        float wide = 2.0 * frame.lens.y * frame.size.w * (frame.eye.w > 0.5 ? length(away) : 1.0) / frame.moment.w;
        vec3 color = ground_color(p.xy, wide * inversesqrt(max(abs(dot(n, normalize(away))), 0.05)), bump);
        leave(color, LOOK_EARTH, normalize(n + vec3(bump.xy, 0.0)));
    } else {
        leave(earth_color(p, n), LOOK_EARTH, n);
    }
#elif defined(PLAIN)
    leave(frame.ground.rgb, LOOK_EARTH, n);
#else
    leave(earth_color(position / frame.moment.w, n), LOOK_EARTH, n);
#endif
}
