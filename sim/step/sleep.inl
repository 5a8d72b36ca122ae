// SPDX-License-Identifier: MIT
// Sleep: bodies at rest are left out of the solve. One source for the CPU and the GPU.
//
// A body falls asleep when it has been slower than the world's sleep_speed for SLEEP_SECONDS. A sleeping body is not an
// unknown of the solve: bodies awake meet it as one of infinite mass. A contact between two sleeping bodies, or of one with
// a boundary that stands still, is left out of the problem and keeps its impulse. The error of this is measured body by
// body: after the solve all impulses on a sleeping body that touches a body awake are summed, kept ones and solved ones, and
// it wakes if they would give it SLEEP_WAKE times the sleep_speed. So waking spreads by one body in a step, and deep inside
// a sleeping pile nothing is computed.
//
// The two limits are far apart because every body that falls asleep or wakes changes the loads of its neighbors a little:
// with limits close together, bodies would wake each other forever. Both are small against the speed that gravity adds in a
// step, g h, because the imbalances of bodies add up along a column: with SLEEP_WAKE sleep_speed = g h / 10 a pile that
// wakes as a whole lacks at most a tenth of its support, and in fact far less.
//
// A contact can only vanish while one of its bodies is awake or its boundary moves. The bit SLEEP_TOUCHED then has the
// balance of the other body checked for one more step, so that it cannot sleep on a support that is gone. When settings
// change (sand_sleep_settings) no contact is left out for a step. Bodies of joints never sleep.
//
// The impulses on sleeping bodies are summed in fixed point, so that sums do not depend on the order of contacts or on
// threads.
#pragma once
#include "sim/collision/collide.h"
#include "sandglass/problem.h"
#include "sim/world/period.inl"
#include "sim/world/push.inl"

enum {
    SLEEP_STEPS = 0x7fff,   // bits of world->sleep: steps in a row in which the body was slow
    SLEEP_TOUCHED = 0x8000, // bit of world->sleep: in the last step a contact of the body was solved
};
#define SLEEP_SECONDS 0.5        // time for which a body must be slow to fall asleep
#define SLEEP_AGAIN 0.1          // the same for a body that has just woken and did not move
#define SLEEP_WAKE 10.0          // speed that the impulses on a sleeping body must give it to wake it, over sleep_speed
#define SLEEP_UNITS 4294967296.0 // units of fixed point in an impulse of mass times sleep_speed

enum {
    TOUCHES_AWAKE = 1, // bit of SleepArrays.touches: a contact of the body is solved, or was in the last step
    TOUCHES_MOVING = 2 // bit: a joint, or a boundary that moves, touches the body and keeps it awake
};

// Impulse and angular impulse on one body, in fixed point.
typedef struct FixedSum {
    int64_t linear[3], angular[3];
} FixedSum;

// Of each body, by solver index, for one step.
typedef struct SleepArrays {
    uint32_t *touches; // NULL: no contact is left out
    FixedSum *sum;     // impulses on the body, if it sleeps and `touches` is not 0
} SleepArrays;

SAND_HOST_DEVICE void sleep_or(uint32_t *flags, uint32_t bits) {
#ifdef __CUDA_ARCH__
    atomicOr(flags, bits);
#else
    __atomic_fetch_or(flags, bits, __ATOMIC_RELAXED);
#endif
}

SAND_HOST_DEVICE void fixed_add(int64_t *sum, double value) {
    const double most = 4503599627370496.0; // 2^52: a sum of a thousand cannot overflow
    value = value < most ? value : most;
    value = value > -most ? value : -most;
#ifdef __CUDA_ARCH__
    atomicAdd((unsigned long long *)sum, (unsigned long long)(int64_t)value);
#else
    __atomic_fetch_add(sum, (int64_t)value, __ATOMIC_RELAXED);
#endif
}

// Steps after which a slow body falls asleep.
SAND_HOST_DEVICE int sleep_after_steps(const SandWorld *w) {
    double steps = ceil(SLEEP_SECONDS / w->step);
    return steps < SLEEP_STEPS ? (int)steps : SLEEP_STEPS;
}

// Whether something other than contacts and gravity acts on a body, which therefore does not sleep.
SAND_HOST_DEVICE bool body_is_held_awake(const SandWorld *w, int body) {
    return body == w->spring.body || body_is_pushed(w, body);
}

SAND_HOST_DEVICE bool body_is_asleep(const SandWorld *w, int body) {
    return w->sleep_speed > 0 && (w->sleep[body] & SLEEP_STEPS) >= sleep_after_steps(w) && !body_is_held_awake(w, body);
}

// Whether a boundary stands still in the coming step.
SAND_HOST_DEVICE bool boundary_still(const SandCollision *collision, int boundary) {
    SandVec3 v = collision->velocity[boundary], s = collision->spin[boundary];
    return v3_dot(v, v) + v3_dot(s, s) == 0;
}

