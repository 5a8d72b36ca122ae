// SPDX-License-Identifier: MIT
// The sums of probes on the CPU: every worker takes its share of the bodies and of the contacts. Workers have sums of their
// own as far as memory for them is modest; sums are exact, so that it does not matter who adds what.
#include "sim/core/array.h"
#include "sim/step/backend.h"
#include "sim/step/probe.h"
#include "sim/step/probe.inl"

#include <stdlib.h>
#include <string.h>

enum { MOST_OWN_SUMS = 1 << 20 }; // of all workers together

void sand_probe_cpu_free(SandProbeCpu *cpu) {
    SAND_FREE_ARRAYS(&cpu->sums, &cpu->carrying);
    *cpu = (SandProbeCpu){0};
}

// One probe to be summed.
typedef struct MeasureJob {
    ProbeView view;
    const SandProbe *probe;
    const SandSolution *solution;
    bool rolls;
    uint32_t *carrying;
    SandExactSum *sums; // `copies` times `count`
    size_t count;
    int copies;
    bool shared; // several workers add to one copy
} MeasureJob;

static void add_terms(const MeasureJob *job, SandExactSum *sums, const double *value, ProbeWalk *walk) {
    const SandProbe *p = job->probe;
    int count = probe_sums(p->kind);
    while (probe_next(job->view.world, p, walk)) {
        SandExactSum *cell = sums + (size_t)walk->number * (size_t)count;
        if (p->kind == SAND_PROBE_SURFACE)
            exact_most(cell, value[0]);
        else
            for (int j = 0; j < count; j++) exact_add(&cell[j], walk->share * value[j], job->shared);
    }
}

static SandVec3 torque_of(const MeasureJob *job, int64_t i) {
    return job->rolls ? job->solution->impulse[job->view.collision->contact_count + i] : v3_make(0, 0, 0);
}

// Whether body k is another rank's, which counts it and the contacts that it owns.
static bool is_ghost_body(const SandCollision *collision, int k) {
    return collision->is_ghost && collision->is_ghost[collision->body[k]];
}

static void add_contacts(SandWorker *worker, const MeasureJob *job, SandExactSum *sums) {
    const SandCollision *collision = job->view.collision;
    double value[PROBE_SUMS];
    ProbeWalk walk;
    for (int64_t i = sand_chunk_begin(worker->first_chunk, collision->contact_count);
         i < sand_chunk_begin(worker->last_chunk, collision->contact_count); i++)
        if (!is_ghost_body(collision, collision->contacts[i].index_a) &&
            probe_contact_terms(&job->view, job->probe, &collision->contacts[i], job->solution->impulse[i],
                                torque_of(job, i), value, &walk))
            add_terms(job, sums, value, &walk);
}

static void add_bodies(SandWorker *worker, const MeasureJob *job, SandExactSum *sums) {
    int bodies = job->view.collision->body_count;
    double value[PROBE_SUMS];
    ProbeWalk walk;
    for (int64_t k = sand_chunk_begin(worker->first_chunk, bodies); k < sand_chunk_begin(worker->last_chunk, bodies); k++)
        if (!is_ghost_body(job->view.collision, (int)k) && probe_body_terms(&job->view, job->probe, (int)k, value, &walk))
            add_terms(job, sums, value, &walk);
}

static void measure_work(SandWorker *worker, void *argument) {
    const MeasureJob *job = argument;
    SandExactSum *sums = job->sums + job->count * (size_t)(worker->id % job->copies);
    if (probe_has_contacts(job->probe->kind)) add_contacts(worker, job, sums);
    if (probe_has_bodies(job->probe)) add_bodies(worker, job, sums);
}

// Counts the contacts of each body that carry a force.
static void carrying_work(SandWorker *worker, void *argument) {
    const MeasureJob *job = argument;
    const SandCollision *collision = job->view.collision;
    for (int64_t i = sand_chunk_begin(worker->first_chunk, collision->contact_count);
         i < sand_chunk_begin(worker->last_chunk, collision->contact_count); i++) {
        const SandContactCandidate *c = &collision->contacts[i];
        if (!probe_carries(&job->view, job->probe, c, job->solution->impulse[i])) continue;
        __atomic_fetch_add(&job->carrying[c->index_a], 1, __ATOMIC_RELAXED);
        if (c->b >= 0) __atomic_fetch_add(&job->carrying[c->b], 1, __ATOMIC_RELAXED);
    }
}

