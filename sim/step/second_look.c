// SPDX-License-Identifier: MIT
// Moving copies of the bodies to where the solution would have them, listing in parallel the contacts that are missing
// there, and merging them behind those of their owners.
#include "sim/step/second_look.h"

#include "sim/core/array.h"
#include "sim/step/build_problem.h"
#include "sim/step/integrate.inl"
#include "sim/step/sleep.inl"

#include <stdatomic.h>
#include <stdlib.h>

// One look, shared by all workers.
typedef struct Job {
    SandSecondLook *to;
    SandHostState *host;
    const struct SandPreview *look;
    double kept; // share of the impulses that velocities keep: sand_energy_share
    atomic_bool failed;
} Job;

// Appends the contacts that are missing to the list of a chunk.
typedef struct SandSink {
    Job *job;
    int chunk;
    double tolerance; // m: look_misses
} SandSink;
static void sink_put(SandSink *sink, const SandContactCandidate *found);

// The next step reports it, where it is still so.
static void sink_too_many(SandSink *sink, int body, int boundary, int count) {
    (void)sink, (void)body, (void)boundary, (void)count;
}

#define SAND_SINK
#include "sim/step/second_look.inl"

static void sink_put(SandSink *sink, const SandContactCandidate *found) {
    SandSecondLook *to = sink->job->to;
    if (!look_misses(sink->job->look, found, sink->tolerance)) return;
    int c = sink->chunk;
    if (SAND_RESERVE(to->found[c], to->found_count[c] + 1, "contacts", NULL))
        to->found[c].data[to->found_count[c]++] = look_back(sink->job->look, found);
    else
        sink->job->failed = true;
}

void sand_second_look_free(SandSecondLook *look) {
    SAND_FREE_ARRAYS(&look->contacts, &look->first, &look->pose);
    sand_free(look->end.position);
    sand_free(look->end.rotation);
    sand_free(look->end.velocity);
    sand_free(look->end.spin);
    for (int c = 0; c < SAND_CHUNKS; c++) SAND_FREE_ARRAYS(&look->found[c]);
    *look = (SandSecondLook){0};
}

int sand_second_looks(const SandWorld *w, bool repeats) {
    bool convex = false;
    for (int k = 0; k < w->shape_count; k++) convex = convex || w->shapes[k].sphere_count == 0;
    if (!convex) return 0;
    return w->looks >= 0 ? w->looks : repeats ? 0 : SAND_MAX_LOOKS;
}

// --- the end of the step ------------------------------------------------------------------------------------

static bool reserve_end(SandSecondLook *look, const SandWorld *w, SandError *error) {
    SandVec3 *position = look->end.position, *velocity = look->end.velocity, *spin = look->end.spin;
    SandQuat *rotation = look->end.rotation;
    bool ok = SAND_GROW(position, look->position_capacity, w->body_count, "bodies", error) &&
              SAND_GROW(rotation, look->rotation_capacity, w->body_count, "bodies", error) &&
              SAND_GROW(velocity, look->velocity_capacity, w->body_count, "bodies", error) &&
              SAND_GROW(spin, look->spin_capacity, w->body_count, "bodies", error);
    look->end = *w;
    look->end.position = position;
    look->end.rotation = rotation;
    look->end.velocity = velocity;
    look->end.spin = spin;
    return ok && SAND_RESERVE(look->pose, w->boundary_count, "boundaries", error);
}

static void move_work(SandWorker *worker, void *argument) {
    const Job *job = argument;
    const SandHostState *host = job->host;
    const SandWorld *w = &host->world;
    SandWorld *end = &job->to->end;
    for (int64_t k = sand_chunk_begin(worker->first_chunk, host->collision.body_count);
         k < sand_chunk_begin(worker->last_chunk, host->collision.body_count); k++) {
        int body = host->collision.body[k];
        end->position[body] = w->position[body];
        end->rotation[body] = w->rotation[body];
        end->velocity[body] = w->velocity[body];
        end->spin[body] = w->spin[body];
        if (!body_is_asleep(w, body))
            move_body(end, body, &host->problem.bodies[k], host->solution.velocity[k], host->solution.spin[k], job->kept);
    }
}

// --- what is missing ----------------------------------------------------------------------------------------

