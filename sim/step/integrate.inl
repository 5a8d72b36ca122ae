// SPDX-License-Identifier: MIT
// The motion of a body after the solve, and which bodies leave or are lost; one source for the CPU and the GPU.
#pragma once
#include "sim/collision/collide.h"
#include "sim/step/backend.h"
#include "sim/step/rotation.inl"
#include "sim/world/period.inl"

// Turns a body over the step. `spin` is what the solve gave it, the mean of the step (gyroscopic_change), and `kept` the
// share of the impulses that its velocity keeps (energy_bound.inl). It turns with all of them; its energy is that of what it
// keeps.
SAND_HOST_DEVICE void turn_body(SandWorld *w, int body, SandVec3 free, SandVec3 spin, double kept) {
    SandVec3 keeps = kept < 1 ? v3_madd(free, kept, v3_sub(spin, free)) : spin;
    if (w->shapes[w->shape[body]].kind == SAND_SPHERE) {
        w->rotation[body] = q_unit(q_mul(q_exp(v3_scale(w->step, spin)), w->rotation[body]));
        w->spin[body] = keeps;
        return;
    }
    SandVec3 inertia = w->inertia[body], change = gyroscopic_change(w, body), start = v3_sub(keeps, change);
    SandQuat before = w->rotation[body];
    SandVec3 momentum = spin_momentum(inertia, before, start);
    double energy = 0.5 * v3_dot(start, momentum);
    SandQuat after = free_rotation(before, inertia, spin_momentum(inertia, before, v3_sub(spin, change)), w->step);
    // A step that keeps little of its impulses turns by that alone; one of more than a radian about the momentum.
    if (!is_level(level_energy(&after, inertia, momentum, energy))) {
        after = free_rotation(before, inertia, momentum, w->step);
        if (!is_level(level_energy(&after, inertia, momentum, energy)))
            after = momentum_rotation(before, inertia, momentum, w->step);
    }
    w->rotation[body] = after;
    w->spin[body] = momentum_spin(inertia, w->rotation[body], momentum);
}

// The velocity of a body in contact with a boundary, corrected where it would penetrate by more than half its size, or
// deeper than it does now. A converged solve does not leave such a velocity, one with few iterations may: then the boundary
// has the last word.
SAND_HOST_DEVICE SandVec3 stop_at_boundary(const SandWorld *w, const SandCollision *collision,
                                           const SandContactCandidate *candidate, SandVec3 velocity) {
    int body = collision->body[candidate->index_a], boundary = -1 - candidate->b;
    double half = 0.5 * w->scale[body] * w->shapes[w->shape[body]].bound;
    SandVec3 turning = v3_cross(collision->spin[boundary], v3_sub(candidate->point, collision->pose[boundary].position));
    double closer = v3_dot(v3_sub(velocity, v3_add(collision->velocity[boundary], turning)), candidate->normal);
    double gap = candidate->gap - w->step * closer, least = fmin(candidate->gap, -half);
    return gap < least ? v3_madd(velocity, (gap - least) / w->step, candidate->normal) : velocity;
}

// Moves a body over the step with the velocity and spin that the solve gave it, of which it keeps a share.
SAND_HOST_DEVICE void move_body(SandWorld *w, int body, const SandProblemBody *free, SandVec3 velocity, SandVec3 spin,
                                double kept) {
    w->velocity[body] = kept < 1 ? v3_madd(free->velocity, kept, v3_sub(velocity, free->velocity)) : velocity;
    w->position[body] = v3_madd(w->position[body], w->step, velocity);
    if (sand_world_repeats(w)) w->position[body] = period_into_box(w, w->position[body]);
    turn_body(w, body, free->spin, spin, kept);
}

// Returns the outlet that a body is in, or -1.
SAND_HOST_DEVICE int body_outlet(const SandWorld *w, SandVec3 p) {
    for (int k = 0; k < w->outlet_count; k++) {
        const SandOutlet *o = &w->outlets[k];
        if (p.x >= o->lower.x && p.y >= o->lower.y && p.z >= o->lower.z && p.x <= o->upper.x && p.y <= o->upper.y &&
            p.z <= o->upper.z && v3_dot(o->normal, p) <= o->offset)
            return k;
    }
    return -1;
}

// Whether a body has become non-finite, is in an outlet, or has left the world's box.
SAND_HOST_DEVICE SandLoss body_loss(const SandWorld *w, int body, int *outlet) {
    SandVec3 p = w->position[body];
    if (!v3_finite(p) || !v3_finite(w->velocity[body]) || !v3_finite(w->spin[body])) return SAND_NON_FINITE;
    *outlet = body_outlet(w, p);
    if (*outlet >= 0) return SAND_BY_OUTLET;
    bool within = p.x >= w->lower.x && p.y >= w->lower.y && p.z >= w->lower.z && p.x <= w->upper.x && p.y <= w->upper.y &&
                  p.z <= w->upper.z;
    return within ? SAND_PRESENT : SAND_LEFT;
}

// Takes a body out of the world. Non-finite numbers must not reach anything else.
SAND_HOST_DEVICE void remove_body(SandWorld *w, int body, SandLoss loss, int outlet) {
    w->gone[body] = (uint8_t)(loss == SAND_BY_OUTLET ? SAND_LEFT_BY + outlet : 1);
    if (loss == SAND_NON_FINITE) w->position[body] = w->velocity[body] = w->spin[body] = v3_make(0, 0, 0);
}
