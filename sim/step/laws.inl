// SPDX-License-Identifier: MIT
// The laws of a pair of materials beside friction, contact by contact; one source for the CPU and the GPU.
//
// Restitution (Newton's). A contact that meets within the step, u its normal velocity before it, asks for u' >= -e u of the
// solve: all impacts of a step start from the velocities before it, so that they give back no energy they did not take.
// They act where the step finds them, up to h u early.
//
// Positions and velocities of a body that falls freely lie exactly on a parabola, x' = x + h v' and v' = v + h a, but its
// speed where it is at x is v + h a / 2. With this the speed of the bounce off a boundary is chosen so that the energy after
// it is e^2 times that of the meeting, in whatever place of the gap the step finds it: heights do not depend on the step. A
// rebound so low that it does not even reach that place begins in the next step, when the gap is closed: for this one step
// the speed of the meeting, the approach, is kept beside the impulse of the contact (SandWarmStart.approach).
//
// Cohesion. The impulse g of a closed contact may pull up to c h: its cone is shifted by -c h along the normal. With g = g'
// - c h n that is the ordinary cone for g', and -c h n belongs to the free motion of the two bodies. The solvers know g'
// alone, and so does the warm start. The pulls on a body are summed in fixed point, which no order changes.
//
// Rolling and spinning friction are bounds of torques, which the solvers know (sim/solver/kernel/rolling.inl).
#pragma once
#include "sim/step/build_problem.inl"
#include "sim/step/sleep.inl"

#define PULL_REACH 0.01            // of the smaller body: the gap up to which cohesion pulls
#define PULL_UNITS 1099511627776.0 // of fixed point in mass times 1 m/s

// The laws of the two materials of a contact.
SAND_HOST_DEVICE const SandPair *contact_laws(const SandWorld *w, const SandCollision *collision,
                                              const SandContactCandidate *c) {
    int other = c->b < 0 ? w->boundaries[-1 - c->b].material : w->material[collision->body[c->b]];
    return sand_world_pair(w, w->material[collision->body[c->index_a]], other);
}

// --- restitution --------------------------------------------------------------------------------------------

// What a contact does in this step.
typedef struct SandImpact {
    double approach; // m/s, to be kept for the next step, in which it bounces; 0: nothing is
    double bounce;   // m/s, as in SandContact; 0: it does not bounce
} SandImpact;

// How fast a point moves that is at `point` in the world, of something that moves and turns about `center`.
SAND_HOST_DEVICE SandVec3 point_velocity(SandVec3 velocity, SandVec3 spin, SandVec3 center, SandVec3 point) {
    return v3_add(velocity, v3_cross(spin, v3_sub(point, center)));
}

// The same of a body; in a periodic world, of its image at the point.
SAND_HOST_DEVICE SandVec3 body_point_velocity(const SandWorld *w, int body, SandVec3 point) {
    return point_velocity(w->velocity[body], w->spin[body], period_image(w, w->position[body], point), point);
}

// The speed at which the surfaces of a contact come closer, before the step.
SAND_HOST_DEVICE double closing_speed(const SandWorld *w, const SandCollision *collision, const SandContactCandidate *c) {
    int a = collision->body[c->index_a], b = c->b < 0 ? -1 - c->b : collision->body[c->b];
    SandVec3 u = body_point_velocity(w, a, c->point);
    SandVec3 v = c->b < 0 ? point_velocity(collision->velocity[b], collision->spin[b], collision->pose[b].position, c->point)
                          : body_point_velocity(w, b, c->point);
    return v3_dot(v3_sub(u, v), c->normal);
}

// How fast that grows, m/s^2: two bodies fall together.
SAND_HOST_DEVICE double closing_acceleration(const SandWorld *w, const SandCollision *collision,
                                             const SandContactCandidate *c) {
    double fall = c->b < 0 ? v3_dot(w->gravity, c->normal) : 0;
    if (!w->force) return fall;
    SandVec3 pushed = push_acceleration(w, collision->body[c->index_a]);
    if (c->b >= 0) pushed = v3_sub(pushed, push_acceleration(w, collision->body[c->b]));
    return fall + v3_dot(pushed, c->normal);
}

// The speed at which a contact meets within the step, and 0 where it does not or too slowly to bounce. `speed` is that of
// the parabola at the start of the step, `fall` its acceleration.
SAND_HOST_DEVICE double meeting_speed(const SandWorld *w, double gap, double speed, double fall) {
    double square = speed * speed + 2 * fall * gap;
    bool meets = speed > 0 && gap < w->step * (speed + 0.5 * w->step * fall);
    return meets && square > w->bounce_speed * w->bounce_speed ? sqrt(square) : 0;
}

