#version 450 core
// SPDX-License-Identifier: MIT
// A convex body: its mesh, scaled and placed, in the view of the camera or of the sun (LIGHT).
#include "common/frame.glsl"
#include "common/instance.glsl"
#include "common/attributes.glsl"
#include "solids/solid.glsl"
layout(location = 6) in vec4 in_at;
layout(location = 7) in vec3 in_normal;
#ifndef LIGHT
out vec3 normal;
out vec3 local;
flat out vec4 rotation;
flat out vec4 extent;
flat out float value;
flat out float pixels; // its size in the picture
flat out uint tag;
#endif

void main() {
    Instance own = own_instance();
    vec4 q = rotation_now(own);
    vec3 center = center_now(own), position = center + turn(q, solid_place(in_at));
#ifdef LIGHT
    gl_Position = frame.light * vec4(position, 1.0);
#else
    local = in_at.xyz;
    rotation = q;
    extent = in_place;
    normal = turn(q, solid_normal(in_at, in_normal));
    value = in_velocity.w;
    tag = in_tag;
    float away = frame.eye.w > 0.5 ? max(-(frame.view * vec4(center, 1.0)).z, frame.lens.z) : 1.0;
    pixels = in_offset.x / (2.0 * frame.lens.y * frame.size.w * away);
    gl_Position = frame.projection * frame.view * vec4(position, 1.0);
#endif
    if (solid_hidden(center)) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}
