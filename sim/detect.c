#include "detect.h"

#include "memory.h"

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
    double largest_mu;
    double fall;                   // m/s, the speed a step of gravity gives: what is at rest now may move by it
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
            if (job->special_count)
                return sand_fail(error, "bodies %d and %d are boxes or cylinders, which may not meet", job->special[0], i);
            job->special[job->special_count++] = i;
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
    double grows = w->step * (1 + job->largest_mu);
    for (int64_t i = sand_chunk_begin(worker->first_chunk, w->body_count);
         i < sand_chunk_begin(worker->last_chunk, w->body_count); i++) {
        if (job->d->rank[i] < 0) continue;
        const SandShape *shape = &w->shapes[w->shape[i]];
        double spin = v3_length(w->spin[i]);
        for (int k = 0; k < shape->ball_count; k++) {
            SandGridBall *ball = &job->d->grid.balls[job->d->rank[i] + k];
            SandVec3 arm = shape->kind == SAND_SPHERE
                               ? v3_make(0, 0, 0)
                               : q_rotate(w->rotation[i], v3_scale(w->scale[i], shape->balls[k].center));
            ball->center = v3_add(w->position[i], arm);
            ball->radius = w->scale[i] * shape->balls[k].radius;
            ball->velocity = v3_add(w->velocity[i], v3_cross(w->spin[i], arm));
            ball->turning = spin * ball->radius;
            ball->extent =
                ball->radius + 0.5 * w->envelope + grows * (v3_length(ball->velocity) + ball->turning + job->fall);
            ball->struck = 0;
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
static void add_pair(Job *job, int chunk, int body_a, int sub_a, int body_b, int sub_b, SandVec3 normal, SandVec3 point,
                     double gap) {
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

// The speed that counts between two bodies. Two that fall side by side part when a wall stops the first of them: not
// only their relative motion matters, but the motion of each.
static double fastest(SandVec3 v, SandVec3 o) {
    SandVec3 u = v3_sub(o, v);
    return sqrt(fmax(v3_dot(u, u), fmax(v3_dot(v, v), v3_dot(o, o))));
}

// Two balls: within the envelope h (1 + mu) |u| of their relative motion or of what may strike one of them, or the
// least one.
static void pair_balls(Job *job, int chunk, const SandGridBall *p, const SandGridBall *q) {
    SandVec3 apart = v3_sub(q->center, p->center);
    double reach = p->extent + q->extent, distance2 = v3_dot(apart, apart);
    if (distance2 > reach * reach || p->body == q->body) return;
    const SandWorld *w = job->world;
    double distance = sqrt(distance2), gap = distance - p->radius - q->radius;
    if (gap > w->envelope) {
        double mu = sand_world_pair(w, w->material[p->body], w->material[q->body]);
        double speed =
            fmax(fastest(p->velocity, q->velocity) + p->turning + q->turning, fmax(p->struck, q->struck)) + job->fall;
        if (gap > w->step * (1 + mu) * speed) return;
    }
    // Two balls on one spot have no direction: take one that never changes.
    SandVec3 normal = distance > 1e-12 * p->radius ? v3_scale(1 / distance, apart) : v3_make(0, 0, 1);
    SandVec3 point = v3_madd(p->center, p->radius + 0.5 * gap, normal);
    add_pair(job, chunk, p->body, p->sub, q->body, q->sub, normal, point, gap);
}

static void add_touch(Job *job, int chunk, int body, int sub, int boundary, SandVec3 center, double radius,
                      const SandTouch *t) {
    const SandWorld *w = job->world;
    SandFound *f = add_found(job, chunk);
    if (!f) return;
    *f = (SandFound){.rank_a = job->d->rank[body],
                     .b = -1 - boundary,
                     .key = {SAND_BOUNDARY_BIT | (uint32_t)boundary, (uint32_t)sub << 24 | t->feature},
                     .normal = t->normal,
                     .point = v3_madd(center, radius + 0.5 * t->gap, t->normal),
                     .gap = t->gap,
                     .mu = sand_world_pair(w, w->material[body], w->boundaries[boundary].material)};
}

enum { TOUCH_ROOM = 64 };

// All touches of a ball with a boundary, or -1 where there are more than there is room for.
static int find_touches(Job *job, int body, int boundary, SandVec3 center, double radius, double reach, SandTouch *touches) {
    const SandBoundary *b = &job->world->boundaries[boundary];
    int count = sand_boundary_touch(b, &job->d->pose[boundary], center, radius, reach, touches, TOUCH_ROOM);
    if (count <= TOUCH_ROOM) return count;
    if (!atomic_exchange(&job->failed, true))
        sand_fail(&job->error, "body %d touches boundary %s in %d places at once; the mesh is too fine for it", body,
                  b->name, count);
    return -1;
}

// How far to look for a boundary: h (1 + mu) |u| of the motion relative to it, or of what may strike the ball.
static double boundary_reach(const Job *job, int body, int boundary, SandVec3 center, SandVec3 velocity, double turning,
                             double struck) {
    const SandWorld *w = job->world;
    const SandDetection *d = job->d;
    double mu = sand_world_pair(w, w->material[body], w->boundaries[boundary].material);
    SandVec3 wall = d->velocity[boundary];
    if (w->boundaries[boundary].moves)
        wall = v3_add(wall, v3_cross(d->spin[boundary], v3_sub(center, d->pose[boundary].position)));
    double speed = fmax(v3_length(v3_sub(velocity, wall)) + turning, struck) + job->fall;
    return fmax(w->envelope, w->step * (1 + mu) * speed);
}

// A ball, or a corner of radius 0, against every boundary.
static void touch_boundaries(Job *job, int chunk, int body, int sub, SandVec3 center, double radius, SandVec3 velocity,
                             double turning, double struck) {
    SandTouch touches[TOUCH_ROOM];
    const SandWorld *w = job->world;
    double speed = fmax(v3_length(velocity) + turning, struck) + job->fall;
    double far = radius + fmax(w->envelope, w->step * (1 + job->largest_mu) * speed); // from what does not move
    for (int b = 0; b < w->boundary_count; b++) {
        const SandGuard *guard = &job->d->guard[b];
        if (v3_dot(guard->normal, center) - guard->offset > far) continue;
        double reach = boundary_reach(job, body, b, center, velocity, turning, struck);
        int count = find_touches(job, body, b, center, radius, reach, touches);
        for (int k = 0; k < count; k++) add_touch(job, chunk, body, sub, b, center, radius, &touches[k]);
    }
}

// A ball against the box or cylinder: the nearest point of its surface.
static void touch_special(Job *job, int chunk, const SandGridBall *ball, int special) {
    const SandWorld *w = job->world;
    const SandShape *shape = &w->shapes[w->shape[special]];
    SandVec3 apart = v3_sub(ball->center, w->position[special]);
    double bound = shape->bound * w->scale[special];
    double mu = sand_world_pair(w, w->material[ball->body], w->material[special]);
    double speed = fastest(ball->velocity, w->velocity[special]) + v3_length(w->spin[special]) * bound + ball->turning;
    speed = fmax(speed, ball->struck) + job->fall;
    double reach = fmax(w->envelope, w->step * (1 + mu) * speed);
    if (v3_length(apart) > bound + ball->radius + reach) return;
    SandVec3 outward;
    uint32_t feature;
    double gap = sand_shape_distance(shape, w->scale[special], q_unrotate(w->rotation[special], apart), &outward, &feature) -
                 ball->radius;
    if (gap > reach) return;
    SandVec3 normal = v3_neg(q_rotate(w->rotation[special], outward)); // from the ball to the shape
    add_pair(job, chunk, ball->body, ball->sub, special, 0, normal, v3_madd(ball->center, ball->radius + 0.5 * gap, normal),
             gap);
}

// The corners of a box against the boundaries.
static void touch_corner(Job *job, int chunk, int body, int sub, SandVec3 local) {
    const SandWorld *w = job->world;
    SandVec3 arm = q_rotate(w->rotation[body], local);
    SandVec3 velocity = v3_add(w->velocity[body], v3_cross(w->spin[body], arm));
    touch_boundaries(job, chunk, body, sub, v3_add(w->position[body], arm), 0, velocity, 0, 0);
}

// A rim of a cylinder and one boundary. It touches each piece of the boundary by its point of least gap and three more
// at quarter turns from there, so that a standing cylinder has a base.
typedef struct Rim {
    Job *job;
    int chunk, body, sub, boundary;
    double radius, reach;
    SandVec3 center, x, y; // x and y span its plane, each as long as the radius
} Rim;

enum { RIM_SAMPLES = 16 };
static const double QUARTER_TURN = 1.57079632679489661923;

static SandVec3 rim_point(const Rim *r, double angle) {
    return v3_add(r->center, v3_add(v3_scale(cos(angle), r->x), v3_scale(sin(angle), r->y)));
}

// The touch with one piece of the boundary, and how the gap grows with the angle.
static bool rim_touch(const Rim *r, double angle, uint32_t piece, SandTouch *touch, double *slope) {
    SandTouch touches[TOUCH_ROOM];
    int count = find_touches(r->job, r->body, r->boundary, rim_point(r, angle), 0, r->reach + 0.1 * r->radius, touches);
    for (int k = 0; k < count; k++) {
        if (touches[k].feature != piece) continue;
        *touch = touches[k];
        *slope = -v3_dot(touch->normal, v3_sub(v3_scale(cos(angle), r->y), v3_scale(sin(angle), r->x)));
        return true;
    }
    return false;
}

// The angle of least gap between two angles, where there is one between them; else the middle.
static double rim_least(const Rim *r, uint32_t piece, double low, double high) {
    double middle = 0.5 * (low + high), slope;
    SandTouch touch;
    if (rim_touch(r, low, piece, &touch, &slope) && slope > 0) return middle;
    if (rim_touch(r, high, piece, &touch, &slope) && slope < 0) return middle;
    for (int k = 0; k < 60; k++) {
        double angle = 0.5 * (low + high);
        if (!rim_touch(r, angle, piece, &touch, &slope)) return middle;
        if (slope < 0)
            low = angle;
        else
            high = angle;
    }
    return 0.5 * (low + high);
}

static void rim_piece(const Rim *r, uint32_t piece) {
    double least = INFINITY, most = -INFINITY, angle = 0, slope;
    SandTouch touch;
    for (int k = 0; k < RIM_SAMPLES; k++) {
        double sample = k * (4 * QUARTER_TURN / RIM_SAMPLES), gap = INFINITY;
        if (rim_touch(r, sample, piece, &touch, &slope)) gap = touch.gap;
        most = fmax(most, gap);
        if (gap < least) least = gap, angle = sample;
    }
    // A rim that lies flat has no point of least gap but rounding: it touches by the same points in every step.
    bool flat = most - least < 1e-4 * r->radius;
    if (flat) angle = 0;
    for (int quarter = 0; quarter < 4; quarter++) {
        double half = quarter == 0 ? 4 * QUARTER_TURN / RIM_SAMPLES : 0.5 * QUARTER_TURN;
        double at = angle + quarter * QUARTER_TURN;
        if (!flat) at = rim_least(r, piece, at - half, at + half);
        if (quarter == 0) angle = at;
        if (rim_touch(r, at, piece, &touch, &slope) && touch.gap <= r->reach)
            add_touch(r->job, r->chunk, r->body, r->sub + quarter, r->boundary, rim_point(r, at), 0, &touch);
    }
}

// Every piece of the boundary that some point of the rim is near, in the order in which they are met.
static void touch_rim(const Rim *r) {
    uint32_t pieces[TOUCH_ROOM];
    SandTouch touches[TOUCH_ROOM];
    int piece_count = 0;
    for (int k = 0; k < RIM_SAMPLES; k++) {
        SandVec3 point = rim_point(r, k * (4 * QUARTER_TURN / RIM_SAMPLES));
        int count = find_touches(r->job, r->body, r->boundary, point, 0, r->reach + 0.1 * r->radius, touches);
        for (int t = 0; t < count; t++) {
            int known = 0;
            while (known < piece_count && pieces[known] != touches[t].feature) known++;
            if (known == piece_count && piece_count < TOUCH_ROOM) pieces[piece_count++] = touches[t].feature;
        }
    }
    for (int k = 0; k < piece_count; k++) rim_piece(r, pieces[k]);
}

static void special_contacts(Job *job, int chunk, int body) {
    const SandWorld *w = job->world;
    const SandShape *shape = &w->shapes[w->shape[body]];
    SandVec3 half = v3_scale(w->scale[body], shape->half);
    if (shape->kind == SAND_BOX) {
        for (int k = 0; k < 8; k++)
            touch_corner(job, chunk, body, k,
                         v3_make(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z));
        return;
    }
    double turning = v3_length(w->spin[body]) * shape->bound * w->scale[body];
    for (int end = 0; end < 2; end++)
        for (int b = 0; b < w->boundary_count; b++) {
            SandVec3 arm = q_rotate(w->rotation[body], v3_make(0, 0, end ? half.z : -half.z));
            Rim rim = {.job = job, .chunk = chunk, .body = body, .sub = 4 * end, .boundary = b, .radius = half.x};
            rim.center = v3_add(w->position[body], arm);
            rim.x = q_rotate(w->rotation[body], v3_make(half.x, 0, 0));
            rim.y = q_rotate(w->rotation[body], v3_make(0, half.x, 0));
            rim.reach = boundary_reach(job, body, b, rim.center, w->velocity[body], turning, 0);
            touch_rim(&rim);
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
            touch_boundaries(job, chunk, ball->body, ball->sub, ball->center, ball->radius, ball->velocity, ball->turning,
                             ball->struck);
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
    Job job = {.d = d, .world = world, .fall = world->step * v3_length(world->gravity)};
    for (int i = 0; i < world->material_count; i++)
        for (int j = 0; j <= i; j++) job.largest_mu = fmax(job.largest_mu, sand_world_pair(world, i, j));
    if (!place_boundaries(&job, error) || !count_balls(&job, error)) return false;
    sand_team_run(team, place_balls, &job);
    double reach = world->step * (1 + job.largest_mu);
    if (!sand_grid_sort(&d->grid, team, error) || !sand_grid_strike(&d->grid, world->envelope, reach, team, error))
        return false;
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
