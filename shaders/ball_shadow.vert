#version 450 core
// A ball as the sun sees it: a quad on its nearest point.
#include "frame.glsl"
#include "instance.glsl"
out vec2 at;
flat out float middle; // depth of the centre
flat out float rise;   // from there to the nearest point

void main() {
    vec3 c = center_now() + turn(rotation_now(), in_offset);
    vec3 p = (frame.light * vec4(c, 1.0)).xyz;
    at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    middle = p.z;
    rise = in_center.w * frame.light_scale.z;
    gl_Position = vec4(p.xy + at * in_center.w * frame.light_scale.xy, p.z + rise, 1.0);
}
