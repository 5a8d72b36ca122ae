#include "sim/collision/warm_start.inl"
#include "sim/core/array.h"

#include <stdatomic.h>

void sand_memory_free(SandMemory *m) {
    sand_free(m->rank);
    sand_free(m->first);
    sand_free(m->key);
    sand_free(m->impulse);
    *m = (SandMemory){0};
}

void sand_memory_drop(SandMemory *m) { m->step = 0; }

static bool reserve(SandMemory *m, int world_count, int body_count, int contacts, SandError *error) {
    return SAND_GROW(m->rank, m->rank_room, world_count, "warm start", error) &&
           SAND_GROW(m->first, m->first_room, body_count + 1, "warm start", error) &&
           SAND_GROW(m->key, m->key_room, contacts, "warm start", error) &&
           SAND_GROW(m->impulse, m->impulse_room, contacts, "warm start", error);
}

bool sand_memory_keep(SandMemory *m, const SandDetection *d, const SandVec3 *impulse, double step, int world_count,
                      SandError *error) {
    m->step = 0;
    if (!reserve(m, world_count, d->body_count, d->contact_count, error)) return false;
    m->body_count = d->body_count;
    m->world_count = world_count;
    m->step = step;
    for (int i = 0; i < world_count; i++) m->rank[i] = d->rank[i];
    for (int k = 0; k <= d->body_count; k++) m->first[k] = d->first[k];
    for (int i = 0; i < d->contact_count; i++) m->key[i] = d->contacts[i].key, m->impulse[i] = impulse[i];
    return true;
}

bool sand_memory_copy(SandMemory *to, const SandMemory *from, SandError *error) {
    int contacts = from->step > 0 ? from->first[from->body_count] : 0;
    to->step = 0;
    if (from->step == 0) return true;
    if (!reserve(to, from->world_count, from->body_count, contacts, error)) return false;
    to->body_count = from->body_count, to->world_count = from->world_count, to->step = from->step;
    for (int i = 0; i < from->world_count; i++) to->rank[i] = from->rank[i];
    for (int k = 0; k <= from->body_count; k++) to->first[k] = from->first[k];
    for (int i = 0; i < contacts; i++) to->key[i] = from->key[i], to->impulse[i] = from->impulse[i];
    return true;
}

size_t sand_memory_bytes(const SandMemory *m) {
    return m->rank_room * sizeof *m->rank + m->first_room * sizeof *m->first + m->key_room * sizeof *m->key +
           m->impulse_room * sizeof *m->impulse;
}

typedef struct Job {
    const SandMemory *m;
    const SandDetection *d;
    double ratio;
    SandVec3 *start;
    atomic_int matched;
} Job;

static void match_work(SandWorker *w, void *argument) {
    Job *job = argument;
    const SandDetection *d = job->d;
    int matched = 0;
    for (int64_t i = sand_chunk_begin(w->first_chunk, d->contact_count);
         i < sand_chunk_begin(w->last_chunk, d->contact_count); i++) {
        bool turned = false;
        int kept = job->m->step > 0 ? memory_recall(job->m, d, &d->contacts[i], &turned) : -1;
        if (kept >= 0) matched++;
        job->start[i] = kept < 0 ? v3_make(0, 0, 0) : v3_scale(turned ? -job->ratio : job->ratio, job->m->impulse[kept]);
    }
    job->matched += matched;
}

int sand_match(const SandMemory *m, const SandDetection *d, double step, SandVec3 *start, SandTeam *team) {
    Job job = {.m = m, .d = d, .ratio = m->step > 0 ? step / m->step : 0, .start = start};
    sand_team_run(team, match_work, &job);
    return job.matched;
}
