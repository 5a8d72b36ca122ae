// SPDX-License-Identifier: MIT
// One instance, extrapolated to the time of the frame: x - s v, rotated by exp(-s w).
struct Instance {
    vec4 center;   // of the body; w: radius of the ball
    vec4 rotation;
    vec4 velocity; // w: value
    uvec4 spin;    // as bits: the last is the tag, which is not a float
    vec4 offset;   // w: index of the material
};

vec4 rotation_now(Instance i) { return turned_back(i.rotation, uintBitsToFloat(i.spin.xyz)); }
vec3 center_now(Instance i) { return i.center.xyz - frame.moment.x * i.velocity.xyz; }
// The radius of a ball; 0 hides it.
float radius_now(Instance i) { return is_cut(center_now(i)) ? 0.0 : i.center.w; }
// The balls of a clump turn about its center.
vec3 ball_center(Instance i) {
    return i.offset.xyz == vec3(0.0) ? center_now(i) : center_now(i) + turn(rotation_now(i), i.offset.xyz);
}
