// SPDX-License-Identifier: MIT
// The check for initial overlaps, and the bodies of a fill as they are placed.
#include "sim/scene/overlap.h"
#include "sim/core/array.h"
#include "sim/core/thread_pool.h"
#include "sim/geometry/mesh.h"
#include "sim/geometry/convex_distance.inl"
#include "sim/world/period.inl"
#include <string.h>

// High above open ground it is `enough` right away: the search for the nearest triangle would cross many empty cells.
double sand_clear_distance(const SandBoundary *boundary, const SandPose *pose, SandVec3 point, double enough) {
    const SandTriangleMesh *mesh = boundary->mesh;
    bool ground = boundary->kind == SAND_MESH && !mesh->closed && mesh->face_count > 0 && mesh->normals[0].z > 0;
    if (ground && pose_apply_inverse(*pose, point).z >= mesh->upper.z + enough) return enough;
    return sand_boundary_distance(boundary, pose, point);
}

static int64_t cell_of(double x, int level) { return (int64_t)fmax(-9e18, fmin(9e18, floor(ldexp(x, -level)))); }

// Hashes a cell of a level, for bodies that enter at this time.
static uint64_t bucket(const SandOverlapSpheres *spheres, int level, double enter, int64_t i, int64_t j, int64_t k) {
    uint64_t h, e;
    memcpy(&e, &enter, sizeof e);
    h = (uint64_t)i * 0x9e3779b97f4a7c15ull + (uint64_t)j * 0xc2b2ae3d27d4eb4full + (uint64_t)k * 0x165667b19e3779f9ull;
    h ^= (e + (uint64_t)(int64_t)level) * 0xd6e8feb86659fd93ull;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93ull;
    return (h ^ h >> 32) & spheres->mask;
}

static bool is_convex(const SandWorld *world, int body) { return world->shapes[world->shape[body]].sphere_count == 0; }

// A convex body counts as the sphere around it, a compound as those around its pieces.
static int sphere_count(const SandWorld *world, int body) { return shape_proxies(&world->shapes[world->shape[body]]); }

// Whether a world repeats along all axes of an image: then it has that image.
static bool has_image(const SandWorld *world, int image) {
    for (int a = 0; a < 3; a++)
        if (image >> a & 1 && !world->periodic[a]) return false;
    return true;
}

// One sphere of a body, or an image of it.
static SandOverlapSphere make_sphere(const SandWorld *world, int body, int sub, int image) {
    const SandShape *shape = &world->shapes[world->shape[body]];
    SandOverlapSphere sphere = {.body = body, .sub = sub, .image = image};
    if (is_convex(world, body)) {
        PlacedPiece piece = shape_piece(shape, world->scale[body], world->rotation[body], sub);
        sphere.center = v3_add(world->position[body], piece.arm);
        sphere.radius = piece.scale * piece.shape->bound;
    } else {
        SandVec3 local = v3_scale(world->scale[body], shape->spheres[sub].center);
        sphere.center = v3_add(world->position[body], q_rotate(world->rotation[body], local));
        sphere.radius = world->scale[body] * shape->spheres[sub].radius;
    }
    if (image) sphere.center = v3_add(sphere.center, period_shift(world, image));
    frexp(4 * sphere.radius, &sphere.level);
    return sphere;
}

// Adds it to its bucket.
static bool add_sphere(const SandWorld *world, SandOverlapSpheres *spheres, int body, int sub, int image, SandError *error) {
    SandOverlapSphere *sphere = &spheres->sphere.data[spheres->count];
    *sphere = make_sphere(world, body, sub, image);
    int l = 0;
    while (l < spheres->level_count && spheres->levels[l] != sphere->level) l++;
    if (l == 64) return sand_fail(error, "the sizes of the bodies differ too much");
    if (l == spheres->level_count) spheres->levels[spheres->level_count++] = sphere->level;
    uint64_t b = bucket(spheres, sphere->level, world->enter[body], cell_of(sphere->center.x, sphere->level),
                        cell_of(sphere->center.y, sphere->level), cell_of(sphere->center.z, sphere->level));
    sphere->next = spheres->head.data[b];
    spheres->head.data[b] = spheres->count++;
    return true;
}

