// SPDX-License-Identifier: MIT
// From bodies and contact candidates to the contact problem of a step, body by body and contact by contact; one source for
// the CPU and the GPU.
#pragma once
#include "sim/collision/collide.h"
#include "sandglass/problem.h"
#include "sim/step/rotation.inl"
#include "sim/world/period.inl"
#include "sim/world/push.inl"

// Shallow is what a body falls in a step: an impact is undone at once, and what a pile at rest leaves is not.
SAND_HOST_DEVICE SandRecovery problem_recovery(const SandWorld *w) {
    double gravity = v3_length(w->gravity);
    SandRecovery r = {w->recovery, gravity * w->step * w->step, w->recovery_fraction, 0};
    for (int k = 0; k < w->shape_count; k++)
        if (w->shapes[k].sphere_count == 0) r.fall = gravity;
    return r;
}

// The free motion M^-1 Q of a body, its mean over the step, and its inverse inertia in world coordinates.
SAND_HOST_DEVICE SandProblemBody free_body(const SandWorld *w, int body) {
    const SandShape *shape = &w->shapes[w->shape[body]];
    SandVec3 inertia = w->inertia[body], inverse = v3_make(1 / inertia.x, 1 / inertia.y, 1 / inertia.z);
    SandProblemBody b = {.inverse_mass = 1 / w->mass[body],
                         .inverse_inertia = {inverse.x, inverse.x, inverse.x, 0, 0, 0},
                         .velocity = v3_madd(w->velocity[body], w->step, w->gravity),
                         .spin = w->spin[body],
                         .position = w->position[body]};
    if (shape->kind == SAND_SPHERE) {
        b.radius = w->scale[body];
    } else {
        SandMat3 m = m3_rotated_diagonal(q_matrix(w->rotation[body]), inverse);
        double full[6] = {m.m[0][0], m.m[1][1], m.m[2][2], m.m[0][1], m.m[0][2], m.m[1][2]};
        for (int i = 0; i < 6; i++) b.inverse_inertia[i] = full[i];
        b.spin = v3_add(b.spin, gyroscopic_change(w, body));
    }
    if (w->force) b.velocity = v3_madd(b.velocity, w->step, push_acceleration(w, body));
    if (w->torque) b.spin = v3_madd(b.spin, w->step, m3_apply_symmetric(b.inverse_inertia, w->torque[body]));
    return b;
}

// The impulse at a point of the body that changes the velocity of the point by `change`: K g = change, with K the inverse
// effective mass at the point, column by column; solved by Cramer's rule.
SAND_HOST_DEVICE SandVec3 impulse_for(const SandProblemBody *b, SandVec3 arm, SandVec3 change) {
    const SandVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    SandVec3 k[3];
    for (int i = 0; i < 3; i++) {
        SandVec3 spin = m3_apply_symmetric(b->inverse_inertia, v3_cross(arm, axes[i]));
        k[i] = v3_add(v3_scale(b->inverse_mass, axes[i]), v3_cross(spin, arm));
    }
    double all = v3_dot(k[0], v3_cross(k[1], k[2]));
    return v3_make(v3_dot(change, v3_cross(k[1], k[2])) / all, v3_dot(k[0], v3_cross(change, k[2])) / all,
                   v3_dot(k[0], v3_cross(k[1], change)) / all);
}

// The mouse spring over the step. Its point moves as a mass on a critically damped spring, integrated implicitly:
// u' = (u + h rate^2 (target - p)) / (1 + 2 h rate + h^2 rate^2).
SAND_HOST_DEVICE void pull_spring(const SandWorld *w, SandProblemBody *b) {
    const SandSpring *s = &w->spring;
    double h = w->step, rate = s->rate;
    SandVec3 arm = q_rotate(w->rotation[s->body], s->point), p = v3_add(w->position[s->body], arm);
    SandVec3 u = v3_add(b->velocity, v3_cross(b->spin, arm));
    SandVec3 wanted = v3_madd(u, h * rate * rate, v3_sub(s->target, p));
    wanted = v3_scale(1 / (1 + 2 * h * rate + h * h * rate * rate), wanted);
    SandVec3 g = impulse_for(b, arm, v3_sub(wanted, u));
    b->velocity = v3_madd(b->velocity, b->inverse_mass, g);
    b->spin = v3_add(b->spin, m3_apply_symmetric(b->inverse_inertia, v3_cross(arm, g)));
    b->spin = v3_scale(1 / (1 + 0.1 * h * rate), b->spin); // a hand damps the spin about the point it holds
}

// The body of the problem with solver index k: moving bodies first, then boundaries.
SAND_HOST_DEVICE SandProblemBody problem_body(const SandWorld *w, const SandCollision *collision, int k) {
    if (k < collision->body_count) {
        SandProblemBody b = free_body(w, collision->body[k]);
        if (collision->body[k] == w->spring.body) pull_spring(w, &b);
        return b;
    }
    SandProblemBody boundary = {0};
    if (k == collision->body_count + w->boundary_count) return boundary; // the world, which joints hold on to
    boundary.velocity = collision->velocity[k - collision->body_count];
    boundary.spin = collision->spin[k - collision->body_count];
    return boundary;
}

// A contact candidate as the problem takes it, of bodies with these centers.
SAND_HOST_DEVICE SandContact contact_at(const SandCollision *collision, const SandContactCandidate *candidate,
                                        SandVec3 center_a, SandVec3 center_b) {
    bool boundary = candidate->b < 0;
    if (boundary) center_b = collision->pose[-1 - candidate->b].position;
    SandContact c = {.a = candidate->index_a,
                     .b = boundary ? collision->body_count - 1 - candidate->b : candidate->b,
                     .normal = candidate->normal,
                     .arm_a = v3_sub(candidate->point, center_a),
                     .arm_b = v3_sub(candidate->point, center_b),
                     .gap = candidate->gap,
                     .mu = candidate->mu};
    return c;
}

// The same for bodies where the world has them; in a periodic world, for their images at the contact.
SAND_HOST_DEVICE SandContact problem_contact(const SandWorld *w, const SandCollision *collision,
                                             const SandContactCandidate *candidate) {
    SandVec3 center_a = period_image(w, w->position[collision->body[candidate->index_a]], candidate->point);
    if (candidate->b < 0) return contact_at(collision, candidate, center_a, center_a);
    SandVec3 center_b = period_image(w, w->position[collision->body[candidate->b]], candidate->point);
    return contact_at(collision, candidate, center_a, center_b);
}
