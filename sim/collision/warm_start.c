// Storing and applying the impulses of the last step on the CPU; the matching is in warm_start.inl.
#include "sim/collision/warm_start.inl"
#include "sim/core/array.h"
#include "sim/core/assert.h"

#include <stdatomic.h>

void sand_warm_start_free(SandWarmStart *m) {
    sand_free(m->solver_index);
    sand_free(m->first);
    sand_free(m->key);
    sand_free(m->impulse);
    *m = (SandWarmStart){0};
}

void sand_warm_start_clear(SandWarmStart *m) { m->step = 0; }

static bool reserve(SandWarmStart *m, int world_count, int body_count, int contacts, SandError *error) {
    return SAND_GROW(m->solver_index, m->solver_index_capacity, world_count, "warm start", error) &&
           SAND_GROW(m->first, m->first_capacity, body_count + 1, "warm start", error) &&
           SAND_GROW(m->key, m->key_capacity, contacts, "warm start", error) &&
           SAND_GROW(m->impulse, m->impulse_capacity, contacts, "warm start", error);
}

bool sand_warm_start_store(SandWarmStart *m, const SandCollision *d, const SandVec3 *impulse, double step, int world_count,
                           SandError *error) {
    SAND_ASSERT(d->first[d->body_count] == d->contact_count && d->body_count <= world_count);
    m->step = 0;
    if (!reserve(m, world_count, d->body_count, d->contact_count, error)) return false;
    m->body_count = d->body_count;
    m->world_count = world_count;
    m->step = step;
    for (int i = 0; i < world_count; i++) m->solver_index[i] = d->solver_index[i];
    for (int k = 0; k <= d->body_count; k++) m->first[k] = d->first[k];
    for (int i = 0; i < d->contact_count; i++) {
        m->key[i] = d->contacts[i].key;
        m->impulse[i] = impulse[i];
    }
    return true;
}

bool sand_warm_start_copy(SandWarmStart *to, const SandWarmStart *from, SandError *error) {
    int contacts = from->step > 0 ? from->first[from->body_count] : 0;
    to->step = 0;
    if (from->step == 0) return true;
    if (!reserve(to, from->world_count, from->body_count, contacts, error)) return false;
    to->body_count = from->body_count;
    to->world_count = from->world_count;
    to->step = from->step;
    for (int i = 0; i < from->world_count; i++) to->solver_index[i] = from->solver_index[i];
    for (int k = 0; k <= from->body_count; k++) to->first[k] = from->first[k];
    for (int i = 0; i < contacts; i++) {
        to->key[i] = from->key[i];
        to->impulse[i] = from->impulse[i];
    }
    return true;
}

size_t sand_warm_start_bytes(const SandWarmStart *m) {
    return m->solver_index_capacity * sizeof *m->solver_index + m->first_capacity * sizeof *m->first +
           m->key_capacity * sizeof *m->key + m->impulse_capacity * sizeof *m->impulse;
}

typedef struct Job {
    const SandWarmStart *m;
    const SandCollision *d;
    double ratio;
    SandVec3 *start;
    atomic_int warm_started;
} Job;

static void apply_work(SandWorker *w, void *argument) {
    Job *job = argument;
    const SandCollision *d = job->d;
    int warm_started = 0;
    for (int64_t i = sand_chunk_begin(w->first_chunk, d->contact_count);
         i < sand_chunk_begin(w->last_chunk, d->contact_count); i++) {
        bool turned = false;
        int kept = job->m->step > 0 ? warm_start_recall(job->m, d, &d->contacts[i], &turned) : -1;
        if (kept >= 0) warm_started++;
        job->start[i] = kept < 0 ? v3_make(0, 0, 0) : v3_scale(turned ? -job->ratio : job->ratio, job->m->impulse[kept]);
    }
    job->warm_started += warm_started;
}

int sand_warm_start_apply(const SandWarmStart *m, const SandCollision *d, double step, SandVec3 *start,
                          SandThreadPool *pool) {
    Job job = {.m = m, .d = d, .ratio = m->step > 0 ? step / m->step : 0, .start = start};
    sand_thread_pool_run(pool, apply_work, &job);
    SAND_ASSERT(job.warm_started <= d->contact_count);
    return job.warm_started;
}
