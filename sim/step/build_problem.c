#include "sim/step/build_problem.h"

#include "sim/core/array.h"
#include "sim/step/build_problem.inl"

bool sand_problem_reserve(SandHostState *host, SandError *error) {
    const SandWorld *w = &host->world;
    const SandCollision *collision = &host->collision;
    SandProblem *p = &host->problem;
    p->dynamic_count = collision->body_count;
    p->body_count = collision->body_count + w->boundary_count;
    p->contact_count = collision->contact_count;
    p->step = w->step;
    p->recovery = problem_recovery(w);
    p->radial = true;
    for (int k = 0; k < w->shape_count; k++) p->radial = p->radial && w->shapes[k].kind == SAND_SPHERE;
    for (int b = 0; b < w->boundary_count; b++) p->radial = p->radial && v3_dot(collision->spin[b], collision->spin[b]) == 0;
    return SAND_GROW(p->bodies, p->body_capacity, p->body_count, "bodies", error) &&
           SAND_GROW(p->contacts, p->contact_capacity, p->contact_count, "contacts", error) &&
           SAND_GROW(p->start, p->start_capacity, p->contact_count, "contacts", error);
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
        p->contacts[i] = problem_contact(w, collision, &collision->contacts[i]);
    }
}

void sand_problem_build(SandHostState *host, SandThreadPool *pool) { sand_thread_pool_run(pool, build_work, host); }

static SandVec3 position_before(const SandWorld *w, int body) {
    return v3_madd(w->position[body], -w->step, w->velocity[body]);
}

static void rebuild_work(SandWorker *worker, void *argument) {
    SandHostState *host = argument;
    const SandWorld *w = &host->world;
    const SandCollision *collision = &host->collision;
    SandProblem *p = &host->problem;
    for (int64_t i = sand_chunk_begin(worker->first_chunk, p->contact_count);
         i < sand_chunk_begin(worker->last_chunk, p->contact_count); i++) {
        const SandContactCandidate *candidate = &collision->contacts[i];
        SandVec3 a = position_before(w, collision->body[candidate->index_a]);
        p->contacts[i] =
            contact_at(collision, candidate, a, candidate->b < 0 ? a : position_before(w, collision->body[candidate->b]));
    }
}

void sand_problem_rebuild_contacts(SandHostState *host, SandThreadPool *pool) {
    sand_thread_pool_run(pool, rebuild_work, host);
}
