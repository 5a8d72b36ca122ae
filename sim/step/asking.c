// SPDX-License-Identifier: MIT
// The questions of sandglass/query.h: batches of rays and points over the hierarchy of bodies, forces and events of
// contacts.
#include "sim/step/asking.h"

#include "sim/core/array.h"
#include "sim/step/contact_forces.h"
#include "sim/step/residency.h"

#include <stdlib.h>
#include <string.h>

void sand_asking_free(SandAsking *asking) {
    sand_body_tree_free(&asking->tree);
    SAND_FREE_ARRAYS(&asking->found);
    sand_contact_watch_free(&asking->watch);
}

// --- batches ------------------------------------------------------------------------------------------------

// Questions of one kind.
typedef struct Batch {
    const SandBodyTree *tree;
    const SandWorld *world;
    const SandRay *rays;    // or NULL
    const SandVec3 *points; // then these
    double reach;
    SandHit *hits;
    int count;
} Batch;

static SandHit answer(const Batch *b, int k) {
    if (!b->rays) return sand_tree_closest(b->tree, b->world, b->points[k], b->reach);
    SandRay ray = b->rays[k];
    ray.along = v3_scale(1 / v3_length(ray.along), ray.along);
    return sand_tree_raycast(b->tree, b->world, &ray);
}

static void answer_share(SandWorker *worker, void *argument) {
    const Batch *b = argument;
    int64_t end = sand_chunk_begin(worker->last_chunk, b->count);
    for (int64_t k = sand_chunk_begin(worker->first_chunk, b->count); k < end; k++) b->hits[k] = answer(b, (int)k);
}

// Begins a question about where bodies are.
static bool begin_search(SandSimulation *sim, SandAsked *asked, SandError *error) {
    if (!sand_simulation_begin_asking(sim, SAND_STATE_BODIES, asked, error)) return false;
    SandAsking *a = asked->asking;
    if (a->current) return true;
    bool built = sand_body_tree_build(&a->tree, &asked->host->world, error);
    a->current = built && !asked->changing;
    return built || sand_simulation_end_asking(sim, false);
}

static bool run_batch(SandSimulation *sim, Batch *batch, SandError *error) {
    SandAsked asked;
    if (!begin_search(sim, &asked, error)) return false;
    batch->tree = &asked.asking->tree;
    batch->world = &asked.host->world;
    int64_t before = sand_thread_pool_expect(asked.pool, batch->count);
    sand_thread_pool_run(asked.pool, answer_share, batch);
    sand_thread_pool_expect(asked.pool, before);
    return sand_simulation_end_asking(sim, true);
}

SandRay sand_ray_between(SandVec3 from, SandVec3 to) {
    SandVec3 along = v3_sub(to, from);
    return (SandRay){from, along, v3_length(along), -1};
}

static bool check_ray(const SandRay *ray, int k, SandError *error) {
    double length = v3_length(ray->along);
    if (!v3_finite(ray->from) || !v3_finite(ray->along) || !isfinite(length))
        return sand_fail(error, "ray %d is not finite", k);
    if (!(length > 1e-150)) return sand_fail(error, "ray %d has no direction", k);
    return ray->reach >= 0 || sand_fail(error, "ray %d reaches %g m: expected at least 0", k, ray->reach);
}

bool sand_simulation_raycast(SandSimulation *sim, const SandRay *rays, int count, SandHit *hits, SandError *error) {
    for (int k = 0; k < count; k++)
        if (!check_ray(&rays[k], k, error)) return false;
    Batch batch = {.rays = rays, .hits = hits, .count = count};
    return run_batch(sim, &batch, error);
}

bool sand_simulation_closest(SandSimulation *sim, const SandVec3 *points, int count, double reach, SandHit *hits,
                             SandError *error) {
    if (!(reach >= 0)) return sand_fail(error, "closest within %g m: expected at least 0", reach);
    for (int k = 0; k < count; k++)
        if (!v3_finite(points[k])) return sand_fail(error, "point %d is not finite", k);
    Batch batch = {.points = points, .reach = reach, .hits = hits, .count = count};
    return run_batch(sim, &batch, error);
}

