#version 450 core
// SPDX-License-Identifier: MIT
// A link of a force chain: a quad that covers a tube with round ends between two centers, which chain.frag ray-casts.
#include "common/frame.glsl"
layout(location = 0) in vec4 in_from; // w: strength
layout(location = 1) in vec4 in_from_velocity; // w: radius
layout(location = 2) in vec3 in_to;
layout(location = 3) in vec3 in_to_velocity;
flat out vec3 end_a; // in view space
flat out vec3 end_b;
flat out float radius;
flat out float strength;
flat out float opacity;

void main() {
    vec3 from = in_from.xyz - frame.moment.x * in_from_velocity.xyz, to = in_to - frame.moment.x * in_to_velocity;
    end_a = (frame.view * vec4(from, 1.0)).xyz;
    end_b = (frame.view * vec4(to, 1.0)).xyz;
    strength = in_from.w;
    opacity = 1.0;
    radius = in_from_velocity.w * frame.chain.y;
    vec3 end = (gl_VertexID & 1) == 0 ? end_a : end_b;
    // A tube thinner than a pixel is drawn one pixel wide, and fainter.
    float least = 0.6 * 2.0 * frame.lens.y * frame.size.w * (frame.eye.w > 0.5 ? -end.z : 1.0);
    if (radius < least) {
        opacity = radius / least;
        radius = least;
    }
    vec3 to_eye = frame.eye.w > 0.5 ? normalize(-end) : vec3(0.0, 0.0, 1.0);
    vec3 along = end_b - end_a;
    along -= dot(along, to_eye) * to_eye; // as seen: zero where the tube points at the eye
    along = length(along) > 1e-6 * radius ? normalize(along) : normalize(cross(to_eye, vec3(0.31, 0.95, 0.0)));
    vec3 side = cross(along, to_eye);
    float wide = radius + least; // half a pixel more, for the smooth edge
    vec3 corner = end + to_eye * radius;
    corner += wide * ((gl_VertexID & 1) == 0 ? -along : along) + wide * (gl_VertexID < 2 ? -side : side);
    bool hidden = strength < frame.chain.x || radius <= 0.0 || is_cut(0.5 * (from + to)) || corner.z > -frame.lens.z;
    gl_Position = hidden ? vec4(2.0, 2.0, 2.0, 1.0) : frame.projection * vec4(corner, 1.0);
}