// Hashes the spheres of all bodies; the grid has buckets for `more` beside them.
static bool gather_spheres(const SandWorld *world, size_t more, SandOverlapSpheres *spheres, SandError *error) {
    size_t count = 0, images = 0;
    for (int image = 0; image < 8; image++) images += has_image(world, image);
    for (int i = 0; i < world->body_count; i++) count += images * (size_t)sphere_count(world, i);
    if (count > INT32_MAX / 2) return sand_fail(error, "%zu spheres are more than can be checked", count);
    spheres->mask = 1;
    while (spheres->mask < count + more) spheres->mask *= 2;
    if (!SAND_RESERVE(spheres->sphere, count + 1, "spheres of the overlap check", error)) return false;
    if (!SAND_RESERVE(spheres->head, spheres->mask, "grid of the overlap check", error)) return false;
    memset(spheres->head.data, -1, spheres->mask * sizeof *spheres->head.data);
    spheres->mask--;
    for (int i = 0; i < world->body_count; i++) {
        int subs = isinf(world->enter[i]) ? 0 : sphere_count(world, i);
        for (int s = 0; s < subs; s++)
            for (int image = 0; image < 8; image++)
                if (has_image(world, image) && !add_sphere(world, spheres, i, s, image, error)) return false;
    }
    return true;
}

static const SandVec3 zero = {0, 0, 0};

// A sphere of a body, or a convex piece of it, relative to `origin`; `smallest` is its least half extent.
static Convex convex_of(const SandWorld *world, const SandOverlapSphere *sphere, SandVec3 origin, double *smallest) {
    int body = sphere->body;
    SandVec3 at = v3_sub(sphere->center, origin);
    *smallest = sphere->radius;
    if (!is_convex(world, body)) return convex_sphere(&zero, at, sphere->radius);
    PlacedPiece p = shape_piece(&world->shapes[world->shape[body]], world->scale[body], world->rotation[body], sphere->sub);
    *smallest = p.scale * fmin(p.shape->half.x, fmin(p.shape->half.y, p.shape->half.z));
    return convex_make(p.shape, p.scale, p.rotation, at);
}

// The same where one of them stands for a convex body.
static bool convex_deep(const SandWorld *world, const SandOverlapSphere *a, const SandOverlapSphere *b, double tolerance,
                        SandOverlap *overlap) {
    double least_a, least_b;
    SandVec3 apart = v3_sub(a->center, b->center);
    if (v3_length(apart) > a->radius + b->radius) return false;
    Convex p = convex_of(world, a, a->center, &least_a), q = convex_of(world, b, a->center, &least_b);
    ConvexGap gap;
    convex_distance(&p, &q, INFINITY, &gap);
    double depth = p.radius + q.radius - gap.distance;
    if (!(depth > tolerance * fmin(least_a, least_b))) return false;
    int low = a->body < b->body ? a->body : b->body;
    *overlap = (SandOverlap){low, a->body + b->body - low, -1, depth};
    return true;
}

// Whether two spheres overlap by more than the tolerance.
static bool deep(const SandWorld *world, const SandOverlapSphere *a, const SandOverlapSphere *b, double tolerance,
                 SandOverlap *overlap) {
    if (a->body == b->body || world->enter[a->body] != world->enter[b->body]) return false;
    if (sand_world_apart(world, a->body, b->body)) return false; // joined: they pass through each other
    if (is_convex(world, a->body) || is_convex(world, b->body)) return convex_deep(world, a, b, tolerance, overlap);
    double reach = a->radius + b->radius - tolerance * fmin(a->radius, b->radius);
    SandVec3 d = v3_sub(a->center, b->center);
    if (v3_dot(d, d) >= reach * reach) return false;
    int low = a->body < b->body ? a->body : b->body;
    *overlap = (SandOverlap){low, a->body + b->body - low, -1, a->radius + b->radius - v3_length(d)};
    return true;
}

static bool sphere_overlaps(const SandWorld *world, const SandOverlapSpheres *spheres, int index, double tolerance,
                            SandOverlap *overlap) {
    const SandOverlapSphere *sphere = &spheres->sphere.data[index];
    for (int l = 0; l < spheres->level_count; l++) {
        int level = spheres->levels[l];
        if (level < sphere->level) continue;
        // A sphere of this grid has a radius of at most a quarter of the cell, and so has this one.
        double reach = 0.5 * ldexp(1, level);
        SandVec3 c = sphere->center;
        int64_t x = cell_of(c.x - reach, level), y = cell_of(c.y - reach, level), z = cell_of(c.z - reach, level);
        for (int n = 0; n < 8; n++) {
            uint64_t b = bucket(spheres, level, world->enter[sphere->body], x + (n & 1), y + (n >> 1 & 1), z + (n >> 2));
            for (int other = spheres->head.data[b]; other >= 0; other = spheres->sphere.data[other].next)
                if (other != index && deep(world, sphere, &spheres->sphere.data[other], tolerance, overlap)) return true;
        }
    }
    return false;
}

