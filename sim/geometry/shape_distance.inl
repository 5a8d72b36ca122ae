// SPDX-License-Identifier: MIT
// Signed distance from a point in the body frame to the surface of a convex shape (negative inside), and the outward unit
// normal at the nearest surface point; one source for CPU and GPU. `feature` identifies the face, edge or corner of a box or
// cylinder.
#pragma once
#include "sim/geometry/convex_distance.inl"

// The feature is the region of the point in base 3: along each axis 0 below the box, 1 within it, 2 above. Inside the box
// the nearest face counts.
SAND_HOST_DEVICE double box_distance(SandVec3 half, SandVec3 point, SandVec3 *normal, uint32_t *feature) {
    const uint32_t place[3] = {1, 3, 9};
    double p[3] = {point.x, point.y, point.z}, h[3] = {half.x, half.y, half.z};
    double out[3] = {0}, squared = 0;
    int face = 0; // axis of the nearest face
    *feature = 1 + 3 + 9;
    for (int k = 0; k < 3; k++) {
        double beyond = fabs(p[k]) - h[k];
        if (beyond > fabs(p[face]) - h[face]) face = k;
        if (beyond <= 0) continue;
        out[k] = copysign(beyond, p[k]);
        squared += beyond * beyond;
        *feature += p[k] > 0 ? place[k] : -place[k];
    }
    double distance = sqrt(squared);
    if (distance > 0) {
        *normal = v3_scale(1 / distance, v3_make(out[0], out[1], out[2]));
        return distance;
    }
    double n[3] = {0};
    n[face] = p[face] < 0 ? -1 : 1;
    *normal = v3_make(n[0], n[1], n[2]);
    *feature = 1 + 3 + 9;
    *feature += p[face] < 0 ? -place[face] : place[face];
    return fabs(p[face]) - h[face];
}

// A cylinder with its axis along z. IEEE 754 does not specify hypot, nor sin and cos, which place the points of a rim
// (narrow_phase.inl): CPU and GPU find the same contacts bit for bit, except contacts with a cylinder body.
SAND_HOST_DEVICE double cylinder_distance(SandVec3 half, SandVec3 p, SandVec3 *normal, uint32_t *feature) {
    enum { SIDE, TOP, BOTTOM, TOP_RIM, BOTTOM_RIM };
    double rho = hypot(p.x, p.y), up = p.z < 0 ? -1 : 1;
    SandVec3 radial = rho > 0 ? v3_make(p.x / rho, p.y / rho, 0) : v3_make(1, 0, 0); // on the axis any direction will do
    double side = rho - half.x, cap = fabs(p.z) - half.z;
    if (side > 0 && cap > 0) {
        double distance = hypot(side, cap);
        *normal = v3_scale(1 / distance, v3_make(side * radial.x, side * radial.y, up * cap));
        *feature = up > 0 ? TOP_RIM : BOTTOM_RIM;
        return distance;
    }
    if (side >= cap) {
        *normal = radial;
        *feature = SIDE;
        return side;
    }
    *normal = v3_make(0, 0, up);
    *feature = up > 0 ? TOP : BOTTOM;
    return cap;
}

// The segment of a capsule, rounded by its radius.
SAND_HOST_DEVICE double capsule_distance(SandVec3 half, SandVec3 p, SandVec3 *normal) {
    double end = half.z - half.x, z = fmin(fmax(p.z, -end), end);
    SandVec3 away = v3_make(p.x, p.y, p.z - z);
    *normal = v3_unit_or(away, v3_make(1, 0, 0)); // on the segment any direction across it will do
    return v3_length(away) - half.x;
}

SAND_HOST_DEVICE_NOINLINE double hull_distance(const SandShape *shape, double scale, SandVec3 point, SandVec3 *normal) {
    SandVec3 zero = v3_make(0, 0, 0);
    Convex hull = convex_make(shape, scale, q_identity(), zero), sphere = convex_sphere(&zero, point, 0);
    ConvexGap gap;
    convex_distance(&hull, &sphere, INFINITY, &gap);
    *normal = gap.normal;
    return gap.distance;
}

// The distance to a convex shape of this scale.
SAND_HOST_DEVICE double sand_shape_distance(const SandShape *shape, double scale, SandVec3 point, SandVec3 *normal,
                                            uint32_t *feature) {
    SandVec3 half = v3_scale(scale, shape->half);
    *feature = 0;
    switch (shape->kind) {
    case SAND_SPHERE: *normal = v3_unit_or(point, v3_make(1, 0, 0)); return v3_length(point) - half.x; // of a compound
    case SAND_BOX: return box_distance(half, point, normal, feature);
    case SAND_CYLINDER: return cylinder_distance(half, point, normal, feature);
    case SAND_CAPSULE: return capsule_distance(half, point, normal);
    default: return hull_distance(shape, scale, point, normal);
    }
}
