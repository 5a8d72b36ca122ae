// The motion of a body before and after the solve, and its contacts as the problem takes them: one text for both machines.
#pragma once
#include "sim/collision/collide.h"
#include "sim/solver/problem.h"

// The free motion M^-1 Q of a body of the world, and its inverse inertia as the world sees it.
SAND_HOST_DEVICE SandProblemBody free_body(const SandWorld *w, int body) {
    const SandShape *shape = &w->shapes[w->shape[body]];
    SandVec3 inertia = w->inertia[body], inverse = v3_make(1 / inertia.x, 1 / inertia.y, 1 / inertia.z);
    SandProblemBody b = {.inverse_mass = 1 / w->mass[body],
                         .inverse_inertia = {inverse.x, inverse.x, inverse.x, 0, 0, 0},
                         .velocity = v3_madd(w->velocity[body], w->step, w->gravity),
                         .spin = w->spin[body]};
    if (shape->kind == SAND_SPHERE) {
        b.radius = w->scale[body];
    } else {
        SandMat3 m = m3_turned_diagonal(q_matrix(w->rotation[body]), inverse);
        double full[6] = {m.m[0][0], m.m[1][1], m.m[2][2], m.m[0][1], m.m[0][2], m.m[1][2]};
        for (int i = 0; i < 6; i++) b.inverse_inertia[i] = full[i];
    }
    return b;
}

SAND_HOST_DEVICE SandVec3 symmetric_apply(const double *m, SandVec3 v) { // xx, yy, zz, xy, xz, yz
    return v3_make(m[0] * v.x + m[3] * v.y + m[4] * v.z, m[3] * v.x + m[1] * v.y + m[5] * v.z,
                   m[4] * v.x + m[5] * v.y + m[2] * v.z);
}

// The impulse at a point of the body that changes the point's velocity by `change`: K g = change, with K the inverse mass
// felt at the point, column by column; solved by Cramer's rule.
SAND_HOST_DEVICE SandVec3 impulse_for(const SandProblemBody *b, SandVec3 arm, SandVec3 change) {
    const SandVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    SandVec3 k[3];
    for (int i = 0; i < 3; i++) {
        SandVec3 spin = symmetric_apply(b->inverse_inertia, v3_cross(arm, axes[i]));
        k[i] = v3_add(v3_scale(b->inverse_mass, axes[i]), v3_cross(spin, arm));
    }
    double all = v3_dot(k[0], v3_cross(k[1], k[2]));
    return v3_make(v3_dot(change, v3_cross(k[1], k[2])) / all, v3_dot(k[0], v3_cross(change, k[2])) / all,
                   v3_dot(k[0], v3_cross(k[1], change)) / all);
}

// The pull of the spring over the step. Its point moves as a mass on a critically damped spring does, implicitly:
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
    b->spin = v3_add(b->spin, symmetric_apply(b->inverse_inertia, v3_cross(arm, g)));
    b->spin = v3_scale(1 / (1 + 0.1 * h * rate), b->spin); // a hand does not let it whirl about the held point for ever
}

// The body of the problem that has rank k: bodies first, then boundaries.
SAND_HOST_DEVICE SandProblemBody problem_body(const SandWorld *w, const SandCollision *d, int k) {
    if (k < d->body_count) {
        SandProblemBody b = free_body(w, d->body[k]);
        if (d->body[k] == w->spring.body) pull_spring(w, &b);
        return b;
    }
    SandProblemBody wall = {0};
    wall.velocity = d->velocity[k - d->body_count], wall.spin = d->spin[k - d->body_count];
    return wall;
}

// A contact that was found, as the problem takes it, of bodies whose centers are here.
SAND_HOST_DEVICE SandContact contact_at(const SandCollision *d, const SandContactCandidate *f, SandVec3 center_a,
                                        SandVec3 center_b) {
    bool wall = f->b < 0;
    if (wall) center_b = d->pose[-1 - f->b].position;
    SandContact c = {.a = f->index_a,
                     .b = wall ? d->body_count - 1 - f->b : f->b,
                     .normal = f->normal,
                     .arm_a = v3_sub(f->point, center_a),
                     .arm_b = v3_sub(f->point, center_b),
                     .gap = f->gap,
                     .mu = f->mu};
    return c;
}