// What a contact does that had this approach in the last step.
SAND_HOST_DEVICE SandImpact impact_of(const SandWorld *w, const SandCollision *collision, const SandContactCandidate *c,
                                      double kept) {
    SandImpact impact = {0, 0};
    if (sand_candidate_is_joint(c)) return impact;
    double h = w->step, restitution = contact_laws(w, collision, c)->restitution;
    if (!(restitution > 0)) return impact;
    double fall = closing_acceleration(w, collision, c);
    double approach = kept;
    if (!(kept > 0)) approach = meeting_speed(w, c->gap, closing_speed(w, collision, c) + 0.5 * h * fall, fall);
    double square = restitution * restitution * approach * approach - 2 * fall * c->gap;
    if (!(kept > 0) && !(square > 0)) impact.approach = approach;
    if (!(approach > 0 && square > 0)) return impact;
    SandRecovery r = problem_recovery(w);
    double bounce = sqrt(square) - 0.5 * h * fall + sand_recovery_bias(r, sand_recovery_gap(r, c->gap, h), h);
    impact.bounce = bounce > 0 ? bounce : 0;
    return impact;
}

// What is kept of it, given the impulse of the contact: one that did not act did not meet.
SAND_HOST_DEVICE double impact_kept(SandImpact impact, const SandContactCandidate *c, SandVec3 impulse) {
    return v3_dot(impulse, c->normal) > 0 ? impact.approach : 0;
}

// --- cohesion -----------------------------------------------------------------------------------------------

// The pull of a contact over the step, N s.
SAND_HOST_DEVICE double contact_pull(const SandWorld *w, const SandCollision *collision, const SandContactCandidate *c) {
    if (sand_candidate_is_joint(c)) return 0;
    double cohesion = contact_laws(w, collision, c)->cohesion;
    double size = sleep_size(w, collision->body[c->index_a]);
    if (c->b >= 0) size = fmin(size, sleep_size(w, collision->body[c->b]));
    return c->gap <= PULL_REACH * size ? w->step * cohesion : 0;
}

SAND_HOST_DEVICE void pull_add(const SandWorld *w, int body, SandVec3 point, SandVec3 impulse, FixedSum *sum) {
    SandVec3 moment = v3_cross(v3_sub(point, period_image(w, w->position[body], point)), impulse);
    double linear = PULL_UNITS / w->mass[body], angular = linear / sleep_size(w, body);
    fixed_add(&sum->linear[0], linear * impulse.x);
    fixed_add(&sum->linear[1], linear * impulse.y);
    fixed_add(&sum->linear[2], linear * impulse.z);
    fixed_add(&sum->angular[0], angular * moment.x);
    fixed_add(&sum->angular[1], angular * moment.y);
    fixed_add(&sum->angular[2], angular * moment.z);
}

// Adds the pull of a contact to the sums of its bodies, by solver index.
SAND_HOST_DEVICE void pull_add_contact(const SandWorld *w, const SandCollision *collision, const SandContactCandidate *c,
                                       FixedSum *sums) {
    double pull = contact_pull(w, collision, c);
    if (!(pull > 0)) return;
    SandVec3 on_a = v3_scale(pull, c->normal);
    pull_add(w, collision->body[c->index_a], c->point, on_a, &sums[c->index_a]);
    if (c->b >= 0) pull_add(w, collision->body[c->b], c->point, v3_neg(on_a), &sums[c->b]);
}

// The free motion of a body with the pulls on it.
SAND_HOST_DEVICE SandProblemBody pull_body(const SandWorld *w, int body, const FixedSum *s, SandProblemBody b) {
    double linear = w->mass[body] / PULL_UNITS, angular = linear * sleep_size(w, body);
    SandVec3 impulse = v3_make((double)s->linear[0], (double)s->linear[1], (double)s->linear[2]);
    SandVec3 moment = v3_make((double)s->angular[0], (double)s->angular[1], (double)s->angular[2]);
    b.velocity = v3_madd(b.velocity, linear * b.inverse_mass, impulse);
    b.spin = v3_madd(b.spin, angular, m3_apply_symmetric(b.inverse_inertia, moment));
    return b;
}

// --- rolling and spinning friction --------------------------------------------------------------------------

SAND_HOST_DEVICE void contact_set_rolling(const SandWorld *w, const SandCollision *collision,
                                          const SandContactCandidate *candidate, SandContact *c) {
    if (sand_candidate_is_joint(candidate)) return;
    const SandPair *laws = contact_laws(w, collision, candidate);
    c->rolling = laws->rolling;
    c->spinning = laws->spinning;
}
