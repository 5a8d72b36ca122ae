// SPDX-License-Identifier: MIT
// Vectors, quaternions, 3x3 matrices and poses in double precision, for everything outside the solver kernels (those
// instantiate vec.inl in their own precision). Plain values, passed and returned by value, on host and device.
//
// From vec.inl, for SandVec3: v3_make(x, y, z), v3_add(a, b), v3_sub(a, b), v3_scale(s, a), v3_madd(a, s, b) = a + s b,
// v3_dot(a, b), v3_cross(a, b). Products and sums are not fused, so that every compiler gives the same bits.
#pragma once
#include <math.h>
#include <stdbool.h>

// One source for CPU and GPU: a function marked SAND_HOST_DEVICE is plain C for a C compiler, and is compiled for host and
// device by nvcc.
// SAND_HOST_DEVICE_NOINLINE is for large functions with many callers, of which device code should hold one copy.
#ifdef __CUDACC__
#define SAND_HOST_DEVICE static __host__ __device__ inline
#define SAND_HOST_DEVICE_NOINLINE static inline __host__ __device__ __noinline__
#else
#define SAND_HOST_DEVICE static inline
#define SAND_HOST_DEVICE_NOINLINE static inline
#endif

#define SAND_VEC_INLINE SAND_HOST_DEVICE
#define SAND_VEC SandVec3
#define SAND_SCALAR double
#define SAND_VF(name) v3_##name
#define SAND_MA(a, b, c) ((a) * (b) + (c))
#include "sandglass/vec.inl"

// A quaternion w + x i + y j + z k. Of unit length it is a rotation, from body frame to world frame.
typedef struct SandQuat {
    double w, x, y, z;
} SandQuat;

// A 3x3 matrix, m[row][column].
typedef struct SandMat3 {
    double m[3][3];
} SandMat3;

// A rigid transform: world point = position + rotation applied to the local point.
typedef struct SandPose {
    SandVec3 position; // m
    SandQuat rotation; // unit length
} SandPose;

SAND_HOST_DEVICE double v3_length(SandVec3 a) { return sqrt(v3_dot(a, a)); }
SAND_HOST_DEVICE SandVec3 v3_neg(SandVec3 a) { return v3_make(-a.x, -a.y, -a.z); }
SAND_HOST_DEVICE bool v3_finite(SandVec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

// Returns the unit vector along a, or the fallback where a is too short to have a direction.
SAND_HOST_DEVICE SandVec3 v3_unit_or(SandVec3 a, SandVec3 fallback) {
    double l = v3_length(a);
    return l > 1e-300 ? v3_scale(1 / l, a) : fallback;
}

// Returns a unit vector perpendicular to the unit vector n, by a fixed formula.
SAND_HOST_DEVICE SandVec3 v3_perpendicular(SandVec3 n) {
    SandVec3 e = fabs(n.x) < 0.6 ? v3_make(1, 0, 0) : v3_make(0, 1, 0);
    SandVec3 t = v3_cross(n, e);
    return v3_scale(1 / v3_length(t), t);
}

SAND_HOST_DEVICE SandQuat q_identity(void) { return (SandQuat){1, 0, 0, 0}; }
SAND_HOST_DEVICE SandQuat q_conjugate(SandQuat q) { return (SandQuat){q.w, -q.x, -q.y, -q.z}; }

// Quaternion product: the rotation b followed by the rotation a.
SAND_HOST_DEVICE SandQuat q_mul(SandQuat a, SandQuat b) {
    return (SandQuat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

// Normalizes; the zero quaternion becomes the identity.
SAND_HOST_DEVICE SandQuat q_unit(SandQuat q) {
    double l = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(l > 0)) return q_identity();
    return (SandQuat){q.w / l, q.x / l, q.y / l, q.z / l};
}

// Exponential map: the rotation by |r| radians about r. Below 1e-8 rad its Taylor expansion.
SAND_HOST_DEVICE SandQuat q_exp(SandVec3 r) {
    double angle = v3_length(r);
    double s = angle > 1e-8 ? sin(0.5 * angle) / angle : 0.5 - angle * angle / 48;
    return (SandQuat){cos(0.5 * angle), s * r.x, s * r.y, s * r.z};
}

// Logarithm, the inverse of q_exp: the rotation vector of q, of length at most pi.
SAND_HOST_DEVICE SandVec3 q_log(SandQuat q) {
    SandVec3 v = v3_make(q.x, q.y, q.z);
    double s = v3_length(v);
    double angle = 2 * atan2(q.w < 0 ? -s : s, fabs(q.w));
    return s > 1e-12 ? v3_scale(angle / s, v) : v3_scale(q.w < 0 ? -2 : 2, v);
}

// Returns the rotation matrix of a unit quaternion.
SAND_HOST_DEVICE SandMat3 q_matrix(SandQuat q) {
    double x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
    double xx = q.x * x2, yy = q.y * y2, zz = q.z * z2, xy = q.x * y2, xz = q.x * z2, yz = q.y * z2;
    double wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    return (SandMat3){{{1 - yy - zz, xy - wz, xz + wy}, {xy + wz, 1 - xx - zz, yz - wx}, {xz - wy, yz + wx, 1 - xx - yy}}};
}

// a v
SAND_HOST_DEVICE SandVec3 m3_apply(SandMat3 a, SandVec3 v) {
    return v3_make(a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z, a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
                   a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z);
}

// a' v
SAND_HOST_DEVICE SandVec3 m3_apply_transposed(SandMat3 a, SandVec3 v) {
    return v3_make(a.m[0][0] * v.x + a.m[1][0] * v.y + a.m[2][0] * v.z, a.m[0][1] * v.x + a.m[1][1] * v.y + a.m[2][1] * v.z,
                   a.m[0][2] * v.x + a.m[1][2] * v.y + a.m[2][2] * v.z);
}

// A symmetric matrix (xx, yy, zz, xy, xz, yz) times v.
SAND_HOST_DEVICE SandVec3 m3_apply_symmetric(const double *m, SandVec3 v) {
    return v3_make(m[0] * v.x + m[3] * v.y + m[4] * v.z, m[3] * v.x + m[1] * v.y + m[5] * v.z,
                   m[4] * v.x + m[5] * v.y + m[2] * v.z);
}

// Rotate a vector from body frame to world frame, and back.
SAND_HOST_DEVICE SandVec3 q_rotate(SandQuat q, SandVec3 v) { return m3_apply(q_matrix(q), v); }
SAND_HOST_DEVICE SandVec3 q_unrotate(SandQuat q, SandVec3 v) { return m3_apply_transposed(q_matrix(q), v); }

// R diag(d) R': a tensor that is diagonal in the body frame, expressed in the world frame.
SAND_HOST_DEVICE SandMat3 m3_rotated_diagonal(SandMat3 r, SandVec3 d) {
    SandMat3 out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out.m[i][j] = r.m[i][0] * d.x * r.m[j][0] + r.m[i][1] * d.y * r.m[j][1] + r.m[i][2] * d.z * r.m[j][2];
    return out;
}

// Transform a point from the local frame to the world, and from the world to the local frame.
SAND_HOST_DEVICE SandVec3 pose_apply(SandPose p, SandVec3 local) { return v3_add(p.position, q_rotate(p.rotation, local)); }
SAND_HOST_DEVICE SandVec3 pose_apply_inverse(SandPose p, SandVec3 world) {
    return q_unrotate(p.rotation, v3_sub(world, p.position));
}
