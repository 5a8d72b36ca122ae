#version 450 core
// A link of a force chain: a ribbon between two centers that faces the eye.
#include "frame.glsl"
layout(location = 0) in vec4 in_from; // w: strength
layout(location = 1) in vec4 in_from_velocity; // w: half width
layout(location = 2) in vec3 in_to;
layout(location = 3) in vec3 in_to_velocity;
out float across; // -1 to 1
flat out float strength;

void main() {
    vec3 a = (frame.view * vec4(in_from.xyz - frame.moment.x * in_from_velocity.xyz, 1.0)).xyz;
    vec3 b = (frame.view * vec4(in_to - frame.moment.x * in_to_velocity, 1.0)).xyz;
    vec3 p = (gl_VertexID & 1) == 0 ? a : b;
    across = gl_VertexID < 2 ? -1.0 : 1.0;
    strength = in_from.w;
    vec3 to_eye = frame.eye.w > 0.5 ? -p : vec3(0.0, 0.0, 1.0);
    vec3 side = cross(b - a, to_eye);
    // A link thinner than a pixel is drawn one pixel wide, and fainter.
    float least = 0.6 * 2.0 * frame.lens.y * frame.size.w * (frame.eye.w > 0.5 ? -p.z : 1.0);
    float half_width = in_from_velocity.w;
    if (half_width < least) {
        strength *= half_width / least;
        half_width = least;
    }
    gl_Position = frame.projection * vec4(p + side * (across * half_width / max(length(side), 1e-12)), 1.0);
}
