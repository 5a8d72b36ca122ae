// SPDX-License-Identifier: MIT
// Center of mass and principal axes of a solid.
#include "sim/geometry/principal.h"

#include "sim/core/assert.h"

// Diagonalizes a symmetric matrix by Jacobi rotations and returns its axes as columns, right-handed since every factor is a
// rotation. Of the two angles the smaller one is taken, so the axes stay close to those of the input.
static SandMat3 diagonalize(SandMat3 *a) {
    SandMat3 axes = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    double tiny = 1e-12 * (a->m[0][0] + a->m[1][1] + a->m[2][2]); // below this an entry is rounding error
    for (int sweep = 0; sweep < 30; sweep++) {
        bool done = true;
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (fabs(a->m[p][q]) <= tiny) continue;
                done = false;
                double theta = (a->m[q][q] - a->m[p][p]) / (2 * a->m[p][q]);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 3; k++) { // columns
                    double u = a->m[k][p], v = a->m[k][q];
                    a->m[k][p] = c * u - s * v;
                    a->m[k][q] = s * u + c * v;
                    u = axes.m[k][p];
                    v = axes.m[k][q];
                    axes.m[k][p] = c * u - s * v;
                    axes.m[k][q] = s * u + c * v;
                }
                for (int k = 0; k < 3; k++) { // rows
                    double u = a->m[p][k], v = a->m[q][k];
                    a->m[p][k] = c * u - s * v;
                    a->m[q][k] = s * u + c * v;
                }
            }
        if (done) break;
    }
    return axes;
}

// Returns the quaternion of a rotation matrix. The largest component comes from the diagonal, so that nothing cancels.
static SandQuat quaternion_of(SandMat3 r) {
    double(*m)[3] = r.m;
    double four[4] = {1 + m[0][0] + m[1][1] + m[2][2], 1 + m[0][0] - m[1][1] - m[2][2], 1 - m[0][0] + m[1][1] - m[2][2],
                      1 - m[0][0] - m[1][1] + m[2][2]};
    int big = 0;
    for (int i = 1; i < 4; i++)
        if (four[i] > four[big]) big = i;
    double wx = m[2][1] - m[1][2], wy = m[0][2] - m[2][0], wz = m[1][0] - m[0][1];
    double xy = m[0][1] + m[1][0], xz = m[0][2] + m[2][0], yz = m[1][2] + m[2][1];
    SandQuat q = big == 0   ? (SandQuat){four[0], wx, wy, wz}
                 : big == 1 ? (SandQuat){wx, four[1], xy, xz}
                 : big == 2 ? (SandQuat){wy, xy, four[2], yz}
                            : (SandQuat){wz, xz, yz, four[3]};
    return q_unit(q);
}

// Adds a tetrahedron with one corner at the origin. Integrals of products over it: for linear functions f and g the mean of
// f g is (sum of f_i g_i + (sum of f_i) (sum of g_i)) / 20 over the corners, the origin adding nothing.
void sand_moments_add(SandMoments *m, SandVec3 a, SandVec3 b, SandVec3 c) {
    double volume = v3_dot(a, v3_cross(b, c)) / 6;
    SandVec3 s = v3_add(a, v3_add(b, c));
    m->one += volume;
    m->x += volume * s.x / 4;
    m->y += volume * s.y / 4;
    m->z += volume * s.z / 4;
    m->xx += volume / 20 * (a.x * a.x + b.x * b.x + c.x * c.x + s.x * s.x);
    m->yy += volume / 20 * (a.y * a.y + b.y * b.y + c.y * c.y + s.y * s.y);
    m->zz += volume / 20 * (a.z * a.z + b.z * b.z + c.z * c.z + s.z * s.z);
    m->xy += volume / 20 * (a.x * a.y + b.x * b.y + c.x * c.y + s.x * s.y);
    m->xz += volume / 20 * (a.x * a.z + b.x * b.z + c.x * c.z + s.x * s.z);
    m->yz += volume / 20 * (a.y * a.z + b.y * b.z + c.y * c.z + s.y * s.z);
}

bool sand_shape_set_moments(SandShape *shape, SandMoments m, SandVec3 origin, SandVec3 *center, SandMat3 *axes) {
    SandVec3 c = v3_make(m.x / m.one, m.y / m.one, m.z / m.one);
    double xx = m.xx - c.x * m.x, yy = m.yy - c.y * m.y, zz = m.zz - c.z * m.z;
    double xy = m.xy - c.x * m.y, xz = m.xz - c.x * m.z, yz = m.yz - c.y * m.z;
    SandMat3 inertia = {{{yy + zz, -xy, -xz}, {-xy, xx + zz, -yz}, {-xz, -yz, xx + yy}}};
    *axes = diagonalize(&inertia);
    *center = c;
    shape->volume = m.one;
    shape->inertia = v3_make(inertia.m[0][0], inertia.m[1][1], inertia.m[2][2]);
    if (!isfinite(m.one) || m.one <= 0 || !v3_finite(shape->inertia) ||
        fmin(shape->inertia.x, fmin(shape->inertia.y, shape->inertia.z)) <= 0)
        return false;
    SAND_ASSERT(fabs(v3_dot(m3_apply(*axes, v3_make(1, 0, 0)), m3_apply(*axes, v3_make(1, 0, 0))) - 1) < 1e-9);
    shape->from_input.rotation = q_conjugate(quaternion_of(*axes));
    shape->from_input.position = v3_neg(m3_apply_transposed(*axes, v3_add(origin, c)));
    return true;
}
