// One instance, and where it is at the instant of the frame: x - s v, turned by exp(-s w).
layout(location = 0) in vec4 in_center;   // radius in w
layout(location = 1) in vec4 in_rotation;
layout(location = 2) in vec4 in_velocity; // value in w
layout(location = 3) in vec3 in_spin;
layout(location = 4) in uint in_tag;
layout(location = 5) in vec3 in_offset;

vec4 rotation_now() { return turned_back(in_rotation, in_spin); }

vec3 center_now() { return in_center.xyz - frame.moment.x * in_velocity.xyz; }
