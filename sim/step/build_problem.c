// SPDX-License-Identifier: MIT
// Building the problem of a step with the threads of the CPU, renewing the rows of joints for another pass, and rebuilding
// the contacts of a step that a device has taken.
#include "sim/step/build_problem.h"

#include "sim/core/array.h"
#include "sim/step/build_problem.inl"
#include "sim/step/joint_rows.inl"

// Numbers the blocks of joints among the contacts.
static bool reserve_joints(SandHostState *host, SandError *error) {
    SandProblem *p = &host->problem;
    int count = 0;
    for (int i = 0; host->world.joint_count && i < p->contact_count; i++)
        count += sand_candidate_is_joint(&host->collision.contacts[i]);
    if (!sand_problem_reserve_joints(p, count, error) ||
        (count && !SAND_GROW(host->lift, host->lift_capacity, p->dynamic_count, "joints", error)))
        return false;
    for (int i = 0, next = 0; count && i < p->contact_count; i++)
        if (sand_candidate_is_joint(&host->collision.contacts[i])) p->joint[i] = next++;
    return true;
}

bool sand_problem_reserve(SandHostState *host, SandError *error) {
    const SandWorld *w = &host->world;
    const SandCollision *collision = &host->collision;
    SandProblem *p = &host->problem;
    p->dynamic_count = collision->body_count;
    p->body_count = collision->body_count + w->boundary_count + (w->joint_count ? 1 : 0); // the last: the world itself
    p->contact_count = collision->contact_count;
    p->step = w->step;
    p->recovery = problem_recovery(w);
    p->bounces = sand_world_bounces(w);
    p->rolls = sand_world_rolls(w);
    p->radial = w->joint_count == 0; // a joint has arms of its own
    for (int k = 0; k < w->shape_count; k++) p->radial = p->radial && w->shapes[k].kind == SAND_SPHERE;
    for (int b = 0; b < w->boundary_count; b++) p->radial = p->radial && v3_dot(collision->spin[b], collision->spin[b]) == 0;
    return SAND_GROW(p->bodies, p->body_capacity, p->body_count, "bodies", error) &&
           SAND_GROW(p->contacts, p->contact_capacity, p->contact_count, "contacts", error) &&
           SAND_GROW(p->start, p->start_capacity, sand_problem_vectors(p), "contacts", error) && reserve_joints(host, error);
}

// Adds a tension to that of body k, and lifts its inertia to it.
static void lift_inertia(SandHostState *host, int k, double tension) {
    const SandWorld *w = &host->world;
    if (k >= host->problem.dynamic_count || tension == 0) return;
    host->lift[k] += tension;
    lifted_inertia(w, host->collision.body[k], w->step * host->lift[k], host->problem.bodies[k].inverse_inertia);
}

static void lift_inertias(SandHostState *host) {
    const SandProblem *p = &host->problem;
    for (int k = 0; k < p->dynamic_count; k++) host->lift[k] = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        if (p->joint[i] < 0) continue;
        lift_inertia(host, c->a, joint_tension(c, p->start[i], false));
        lift_inertia(host, c->b, joint_tension(c, p->start[i], true));
    }
}

static void build_work(SandWorker *worker, void *argument) {
    SandHostState *host = argument;
    const SandWorld *w = &host->world;
    const SandCollision *collision = &host->collision;
    SandProblem *p = &host->problem;
    for (int64_t k = sand_chunk_begin(worker->first_chunk, p->body_count);
         k < sand_chunk_begin(worker->last_chunk, p->body_count); k++) {
        p->bodies[k] = problem_body(w, collision, (int)k);
    }
    for (int64_t i = sand_chunk_begin(worker->first_chunk, p->contact_count);
         i < sand_chunk_begin(worker->last_chunk, p->contact_count); i++) {
        const SandContactCandidate *candidate = &collision->contacts[i];
        p->contacts[i] = p->joint_count && p->joint[i] >= 0
                             ? known_joint_contact(w, collision, candidate, p->recovery, &p->joints[p->joint[i]])
                             : problem_contact(w, collision, candidate);
    }
}

void sand_problem_build(SandHostState *host, SandThreadPool *pool) {
    sand_thread_pool_run(pool, build_work, host);
    if (host->problem.joint_count) lift_inertias(host);
}

// How a body of the world moves by the solution; the world itself, body -1, stands still.
static BodyMotion solved_motion(const SandHostState *host, int body) {
    BodyMotion still = {{0, 0, 0}, {0, 0, 0}};
    if (body < 0) return still;
    int k = host->collision.solver_index[body];
    return (BodyMotion){host->solution.velocity[k], host->solution.spin[k]};
}

void sand_problem_renew_joints(SandHostState *host) {
    SandProblem *p = &host->problem;
    for (int i = 0; i < sand_problem_vectors(p); i++) p->start[i] = host->solution.impulse[i];
    for (int i = 0; p->joint_count && i < p->contact_count; i++) { // none of a rank that holds no joint
        const SandContactCandidate *candidate = &host->collision.contacts[i];
        if (p->joint[i] < 0) continue;
        const SandJoint *j = candidate_joint(&host->world, candidate);
        joint_contact(&host->world, &host->collision, candidate, p->recovery, solved_motion(host, j->a),
                      solved_motion(host, j->b), &p->joints[p->joint[i]]);
    }
}

// Where body k of the problem was before the step; in a periodic world, its image at the contact.
static SandVec3 position_before(const SandWorld *w, const SandProblem *p, int k, SandVec3 point) {
    return period_image(w, p->bodies[k].position, point);
}

static void rebuild_work(SandWorker *worker, void *argument) {
    SandHostState *host = argument;
    const SandWorld *w = &host->world;
    const SandCollision *collision = &host->collision;
    SandProblem *p = &host->problem;
    for (int64_t i = sand_chunk_begin(worker->first_chunk, p->contact_count);
         i < sand_chunk_begin(worker->last_chunk, p->contact_count); i++) {
        const SandContactCandidate *candidate = &collision->contacts[i];
        if (sand_candidate_is_joint(candidate)) continue;
        SandVec3 a = position_before(w, p, candidate->index_a, candidate->point), b = a;
        if (candidate->b >= 0) b = position_before(w, p, candidate->b, candidate->point);
        p->contacts[i] = contact_at(collision, candidate, a, b);
    }
}

void sand_problem_rebuild_contacts(SandHostState *host, SandThreadPool *pool) {
    sand_thread_pool_run(pool, rebuild_work, host);
}
