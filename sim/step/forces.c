// SPDX-License-Identifier: MIT
// Summing the forces and torques on bodies for a step, after a look at every number.
#include "sim/step/forces.h"

#include "sim/world/period.inl"
#include "sim/world/world_check.h"

#include <string.h>

void sand_forces_free(SandForceArrays *a) { SAND_FREE_ARRAYS(&a->force, &a->torque); }

bool sand_forces_fit(SandForceArrays *a, SandWorld *w, SandError *error) {
    if (!w->force) return true;
    if (!SAND_RESERVE(a->force, w->body_count, "forces", error) || !SAND_RESERVE(a->torque, w->body_count, "forces", error))
        return false;
    w->force = a->force.data;
    w->torque = a->torque.data;
    return true;
}

static int body_of(const SandForces *f, int k) { return f->body ? f->body[k] : k; }

// Force and torque of entry k; the arm reaches from the center of the body, in a periodic world of the nearest image, to the
// point.
static SandVec3 force_of(const SandForces *f, int k) { return f->force ? f->force[k] : v3_make(0, 0, 0); }
static SandVec3 torque_of(const SandWorld *w, const SandForces *f, int k) {
    SandVec3 torque = f->torque ? f->torque[k] : v3_make(0, 0, 0);
    if (!f->at || !f->force) return torque;
    SandVec3 center = period_image(w, w->position[body_of(f, k)], f->at[k]);
    return v3_add(torque, v3_cross(v3_sub(f->at[k], center), f->force[k]));
}

static bool check(const SandWorld *w, const SandForces *f, SandError *error) {
    for (int k = 0; k < f->count; k++) {
        int body = body_of(f, k);
        if (body < 0 || body >= w->body_count) return sand_fail(error, "force %d: there is no body %d", k, body);
        if (f->at && !v3_finite(f->at[k]))
            return sand_fail(error, "body %d: the point (%g, %g, %g) m of its force is not finite", body, f->at[k].x,
                             f->at[k].y, f->at[k].z);
        if (!sand_check_force(w, body, force_of(f, k), torque_of(w, f, k), error)) return false;
    }
    return true;
}

bool sand_forces_add(SandForceArrays *a, SandWorld *w, const SandForces *f, SandError *error) {
    if (!check(w, f, error)) return false;
    if (f->count <= 0 || (!f->force && !f->torque)) return true;
    if (!SAND_RESERVE(a->force, w->body_count, "forces", error) || !SAND_RESERVE(a->torque, w->body_count, "forces", error))
        return false;
    for (int k = 0; k < f->count; k++) {
        int body = body_of(f, k);
        a->force.data[body] = v3_add(a->force.data[body], force_of(f, k));
        a->torque.data[body] = v3_add(a->torque.data[body], torque_of(w, f, k));
    }
    w->force = a->force.data;
    w->torque = a->torque.data;
    return true;
}

bool sand_forces_take(SandForceArrays *a, SandWorld *w, const SandWorld *all, const int *number, SandError *error) {
    w->force = w->torque = NULL;
    if (!all->force) return true;
    if (!SAND_RESERVE(a->force, w->body_count + 1, "forces", error) ||
        !SAND_RESERVE(a->torque, w->body_count + 1, "forces", error))
        return false;
    for (int i = 0; i < w->body_count; i++) {
        a->force.data[i] = all->force[number[i]];
        a->torque.data[i] = all->torque[number[i]];
    }
    w->force = a->force.data;
    w->torque = a->torque.data;
    return true;
}

void sand_forces_clear(SandForceArrays *a, SandWorld *w) {
    if (!w->force) return;
    memset(a->force.data, 0, a->force.capacity * sizeof *a->force.data);
    memset(a->torque.data, 0, a->torque.capacity * sizeof *a->torque.data);
    w->force = w->torque = NULL;
}
