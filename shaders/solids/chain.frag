#version 450 core
// SPDX-License-Identifier: MIT
// A link as a lit tube with round ends. Stronger links are wider and nearer to white. Links are seen through the bodies, and
// fade with their depth behind the nearest surface.
#include "common/frame.glsl"
flat in vec3 end_a;
flat in vec3 end_b;
flat in float radius;
flat in float strength;
flat in float opacity;
layout(binding = 0) uniform sampler2D depth_map;
layout(depth_less) out float gl_FragDepth;
layout(location = 0) out vec4 out_light;
#ifdef DIRECT
#include "output/tone.glsl"
#else
layout(location = 1) out vec4 out_kind; // data: bypasses the tone map
#endif

// Where along the tube the ray comes nearest, 0 to 1, and the vector from there to the ray.
float nearest(vec3 start, vec3 direction, out vec3 apart) {
    vec3 axis = end_b - end_a, from = start - end_a;
    float b = dot(direction, axis), d = dot(direction, from), e = dot(axis, from), square = dot(axis, axis);
    float at = clamp((e - d * b) / max(square - b * b, 1e-9 * square), 0.0, 1.0);
    apart = from + (at * b - d) * direction - at * axis;
    return at;
}

// Distance along the ray to the tube; `start` is near it.
float meet(vec3 start, vec3 direction) {
    vec3 axis = end_b - end_a, from = start - end_a;
    float square = dot(axis, axis), along = dot(axis, direction), off = dot(axis, from);
    float a = max(square - along * along, 1e-9 * square), b = square * dot(direction, from) - off * along;
    float c = square * dot(from, from) - off * off - radius * radius * square;
    float t = (-b - sqrt(max(b * b - a * c, 0.0))) / a, y = off + t * along;
    if (y > 0.0 && y < square) return t;
    from = y <= 0.0 ? from : start - end_b;
    b = dot(direction, from);
    c = dot(from, from) - radius * radius;
    return -b - sqrt(max(b * b - c, 0.0));
}

void main() {
    vec3 start, direction, apart;
    view_ray(gl_FragCoord.xy, start, direction);
    direction = normalize(direction);
    start += dot(0.5 * (end_a + end_b) - start, direction) * direction; // close by, where floats are fine
    float at = nearest(start, direction, apart);
    vec3 middle = mix(end_a, end_b, at);
    float pixel = 2.0 * frame.lens.y * frame.size.w * (frame.eye.w > 0.5 ? -middle.z : 1.0);
    float coverage = clamp(0.5 + (radius - length(apart)) / pixel, 0.0, 1.0);
    if (coverage <= 0.0) discard;

    vec3 p = length(apart) < radius ? start + meet(start, direction) * direction : middle + apart;
    float on = clamp(dot(p - end_a, end_b - end_a) / max(dot(end_b - end_a, end_b - end_a), 1e-20), 0.0, 1.0);
    vec3 normal = normalize(p - mix(end_a, end_b, on));
    gl_FragDepth = min(depth_of(p.z), gl_FragCoord.z);

    float key = max(dot(normal, mat3(frame.view) * frame.sun.xyz), 0.0), facing = max(dot(normal, -direction), 0.0);
    vec3 half_way = normalize(mat3(frame.view) * frame.sun.xyz - direction);
    float shine = max(dot(normal, half_way), 0.0);
    shine *= shine, shine *= shine, shine *= shine, shine *= shine;
    vec3 color = mix(vec3(0.42, 0.035, 0.012), vec3(1.0, 0.30, 0.035), smoothstep(0.0, 0.45, strength));
    color = mix(color, vec3(1.0, 0.82, 0.42), smoothstep(0.35, 1.0, strength));
    color = color * (0.22 + 0.50 * key + 0.38 * facing) + 0.30 * shine * shine;
    float surface = texelFetch(depth_map, ivec2(gl_FragCoord.xy), 0).r;
    float behind = surface > 0.0 ? max(view_z_of(surface) - p.z, 0.0) : 0.0;
    color *= mix(0.30, 1.0, exp2(-behind / (2.0 * frame.moment.y)));
#ifdef DIRECT
    out_light = vec4(encode(clamp(color, 0.0, 1.0)), coverage * opacity);
#else
    out_light = vec4(clamp(color, 0.0, 1.0), coverage * opacity);
    out_kind = vec4(1.0, 1.0, 0.0, coverage * opacity);
#endif
}
