#version 450 core
// SPDX-License-Identifier: MIT
// A ball as one quad, perpendicular to the line of sight at the nearest point of the ball: there the tangent cone from the eye
// is a circle, so the quad bounds the ellipse on the screen and lies in front of the ball.
#include "common/frame.glsl"
#include "common/instance.glsl"
#include "common/attributes.glsl"
#include "common/noise.glsl"
#include "common/look.glsl"
#include "balls/ball.glsl"
#ifdef EDGE
#include "balls/cast.glsl"
#endif
flat out Ball ball;

void main() {
    ball = ball_of(own_instance());
    vec3 c = ball.place.xyz;
    float r = ball.place.w;

    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    // Margin in pixels: rounding of the corners, half a pixel for the edge of the silhouette, and the enlargement of tiny balls.
#ifdef EDGE
    float margin = 1.2;
    if (!has_rim(ball.place)) r = 0.0;
#else
    float margin = 0.01;
#endif
    margin *= 2.0 * frame.lens.y * frame.size.w;
    if (r <= 0.0 || -c.z + r < frame.lens.z) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0); // hidden or behind: nothing
    } else if (frame.eye.w < 0.5) {
        gl_Position = frame.projection * vec4(c + vec3(corner * (r + margin), r), 1.0);
    } else {
        float d = length(c), front = d - r;
        vec3 axis = c / d;
        vec3 side = normalize(abs(axis.x) < 0.6 ? vec3(0.0, axis.z, -axis.y) : vec3(axis.z, 0.0, -axis.x));
        vec3 other = cross(axis, side);
        float reach = front * r / sqrt(max(front * (d + r), 1e-20)) + margin * front;
        float least = -axis.z * front - reach * (abs(side.z) + abs(other.z));
        // So close that a corner would be behind the eye: cover the whole screen.
        if (front <= 0.0 || least < 0.1 * frame.lens.z) gl_Position = vec4(corner, 1.0, 1.0);
        else gl_Position = frame.projection * vec4(axis * front + (side * corner.x + other * corner.y) * reach, 1.0);
    }
}
