// SPDX-License-Identifier: MIT
// The free rotation of a rigid body, one source for the CPU and the GPU: only sums, products and quotients, which are the
// same bits everywhere.
#pragma once
#include "sandglass/world.h"

SAND_HOST_DEVICE SandVec3 componentwise(SandVec3 a, SandVec3 b) { return v3_make(a.x * b.x, a.y * b.y, a.z * b.z); }

// Angular momentum of a body with this spin, and the other way round; world frame.
SAND_HOST_DEVICE SandVec3 spin_momentum(SandVec3 inertia, SandQuat rotation, SandVec3 spin) {
    return q_rotate(rotation, componentwise(inertia, q_unrotate(rotation, spin)));
}
SAND_HOST_DEVICE SandVec3 momentum_spin(SandVec3 inertia, SandQuat rotation, SandVec3 momentum) {
    SandVec3 inverse = v3_make(1 / inertia.x, 1 / inertia.y, 1 / inertia.z);
    return q_rotate(rotation, componentwise(inverse, q_unrotate(rotation, momentum)));
}

// The change of the spin from the beginning of a step to its mean that is due to the turning of the inertia alone, rad/s:
// half a step of dw/dt = -I^-1 (w x I w). The solve sees the mean, which is what moves the points of the body.
SAND_HOST_DEVICE SandVec3 gyroscopic_change(const SandWorld *w, int body) {
    if (w->shapes[w->shape[body]].kind == SAND_SPHERE) return v3_make(0, 0, 0);
    SandVec3 inertia = w->inertia[body], spin = q_unrotate(w->rotation[body], w->spin[body]);
    SandVec3 torque = v3_cross(componentwise(inertia, spin), spin);
    SandVec3 change = v3_make(torque.x / inertia.x, torque.y / inertia.y, torque.z / inertia.z);
    return q_rotate(w->rotation[body], v3_scale(0.5 * w->step, change));
}

// A body as a symmetric top about its axis c, and what is left: the pair a, b of axes is the one with moments most alike.
typedef struct SandTop {
    double a;                // 1 / I_a
    double b, c;             // 1 / I_b - 1 / I_a, 1 / I_c - 1 / I_a
    SandVec3 axis_b, axis_c; // unit, body frame
} SandTop;

SAND_HOST_DEVICE SandTop top_of(SandVec3 inertia) {
    SandVec3 per = v3_make(1 / inertia.x, 1 / inertia.y, 1 / inertia.z);
    double xy = fabs(per.x - per.y), yz = fabs(per.y - per.z), zx = fabs(per.z - per.x);
    const SandVec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    if (xy <= yz && xy <= zx) return (SandTop){per.x, per.y - per.x, per.z - per.x, y, z};
    if (yz <= zx) return (SandTop){per.y, per.z - per.y, per.x - per.y, z, x};
    return (SandTop){per.z, per.x - per.z, per.y - per.z, x, y};
}

// The rotation by |r| radians about r, as q_exp, with tan(|r| / 4) by its continued fraction: within 1e-9 up to a radian.
// Whatever the angle, it is a rotation about r by an angle that depends on |r| alone.
SAND_HOST_DEVICE SandQuat q_turn(SandVec3 r) {
    double square = v3_dot(r, r) / 16;
    double above = 105 - 10 * square, below = 105 + square * (square - 45); // tan x = x above / below, x = |r| / 4
    double cosine = below * below, sine = square * above * above, all = cosine + sine;
    double along = above * below / (2 * all);
    return (SandQuat){(cosine - sine) / all, along * r.x, along * r.y, along * r.z};
}

// Turns a body a little, so that with this angular momentum it has this kinetic energy (J). By Newton's method along the
// steepest way: a turn about m x w, in the body's frame, changes the energy fastest. Where the body spins about a principal
// axis no turn changes it. Mostly one turn does. Returns how far the energy was off before the last turn, over itself.
SAND_HOST_DEVICE double level_energy(SandQuat *rotation, SandVec3 inertia, SandVec3 momentum, double energy) {
    double off = 0;
    for (int k = 0; k < 10; k++) {
        SandVec3 m = q_unrotate(*rotation, momentum), w = v3_make(m.x / inertia.x, m.y / inertia.y, m.z / inertia.z);
        SandVec3 way = v3_cross(m, w);
        double square = v3_dot(way, way), excess = 0.5 * v3_dot(m, w) - energy;
        off = fabs(excess) / energy;
        if (off <= 1e-14 || !(square > 1e-16 * v3_dot(m, m) * v3_dot(w, w))) break;
        double most = 0.1 / sqrt(square); // a tenth of a radian
        *rotation = q_unit(q_mul(*rotation, q_turn(v3_scale(fmin(fmax(excess / square, -most), most), way))));
    }
    return off;
}

SAND_HOST_DEVICE bool is_level(double off) { return !(off > 1e-13); } // also where there is no energy at all

// A turn about the angular momentum alone: it keeps momentum and energy, and nothing else of the motion.
SAND_HOST_DEVICE SandQuat momentum_rotation(SandQuat rotation, SandVec3 inertia, SandVec3 momentum, double step) {
    return q_unit(q_mul(q_turn(v3_scale(step * top_of(inertia).a, momentum)), rotation));
}

// The free rotation of a body over the step, from this rotation and with this angular momentum, in world coordinates.
//
// The kinetic energy in terms of the momentum m in the body's frame is split in two parts whose motions are known,
//     m.m / 2 I_a + m_c^2 / 2 (1 / I_c - 1 / I_a)      a symmetric top: a turn about m, and one about its axis c
//     m_b^2 / 2 (1 / I_b - 1 / I_a)                    what it is not: a turn about b
// and the body moves by half a step of the second, a step of the first and half a step of the second (Fasso 2003). That is
// symplectic and reversible: the angular momentum is kept to rounding, the energy to second order and without drift. A
// symmetric top moves exactly. level_energy then takes the error of the energy away.
SAND_HOST_DEVICE SandQuat free_rotation(SandQuat rotation, SandVec3 inertia, SandVec3 momentum, double step) {
    SandTop top = top_of(inertia);
    SandVec3 m = q_unrotate(rotation, momentum);
    SandQuat turn = q_turn(v3_scale(0.5 * step * top.b * v3_dot(m, top.axis_b), top.axis_b));
    m = q_unrotate(turn, m);
    SandQuat about = q_turn(v3_scale(step * top.c * v3_dot(m, top.axis_c), top.axis_c));
    m = q_unrotate(about, m);
    turn = q_mul(turn, about);
    turn = q_mul(turn, q_turn(v3_scale(0.5 * step * top.b * v3_dot(m, top.axis_b), top.axis_b)));
    return q_unit(q_mul(q_turn(v3_scale(step * top.a, momentum)), q_mul(rotation, turn)));
}
