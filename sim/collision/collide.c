// Collision detection on the CPU; the stages are listed in collide.h.
#include "sim/collision/collide.h"

#include "sim/core/array.h"
#include "sim/core/assert.h"

#include <stdatomic.h>
#include <string.h>

void sand_collision_free(SandCollision *d) {
    sand_broad_phase_free(&d->broad_phase);
    sand_free(d->solver_index);
    sand_free(d->body);
    sand_free(d->pose);
    sand_free(d->guard);
    sand_free(d->velocity);
    sand_free(d->spin);
    sand_free(d->contacts);
    sand_free(d->first);
    for (int c = 0; c < SAND_CHUNKS; c++) sand_free(d->found[c]);
    *d = (SandCollision){0};
}

// One collision pass, shared by all workers.
typedef struct Job {
    SandCollision *d;
    const SandWorld *world;
    const struct SandFinder *finder;
    atomic_bool failed;
    SandError error;
} Job;

// Appends contacts to the list of the chunk that found them.
typedef struct SandSink {
    Job *job;
    int chunk;
} SandSink;

static void sink_put(SandSink *sink, const SandContactCandidate *found) {
    SandCollision *d = sink->job->d;
    int c = sink->chunk;
    if (SAND_GROW(d->found[c], d->found_capacity[c], d->found_count[c] + 1, "contacts", NULL))
        d->found[c][d->found_count[c]++] = *found;
    else
        sink->job->failed = true;
}

// The first such report wins; the pass then fails.
static void sink_too_many(SandSink *sink, int body, int boundary, int count) {
    Job *job = sink->job;
    if (!atomic_exchange(&job->failed, true))
        sand_fail(&job->error, "body %d touches boundary %s in %d places at once; the mesh is too fine for it", body,
                  job->world->boundaries[boundary].name, count);
}

#define SAND_SINK
#include "sim/collision/narrow_phase.inl"

// --- proxies and solver indices ---------------------------------------------------------------------------

// Counts the spheres of the active bodies. Until solver indices are assigned, solver_index holds each body's first sphere.
static bool count_spheres(Job *job, int *convex_body, SandError *error) {
    SandCollision *d = job->d;
    const SandWorld *w = job->world;
    if (!SAND_GROW(d->solver_index, d->solver_index_capacity, w->body_count, "bodies", error) ||
        !SAND_GROW(d->body, d->body_capacity, w->body_count, "bodies", error) ||
        !SAND_GROW(d->first, d->first_capacity, w->body_count + 2, "bodies", error))
        return false;
    int64_t spheres = 0;
    d->body_count = 0;
    *convex_body = -1;
    for (int i = 0; i < w->body_count; i++) {
        d->solver_index[i] = -1;
        if (!sand_world_active(w, i)) continue;
        d->solver_index[i] = (int)spheres;
        spheres += w->shapes[w->shape[i]].sphere_count;
        d->body_count++;
        if (w->shapes[w->shape[i]].sphere_count == 0) {
            if (*convex_body >= 0)
                return sand_fail(error, "bodies %d and %d are boxes or cylinders, which may not meet", *convex_body, i);
            *convex_body = i;
        }
        if (spheres > INT32_MAX / 2)
            return sand_fail(error, "more than %d spheres are more than the grid can number", INT32_MAX / 2);
    }
    d->broad_phase.sphere_count = (int)spheres;
    return sand_broad_phase_reserve(&d->broad_phase, (int)spheres, error);
}

// Fills the proxies of the active bodies.
static void place_spheres(SandWorker *worker, void *argument) {
    Job *job = argument;
    const SandWorld *w = job->world;
    for (int64_t i = sand_chunk_begin(worker->first_chunk, w->body_count);
         i < sand_chunk_begin(worker->last_chunk, w->body_count); i++) {
        int first = job->d->solver_index[i], count = first < 0 ? 0 : w->shapes[w->shape[i]].sphere_count;
        for (int k = 0; k < count; k++) job->d->broad_phase.spheres[first + k] = sphere_proxy(job->finder, (int)i, k);
    }
}