SAND_HOST_DEVICE SandContact problem_contact(const SandWorld *w, const SandCollision *d, const SandContactCandidate *f) {
    SandVec3 center_a = w->position[d->body[f->index_a]];
    return contact_at(d, f, center_a, f->b < 0 ? center_a : w->position[d->body[f->b]]);
}

SAND_HOST_DEVICE SandVec3 componentwise(SandVec3 a, SandVec3 b) { return v3_make(a.x * b.x, a.y * b.y, a.z * b.z); }

// Turns a body by the exponential map and then gives it the spin that keeps its angular momentum L = I w.
SAND_HOST_DEVICE void turn_body(SandWorld *w, int body) {
    SandVec3 spin = w->spin[body], inertia = w->inertia[body];
    SandQuat before = w->rotation[body];
    w->rotation[body] = q_unit(q_mul(q_exp(v3_scale(w->step, spin)), before));
    if (w->shapes[w->shape[body]].kind == SAND_SPHERE) return;
    SandVec3 momentum = q_rotate(before, componentwise(inertia, q_unrotate(before, spin)));
    SandVec3 inverse = v3_make(1 / inertia.x, 1 / inertia.y, 1 / inertia.z);
    SandQuat after = w->rotation[body];
    w->spin[body] = q_rotate(after, componentwise(inverse, q_unrotate(after, momentum)));
}

// The velocity of a body that has a contact with a boundary, changed where it would go into that by more than half its size,
// or deeper than it is. A solve that came to its end does not leave such a velocity, a short one may: then the boundary has
// the last word.
SAND_HOST_DEVICE SandVec3 stop_at_boundary(const SandWorld *w, const SandCollision *d, const SandContactCandidate *f,
                                           SandVec3 velocity) {
    int body = d->body[f->index_a], boundary = -1 - f->b;
    double half = 0.5 * w->scale[body] * w->shapes[w->shape[body]].bound;
    SandVec3 turning = v3_cross(d->spin[boundary], v3_sub(f->point, d->pose[boundary].position));
    double closer = v3_dot(v3_sub(velocity, v3_add(d->velocity[boundary], turning)), f->normal);
    double gap = f->gap - w->step * closer, least = fmin(f->gap, -half);
    return gap < least ? v3_madd(velocity, (gap - least) / w->step, f->normal) : velocity;
}

// Moves a body over the step with the velocity and spin that the solve gave it.
SAND_HOST_DEVICE void move_body(SandWorld *w, int body, SandVec3 velocity, SandVec3 spin) {
    w->velocity[body] = velocity;
    w->spin[body] = spin;
    w->position[body] = v3_madd(w->position[body], w->step, velocity);
    turn_body(w, body);
}

typedef enum SandLoss { SAND_PRESENT, SAND_LEFT, SAND_NON_FINITE } SandLoss;

// Whether a body has left the world's box or has become non-finite.
SAND_HOST_DEVICE SandLoss body_loss(const SandWorld *w, int body) {
    SandVec3 p = w->position[body];
    if (!v3_finite(p) || !v3_finite(w->velocity[body]) || !v3_finite(w->spin[body])) return SAND_NON_FINITE;
    bool within = p.x >= w->lower.x && p.y >= w->lower.y && p.z >= w->lower.z && p.x <= w->upper.x && p.y <= w->upper.y &&
                  p.z <= w->upper.z;
    return within ? SAND_PRESENT : SAND_LEFT;
}

// Takes out a body that is lost. What is not finite must not reach anything else.
SAND_HOST_DEVICE void remove_body(SandWorld *w, int body, SandLoss loss) {
    w->gone[body] = 1;
    if (loss == SAND_NON_FINITE) w->position[body] = w->velocity[body] = w->spin[body] = v3_make(0, 0, 0);
}
