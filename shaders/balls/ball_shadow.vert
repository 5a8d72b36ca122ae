#version 450 core
// SPDX-License-Identifier: MIT
// A ball in the shadow map: a quad at its nearest point.
#include "common/frame.glsl"
#include "common/instance.glsl"
#include "common/attributes.glsl"
flat out vec4 ball; // center in the view of the sun, radius in meters

void main() {
    Instance own = own_instance();
    vec3 p = (frame.light * vec4(ball_center(own), 1.0)).xyz;
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    float r = radius_now(own), margin = 0.01 * frame.light_scale.w; // corners are rounded
    ball = vec4(p, r);
    if (r <= 0.0) gl_Position = vec4(2.0, 2.0, 2.0, 1.0); // hidden: nothing
    else gl_Position = vec4(p + vec3(corner * (r + margin), r) * frame.light_scale.xyz, 1.0);
}
