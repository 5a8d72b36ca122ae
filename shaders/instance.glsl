// One instance, and where it is at the instant of the frame: x - s v, turned by exp(-s w).
layout(location = 0) in vec4 in_center;   // radius in w
layout(location = 1) in vec4 in_rotation;
layout(location = 2) in vec4 in_velocity; // value in w
layout(location = 3) in vec3 in_spin;
layout(location = 4) in uint in_tag;
layout(location = 5) in vec3 in_offset;

vec4 rotation_now() {
    vec3 by = -frame.moment.x * in_spin;
    float angle = length(by);
    vec4 e = vec4(by * (angle > 1e-4 ? sin(0.5 * angle) / angle : 0.5), cos(0.5 * angle));
    vec4 q = in_rotation;
    return vec4(e.w * q.xyz + q.w * e.xyz + cross(e.xyz, q.xyz), e.w * q.w - dot(e.xyz, q.xyz));
}

vec3 center_now() { return in_center.xyz - frame.moment.x * in_velocity.xyz; }