// Whether a contact is left out.
SAND_HOST_DEVICE bool contact_is_asleep(const SandWorld *w, const SandCollision *collision, const SandContactCandidate *c) {
    return !sand_candidate_is_joint(c) && body_is_asleep(w, collision->body[c->index_a]) &&
           (c->b < 0 ? boundary_still(collision, -1 - c->b) : body_is_asleep(w, collision->body[c->b]));
}

// Marks both bodies of a contact that is solved.
SAND_HOST_DEVICE void sleep_touch(const SandCollision *collision, const SandContactCandidate *c, SleepArrays sleep) {
    bool joint = sand_candidate_is_joint(c), moving = joint || (c->b < 0 && !boundary_still(collision, -1 - c->b));
    sleep_or(&sleep.touches[c->index_a], moving ? TOUCHES_MOVING : TOUCHES_AWAKE);
    if (c->b >= 0) sleep_or(&sleep.touches[c->b], joint ? TOUCHES_MOVING : TOUCHES_AWAKE);
}

// The radius of a body, m, at which its spin counts as speed.
SAND_HOST_DEVICE double sleep_size(const SandWorld *w, int body) { return w->scale[body] * w->shapes[w->shape[body]].bound; }

// Adds an impulse and a torque to the sum of a body, if it sleeps and is touched; others do not need the sum.
SAND_HOST_DEVICE void sleep_add_impulse(const SandWorld *w, const SandCollision *collision, int index, SandVec3 point,
                                        SandVec3 impulse, SandVec3 torque, SleepArrays sleep) {
    int body = collision->body[index];
    if (!sleep.touches[index] || !body_is_asleep(w, body)) return;
    SandVec3 moment = v3_add(v3_cross(v3_sub(point, period_image(w, w->position[body], point)), impulse), torque);
    double linear = SLEEP_UNITS / (w->mass[body] * w->sleep_speed), angular = linear / sleep_size(w, body);
    FixedSum *sum = &sleep.sum[index];
    fixed_add(&sum->linear[0], linear * impulse.x);
    fixed_add(&sum->linear[1], linear * impulse.y);
    fixed_add(&sum->linear[2], linear * impulse.z);
    fixed_add(&sum->angular[0], angular * moment.x);
    fixed_add(&sum->angular[1], angular * moment.y);
    fixed_add(&sum->angular[2], angular * moment.z);
}

// Adds the impulse and the torque of a contact, which are those on b, to the sums of its sleeping bodies.
SAND_HOST_DEVICE void sleep_add_contact(const SandWorld *w, const SandCollision *collision, const SandContactCandidate *c,
                                        SandVec3 impulse, SandVec3 torque, SleepArrays sleep) {
    sleep_add_impulse(w, collision, c->index_a, c->point, v3_neg(impulse), v3_neg(torque), sleep);
    if (c->b >= 0) sleep_add_impulse(w, collision, c->b, c->point, impulse, torque, sleep);
}

// A sleeping body in the problem: of infinite mass, and without motion.
SAND_HOST_DEVICE SandProblemBody sleep_fixed(SandProblemBody b) {
    SandProblemBody fixed = {.radius = b.radius, .position = b.position};
    return fixed;
}

// The motion that all impulses together would give a sleeping body, from its free motion.
SAND_HOST_DEVICE void sleep_motion(const SandWorld *w, int body, const FixedSum *s, const SandProblemBody *b,
                                   SandVec3 *velocity, SandVec3 *spin) {
    double linear = w->mass[body] * w->sleep_speed / SLEEP_UNITS, angular = linear * sleep_size(w, body);
    SandVec3 impulse = v3_make((double)s->linear[0], (double)s->linear[1], (double)s->linear[2]);
    SandVec3 moment = v3_make((double)s->angular[0], (double)s->angular[1], (double)s->angular[2]);
    *velocity = v3_madd(b->velocity, linear * b->inverse_mass, impulse);
    *spin = v3_madd(b->spin, angular, m3_apply_symmetric(b->inverse_inertia, moment));
}

// Decides from the velocity that a body has, or would have, whether it falls asleep, sleeps on or wakes. Returns whether it
// stands still in this step. A body that wakes still does, since bodies awake met it as one of infinite mass: it moves from
// the next step on.
SAND_HOST_DEVICE bool sleep_update(SandWorld *w, int body, uint32_t touches, SandVec3 velocity, SandVec3 spin) {
    int enough = sleep_after_steps(w), steps = w->sleep[body] & SLEEP_STEPS;
    bool rests = body_is_asleep(w, body);
    if (!rests || touches) {
        double speed = v3_length(velocity) + sleep_size(w, body) * v3_length(spin);
        bool slow = speed <= (rests ? SLEEP_WAKE : 1) * w->sleep_speed && !(touches & TOUCHES_MOVING) &&
                    !body_is_held_awake(w, body);
        int woken = rests ? (int)((1 - SLEEP_AGAIN / SLEEP_SECONDS) * enough) : 0;
        steps = !slow ? woken : steps < enough ? steps + 1 : enough;
    }
    w->sleep[body] = (uint16_t)(steps | (touches ? SLEEP_TOUCHED : 0));
    return rests || steps >= enough;
}