// Assigns solver indices along the spatial order of the bodies' first spheres, so that neighbors in space are neighbors in
// memory; a box or cylinder is the last.
// solver_index and body are inverses of each other, and every active body has an index.
static bool solver_indices_inverse(const SandCollision *d, int world_count) {
    int active = 0;
    for (int i = 0; i < world_count; i++) {
        int k = d->solver_index[i];
        if (k < 0) continue;
        if (k >= d->body_count || d->body[k] != i) return false;
        active++;
    }
    return active == d->body_count;
}

static bool assign_solver_indices(Job *job, SandError *error) {
    SandCollision *d = job->d;
    int indexed = 0;
    const int *place = sand_broad_phase_spatial_order(&d->broad_phase, &indexed, error);
    if (!place) return false;
    for (int k = 0; k < indexed; k++) d->body[k] = d->broad_phase.sorted[place[k]].body;
    if (job->finder->convex_body >= 0) d->body[indexed++] = job->finder->convex_body;
    for (int k = 0; k < indexed; k++) d->solver_index[d->body[k]] = k;
    SAND_ASSERT(solver_indices_inverse(d, job->world->body_count));
    return true;
}

// --- contacts ---------------------------------------------------------------------------------------------

// Runs the narrow phase over the chunks of a worker; the convex body belongs to the last chunk.
static void find_contacts(SandWorker *worker, void *argument) {
    Job *job = argument;
    SandCollision *d = job->d;
    const SandBroadPhase *g = &d->broad_phase;
    for (int chunk = worker->first_chunk; chunk < worker->last_chunk; chunk++) {
        SandSink sink = {job, chunk};
        d->found_count[chunk] = 0;
        int begin = (int)sand_chunk_begin(chunk, g->sphere_count), end = (int)sand_chunk_begin(chunk + 1, g->sphere_count);
        int level = begin < end ? grid_level_of(g, begin) : 0;
        for (int i = begin; i < end; i++) {
            while (i >= g->levels[level].end) level++;
            sphere_contacts(job->finder, &sink, level, i);
        }
        if (chunk == SAND_CHUNKS - 1 && job->finder->convex_body >= 0)
            convex_body_contacts(job->finder, &sink, job->finder->convex_body);
    }
}

// Counting sort by the solver index of the owner, stable. Each worker owns a range of solver indices and walks all contacts
// for them.
static void sort_contacts(SandWorker *worker, void *argument) {
    SandCollision *d = ((Job *)argument)->d;
    int first = (int)((int64_t)d->body_count * worker->id / worker->count);
    int last = (int)((int64_t)d->body_count * (worker->id + 1) / worker->count);
    for (int k = first; k < last; k++) d->first[k + 1] = 0;
    for (int c = 0; c < SAND_CHUNKS; c++)
        for (int i = 0; i < d->found_count[c]; i++) {
            int k = d->found[c][i].index_a;
            if (k >= first && k < last) d->first[k + 1]++;
        }
    int mine = 0;
    for (int k = first; k < last; k++) mine += d->first[k + 1];
    d->broad_phase.counts[worker->id] = mine;
    sand_barrier(worker);
    int sum = 0;
    for (int k = 0; k < worker->id; k++) sum += d->broad_phase.counts[k];
    for (int k = first; k < last; k++) {
        int count = d->first[k + 1];
        d->first[k + 1] = sum; // where k begins, for now: filling moves it to where k ends and k + 1 begins
        sum += count;
    }
    for (int c = 0; c < SAND_CHUNKS; c++)
        for (int i = 0; i < d->found_count[c]; i++) {
            int k = d->found[c][i].index_a;
            if (k >= first && k < last) d->contacts[d->first[k + 1]++] = d->found[c][i];
        }
    if (worker->id == 0) d->first[0] = 0;
}