// Tests the corners of a convex body, or points of its rims, against the boundaries.
static bool convex_in_boundary(const SandWorld *world, const SandOverlapSphere *sphere, double tolerance,
                               SandOverlap *overlap) {
    double smallest;
    int body = sphere->body;
    Convex c = convex_of(world, sphere, zero, &smallest);
    for (int n = 0; n < (c.corner_count ? c.corner_count : 32); n++) {
        double angle = 2 * 3.14159265358979 * (n / 2) / 16;
        SandVec3 rim = v3_make(c.rim * cos(angle), c.rim * sin(angle), n & 1 ? c.half : -c.half);
        SandVec3 point = c.corner_count ? convex_corner(&c, n) : v3_add(c.center, m3_apply(c.rotation, rim));
        for (int i = 0; i < world->boundary_count; i++) {
            const SandBoundary *boundary = &world->boundaries[i];
            SandPose pose = sand_boundary_pose(boundary, world->enter[body]);
            double gap = sand_clear_distance(boundary, &pose, point, c.radius) - c.radius;
            if (!(gap < -tolerance * smallest)) continue;
            *overlap = (SandOverlap){body, -1, i, -gap};
            return true;
        }
    }
    return false;
}

static bool sphere_in_boundary(const SandWorld *world, const SandOverlapSphere *sphere, double tolerance,
                               SandOverlap *overlap) {
    if (is_convex(world, sphere->body)) return convex_in_boundary(world, sphere, tolerance, overlap);
    for (int i = 0; i < world->boundary_count; i++) {
        const SandBoundary *boundary = &world->boundaries[i];
        SandPose pose = sand_boundary_pose(boundary, world->enter[sphere->body]);
        double depth = sphere->radius - sand_clear_distance(boundary, &pose, sphere->center, sphere->radius);
        if (!(depth > tolerance * sphere->radius)) continue;
        *overlap = (SandOverlap){sphere->body, -1, i, depth};
        return true;
    }
    return false;
}

// The search for the first sphere that overlaps with anything, over several threads: each has a range of the spheres.
typedef struct OverlapSearch {
    const SandWorld *world;
    const SandOverlapSpheres *spheres;
    double tolerance;
    int first[SAND_MAX_THREADS]; // that overlaps in each range; the number of all spheres: none does
} OverlapSearch;

static bool overlaps(const OverlapSearch *s, int i, SandOverlap *overlap) {
    const SandOverlapSphere *sphere = &s->spheres->sphere.data[i];
    return (!sphere->image && sphere_in_boundary(s->world, sphere, s->tolerance, overlap)) ||
           sphere_overlaps(s->world, s->spheres, i, s->tolerance, overlap);
}

static void search_range(SandWorker *worker, void *argument) {
    OverlapSearch *s = argument;
    SandOverlap overlap;
    int64_t count = s->spheres->count, end = count * (worker->id + 1) / worker->count;
    s->first[worker->id] = (int)count;
    for (int64_t i = count * worker->id / worker->count; i < end && s->first[worker->id] == count; i++)
        if (overlaps(s, (int)i, &overlap)) s->first[worker->id] = (int)i;
}

// Returns 1 and the overlap of the first sphere that has one, 0 where none has, and -1 with a sentence on failure.
static int search(OverlapSearch *s, SandOverlap *overlap, SandError *error) {
    enum { FEW = 50000 }; // spheres that one thread has checked before others are awake
    SandThreadPool *pool = sand_thread_pool_create(s->spheres->count < FEW ? 1 : 0, error);
    if (!pool) return -1;
    sand_thread_pool_run(pool, search_range, s);
    int threads = sand_thread_pool_threads(pool), first = s->spheres->count;
    for (int t = 0; t < threads && first == s->spheres->count; t++) first = s->first[t];
    sand_thread_pool_free(pool);
    return first < s->spheres->count && overlaps(s, first, overlap);
}

int sand_find_overlap(const SandWorld *world, double tolerance, SandOverlap *overlap, SandError *error) {
    SandOverlapSpheres spheres = {0};
    OverlapSearch s = {.world = world, .spheres = &spheres, .tolerance = tolerance};
    int found = gather_spheres(world, 0, &spheres, error) ? search(&s, overlap, error) : -1;
    SAND_FREE_ARRAYS(&spheres.sphere, &spheres.head);
    return found;
}

// ---- a crowd ----

