#version 450 core
// Matte ground.
#include "frame.glsl"
#include "look.glsl"
#include "gbuffer.glsl"
in vec3 position;
in vec3 normal;

void main() {
    vec3 p = position / frame.moment.w;
    float grain = 0.6 * noise(p * 30.0) + 0.4 * noise(p * 110.0);
    vec3 color = mix(vec3(0.135, 0.098, 0.066), vec3(0.235, 0.178, 0.125), grain);
    vec3 n = normalize(normal);
    // The sides of a block show its layers.
    float side = smoothstep(0.5, 0.2, abs(n.z));
    float layer = noise(vec3(p.xy * 6.0, p.z * 90.0));
    color = mix(color, mix(vec3(0.085, 0.058, 0.040), vec3(0.16, 0.112, 0.075), layer), side);
    leave(color, LOOK_EARTH, n);
}
