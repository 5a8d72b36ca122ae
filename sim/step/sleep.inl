// What rests is left out of the solve; one source for the CPU and the GPU.
//
// A body that was slower than the world's rest_speed for REST_SECONDS rests. It is no unknown of the solve: what is awake
// meets it as a body of infinite mass. A contact between two resting bodies, or of one with a boundary that stands still, is
// left out of the problem and keeps the impulse that it has. What that costs in truth is measured, body by body: after the
// solve all impulses on a resting body that touches something awake are summed, those of contacts that were left out and
// those that were just found, and it wakes if they would give it REST_WAKE times the rest_speed. Waking spreads by one body
// in a step. Deep inside what rests nothing changes, and nothing is computed.
//
// The two limits are far apart because every body that falls asleep or wakes changes the loads of its neighbors a little:
// with limits close to each other that wakes others without end. And both are small against what gravity does in a step,
// since all that bodies are out of balance adds up along a column: with REST_WAKE rest_speed = g h / 10 a pile that wakes as
// a whole lacks at most a tenth of its support, and in fact far less.
//
// A contact can only vanish with one of its bodies awake or its boundary moving. The bit REST_TOUCHED lets the other body be
// solved for once more, so that nothing rests on what is no longer there. When settings change (rest_settings) no contact is
// left out for a step. What a joint holds never rests.
//
// The impulses on resting bodies are summed in fixed point: the sums do not depend on their order or on threads.
#pragma once
#include "sim/collision/collide.h"
#include "sandglass/problem.h"
#include "sim/world/period.inl"

enum {
    REST_STEPS = 0x7fff,   // of world->rest: steps in a row that the body was slow
    REST_TOUCHED = 0x8000, // of world->rest: in the last step it had a contact that was solved
};
#define REST_SECONDS 0.5        // slow for so long, a body rests
#define REST_AGAIN 0.1          // the same for one that woke and did not move
#define REST_WAKE 10.0          // times rest_speed: what the impulses on a resting body must give it to wake it
#define REST_UNITS 4294967296.0 // of fixed point in mass times rest_speed

enum { TOUCHES_AWAKE = 1, TOUCHES_MOVING = 2 }; // bits of RestArrays.touches; the second keeps a body awake

// Impulse and its moment on one body, in fixed point.
typedef struct RestSum {
    int64_t linear[3], angular[3];
} RestSum;

// Of each body, by solver index, for one step.
typedef struct RestArrays {
    uint32_t *touches; // NULL: nothing is left out
    RestSum *sum;      // of the impulses on it, if it rests and touches something awake
} RestArrays;

SAND_HOST_DEVICE void rest_or(uint32_t *flags, uint32_t bits) {
#ifdef __CUDA_ARCH__
    atomicOr(flags, bits);
#else
    __atomic_fetch_or(flags, bits, __ATOMIC_RELAXED);
#endif
}

SAND_HOST_DEVICE void rest_add(int64_t *sum, double value) {
    const double most = 4503599627370496.0; // 2^52: a sum of a thousand cannot overflow
    value = value < most ? value : most;
    value = value > -most ? value : -most;
#ifdef __CUDA_ARCH__
    atomicAdd((unsigned long long *)sum, (unsigned long long)(int64_t)value);
#else
    __atomic_fetch_add(sum, (int64_t)value, __ATOMIC_RELAXED);
#endif
}

// Steps after which a slow body rests.
SAND_HOST_DEVICE int rest_enough(const SandWorld *w) {
    double steps = ceil(REST_SECONDS / w->step);
    return steps < REST_STEPS ? (int)steps : REST_STEPS;
}

SAND_HOST_DEVICE bool body_rests(const SandWorld *w, int body) {
    return w->rest_speed > 0 && (w->rest[body] & REST_STEPS) >= rest_enough(w) && body != w->spring.body;
}

// Whether a boundary stands still in the coming step.
SAND_HOST_DEVICE bool boundary_still(const SandCollision *collision, int boundary) {
    SandVec3 v = collision->velocity[boundary], s = collision->spin[boundary];
    return v3_dot(v, v) + v3_dot(s, s) == 0;
}

// Whether a contact is left out.
SAND_HOST_DEVICE bool contact_rests(const SandWorld *w, const SandCollision *collision, const SandContactCandidate *c) {
    return !sand_candidate_is_joint(c) && body_rests(w, collision->body[c->index_a]) &&
           (c->b < 0 ? boundary_still(collision, -1 - c->b) : body_rests(w, collision->body[c->b]));
}

