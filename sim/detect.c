#include "detect.h"

#include "memory.h"

#include <stdatomic.h>
#include <string.h>

void sand_detection_free(SandDetection *d) {
    sand_grid_free(&d->grid);
    sand_free(d->rank);
    sand_free(d->body);
    sand_free(d->pose);
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
    double largest_mu;
    double fall; // m/s, the speed a step of gravity gives: what is at rest now may move by it
    int special[1], special_count; // the box or cylinder, if there is one
    atomic_bool failed;
    SandError error;
} Job;

static bool is_special(const SandWorld *w, int body) {
    SandShapeKind kind = w->shapes[w->shape[body]].kind;
    return kind == SAND_BOX || kind == SAND_CYLINDER;
}

// --- balls ------------------------------------------------------------------------------------------------

// Numbers the balls of the bodies that take part: rank holds the first ball of each body until the ranks are known.
static bool count_balls(Job *job, SandError *error) {
    SandDetection *d = job->d;
    const SandWorld *w = job->world;
    if (!SAND_GROW(d->rank, d->rank_room, w->body_count, "bodies", error) ||
        !SAND_GROW(d->body, d->body_room, w->body_count, "bodies", error) ||
        !SAND_GROW(d->first, d->first_room, w->body_count + 2, "bodies", error))
        return false;
    int64_t balls = 0;
    d->body_count = 0;
    job->special_count = 0;
    for (int i = 0; i < w->body_count; i++) {
        d->rank[i] = -1;
        if (!sand_world_active(w, i)) continue;
        d->rank[i] = (int)balls;
        balls += w->shapes[w->shape[i]].ball_count;
        d->body_count++;
        if (is_special(w, i)) {
            if (job->special_count) return sand_fail(error, "bodies %d and %d are boxes or cylinders, which may not meet", job->special[0], i);
            job->special[job->special_count++] = i;
        }
        if (balls > INT32_MAX / 2) return sand_fail(error, "more than %d spheres are more than the grid can number", INT32_MAX / 2);
    }
    d->grid.ball_count = (int)balls;
    return sand_grid_reserve(&d->grid, (int)balls, error);
}

static void place_balls(SandWorker *worker, void *argument) {
    Job *job = argument;
    const SandWorld *w = job->world;
    double grows = w->step * (1 + job->largest_mu);
    for (int64_t i = sand_chunk_begin(worker->first_chunk, w->body_count); i < sand_chunk_begin(worker->last_chunk, w->body_count); i++) {
        if (job->d->rank[i] < 0) continue;
        const SandShape *shape = &w->shapes[w->shape[i]];
        double spin = v3_length(w->spin[i]);
        for (int k = 0; k < shape->ball_count; k++) {
            SandGridBall *ball = &job->d->grid.balls[job->d->rank[i] + k];
            SandVec3 arm = shape->kind == SAND_SPHERE ? v3_make(0, 0, 0)
                                                      : q_rotate(w->rotation[i], v3_scale(w->scale[i], shape->balls[k].center));
            ball->center = v3_add(w->position[i], arm);
            ball->radius = w->scale[i] * shape->balls[k].radius;
            ball->velocity = v3_add(w->velocity[i], v3_cross(w->spin[i], arm));
            ball->turning = spin * ball->radius;
            ball->extent = ball->radius + 0.5 * w->envelope + grows * (v3_length(ball->velocity) + ball->turning + job->fall);
            ball->body = (int)i;
            ball->sub = k;
        }
    }
}

// Ranks follow the sorted order of the first balls, so that neighbours in space are neighbours in memory, and fast
// and big bodies come last; boxes and cylinders are the very last.
static void rank_bodies(Job *job) {
    SandDetection *d = job->d;
    int ranks = 0;
    for (int i = 0; i < d->grid.ball_count; i++)
        if (d->grid.sorted[i].sub == 0) d->body[ranks++] = d->grid.sorted[i].body;
    for (int k = 0; k < job->special_count; k++) d->body[ranks++] = job->special[k];
    for (int k = 0; k < ranks; k++) d->rank[d->body[k]] = k;
}

// --- contacts of one chunk --------------------------------------------------------------------------------

static SandFound *add_found(Job *job, int chunk) {
    SandDetection *d = job->d;
    if (!SAND_GROW(d->found[chunk], d->found_room[chunk], d->found_count[chunk] + 1, "contacts", NULL)) {
        job->failed = true;
        return NULL;
    }
    return &d->found[chunk][d->found_count[chunk]++];
}

static uint32_t two_subs(int a, int b) { return (uint32_t)a << 24 | (uint32_t)b; }

