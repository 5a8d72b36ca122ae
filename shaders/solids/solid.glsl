// SPDX-License-Identifier: MIT
// A convex body, from its mesh (app/render/solid_mesh.h): points in units of the extents of the instance; w: the end of a
// capsule, whose half balls are not stretched along the axis.
vec3 solid_place(vec4 at) {
    return at.w == 0.0 ? at.xyz * in_offset : at.xyz * in_offset.x + vec3(0.0, 0.0, at.w * (in_offset.z - in_offset.x));
}

vec3 solid_normal(vec4 at, vec3 n) { return at.w == 0.0 ? normalize(n / in_offset) : n; }

bool solid_hidden(vec3 center) { return in_offset.x <= 0.0 || is_cut(center); }