// Notes for both bodies that this contact is solved.
SAND_HOST_DEVICE void rest_touch(const SandCollision *collision, const SandContactCandidate *c, RestArrays rest) {
    bool joint = sand_candidate_is_joint(c), moving = joint || (c->b < 0 && !boundary_still(collision, -1 - c->b));
    rest_or(&rest.touches[c->index_a], moving ? TOUCHES_MOVING : TOUCHES_AWAKE);
    if (c->b >= 0) rest_or(&rest.touches[c->b], joint ? TOUCHES_MOVING : TOUCHES_AWAKE);
}

// The size of a body at which its spin counts as speed.
SAND_HOST_DEVICE double rest_size(const SandWorld *w, int body) { return w->scale[body] * w->shapes[w->shape[body]].bound; }

// Adds an impulse, and a torque, on a body that rests and touches something awake; others do not need the sum.
SAND_HOST_DEVICE void rest_add_impulse(const SandWorld *w, const SandCollision *collision, int index, SandVec3 point,
                                       SandVec3 impulse, SandVec3 torque, RestArrays rest) {
    int body = collision->body[index];
    if (!rest.touches[index] || !body_rests(w, body)) return;
    SandVec3 moment = v3_add(v3_cross(v3_sub(point, period_image(w, w->position[body], point)), impulse), torque);
    double linear = REST_UNITS / (w->mass[body] * w->rest_speed), angular = linear / rest_size(w, body);
    RestSum *sum = &rest.sum[index];
    rest_add(&sum->linear[0], linear * impulse.x);
    rest_add(&sum->linear[1], linear * impulse.y);
    rest_add(&sum->linear[2], linear * impulse.z);
    rest_add(&sum->angular[0], angular * moment.x);
    rest_add(&sum->angular[1], angular * moment.y);
    rest_add(&sum->angular[2], angular * moment.z);
}

// Adds the impulse and the torque of a contact, on b, to those of its bodies that rest.
SAND_HOST_DEVICE void rest_add_contact(const SandWorld *w, const SandCollision *collision, const SandContactCandidate *c,
                                       SandVec3 impulse, SandVec3 torque, RestArrays rest) {
    rest_add_impulse(w, collision, c->index_a, c->point, v3_neg(impulse), v3_neg(torque), rest);
    if (c->b >= 0) rest_add_impulse(w, collision, c->b, c->point, impulse, torque, rest);
}

// A resting body as the solver sees it.
SAND_HOST_DEVICE SandProblemBody rest_fixed(SandProblemBody b) {
    SandProblemBody fixed = {.radius = b.radius, .position = b.position};
    return fixed;
}

// The motion that all impulses together would give a resting body, from its free motion.
SAND_HOST_DEVICE void rest_motion(const SandWorld *w, int body, const RestSum *s, const SandProblemBody *b,
                                  SandVec3 *velocity, SandVec3 *spin) {
    double linear = w->mass[body] * w->rest_speed / REST_UNITS, angular = linear * rest_size(w, body);
    SandVec3 impulse = v3_make((double)s->linear[0], (double)s->linear[1], (double)s->linear[2]);
    SandVec3 moment = v3_make((double)s->angular[0], (double)s->angular[1], (double)s->angular[2]);
    *velocity = v3_madd(b->velocity, linear * b->inverse_mass, impulse);
    *spin = v3_madd(b->spin, angular, m3_apply_symmetric(b->inverse_inertia, moment));
}

// Judges a body by the velocity it would have. Returns whether it stands still in this step. So does one that wakes, since
// what is awake met it as a wall: it moves from the next step on.
SAND_HOST_DEVICE bool rest_update(SandWorld *w, int body, uint32_t touches, SandVec3 velocity, SandVec3 spin) {
    int enough = rest_enough(w), steps = w->rest[body] & REST_STEPS;
    bool rests = body_rests(w, body);
    if (!rests || touches) {
        double speed = v3_length(velocity) + rest_size(w, body) * v3_length(spin);
        bool slow =
            speed <= (rests ? REST_WAKE : 1) * w->rest_speed && !(touches & TOUCHES_MOVING) && body != w->spring.body;
        int woken = rests ? (int)((1 - REST_AGAIN / REST_SECONDS) * enough) : 0;
        steps = !slow ? woken : steps < enough ? steps + 1 : enough;
    }
    w->rest[body] = (uint16_t)(steps | (touches ? REST_TOUCHED : 0));
    return rests || steps >= enough;
}