// --- what a shape overlaps ----------------------------------------------------------------------------------

static int by_number(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

// Sorts the bodies that were found, drops those that were found twice, and copies the first of them.
static int list_found(int *found, int count, int *bodies, int capacity) {
    int kept = 0;
    if (count) qsort(found, (size_t)count, sizeof *found, by_number);
    for (int k = 0; k < count; k++)
        if (!k || found[k] != found[kept - 1]) found[kept++] = found[k];
    for (int k = 0; k < kept && k < capacity; k++) bodies[k] = found[k];
    return kept;
}

int sand_simulation_overlap(SandSimulation *sim, const SandShape *shape, double scale, SandPose pose, int *bodies,
                            int capacity, SandError *error) {
    SandAsked asked;
    SandQuat q = pose.rotation;
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!v3_finite(pose.position) || !(length > 0) || !isfinite(length) || !(scale > 0) || !isfinite(scale))
        return sand_fail(error, "a shape to overlap bodies with: scale and pose must be finite, and the scale above 0"), -1;
    pose.rotation = q_unit(q);
    if (!begin_search(sim, &asked, error)) return -1;
    SandAsking *a = asked.asking;
    int count = sand_tree_overlap(&a->tree, &asked.host->world, shape, scale, pose, &a->found, error);
    if (count >= 0) count = list_found(a->found.data, count, bodies, capacity);
    sand_simulation_end_asking(sim, true);
    return count;
}

// --- forces -------------------------------------------------------------------------------------------------

static void add_forces(const SandAsked *asked, bool of_boundaries, SandVec3 *force, SandVec3 *torque) {
    const SandHostState *host = asked->host;
    int dynamic = host->problem.dynamic_count, boundaries = host->world.boundary_count;
    size_t bytes = (size_t)(of_boundaries ? boundaries : host->world.body_count) * sizeof *force;
    if (bytes) memset(force, 0, bytes);
    if (bytes && torque) memset(torque, 0, bytes);
    if (!asked->contacts) return;
    if (of_boundaries)
        sand_contact_forces_add(&host->problem, &host->solution, asked->contacts, dynamic, dynamic + boundaries, NULL, force,
                                torque);
    else
        sand_contact_forces_add(&host->problem, &host->solution, asked->contacts, 0, dynamic, host->collision.body, force,
                                torque);
}

static bool sum_forces(SandSimulation *sim, bool of_boundaries, SandVec3 *force, SandVec3 *torque, SandError *error) {
    SandAsked asked;
    if (!sand_simulation_begin_asking(sim, SAND_STATE_CONTACTS, &asked, error)) return false;
    add_forces(&asked, of_boundaries, force, torque);
    return sand_simulation_end_asking(sim, true);
}

bool sand_simulation_contact_forces(SandSimulation *sim, SandVec3 *force, SandVec3 *torque, SandError *error) {
    return sum_forces(sim, false, force, torque, error);
}

bool sand_simulation_boundary_forces(SandSimulation *sim, SandVec3 *force, SandVec3 *torque, SandError *error) {
    return sum_forces(sim, true, force, torque, error);
}

// --- events -------------------------------------------------------------------------------------------------

bool sand_simulation_keep_events(SandSimulation *sim, bool keep, SandError *error) {
    SandAsked asked;
    if (!sand_simulation_begin_asking(sim, 0, &asked, error)) return false;
    SandContactWatch *watch = &asked.asking->watch;
    if (!keep) sand_contact_watch_free(watch);
    watch->on = keep;
    return sand_simulation_end_asking(sim, true);
}

int sand_simulation_contact_events(SandSimulation *sim, SandContactEvent *events, int capacity) {
    SandAsked asked;
    SandError in_use;
    if (!sand_simulation_begin_asking(sim, 0, &asked, &in_use)) return 0;
    int count = sand_contact_watch_take(&asked.asking->watch, events, capacity);
    sand_simulation_end_asking(sim, true);
    return count;
}
