#version 450 core
// A box or a cylinder: a mesh of half size 1, scaled and placed.
#include "frame.glsl"
#include "instance.glsl"
#include "attributes.glsl"
layout(location = 6) in vec3 in_position;
layout(location = 7) in vec3 in_normal;
layout(location = 0) uniform bool for_shadow;
out vec3 position;
out vec3 normal;
out vec3 local;
flat out float value;
flat out uint tag;

void main() {
    Instance own = own_instance();
    vec4 q = rotation_now(own);
    local = in_position;
    position = center_now(own) + turn(q, in_position * in_offset);
    normal = turn(q, normalize(in_normal / in_offset));
    value = in_velocity.w;
    tag = in_tag;
    if (is_cut(center_now(own))) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    else gl_Position = for_shadow ? frame.light * vec4(position, 1.0) : frame.projection * frame.view * vec4(position, 1.0);
}