static bool count_carrying(SandProbeCpu *cpu, MeasureJob *job, SandThreadPool *pool, SandError *error) {
    size_t bodies = (size_t)job->view.collision->body_count;
    if (!SAND_RESERVE(cpu->carrying, bodies + 1, "probes", error)) return false;
    memset(cpu->carrying.data, 0, bodies * sizeof *cpu->carrying.data);
    job->view.carrying = job->carrying = cpu->carrying.data;
    sand_thread_pool_run(pool, carrying_work, job);
    return true;
}

// Adds up the copies of one sum: integers, in any order. A surface has the largest of them.
static void merge_copies(const MeasureJob *job, SandExactSum *to) {
    for (size_t i = 0; i < job->count; i++) {
        to[i] = job->sums[i];
        for (int c = 1; c < job->copies; c++) {
            const SandExactSum *from = &job->sums[(size_t)c * job->count + i];
            if (job->probe->kind == SAND_PROBE_SURFACE) {
                if (from->limb[0]) exact_most(&to[i], exact_from_order((uint64_t)from->limb[0]));
                continue;
            }
            for (int k = 0; k < EXACT_LIMBS; k++) to[i].limb[k] += from->limb[k];
            to[i].refused += from->refused;
        }
    }
}

static int copy_count(size_t sums, int threads) {
    size_t most = MOST_OWN_SUMS / sums;
    return most < 1 ? 1 : most < (size_t)threads ? (int)most : threads;
}

static bool measure_probe(SandProbeCpu *cpu, MeasureJob *job, SandExactSum *to, SandThreadPool *pool, SandError *error) {
    int threads = sand_thread_pool_threads(pool);
    job->copies = copy_count(job->count, threads);
    job->shared = job->copies < threads;
    size_t all = job->count * (size_t)job->copies;
    if (!SAND_RESERVE(cpu->sums, all, "probes", error)) return false;
    if (job->probe->kind == SAND_PROBE_COORDINATION && !count_carrying(cpu, job, pool, error)) return false;
    memset(cpu->sums.data, 0, all * sizeof *cpu->sums.data);
    job->sums = cpu->sums.data;
    sand_thread_pool_run(pool, measure_work, job);
    merge_copies(job, to);
    return true;
}

bool sand_probe_cpu_measure(SandProbeCpu *cpu, const SandHostState *host, SandProbeBatch *batch, SandThreadPool *pool,
                            SandError *error) {
    MeasureJob job = {.view = {&host->world, &host->collision, host->problem.bodies, NULL},
                      .solution = &host->solution,
                      .rolls = host->problem.rolls};
    for (int k = 0; k < batch->count; k++) {
        job.probe = batch->probe[k];
        job.count = batch->first[k + 1] - batch->first[k];
        if (!measure_probe(cpu, &job, batch->sums + batch->first[k], pool, error)) return false;
    }
    return true;
}

static bool merge_surfaces(SandExactSum *sums, size_t count, const SandRanks *ranks, SandError *error) {
    int first[SAND_MAX_RANKS + 1];
    SandExactSum *all = malloc((size_t)ranks->count * count * sizeof *all + 1);
    if (!all) return sand_fail(error, "out of memory for probes");
    for (int r = 0; r <= ranks->count; r++) first[r] = r;
    memcpy(all + (size_t)ranks->rank * count, sums, count * sizeof *all);
    ranks->allgather(ranks->user, all, first, count * sizeof *all);
    for (size_t i = 0; i < (size_t)ranks->count * count; i++)
        if (all[i].limb[0]) exact_most(&sums[i % count], exact_from_order((uint64_t)all[i].limb[0]));
    free(all);
    return true;
}

// Every rank has the highest point of a surface; all other sums are integers, added in any order.
bool sand_probes_merge(SandProbeBatch *batch, const SandRanks *ranks, SandError *error) {
    if (!ranks->agree(ranks->user, 0, error)) return false;
    for (int k = 0; k < batch->count; k++) {
        SandExactSum *sums = batch->sums + batch->first[k];
        size_t count = batch->first[k + 1] - batch->first[k];
        if (batch->probe[k]->kind == SAND_PROBE_SURFACE) {
            if (!merge_surfaces(sums, count, ranks, error)) return false;
            continue;
        }
        for (size_t i = 0; i < count; i++) exact_carry(&sums[i]);
        ranks->sum(ranks->user, (int64_t *)(void *)sums, (int64_t)(count * sizeof *sums / sizeof(int64_t)));
    }
    return true;
}