// A contact between two bodies, owned by the one of lower rank.
static void add_pair(Job *job, int chunk, int body_a, int sub_a, int body_b, int sub_b, SandVec3 normal, SandVec3 point, double gap) {
    SandDetection *d = job->d;
    if (d->rank[body_a] > d->rank[body_b]) {
        int body = body_a, sub = sub_a;
        body_a = body_b, sub_a = sub_b, body_b = body, sub_b = sub;
        normal = v3_neg(normal);
    }
    SandFound *f = add_found(job, chunk);
    if (!f) return;
    const SandWorld *w = job->world;
    *f = (SandFound){.rank_a = d->rank[body_a],
                     .b = d->rank[body_b],
                     .key = {(uint32_t)body_b, two_subs(sub_a, sub_b)},
                     .normal = normal,
                     .point = point,
                     .gap = gap,
                     .mu = sand_world_pair(w, w->material[body_a], w->material[body_b])};
}

// Two balls: within the envelope h (1 + mu) |u| of their relative motion, or the least one.
static void pair_balls(Job *job, int chunk, const SandGridBall *p, const SandGridBall *q) {
    SandVec3 apart = v3_sub(q->center, p->center);
    double reach = p->extent + q->extent, distance2 = v3_dot(apart, apart);
    if (distance2 > reach * reach || p->body == q->body) return;
    const SandWorld *w = job->world;
    double distance = sqrt(distance2), gap = distance - p->radius - q->radius;
    if (gap > w->envelope) {
        double mu = sand_world_pair(w, w->material[p->body], w->material[q->body]);
        double speed = v3_length(v3_sub(q->velocity, p->velocity)) + p->turning + q->turning + job->fall;
        if (gap > w->step * (1 + mu) * speed) return;
    }
    // Two balls on one spot have no direction: take one that never changes.
    SandVec3 normal = distance > 1e-12 * p->radius ? v3_scale(1 / distance, apart) : v3_make(0, 0, 1);
    SandVec3 point = v3_madd(p->center, p->radius + 0.5 * gap, normal);
    add_pair(job, chunk, p->body, p->sub, q->body, q->sub, normal, point, gap);
}

// A ball, or a corner of radius 0, against every boundary.
static void touch_boundaries(Job *job, int chunk, int body, int sub, SandVec3 center, double radius, SandVec3 velocity, double turning) {
    enum { ROOM = 64 };
    const SandWorld *w = job->world;
    SandDetection *d = job->d;
    SandTouch touches[ROOM];
    for (int b = 0; b < w->boundary_count; b++) {
        const SandBoundary *boundary = &w->boundaries[b];
        double mu = sand_world_pair(w, w->material[body], boundary->material);
        SandVec3 wall = d->velocity[b];
        if (boundary->moves) wall = v3_add(wall, v3_cross(d->spin[b], v3_sub(center, d->pose[b].position)));
        double speed = v3_length(v3_sub(velocity, wall)) + turning + job->fall;
        double reach = fmax(w->envelope, w->step * (1 + mu) * speed);
        int count = sand_boundary_touch(boundary, &d->pose[b], center, radius, reach, touches, ROOM);
        if (count > ROOM) {
            if (!atomic_exchange(&job->failed, true))
                sand_fail(&job->error, "body %d touches boundary %s in %d places at once; the mesh is too fine for it", body, boundary->name, count);
            return;
        }
        for (int k = 0; k < count; k++) {
            const SandTouch *t = &touches[k];
            SandFound *f = add_found(job, chunk);
            if (!f) return;
            *f = (SandFound){.rank_a = d->rank[body],
                             .b = -1 - b,
                             .key = {SAND_BOUNDARY_BIT | (uint32_t)b, (uint32_t)sub << 24 | t->feature},
                             .normal = t->normal,
                             .point = v3_madd(center, radius + 0.5 * t->gap, t->normal),
                             .gap = t->gap,
                             .mu = mu};
        }
    }
}

// A ball against the box or cylinder: the nearest point of its surface.
static void touch_special(Job *job, int chunk, const SandGridBall *ball, int special) {
    const SandWorld *w = job->world;
    const SandShape *shape = &w->shapes[w->shape[special]];
    SandVec3 apart = v3_sub(ball->center, w->position[special]);
    double bound = shape->bound * w->scale[special];
    double mu = sand_world_pair(w, w->material[ball->body], w->material[special]);
    double speed = v3_length(v3_sub(ball->velocity, w->velocity[special])) + v3_length(w->spin[special]) * bound + ball->turning + job->fall;
    double reach = fmax(w->envelope, w->step * (1 + mu) * speed);
    if (v3_length(apart) > bound + ball->radius + reach) return;
    SandVec3 outward;
    uint32_t feature;
    double gap = sand_shape_distance(shape, w->scale[special], q_unrotate(w->rotation[special], apart), &outward, &feature) - ball->radius;
    if (gap > reach) return;
    SandVec3 normal = v3_neg(q_rotate(w->rotation[special], outward)); // from the ball to the shape
    add_pair(job, chunk, ball->body, ball->sub, special, 0, normal, v3_madd(ball->center, ball->radius + 0.5 * gap, normal), gap);
}

