// SPDX-License-Identifier: MIT
// Summing the work of a step's impulses over the bodies, exactly, so that threads and ranks agree on the share that is kept.
#include "sim/step/energy_bound.h"

#include "sim/core/exact_sum.inl"
#include "sim/step/energy_bound.inl"

bool sand_energy_is_bound(const SandWorld *world) {
    bool adds = sand_world_bounces(world) || v3_dot(world->gravity, world->gravity) == 0;
    if (world->joint_count) return false;
    for (int b = 0; b < world->boundary_count; b++)
        if (world->boundaries[b].moves) return false;
    for (int k = 0; k < world->shape_count; k++) adds = adds || world->shapes[k].kind != SAND_SPHERE;
    return adds;
}

typedef struct Job {
    const SandHostState *host;
    SandExactSum along, square; // exact, so that threads and ranks share the same bits
} Job;

static void work_of_bodies(SandWorker *worker, void *argument) {
    Job *job = argument;
    const SandHostState *host = job->host;
    const SandCollision *collision = &host->collision;
    for (int64_t k = sand_chunk_begin(worker->first_chunk, collision->body_count);
         k < sand_chunk_begin(worker->last_chunk, collision->body_count); k++) {
        int body = collision->body[k];
        if (collision->is_ghost && collision->is_ghost[body]) continue;
        SandImpulseWork work =
            body_work(&host->world, body, &host->problem.bodies[k], host->solution.velocity[k], host->solution.spin[k]);
        exact_add(&job->along, work.along, true);
        exact_add(&job->square, work.square, true);
    }
}

double sand_energy_share(const SandHostState *host, const SandRanks *ranks, SandThreadPool *pool) {
    Job job = {.host = host};
    if (!sand_energy_is_bound(&host->world)) return 1;
    sand_thread_pool_run(pool, work_of_bodies, &job);
    SandExactSum sums[2] = {job.along, job.square};
    for (int k = 0; k < 2; k++) exact_carry(&sums[k]);
    if (ranks) ranks->sum(ranks->user, (int64_t *)(void *)sums, 2 * (EXACT_LIMBS + 1));
    return kept_share((SandImpulseWork){exact_value(&sums[0]), exact_value(&sums[1])});
}
