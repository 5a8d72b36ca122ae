#include "sim/collision/collide.h"

#include "sim/core/array.h"

#include <stdatomic.h>
#include <string.h>

void sand_detection_free(SandDetection *d) {
    sand_grid_free(&d->grid);
    sand_free(d->rank);
    sand_free(d->body);
    sand_free(d->pose);
    sand_free(d->guard);
    sand_free(d->velocity);
    sand_free(d->spin);
    sand_free(d->contacts);
    sand_free(d->first);
    for (int c = 0; c < SAND_CHUNKS; c++) sand_free(d->found[c]);
    *d = (SandDetection){0};
}

// One detection, as the team sees it.
typedef struct Job {
    SandDetection *d;
    const SandWorld *world;
    const struct SandFinder *finder;
    atomic_bool failed;
    SandError error;
} Job;

// Contacts go to the list of the chunk that found them.
typedef struct SandSink {
    Job *job;
    int chunk;
} SandSink;

static void sink_put(SandSink *sink, const SandFound *found) {
    SandDetection *d = sink->job->d;
    int c = sink->chunk;
    if (SAND_GROW(d->found[c], d->found_room[c], d->found_count[c] + 1, "contacts", NULL))
        d->found[c][d->found_count[c]++] = *found;
    else
        sink->job->failed = true;
}

static void sink_too_many(SandSink *sink, int body, int boundary, int count) {
    Job *job = sink->job;
    if (!atomic_exchange(&job->failed, true))
        sand_fail(&job->error, "body %d touches boundary %s in %d places at once; the mesh is too fine for it", body,
                  job->world->boundaries[boundary].name, count);
}

#include "sim/collision/narrow_phase.inl"

// --- balls ------------------------------------------------------------------------------------------------

// Numbers the balls of the bodies that take part: rank holds the first ball of each body until the ranks are known.
static bool count_balls(Job *job, int *special, SandError *error) {
    SandDetection *d = job->d;
    const SandWorld *w = job->world;
    if (!SAND_GROW(d->rank, d->rank_room, w->body_count, "bodies", error) ||
        !SAND_GROW(d->body, d->body_room, w->body_count, "bodies", error) ||
        !SAND_GROW(d->first, d->first_room, w->body_count + 2, "bodies", error))
        return false;
    int64_t balls = 0;
    d->body_count = 0;
    *special = -1;
    for (int i = 0; i < w->body_count; i++) {
        d->rank[i] = -1;
        if (!sand_world_active(w, i)) continue;
        d->rank[i] = (int)balls;
        balls += w->shapes[w->shape[i]].ball_count;
        d->body_count++;
        if (w->shapes[w->shape[i]].ball_count == 0) {
            if (*special >= 0)
                return sand_fail(error, "bodies %d and %d are boxes or cylinders, which may not meet", *special, i);
            *special = i;
        }
        if (balls > INT32_MAX / 2)
            return sand_fail(error, "more than %d spheres are more than the grid can number", INT32_MAX / 2);
    }
    d->grid.ball_count = (int)balls;
    return sand_grid_reserve(&d->grid, (int)balls, error);
}

static void place_balls(SandWorker *worker, void *argument) {
    Job *job = argument;
    const SandWorld *w = job->world;
    for (int64_t i = sand_chunk_begin(worker->first_chunk, w->body_count);
         i < sand_chunk_begin(worker->last_chunk, w->body_count); i++) {
        int first = job->d->rank[i], count = first < 0 ? 0 : w->shapes[w->shape[i]].ball_count;
        for (int k = 0; k < count; k++) job->d->grid.balls[first + k] = place_ball(job->finder, (int)i, k);
    }
}

// Ranks follow the places of the first balls, so that neighbours in space are neighbours in memory; boxes and cylinders
// are the very last.
static bool rank_bodies(Job *job, SandError *error) {
    SandDetection *d = job->d;
    int ranks = 0;
    const int *place = sand_grid_places(&d->grid, &ranks, error);
    if (!place) return false;
    for (int k = 0; k < ranks; k++) d->body[k] = d->grid.sorted[place[k]].body;
    if (job->finder->special >= 0) d->body[ranks++] = job->finder->special;
    for (int k = 0; k < ranks; k++) d->rank[d->body[k]] = k;
    return true;
}

