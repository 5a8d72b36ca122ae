// SPDX-License-Identifier: MIT
// Writing bounces, pulls and rolling friction of all contacts into the problem with the threads of the CPU, and keeping the
// approaches that the next step needs.
#include "sim/step/laws.h"

#include "sim/collision/warm_start.inl"
#include "sim/core/array.h"

#include <string.h>

void sand_laws_free(SandLaws *laws) {
    SAND_FREE_ARRAYS(&laws->impacts, &laws->pulls);
    *laws = (SandLaws){0};
}

// The approach that a contact had in the last step, 0: none.
static double kept_approach(const SandHostState *host, const SandContactCandidate *candidate) {
    const SandWarmStart *warm = &host->warm_start;
    bool swapped;
    if (!(warm->step > 0) || !warm->bounces) return 0;
    SandNewContacts now = {host->collision.contacts, NULL, host->collision.first};
    int kept = warm_start_recall(warm, &host->collision, &now, candidate, &swapped);
    return kept < 0 ? 0 : warm->approach[kept];
}

typedef struct Job {
    SandLaws *laws;
    SandHostState *host;
    bool bounces, coheres, rolls;
} Job;

static void contacts_work(SandWorker *worker, void *argument) {
    const Job *job = argument;
    const SandWorld *w = &job->host->world;
    const SandCollision *collision = &job->host->collision;
    SandProblem *p = &job->host->problem;
    for (int64_t i = sand_chunk_begin(worker->first_chunk, p->contact_count);
         i < sand_chunk_begin(worker->last_chunk, p->contact_count); i++) {
        const SandContactCandidate *candidate = &collision->contacts[i];
        if (job->bounces) {
            job->laws->impacts.data[i] = impact_of(w, collision, candidate, kept_approach(job->host, candidate));
            p->contacts[i].bounce = job->laws->impacts.data[i].bounce;
        }
        if (job->coheres) {
            p->contacts[i].pull = contact_pull(w, collision, candidate);
            pull_add_contact(w, collision, candidate, job->laws->pulls.data);
        }
        if (job->rolls) contact_set_rolling(w, collision, candidate, &p->contacts[i]);
    }
}

static void bodies_work(SandWorker *worker, void *argument) {
    const Job *job = argument;
    const SandHostState *host = job->host;
    SandProblem *p = &job->host->problem;
    for (int64_t k = sand_chunk_begin(worker->first_chunk, p->dynamic_count);
         k < sand_chunk_begin(worker->last_chunk, p->dynamic_count); k++)
        p->bodies[k] = pull_body(&host->world, host->collision.body[k], &job->laws->pulls.data[k], p->bodies[k]);
}

bool sand_laws_apply(SandLaws *laws, SandHostState *host, SandThreadPool *pool, SandError *error) {
    const SandWorld *w = &host->world;
    Job job = {laws, host, sand_world_bounces(w), sand_world_coheres(w), sand_world_rolls(w)};
    size_t contacts = (size_t)host->problem.contact_count, bodies = (size_t)host->problem.dynamic_count;
    if (!job.bounces && !job.coheres && !job.rolls) return true;
    if (!SAND_RESERVE(laws->impacts, job.bounces ? contacts : 0, "contacts", error) ||
        !SAND_RESERVE(laws->pulls, job.coheres ? bodies : 0, "bodies", error))
        return false;
    if (job.coheres && bodies) memset(laws->pulls.data, 0, bodies * sizeof *laws->pulls.data);
    sand_thread_pool_run(pool, contacts_work, &job);
    if (job.coheres) sand_thread_pool_run(pool, bodies_work, &job);
    return true;
}

bool sand_laws_keep(const SandLaws *laws, SandHostState *host, SandError *error) {
    SandWarmStart *warm = &host->warm_start;
    int contacts = host->collision.contact_count;
    if (!sand_world_bounces(&host->world)) return true;
    if (!SAND_GROW(warm->approach, warm->approach_capacity, contacts, "warm start", error)) return false;
    for (int i = 0; i < contacts; i++)
        warm->approach[i] = impact_kept(laws->impacts.data[i], &host->collision.contacts[i], warm->impulse[i]);
    warm->bounces = true;
    return true;
}

void sand_laws_rebuild(SandHostState *host) {
    const SandWorld *w = &host->world;
    SandProblem *p = &host->problem;
    bool coheres = sand_world_coheres(w), rolls = sand_world_rolls(w);
    for (int i = 0; (coheres || rolls) && i < p->contact_count; i++) {
        const SandContactCandidate *candidate = &host->collision.contacts[i];
        if (coheres) p->contacts[i].pull = contact_pull(w, &host->collision, candidate);
        if (rolls) contact_set_rolling(w, &host->collision, candidate, &p->contacts[i]);
    }
}
