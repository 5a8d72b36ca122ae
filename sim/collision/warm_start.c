// SPDX-License-Identifier: MIT
// Storing and applying the impulses of the last step on the CPU; the matching is in warm_start.inl.
#include "sim/collision/warm_start.inl"
#include "sim/core/array.h"
#include "sim/core/assert.h"

#include <stdatomic.h>

void sand_warm_start_free(SandWarmStart *warm) {
    sand_free(warm->solver_index);
    sand_free(warm->first);
    sand_free(warm->key);
    sand_free(warm->impulse);
    sand_free(warm->approach);
    *warm = (SandWarmStart){0};
}

void sand_warm_start_clear(SandWarmStart *warm) { warm->step = 0; }

static bool reserve(SandWarmStart *warm, int world_count, int body_count, int contacts, bool rolls, SandError *error) {
    return SAND_GROW(warm->solver_index, warm->solver_index_capacity, world_count, "warm start", error) &&
           SAND_GROW(warm->first, warm->first_capacity, body_count + 1, "warm start", error) &&
           SAND_GROW(warm->key, warm->key_capacity, contacts, "warm start", error) &&
           SAND_GROW(warm->impulse, warm->impulse_capacity, rolls ? 2 * contacts : contacts, "warm start", error);
}

bool sand_warm_start_store(SandWarmStart *warm, const SandCollision *collision, const SandVec3 *impulse, bool rolls,
                           double step, int world_count, SandError *error) {
    SAND_ASSERT(collision->first[collision->body_count] == collision->contact_count && collision->body_count <= world_count);
    warm->step = 0;
    int contacts = collision->contact_count;
    if (!reserve(warm, world_count, collision->body_count, contacts, rolls, error)) return false;
    warm->body_count = collision->body_count;
    warm->world_count = world_count;
    warm->step = step;
    warm->bounces = false;
    warm->rolls = rolls;
    for (int i = 0; i < world_count; i++) warm->solver_index[i] = collision->solver_index[i];
    for (int k = 0; k <= collision->body_count; k++) warm->first[k] = collision->first[k];
    for (int i = 0; i < contacts; i++) {
        warm->key[i] = collision->contacts[i].key;
        warm->impulse[i] = impulse[i];
        if (rolls) warm->impulse[contacts + i] = impulse[contacts + i];
    }
    return true;
}

bool sand_warm_start_copy(SandWarmStart *to, const SandWarmStart *from, SandError *error) {
    int contacts = from->step > 0 ? from->first[from->body_count] : 0;
    if (from->step == 0) return sand_warm_start_clear(to), true;
    if (!reserve(to, from->world_count, from->body_count, contacts, from->rolls, error) ||
        !SAND_GROW(to->approach, to->approach_capacity, from->bounces ? contacts : 0, "warm start", error))
        return false;
    to->body_count = from->body_count;
    to->world_count = from->world_count;
    to->step = from->step;
    to->settings = from->settings;
    to->bounces = from->bounces;
    to->rolls = from->rolls;
    for (int i = 0; i < from->world_count; i++) to->solver_index[i] = from->solver_index[i];
    for (int k = 0; k <= from->body_count; k++) to->first[k] = from->first[k];
    for (int i = 0; i < contacts; i++) {
        to->key[i] = from->key[i];
        to->impulse[i] = from->impulse[i];
        if (from->rolls) to->impulse[contacts + i] = from->impulse[contacts + i];
        if (from->bounces) to->approach[i] = from->approach[i];
    }
    return true;
}

size_t sand_warm_start_bytes(const SandWarmStart *warm) {
    return warm->solver_index_capacity * sizeof *warm->solver_index + warm->first_capacity * sizeof *warm->first +
           warm->key_capacity * sizeof *warm->key + warm->impulse_capacity * sizeof *warm->impulse +
           warm->approach_capacity * sizeof *warm->approach;
}

typedef struct Job {
    const SandWarmStart *warm;
    const SandCollision *collision;
    double ratio;
    bool rolls;
    SandVec3 *start;
    atomic_int warm_started;
} Job;

// The impulse at this place of the cache, as a start; zero where there is none.
static SandVec3 recalled(const Job *job, int place, bool swapped) {
    return place < 0 ? v3_make(0, 0, 0) : v3_scale(swapped ? -job->ratio : job->ratio, job->warm->impulse[place]);
}

static void apply_work(SandWorker *w, void *argument) {
    Job *job = argument;
    const SandCollision *collision = job->collision;
    SandNewContacts now = {collision->contacts, NULL, collision->first};
    int warm_started = 0, stored = job->warm->step > 0 ? job->warm->first[job->warm->body_count] : 0;
    for (int64_t i = sand_chunk_begin(w->first_chunk, collision->contact_count);
         i < sand_chunk_begin(w->last_chunk, collision->contact_count); i++) {
        bool swapped = false;
        int kept =
            job->warm->step > 0 ? warm_start_recall(job->warm, collision, &now, &collision->contacts[i], &swapped) : -1;
        if (kept >= 0 && !(collision->is_ghost && collision->is_ghost[collision->body[collision->contacts[i].index_a]]))
            warm_started++; // a contact of two ranks counts where its owner is
        job->start[i] = recalled(job, kept, swapped);
        if (job->rolls)
            job->start[collision->contact_count + i] =
                recalled(job, kept < 0 || !job->warm->rolls ? -1 : stored + kept, swapped);
    }
    job->warm_started += warm_started;
}

int sand_warm_start_apply(const SandWarmStart *warm, const SandCollision *collision, double step, bool rolls,
                          SandVec3 *start, SandThreadPool *pool) {
    Job job = {.warm = warm,
               .collision = collision,
               .ratio = warm->step > 0 ? step / warm->step : 0,
               .rolls = rolls,
               .start = start};
    sand_thread_pool_run(pool, apply_work, &job);
    SAND_ASSERT(job.warm_started <= collision->contact_count);
    return job.warm_started;
}