// A contact is owned by the body of lower solver index, names bodies and boundaries that exist, and has a unit normal.
static bool contact_valid(const SandCollision *d, const SandWorld *w, const SandContactCandidate *f) {
    if (f->index_a < 0 || f->index_a >= d->body_count || f->b >= d->body_count || -1 - f->b >= w->boundary_count)
        return false;
    if (f->b >= 0 && (f->b <= f->index_a || f->key.other != (uint32_t)d->body[f->b])) return false;
    if (f->b < 0 && f->key.other != (SAND_BOUNDARY_BIT | (uint32_t)(-1 - f->b))) return false;
    return fabs(v3_dot(f->normal, f->normal) - 1) < 1e-9 && v3_finite(f->point) && isfinite(f->gap) && f->mu >= 0;
}

// first[] is monotone and complete, and every contact lies in the range of its owner: contacts are sorted by index_a.
static bool contacts_sorted(const SandCollision *d, const SandWorld *w) {
    if (d->first[0] != 0 || d->first[d->body_count] != d->contact_count) return false;
    for (int k = 0; k < d->body_count; k++) {
        if (d->first[k] > d->first[k + 1]) return false;
        for (int i = d->first[k]; i < d->first[k + 1]; i++)
            if (d->contacts[i].index_a != k || !contact_valid(d, w, &d->contacts[i])) return false;
    }
    return true;
}

bool sand_collision_place_boundaries(SandCollision *d, const SandWorld *w, SandError *error) {
    if (!SAND_GROW(d->pose, d->pose_capacity, w->boundary_count, "boundaries", error) ||
        !SAND_GROW(d->guard, d->guard_capacity, w->boundary_count, "boundaries", error) ||
        !SAND_GROW(d->velocity, d->velocity_capacity, w->boundary_count, "boundaries", error) ||
        !SAND_GROW(d->spin, d->spin_capacity, w->boundary_count, "boundaries", error))
        return false;
    for (int b = 0; b < w->boundary_count; b++) {
        d->pose[b] = sand_boundary_pose(&w->boundaries[b], w->time);
        d->velocity[b] = d->spin[b] = v3_make(0, 0, 0);
        bool plane = w->boundaries[b].kind == SAND_PLANE && !w->boundaries[b].moves;
        d->guard[b] = (SandGuard){.normal = plane ? q_rotate(d->pose[b].rotation, v3_make(0, 0, 1)) : v3_make(0, 0, 0)};
        d->guard[b].offset = v3_dot(d->guard[b].normal, d->pose[b].position);
        if (w->boundaries[b].moves)
            sand_boundary_velocity(&w->boundaries[b], w->time, w->step, &d->velocity[b], &d->spin[b]);
    }
    return true;
}

bool sand_collide(SandCollision *d, const SandWorld *world, SandThreadPool *pool, SandError *error) {
    SandFinder finder = finder_make(world, d);
    Job job = {.d = d, .world = world, .finder = &finder};
    if (!sand_collision_place_boundaries(d, world, error) || !count_spheres(&job, &finder.convex_body, error)) return false;
    sand_thread_pool_run(pool, place_spheres, &job);
    double reach = world->step * (1 + finder.largest_mu);
    if (!sand_broad_phase_sort(&d->broad_phase, pool, error) ||
        !sand_broad_phase_add_impact_margins(&d->broad_phase, world->envelope, reach, pool, error) ||
        !assign_solver_indices(&job, error))
        return false;
    sand_thread_pool_run(pool, find_contacts, &job);
    if (job.failed) return sand_fail(error, "%s", job.error.text[0] ? job.error.text : "out of memory for contacts");
    int64_t total = 0;
    for (int c = 0; c < SAND_CHUNKS; c++) total += d->found_count[c];
    if (total > INT32_MAX / 2) return sand_fail(error, "%lld contacts are more than can be numbered", (long long)total);
    d->contact_count = (int)total;
    if (!SAND_GROW(d->contacts, d->contact_capacity, total, "contacts", error)) return false;
    sand_thread_pool_run(pool, sort_contacts, &job);
    SAND_ASSERT(contacts_sorted(d, world));
    return true;
}
