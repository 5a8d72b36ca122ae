// SPDX-License-Identifier: MIT
// The touches of a sphere with a boundary, one source for CPU and GPU; start at boundary_touch. Every kind works in its
// local frame, but for the plane, which needs no more than its normal.
#pragma once
#include "sandglass/geometry.h"

#include "sim/geometry/mesh_distance.inl"
#include "sim/geometry/revolution_distance.inl"
#include "sim/geometry/shape_distance.inl"

// Appends a touch while there is capacity; returns the new count either way.
SAND_HOST_DEVICE int touch_put(SandTouch *touches, int capacity, int count, SandVec3 normal, double gap, uint32_t feature) {
    if (count < capacity) touches[count] = (SandTouch){normal, gap, feature};
    return count + 1;
}

// Whether a rotation is not the identity.
SAND_HOST_DEVICE bool is_rotated(SandQuat q) { return q.x != 0 || q.y != 0 || q.z != 0; }

// Returns the third column of the rotation matrix: the direction of the local z axis.
SAND_HOST_DEVICE SandVec3 z_axis(SandQuat q) {
    return v3_make(2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y));
}

SAND_HOST_DEVICE int plane_touch(const SandPose *pose, SandVec3 center, double radius, double reach, SandTouch *touches,
                                 int capacity) {
    SandVec3 up = z_axis(pose->rotation);
    double gap = v3_dot(up, v3_sub(center, pose->position)) - radius;
    return gap > reach ? 0 : touch_put(touches, capacity, 0, v3_neg(up), gap, 0);
}

// The six walls of a box seen from inside. Features 0 to 5: -x, +x, -y, +y, -z, +z.
SAND_HOST_DEVICE int box_inside_touch(SandVec3 half, SandVec3 c, double radius, double reach, SandTouch *touches,
                                      int capacity) {
    double range = radius + reach;
    int n = 0;
    if (c.x + half.x <= range) n = touch_put(touches, capacity, n, v3_make(-1, 0, 0), c.x + half.x - radius, 0);
    if (half.x - c.x <= range) n = touch_put(touches, capacity, n, v3_make(1, 0, 0), half.x - c.x - radius, 1);
    if (c.y + half.y <= range) n = touch_put(touches, capacity, n, v3_make(0, -1, 0), c.y + half.y - radius, 2);
    if (half.y - c.y <= range) n = touch_put(touches, capacity, n, v3_make(0, 1, 0), half.y - c.y - radius, 3);
    if (c.z + half.z <= range) n = touch_put(touches, capacity, n, v3_make(0, 0, -1), c.z + half.z - radius, 4);
    if (half.z - c.z <= range) n = touch_put(touches, capacity, n, v3_make(0, 0, 1), half.z - c.z - radius, 5);
    return n;
}

SAND_HOST_DEVICE int box_outside_touch(SandVec3 half, SandVec3 c, double radius, double reach, SandTouch *touches,
                                       int capacity) {
    double range = radius + reach;
    if (fabs(c.x) > half.x + range || fabs(c.y) > half.y + range || fabs(c.z) > half.z + range) return 0;
    SandVec3 out;
    uint32_t feature;
    double gap = box_distance(half, c, &out, &feature) - radius;
    return gap > reach ? 0 : touch_put(touches, capacity, 0, v3_neg(out), gap, feature);
}

SAND_HOST_DEVICE int sphere_touch(const SandBoundary *b, SandVec3 c, double radius, double reach, SandTouch *touches,
                                  int capacity) {
    double away = v3_length(c), gap = (b->side == SAND_INSIDE ? b->radius - away : away - b->radius) - radius;
    if (gap > reach) return 0;
    SandVec3 out = v3_unit_or(c, v3_make(0, 0, 1));
    return touch_put(touches, capacity, 0, b->side == SAND_INSIDE ? out : v3_neg(out), gap, 0);
}

// Dispatches on the kind, in the local frame.
SAND_HOST_DEVICE int local_touch(const SandBoundary *b, SandVec3 c, double radius, double reach, SandTouch *touches,
                                 int capacity) {
    switch (b->kind) {
    case SAND_PLANE: break; // handled by boundary_touch
    case SAND_BOX_WALLS:
        return b->side == SAND_INSIDE ? box_inside_touch(b->half, c, radius, reach, touches, capacity)
                                      : box_outside_touch(b->half, c, radius, reach, touches, capacity);
    case SAND_REVOLUTION: return revolution_touch(b, c, radius, reach, touches, capacity);
    case SAND_SPHERE_WALL: return sphere_touch(b, c, radius, reach, touches, capacity);
    case SAND_MESH: return mesh_touch(b->mesh, c, radius, reach, touches, capacity);
    }
    return 0;
}

// Finds the touches of a sphere given in the world frame: see sand_boundary_touch.
SAND_HOST_DEVICE int boundary_touch(const SandBoundary *b, const SandPose *pose, SandVec3 center, double radius,
                                    double reach, SandTouch *touches, int capacity) {
    if (b->kind == SAND_PLANE) return plane_touch(pose, center, radius, reach, touches, capacity);
    SandVec3 local = v3_sub(center, pose->position);
    if (!is_rotated(pose->rotation)) return local_touch(b, local, radius, reach, touches, capacity);

    SandMat3 r = q_matrix(pose->rotation);
    int count = local_touch(b, m3_apply_transposed(r, local), radius, reach, touches, capacity);
    for (int i = 0; i < count && i < capacity; i++) touches[i].normal = m3_apply(r, touches[i].normal);
    return count;
}