static void find_contacts(SandWorker *worker, void *argument) {
    Job *job = argument;
    SandDetection *d = job->d;
    const SandGrid *g = &d->grid;
    for (int chunk = worker->first_chunk; chunk < worker->last_chunk; chunk++) {
        SandSink sink = {job, chunk};
        d->found_count[chunk] = 0;
        int begin = (int)sand_chunk_begin(chunk, g->ball_count), end = (int)sand_chunk_begin(chunk + 1, g->ball_count);
        int level = begin < end ? grid_level_of(g, begin) : 0;
        for (int i = begin; i < end; i++) {
            while (i >= g->levels[level].end) level++;
            ball_contacts(job->finder, &sink, level, i);
        }
        if (chunk == SAND_CHUNKS - 1 && job->finder->special >= 0)
            special_contacts(job->finder, &sink, job->finder->special);
    }
}

// --- order ------------------------------------------------------------------------------------------------

// Sorts the contacts by the rank of their owner; those of one owner stay in the order they were found.
static void sort_contacts(SandWorker *worker, void *argument) {
    SandDetection *d = ((Job *)argument)->d;
    int first = (int)((int64_t)d->body_count * worker->id / worker->count);
    int last = (int)((int64_t)d->body_count * (worker->id + 1) / worker->count);
    for (int k = first; k < last; k++) d->first[k + 1] = 0;
    for (int c = 0; c < SAND_CHUNKS; c++)
        for (int i = 0; i < d->found_count[c]; i++) {
            int k = d->found[c][i].rank_a;
            if (k >= first && k < last) d->first[k + 1]++;
        }
    int mine = 0;
    for (int k = first; k < last; k++) mine += d->first[k + 1];
    d->grid.counts[worker->id] = mine;
    sand_barrier(worker);
    int sum = 0;
    for (int k = 0; k < worker->id; k++) sum += d->grid.counts[k];
    for (int k = first; k < last; k++) {
        int count = d->first[k + 1];
        d->first[k + 1] = sum; // begin for now; filling moves it to the end, where the next one begins
        sum += count;
    }
    for (int c = 0; c < SAND_CHUNKS; c++)
        for (int i = 0; i < d->found_count[c]; i++) {
            int k = d->found[c][i].rank_a;
            if (k >= first && k < last) d->contacts[d->first[k + 1]++] = d->found[c][i];
        }
    if (worker->id == 0) d->first[0] = 0;
}

bool sand_detection_place(SandDetection *d, const SandWorld *w, SandError *error) {
    if (!SAND_GROW(d->pose, d->pose_room, w->boundary_count, "boundaries", error) ||
        !SAND_GROW(d->guard, d->guard_room, w->boundary_count, "boundaries", error) ||
        !SAND_GROW(d->velocity, d->velocity_room, w->boundary_count, "boundaries", error) ||
        !SAND_GROW(d->spin, d->spin_room, w->boundary_count, "boundaries", error))
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

bool sand_detect(SandDetection *d, const SandWorld *world, SandTeam *team, SandError *error) {
    SandFinder finder = finder_make(world, d);
    Job job = {.d = d, .world = world, .finder = &finder};
    if (!sand_detection_place(d, world, error) || !count_balls(&job, &finder.special, error)) return false;
    sand_team_run(team, place_balls, &job);
    double reach = world->step * (1 + finder.largest_mu);
    if (!sand_grid_sort(&d->grid, team, error) || !sand_grid_strike(&d->grid, world->envelope, reach, team, error) ||
        !rank_bodies(&job, error))
        return false;
    sand_team_run(team, find_contacts, &job);
    if (job.failed) return sand_fail(error, "%s", job.error.text[0] ? job.error.text : "out of memory for contacts");
    int64_t total = 0;
    for (int c = 0; c < SAND_CHUNKS; c++) total += d->found_count[c];
    if (total > INT32_MAX / 2) return sand_fail(error, "%lld contacts are more than can be numbered", (long long)total);
    d->contact_count = (int)total;
    if (!SAND_GROW(d->contacts, d->contact_room, total, "contacts", error)) return false;
    sand_team_run(team, sort_contacts, &job);
    return true;
}