static void look_work(SandWorker *worker, void *argument) {
    Job *job = argument;
    const SandPreview *look = job->look;
    for (int chunk = worker->first_chunk; chunk < worker->last_chunk; chunk++) {
        SandSink sink = {job, chunk, 0};
        job->to->found_count[chunk] = 0;
        int proxies = look->from->convex_phase.sphere_count;
        for (int64_t i = sand_chunk_begin(chunk, proxies); i < sand_chunk_begin(chunk + 1, proxies); i++)
            look_around(look, &sink, (int)i);
        for (int64_t i = sand_chunk_begin(chunk, look->from->contact_count);
             i < sand_chunk_begin(chunk + 1, look->from->contact_count); i++)
            look_at_sphere(look, &sink, (int)i);
    }
}

static int compare(const void *a, const void *b) { return missing_before(a, b) ? -1 : missing_before(b, a); }

// Sorts what the chunks have found, and counts it by owner.
static void sort_found(SandSecondLook *look, int bodies, int missing) {
    for (int c = 0, at = 0; c < SAND_CHUNKS; c++)
        for (int i = 0; i < look->found_count[c]; i++) look->contacts.data[at++] = look->found[c].data[i];
    qsort(look->contacts.data, (size_t)missing, sizeof *look->contacts.data, compare);
    for (int k = 0, at = 0; k <= bodies; k++) {
        look->first.data[k] = at;
        while (at < missing && look->contacts.data[at].index_a == k) at++;
    }
}

// Puts the missing contacts behind those of their owners, and the impulses of the solution beside them as the start. From
// the last one on: none is overwritten before it is read.
static void merge(const SandSecondLook *look, SandHostState *host, int missing) {
    SandCollision *c = &host->collision;
    bool rolls = host->problem.rolls;
    int old = c->contact_count, all = old + missing;
    SandVec3 *start = host->problem.start;
    const SandVec3 *impulse = host->solution.impulse, zero = {0, 0, 0};
    for (int k = c->body_count - 1; k >= 0; k--) {
        for (int i = look->first.data[k + 1] - 1, to = c->first[k + 1] + i; i >= look->first.data[k]; i--, to--) {
            c->contacts[to] = look->contacts.data[i];
            start[to] = zero;
            if (rolls) start[all + to] = zero;
        }
        for (int i = c->first[k + 1] - 1, to = i + look->first.data[k]; i >= c->first[k]; i--, to--) {
            c->contacts[to] = c->contacts[i];
            start[to] = impulse[i];
            if (rolls) start[all + to] = impulse[old + i];
        }
        c->first[k + 1] += look->first.data[k + 1];
    }
    c->contact_count = all;
}

bool sand_second_look_find(SandSecondLook *to, SandHostState *host, double kept, SandThreadPool *pool, int *missing,
                           SandError *error) {
    SandCollision *c = &host->collision, end = *c;
    Job job = {.to = to, .host = host, .kept = kept};
    if (!reserve_end(to, &host->world, error)) return false;
    sand_thread_pool_run(pool, move_work, &job);
    for (int b = 0; b < host->world.boundary_count; b++) to->pose.data[b] = look_pose(c, b, host->world.step);
    to->end.step = to->end.envelope = 0;
    end.pose = to->pose.data;
    SandPreview look = {.finder = finder_make(&to->end, &end), .world = &host->world, .from = c};
    look.contacts = (SandNewContacts){c->contacts, NULL, c->first};
    look.velocity = host->solution.velocity;
    look.spin = host->solution.spin;
    job.look = &look;
    sand_thread_pool_run(pool, look_work, &job);
    if (job.failed) return sand_fail(error, "out of memory for contacts");
    *missing = 0;
    for (int k = 0; k < SAND_CHUNKS; k++) *missing += to->found_count[k];
    return true;
}

bool sand_second_look_add(SandSecondLook *look, SandHostState *host, int missing, SandError *error) {
    SandCollision *c = &host->collision;
    size_t all = (size_t)c->contact_count + (size_t)missing, vectors = host->problem.rolls ? 2 * all : all;
    if (!SAND_RESERVE(look->contacts, missing + 1, "contacts", error) ||
        !SAND_RESERVE(look->first, c->body_count + 1, "bodies", error) ||
        !SAND_GROW(c->contacts, c->contact_capacity, all, "contacts", error) ||
        !SAND_GROW(host->problem.start, host->problem.start_capacity, vectors, "contacts", error))
        return false;
    sort_found(look, c->body_count, missing);
    merge(look, host, missing);
    return sand_problem_reserve(host, error);
}
