#version 450 core
// SPDX-License-Identifier: MIT
// Glass, order-independent: sums highlights and path length over all layers. The last pass attenuates what is behind by the
// path, then adds the highlights. DIRECT, for low quality: each layer is blended over the screen by itself.
#include "common/frame.glsl"
#include "light/sky.glsl"
#ifndef DIRECT
#include "light/environment.glsl"
#endif
#ifdef DIRECT
#include "output/tone.glsl"
#endif
in vec3 position;
in vec3 normal;
in float round;
#ifdef DIRECT
layout(location = 0, index = 0) out vec4 out_shine;
layout(location = 0, index = 1) out vec4 out_left; // transmittance of what is behind
#else
layout(location = 0) out vec4 out_glass; // highlights; path
#endif
layout(location = 3) uniform bool marks;

void main() {
    vec3 to_eye = frame.eye.w > 0.5 ? normalize(frame.eye.xyz - position) : to_world(vec3(0.0, 0.0, 1.0));
    vec3 n = normalize(normal);
    if (dot(n, to_eye) < 0.0) n = -n;
    float facing = clamp(dot(n, to_eye), 0.0, 1.0);
    float away = 1.0 - facing, away2 = away * away;
    float mirror = 0.035 + 0.965 * away2 * away2 * away;
    vec3 direction = reflect(-to_eye, n);
#ifdef DIRECT
    vec3 c = 0.45 * mirror * studio(direction);
#else
    vec3 c = 0.75 * mirror * from_around(direction, 0.05);
    float glint = pow(clamp(dot(direction, frame.sun.xyz), 0.0, 1.0), 400.0);
    c += 1.6 * glint * mirror * vec3(10.0);
#endif
    float path = 1.0 / max(facing, 0.12);
    if (marks) path += 6.0 * (1.0 - smoothstep(0.03, 0.04, abs(fract(round * 12.0) - 0.5)));
    // Colors that show data must not be washed out.
    c *= frame.style.y != 0 ? 0.25 : 1.0;
    path *= frame.style.y != 0 ? 0.4 : 1.0;
    // Panes are faint, their edges are not.
    vec4 glass = round < -1.5 ? vec4(c + vec3(0.05, 0.075, 0.08), path + 3.0) : (round < 0.0 ? 0.6 : 1.0) * vec4(c, path);
#ifdef DIRECT
    // Behind the tone map and the encoding, light counts about half in the bright and a tint about half in its exponent.
    out_shine = vec4(0.55 * glass.rgb, max(glass.r, max(glass.g, glass.b)));
    out_left = vec4(through_glass(0.5 * glass.a), 1.0 - out_shine.a);
#else
    out_glass = glass;
#endif
}
