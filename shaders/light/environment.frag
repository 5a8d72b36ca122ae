#version 450 core
// SPDX-License-Identifier: MIT
// A face of the cube map around a scene; FILTER: as a surface of some roughness mirrors it.
#include "common/frame.glsl"
#include "common/noise.glsl"
#include "light/sky.glsl"
#ifdef FILTER
layout(binding = 11) uniform samplerCube drawn;
#else
#include "light/place.glsl"
#endif
layout(location = 0) uniform int face;
layout(location = 1) uniform int level;
layout(location = 0) out vec4 out_light;

// environment.c has the same.
vec3 direction_of(vec2 p) {
    switch (face) {
    case 0: return vec3(1.0, -p.y, -p.x);
    case 1: return vec3(-1.0, -p.y, p.x);
    case 2: return vec3(p.x, 1.0, p.y);
    case 3: return vec3(p.x, -1.0, -p.y);
    case 4: return vec3(p.x, -p.y, 1.0);
    default: return vec3(-p.x, -p.y, -1.0);
    }
}

void main() {
    vec3 d = normalize(direction_of(2.0 * gl_FragCoord.xy / float(256 >> level) - 1.0));
#ifdef FILTER
    float rough = float(level) / 5.0, a = rough * rough;
    if (level == 0) {
        out_light = textureLod(drawn, d, 0.0);
        return;
    }
    const int COUNT = 48;
    vec3 u = normalize(abs(d.z) < 0.9 ? cross(d, vec3(0.0, 0.0, 1.0)) : cross(d, vec3(1.0, 0.0, 0.0))), v = cross(d, u), sum = vec3(0.0);
    float weight = 0.0;
    int count = COUNT + min(frame.style.w, 0); // not unrolled: the compiler does not know the number
    for (int i = 0; i < count; i++) {
        // Half vectors by the distribution of Trowbridge and Reitz, on a spiral.
        float share = (float(i) + 0.5) / float(COUNT), around = 2.3999632 * float(i);
        float cosine = sqrt((1.0 - share) / (1.0 + (a * a - 1.0) * share)), sine = sqrt(1.0 - cosine * cosine);
        vec3 h = sine * (cos(around) * u + sin(around) * v) + cosine * d, to = reflect(-d, h);
        float facing = dot(to, d);
        if (facing <= 0.0) continue;
        float lod = float(level) - 0.3 + 1.2 * share; // a sample stands for a part of the sphere
        sum += facing * textureLod(drawn, to, lod).rgb;
        weight += facing;
    }
    out_light = vec4(sum / max(weight, 1e-3), 1.0);
#else
    out_light = vec4(min(place(d), vec3(60.0)), 1.0);
#endif
}