static bool crowd_reserve(SandCrowd *crowd, int count, SandError *error) {
    SandWorld *w = &crowd->bodies;
    return SAND_GROW(w->position, w->body_capacity.position, count, "bodies of a fill", error) &&
           SAND_GROW(w->rotation, w->body_capacity.rotation, count, "bodies of a fill", error) &&
           SAND_GROW(w->scale, w->body_capacity.scale, count, "bodies of a fill", error) &&
           SAND_GROW(w->shape, w->body_capacity.shape, count, "bodies of a fill", error) &&
           SAND_GROW(w->enter, w->body_capacity.enter, count, "bodies of a fill", error);
}

bool sand_crowd_begin(SandCrowd *crowd, const SandWorld *world, int count, int more, SandError *error) {
    enum { MOST_BUCKETS = 1 << 22 }; // beyond them some are shared
    SandWorld *w = &crowd->bodies;
    *crowd = (SandCrowd){.bodies = {.shapes = world->shapes, .body_count = count}};
    if (!crowd_reserve(crowd, count + 1, error)) return false;
    for (int i = 0; i < count; i++) {
        w->position[i] = world->position[i];
        w->rotation[i] = world->rotation[i];
        w->scale[i] = world->scale[i];
        w->shape[i] = world->shape[i];
        w->enter[i] = world->enter[i];
    }
    return gather_spheres(w, more < MOST_BUCKETS ? (size_t)more : MOST_BUCKETS, &crowd->spheres, error);
}

// Puts a body behind the others, without counting it.
static int crowd_put(SandCrowd *crowd, const SandBodyDef *def) {
    SandWorld *w = &crowd->bodies;
    int i = w->body_count;
    w->position[i] = def->pose.position;
    w->rotation[i] = q_unit(def->pose.rotation);
    w->scale[i] = def->scale;
    w->shape[i] = def->shape;
    w->enter[i] = def->enter;
    return i;
}

// Whether a sphere overlaps one in a bucket.
static bool in_bucket(const SandCrowd *crowd, const SandOverlapSphere *sphere, uint64_t b) {
    const SandOverlapSphere *spheres = crowd->spheres.sphere.data;
    SandOverlap overlap;
    for (int other = crowd->spheres.head.data[b]; other >= 0; other = spheres[other].next)
        if (deep(&crowd->bodies, sphere, &spheres[other], SAND_START_OVERLAP, &overlap)) return true;
    return false;
}

// Looks through all cells of a grid that have spheres as near. Those of a grid have a radius of at most a quarter of a cell.
static bool in_grid(const SandCrowd *crowd, const SandOverlapSphere *sphere, int level) {
    double reach = sphere->radius + 0.25 * ldexp(1, level), enter = crowd->bodies.enter[sphere->body];
    SandVec3 c = sphere->center;
    int64_t x = cell_of(c.x + reach, level), y = cell_of(c.y + reach, level), z = cell_of(c.z + reach, level);
    for (int64_t i = cell_of(c.x - reach, level); i <= x; i++)
        for (int64_t j = cell_of(c.y - reach, level); j <= y; j++)
            for (int64_t k = cell_of(c.z - reach, level); k <= z; k++)
                if (in_bucket(crowd, sphere, bucket(&crowd->spheres, level, enter, i, j, k))) return true;
    return false;
}

bool sand_crowd_overlaps(SandCrowd *crowd, const SandBodyDef *def) {
    if (!crowd->spheres.count) return false;
    int body = crowd_put(crowd, def), subs = sphere_count(&crowd->bodies, body);
    for (int s = 0; s < subs; s++) {
        SandOverlapSphere sphere = make_sphere(&crowd->bodies, body, s, 0);
        for (int l = 0; l < crowd->spheres.level_count; l++)
            if (in_grid(crowd, &sphere, crowd->spheres.levels[l])) return true;
    }
    return false;
}

bool sand_crowd_add(SandCrowd *crowd, const SandBodyDef *def, SandError *error) {
    int body = crowd_put(crowd, def), subs = sphere_count(&crowd->bodies, body);
    SandOverlapSpheres *spheres = &crowd->spheres;
    crowd->bodies.body_count++;
    if (!crowd_reserve(crowd, body + 2, error) ||
        !SAND_RESERVE(spheres->sphere, spheres->count + subs, "spheres of a fill", error))
        return false;
    for (int s = 0; s < subs; s++)
        if (!add_sphere(&crowd->bodies, spheres, body, s, 0, error)) return false;
    return true;
}

void sand_crowd_end(SandCrowd *crowd) {
    SandWorld *w = &crowd->bodies;
    void *arrays[] = {
        w->position, w->rotation, w->scale, w->shape, w->enter, crowd->spheres.sphere.data, crowd->spheres.head.data};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) sand_free(arrays[i]);
    *crowd = (SandCrowd){0};
}
