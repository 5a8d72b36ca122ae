#version 450 core
// SPDX-License-Identifier: MIT
// A pixel that an edge crosses, mixed with its neighbor across the edge: by the share of the pixel that lies beyond it. Both
// sides of a crease belong to its faces, which are known by their normals: beyond a narrow face is something else.
#include "common/unfold.glsl"
layout(binding = 8) uniform sampler2D light_map;
layout(binding = 9) uniform sampler2D kind_map;
flat in vec2 line;
flat in int steep;
flat in int crease;
flat in vec3 left_normal, right_normal;
layout(location = 0) out vec4 out_light;
layout(location = 1) out vec4 out_kind;

const float LIKE = 0.97; // cosine: round sides are shaded off the normals of their facets, by 11 degrees at most

bool on_face(ivec2 at) {
    vec3 n = unfold_normal(texelFetch(normal_map, at, 0).rg);
    return max(dot(n, left_normal), dot(n, right_normal)) > LIKE;
}

void main() {
    vec2 pixel = steep != 0 ? gl_FragCoord.yx : gl_FragCoord.xy;
    float off = line.x * pixel.x + line.y - pixel.y; // from the middle of the pixel to the edge
    if (abs(off) >= 0.5) discard;
    int side = off < 0.0 ? -1 : 1;
    ivec2 at = ivec2(gl_FragCoord.xy), limit = textureSize(light_map, 0) - 1;
    ivec2 beyond = clamp(at + (steep != 0 ? ivec2(side, 0) : ivec2(0, side)), ivec2(0), limit);
    if (crease != 0 && !(on_face(at) && on_face(beyond))) discard;
    float share = 0.5 - abs(off);
    out_light = vec4(texelFetch(light_map, beyond, 0).rgb, share);
    out_kind = vec4(texelFetch(kind_map, beyond, 0).rg, 0.0, share);
}
