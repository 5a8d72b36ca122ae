// SPDX-License-Identifier: MIT
// Collision detection on the CPU; the stages are listed in collide.h.
#include "sim/collision/collide.h"

#include "sim/collision/images.h"
#include "sim/core/array.h"
#include "sim/core/assert.h"
#include "sim/world/joint.h"

#include <stdatomic.h>
#include <string.h>

void sand_collision_free(SandCollision *collision) {
    sand_broad_phase_free(&collision->broad_phase);
    sand_broad_phase_free(&collision->convex_phase);
    sand_free(collision->solver_index);
    sand_free(collision->body);
    sand_free(collision->pose);
    sand_free(collision->guard);
    sand_free(collision->velocity);
    sand_free(collision->spin);
    sand_free(collision->contacts);
    sand_free(collision->first);
    for (int c = 0; c < SAND_CHUNKS; c++) sand_free(collision->found[c]);
    *collision = (SandCollision){0};
}

// One collision pass, shared by all workers.
typedef struct Job {
    SandCollision *collision;
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

// Whether a contact has no own body of this rank.
static bool is_ghost_contact(const SandCollision *collision, const SandContactCandidate *c) {
    if (!collision->is_ghost) return false;
    return collision->is_ghost[collision->body[c->index_a]] && (c->b < 0 || collision->is_ghost[collision->body[c->b]]);
}

static void sink_put(SandSink *sink, const SandContactCandidate *found) {
    SandCollision *collision = sink->job->collision;
    if (is_ghost_contact(collision, found)) return;
    int c = sink->chunk;
    if (SAND_GROW(collision->found[c], collision->found_capacity[c], collision->found_count[c] + 1, "contacts", NULL))
        collision->found[c][collision->found_count[c]++] = *found;
    else
        sink->job->failed = true;
}

// The first such report wins; the pass then fails.
static void sink_too_many(SandSink *sink, int body, int boundary, int count) {
    Job *job = sink->job;
    if (!atomic_exchange(&job->failed, true))
        sand_fail(&job->error, "body %d touches boundary %s in %d places at once; the mesh is too fine for it",
                  job->collision->number ? job->collision->number[body] : body, job->world->boundaries[boundary].name,
                  count);
}

#define SAND_SINK
#include "sim/collision/narrow_phase.inl"

// --- proxies and solver indices ---------------------------------------------------------------------------

// Counts the spheres of the active bodies, and their convex pieces. Until solver indices are assigned, solver_index holds
// each body's first sphere, or its first place among the convex pieces.
static bool count_proxies(Job *job, SandError *error) {
    SandCollision *collision = job->collision;
    const SandWorld *w = job->world;
    if (!SAND_GROW(collision->solver_index, collision->solver_index_capacity, w->body_count, "bodies", error) ||
        !SAND_GROW(collision->body, collision->body_capacity, w->body_count, "bodies", error) ||
        !SAND_GROW(collision->first, collision->first_capacity, w->body_count + 2, "bodies", error))
        return false;
    int64_t spheres = 0, pieces = 0;
    collision->body_count = 0;
    for (int i = 0; i < w->body_count; i++) {
        collision->solver_index[i] = -1;
        if (!sand_world_active(w, i)) continue;
        const SandShape *shape = &w->shapes[w->shape[i]];
        int64_t *count = shape->sphere_count ? &spheres : &pieces;
        collision->solver_index[i] = (int)*count;
        *count += shape_proxies(shape);
        collision->body_count++;
        if (*count > INT32_MAX / 2)
            return sand_fail(error, "more than %d spheres are more than the grid can number", INT32_MAX / 2);
    }
    collision->broad_phase.sphere_count = (int)spheres;
    collision->convex_phase.sphere_count = (int)pieces;
    return sand_broad_phase_reserve(&collision->broad_phase, (int)spheres, error) &&
           sand_broad_phase_reserve(&collision->convex_phase, (int)pieces, error);
}

// Fills the proxies of the active bodies.
static void place_spheres(SandWorker *worker, void *argument) {
    Job *job = argument;
    const SandWorld *w = job->world;
    for (int64_t i = sand_chunk_begin(worker->first_chunk, w->body_count);
         i < sand_chunk_begin(worker->last_chunk, w->body_count); i++) {
        const SandShape *shape = &w->shapes[w->shape[i]];
        int first = job->collision->solver_index[i], count = first < 0 ? 0 : shape_proxies(shape);
        for (int k = 0; k < count; k++)
            if (shape->sphere_count)
                job->collision->broad_phase.spheres[first + k] = sphere_proxy(job->finder, (int)i, k);
            else
                job->collision->convex_phase.spheres[first + k] = convex_proxy(job->finder, (int)i, k);
    }
}

// solver_index and body are inverses of each other, and every active body has an index.
static bool solver_indices_inverse(const SandCollision *collision, int world_count) {
    int active = 0;
    for (int i = 0; i < world_count; i++) {
        int k = collision->solver_index[i];
        if (k < 0) continue;
        if (k >= collision->body_count || collision->body[k] != i) return false;
        active++;
    }
    return active == collision->body_count;
}

// Appends the bodies of a grid in their spatial order.
static bool append_bodies(SandCollision *collision, SandBroadPhase *g, int *indexed, SandError *error) {
    int count = 0;
    const int *spatial_order = sand_broad_phase_spatial_order(g, &count, error);
    if (!spatial_order) return false;
    for (int k = 0; k < count; k++) collision->body[(*indexed)++] = g->sorted[spatial_order[k]].body;
    return true;
}

// Assigns solver indices along the spatial order of the bodies' first spheres, so that neighbors in space are neighbors in
// memory; convex bodies follow in theirs.
static bool assign_solver_indices(Job *job, SandError *error) {
    SandCollision *collision = job->collision;
    int indexed = 0;
    if (!append_bodies(collision, &collision->broad_phase, &indexed, error) ||
        !append_bodies(collision, &collision->convex_phase, &indexed, error))
        return false;
    for (int k = 0; k < indexed; k++) collision->solver_index[collision->body[k]] = k;
    SAND_ASSERT(solver_indices_inverse(collision, job->world->body_count));
    return true;
}

// --- joints -----------------------------------------------------------------------------------------------

// Emits the blocks of all joints whose bodies take part.
static void joint_candidates(const SandWorld *w, const SandCollision *collision, SandSink *sink) {
    for (int k = 0; k < w->joint_count; k++) {
        const SandJoint *j = &w->joints[k];
        if (collision->solver_index[j->b] < 0 || (j->a >= 0 && collision->solver_index[j->a] < 0)) continue;
        for (int block = 0; block < sand_joint_blocks(j); block++) {
            SandContactCandidate candidate = sand_joint_candidate(w, collision->solver_index, k, block);
            sink_put(sink, &candidate);
        }
    }
}

// --- contacts ---------------------------------------------------------------------------------------------

// Finds the contacts of one chunk of a grid, by `contacts_of`.
static void find_chunk(const SandBroadPhase *g, int chunk, SandSink *sink,
                       void (*contacts_of)(const SandFinder *, SandSink *, int, int)) {
    int begin = (int)sand_chunk_begin(chunk, g->sphere_count), end = (int)sand_chunk_begin(chunk + 1, g->sphere_count);
    int level = begin < end ? grid_level_of(g, begin) : 0;
    for (int i = begin; i < end; i++) {
        while (i >= g->levels[level].end) level++;
        contacts_of(sink->job->finder, sink, level, i);
    }
}

// Runs the narrow phase over the chunks of a worker: spheres, then convex bodies. The joints belong to the last
// chunk.
static void find_contacts(SandWorker *worker, void *argument) {
    Job *job = argument;
    SandCollision *collision = job->collision;
    for (int chunk = worker->first_chunk; chunk < worker->last_chunk; chunk++) {
        SandSink sink = {job, chunk};
        collision->found_count[chunk] = 0;
        find_chunk(&collision->broad_phase, chunk, &sink, sphere_contacts);
        find_chunk(&collision->convex_phase, chunk, &sink, convex_contacts);
        if (chunk == SAND_CHUNKS - 1) joint_candidates(job->world, collision, &sink);
    }
}

// Counting sort by the solver index of the owner, stable. Each worker owns a range of solver indices and walks all contacts
// for them.
static void sort_contacts(SandWorker *worker, void *argument) {
    SandCollision *collision = ((Job *)argument)->collision;
    int first = (int)((int64_t)collision->body_count * worker->id / worker->count);
    int last = (int)((int64_t)collision->body_count * (worker->id + 1) / worker->count);
    for (int k = first; k < last; k++) collision->first[k + 1] = 0;
    for (int c = 0; c < SAND_CHUNKS; c++)
        for (int i = 0; i < collision->found_count[c]; i++) {
            int k = collision->found[c][i].index_a;
            if (k >= first && k < last) collision->first[k + 1]++;
        }
    int mine = 0;
    for (int k = first; k < last; k++) mine += collision->first[k + 1];
    collision->broad_phase.counts[worker->id] = mine;
    sand_barrier(worker);
    int sum = 0;
    for (int k = 0; k < worker->id; k++) sum += collision->broad_phase.counts[k];
    for (int k = first; k < last; k++) {
        int count = collision->first[k + 1];
        collision->first[k + 1] = sum; // where k begins, for now: filling moves it to where k ends and k + 1 begins
        sum += count;
    }
    for (int c = 0; c < SAND_CHUNKS; c++)
        for (int i = 0; i < collision->found_count[c]; i++) {
            int k = collision->found[c][i].index_a;
            if (k >= first && k < last) collision->contacts[collision->first[k + 1]++] = collision->found[c][i];
        }
    if (worker->id == 0) collision->first[0] = 0;
}

// A contact is owned by the body of lower solver index, names bodies and boundaries that exist, and has a unit normal.
static bool contact_valid(const SandCollision *collision, const SandWorld *w, const SandContactCandidate *candidate) {
    if (sand_candidate_is_joint(candidate))
        return candidate->index_a >= 0 && (candidate->b < 0 || candidate->b > candidate->index_a);
    if (candidate->index_a < 0 || candidate->index_a >= collision->body_count || candidate->b >= collision->body_count ||
        -1 - candidate->b >= w->boundary_count)
        return false;
    if (candidate->b >= 0 &&
        (candidate->b <= candidate->index_a || candidate->key.other != (uint32_t)collision->body[candidate->b]))
        return false;
    if (candidate->b < 0 && candidate->key.other != (SAND_BOUNDARY_BIT | (uint32_t)(-1 - candidate->b))) return false;
    return fabs(v3_dot(candidate->normal, candidate->normal) - 1) < 1e-9 && v3_finite(candidate->point) &&
           isfinite(candidate->gap) && candidate->mu >= 0;
}

// first[] is monotone and complete, and every contact lies in the range of its owner: contacts are sorted by index_a.
static bool contacts_sorted(const SandCollision *collision, const SandWorld *w) {
    if (collision->first[0] != 0 || collision->first[collision->body_count] != collision->contact_count) return false;
    for (int k = 0; k < collision->body_count; k++) {
        if (collision->first[k] > collision->first[k + 1]) return false;
        for (int i = collision->first[k]; i < collision->first[k + 1]; i++)
            if (collision->contacts[i].index_a != k || !contact_valid(collision, w, &collision->contacts[i])) return false;
    }
    return true;
}

bool sand_collision_place_boundaries(SandCollision *collision, const SandWorld *w, SandError *error) {
    if (!SAND_GROW(collision->pose, collision->pose_capacity, w->boundary_count, "boundaries", error) ||
        !SAND_GROW(collision->guard, collision->guard_capacity, w->boundary_count, "boundaries", error) ||
        !SAND_GROW(collision->velocity, collision->velocity_capacity, w->boundary_count, "boundaries", error) ||
        !SAND_GROW(collision->spin, collision->spin_capacity, w->boundary_count, "boundaries", error))
        return false;
    for (int b = 0; b < w->boundary_count; b++) {
        collision->pose[b] = sand_boundary_pose(&w->boundaries[b], w->time);
        collision->velocity[b] = collision->spin[b] = v3_make(0, 0, 0);
        bool plane = w->boundaries[b].kind == SAND_PLANE && !w->boundaries[b].moves;
        collision->guard[b] =
            (SandGuard){.normal = plane ? q_rotate(collision->pose[b].rotation, v3_make(0, 0, 1)) : v3_make(0, 0, 0)};
        collision->guard[b].offset = v3_dot(collision->guard[b].normal, collision->pose[b].position);
        if (w->boundaries[b].moves)
            sand_boundary_velocity(&w->boundaries[b], w->time, w->step, &collision->velocity[b], &collision->spin[b]);
    }
    return true;
}

// Sorts the convex bodies. Ranks need not ask each other for them where the world has no such shape.
static bool sort_convex_bodies(SandBroadPhase *g, const SandWorld *w, SandThreadPool *pool, SandError *error) {
    bool any = false;
    for (int k = 0; k < w->shape_count; k++) any = any || w->shapes[k].sphere_count == 0;
    g->level_count = 0;
    g->cell_count = 0;
    return !any || sand_broad_phase_sort(g, pool, error);
}

bool sand_collision_sort(SandCollision *collision, const SandWorld *world, SandThreadPool *pool, SandError *error) {
    SandFinder finder = finder_make(world, collision);
    Job job = {.collision = collision, .world = world, .finder = &finder};
    double horizon = world->step * (1 + finder.largest_mu);
    if (!sand_collision_place_boundaries(collision, world, error) || !count_proxies(&job, error)) return false;
    sand_thread_pool_run(pool, place_spheres, &job);
    return sand_add_images(&collision->broad_phase, world, error) &&
           sand_broad_phase_sort(&collision->broad_phase, pool, error) &&
           sand_broad_phase_add_impact_margins(&collision->broad_phase, world->envelope, horizon, pool, error) &&
           sort_convex_bodies(&collision->convex_phase, world, pool, error);
}

bool sand_collision_place(SandCollision *collision, const SandWorld *world, const double *margins, SandThreadPool *pool,
                          SandError *error) {
    SandFinder finder = finder_make(world, collision);
    Job job = {.collision = collision, .world = world, .finder = &finder};
    SandBroadPhase *g = &collision->broad_phase;
    if (!count_proxies(&job, error)) return false;
    sand_thread_pool_run(pool, place_spheres, &job);
    if (!sand_add_images_again(g, world, error)) return false;
    for (int i = 0; i < g->sphere_count; i++) {
        int from = g->spheres[i].image ? g->spheres[i].source : i;
        proxy_set_impact_margin(&g->spheres[i], margins[from], world->envelope);
    }
    return sand_broad_phase_place(g, NULL, pool, error) && sand_broad_phase_place(&collision->convex_phase, g, pool, error);
}

bool sand_collision_find(SandCollision *collision, const SandWorld *world, SandThreadPool *pool, SandError *error) {
    SandFinder finder = finder_make(world, collision);
    Job job = {.collision = collision, .world = world, .finder = &finder};
    if (!assign_solver_indices(&job, error)) return false;
    sand_thread_pool_run(pool, find_contacts, &job);
    if (job.failed) return sand_fail(error, "%s", job.error.text[0] ? job.error.text : "out of memory for contacts");
    int64_t total = 0;
    for (int c = 0; c < SAND_CHUNKS; c++) total += collision->found_count[c];
    if (total > INT32_MAX / 2) return sand_fail(error, "%lld contacts are more than can be numbered", (long long)total);
    collision->contact_count = (int)total;
    if (!SAND_GROW(collision->contacts, collision->contact_capacity, total, "contacts", error)) return false;
    sand_thread_pool_run(pool, sort_contacts, &job);
    SAND_ASSERT(contacts_sorted(collision, world));
    return true;
}

bool sand_collide(SandCollision *collision, const SandWorld *world, SandThreadPool *pool, SandError *error) {
    return sand_collision_sort(collision, world, pool, error) && sand_collision_find(collision, world, pool, error);
}
