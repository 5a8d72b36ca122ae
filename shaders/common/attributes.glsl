// SPDX-License-Identifier: MIT
// Instance attributes of a vertex.
layout(location = 0) in vec4 in_center;
layout(location = 1) in vec4 in_rotation;
layout(location = 2) in vec4 in_velocity;
layout(location = 3) in vec3 in_spin;
layout(location = 4) in uint in_tag;
layout(location = 5) in vec4 in_place;
vec3 in_offset = in_place.xyz;

Instance own_instance() {
    return Instance(in_center, in_rotation, in_velocity, uvec4(floatBitsToUint(in_spin), in_tag), in_place);
}
