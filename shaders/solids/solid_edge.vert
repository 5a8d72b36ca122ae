#version 450 core
// SPDX-License-Identifier: MIT
// An edge of a convex body as a line, where it may be jagged: on the silhouette, or a crease between two visible faces.
#include "common/frame.glsl"
#include "common/instance.glsl"
#include "common/attributes.glsl"
#include "solids/solid.glsl"
layout(binding = 10) uniform samplerBuffer edges; // four texels each: SolidEdge
flat out vec2 line; // slope and offset: x of y where the line is steep, else y of x
flat out int steep;
flat out int crease;                     // both faces are seen
flat out vec3 left_normal, right_normal; // of the faces that are seen, else 0

vec2 on_screen(vec4 clip) { return (0.5 * clip.xy / clip.w + 0.5) * frame.size.xy; }

// The normal of a face that is seen, else 0.
vec3 seen_normal(vec4 q, vec4 at, vec3 normal, vec3 to_eye) {
    vec3 n = turn(q, solid_normal(at, normal));
    return dot(n, to_eye) > 0.0 ? n : vec3(0.0);
}

void main() {
    Instance own = own_instance();
    vec4 q = rotation_now(own);
    int record = 4 * (gl_VertexID / 2);
    vec4 from = texelFetch(edges, record), to = texelFetch(edges, record + 1), left = texelFetch(edges, record + 2);
    vec3 right = texelFetch(edges, record + 3).xyz, center = center_now(own);
    vec3 a = center + turn(q, solid_place(from)), b = center + turn(q, solid_place(to));
    vec3 to_eye = frame.eye.w > 0.5 ? frame.eye.xyz - a : to_world(vec3(0.0, 0.0, 1.0));
    left_normal = seen_normal(q, from, left.xyz, to_eye), right_normal = seen_normal(q, from, right, to_eye);
    bool left_seen = left_normal != vec3(0.0), right_seen = right_normal != vec3(0.0);
    crease = left_seen && right_seen ? 1 : 0;
    bool jagged = left_seen != right_seen || (left_seen && left.w > 0.5);

    mat4 matrix = frame.projection * frame.view;
    vec3 va = (frame.view * vec4(a, 1.0)).xyz, vb = (frame.view * vec4(b, 1.0)).xyz;
    vec4 ca = matrix * vec4(a, 1.0), cb = matrix * vec4(b, 1.0);
    float pixel = 2.0 * frame.lens.y * frame.size.w; // in meters at distance 1, or orthographic
    float radius = in_offset.x / (pixel * (frame.eye.w > 0.5 ? max(-va.z, frame.lens.z) : 1.0)); // in pixels
    if (!jagged || radius < frame.shift.z || solid_hidden(center) || max(va.z, vb.z) > -frame.lens.z) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
        return;
    }
    vec2 pa = on_screen(ca), way = on_screen(cb) - pa;
    steep = abs(way.y) > abs(way.x) ? 1 : 0;
    float slope = steep != 0 ? way.x / way.y : way.y / (abs(way.x) > 0.0 ? way.x : 1.0);
    line = vec2(slope, steep != 0 ? pa.x - slope * pa.y : pa.y - slope * pa.x);
    gl_Position = (gl_VertexID & 1) == 0 ? ca : cb;
    // Towards the eye, so that the face next to it does not hide it: a pixel inwards from the silhouette of a ball, its
    // surface is nearer by the root of its diameter in pixels.
    gl_Position.z += (3.0 + 1.5 * sqrt(radius)) * pixel * (frame.eye.w > 0.5 ? gl_Position.z : 1.0 / (frame.lens.w - frame.lens.z));
}