// The corners of a box and the rims of a cylinder against the boundaries. A rim is represented by its lowest point
// towards each boundary and three more at quarters from it, so that a standing cylinder has a base.
static void touch_corner(Job *job, int chunk, int body, int sub, SandVec3 local) {
    const SandWorld *w = job->world;
    SandVec3 arm = q_rotate(w->rotation[body], local);
    SandVec3 velocity = v3_add(w->velocity[body], v3_cross(w->spin[body], arm));
    touch_boundaries(job, chunk, body, sub, v3_add(w->position[body], arm), 0, velocity, 0);
}

enum { RIM_POINTS = 12 };

static void special_contacts(Job *job, int chunk, int body) {
    const SandWorld *w = job->world;
    const SandShape *shape = &w->shapes[w->shape[body]];
    SandVec3 half = v3_scale(w->scale[body], shape->half);
    if (shape->kind == SAND_BOX) {
        for (int k = 0; k < 8; k++)
            touch_corner(job, chunk, body, k, v3_make(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z));
        return;
    }
    for (int k = 0; k < 2 * RIM_POINTS; k++) {
        double angle = 2 * 3.14159265358979323846 * (k / 2) / RIM_POINTS;
        touch_corner(job, chunk, body, k, v3_make(half.x * cos(angle), half.x * sin(angle), k & 1 ? half.z : -half.z));
    }
}

static void find_contacts(SandWorker *worker, void *argument) {
    Job *job = argument;
    SandDetection *d = job->d;
    const SandGrid *g = &d->grid;
    for (int chunk = worker->first_chunk; chunk < worker->last_chunk; chunk++) {
        d->found_count[chunk] = 0;
        int begin = (int)sand_chunk_begin(chunk, g->ball_count), end = (int)sand_chunk_begin(chunk + 1, g->ball_count);
        int level = begin < end ? sand_grid_level_of(g, begin) : 0;
        for (int i = begin; i < end; i++) {
            while (i >= g->levels[level].end) level++;
            const SandGridBall *ball = &g->sorted[i];
            SandGridRun runs[SAND_MAX_RUNS];
            int count = sand_grid_runs(g, level, i, runs);
            for (int r = 0; r < count; r++)
                for (int j = runs[r].begin; j < runs[r].end; j++) pair_balls(job, chunk, ball, &g->sorted[j]);
            for (int k = 0; k < job->special_count; k++) touch_special(job, chunk, ball, job->special[k]);
            touch_boundaries(job, chunk, ball->body, ball->sub, ball->center, ball->radius, ball->velocity, ball->turning);
        }
        if (chunk == SAND_CHUNKS - 1)
            for (int k = 0; k < job->special_count; k++) special_contacts(job, chunk, job->special[k]);
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

static bool place_boundaries(Job *job, SandError *error) {
    SandDetection *d = job->d;
    const SandWorld *w = job->world;
    if (!SAND_GROW(d->pose, d->pose_room, w->boundary_count, "boundaries", error) ||
        !SAND_GROW(d->velocity, d->velocity_room, w->boundary_count, "boundaries", error) ||
        !SAND_GROW(d->spin, d->spin_room, w->boundary_count, "boundaries", error))
        return false;
    for (int b = 0; b < w->boundary_count; b++) {
        d->pose[b] = sand_boundary_pose(&w->boundaries[b], w->time);
        d->velocity[b] = d->spin[b] = v3_make(0, 0, 0);
        if (w->boundaries[b].moves) sand_boundary_velocity(&w->boundaries[b], w->time, w->step, &d->velocity[b], &d->spin[b]);
    }
    return true;
}

bool sand_detect(SandDetection *d, const SandWorld *world, SandTeam *team, SandError *error) {
    Job job = {.d = d, .world = world, .fall = world->step * v3_length(world->gravity)};
    for (int i = 0; i < world->material_count; i++)
        for (int j = 0; j <= i; j++) job.largest_mu = fmax(job.largest_mu, sand_world_pair(world, i, j));
    if (!place_boundaries(&job, error) || !count_balls(&job, error)) return false;
    sand_team_run(team, place_balls, &job);
    if (!sand_grid_sort(&d->grid, team, error)) return false;
    rank_bodies(&job);
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
