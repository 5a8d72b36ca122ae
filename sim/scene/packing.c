// Lattice fills and the check for initial overlaps.
#include "sim/scene/packing.h"
#include "sim/core/array.h"
#include "sim/core/thread_pool.h"
#include "sim/geometry/mesh.h"
#include "sim/geometry/convex_distance.inl"
#include "sim/world/period.inl"
#include <float.h>
#include <string.h>

SandFill sand_default_fill(void) {
    return (SandFill){.least = 1, .most = 1, .spacing = 1, .to = DBL_MAX, .tries = 1ll << 62};
}

// Returns the signed distance of a point to a boundary, for comparing with `enough`. High above open ground it is `enough`
// right away: the search for the nearest triangle would cross many empty cells.
static double clear_distance(const SandBoundary *boundary, const SandPose *pose, SandVec3 point, double enough) {
    const SandTriangleMesh *mesh = boundary->mesh;
    bool ground = boundary->kind == SAND_MESH && !mesh->closed && mesh->face_count > 0 && mesh->normals[0].z > 0;
    if (ground && pose_apply_inverse(*pose, point).z >= mesh->upper.z + enough) return enough;
    return sand_boundary_distance(boundary, pose, point);
}

// ---- placing ----

// Finds the number of columns and the height limit. A lattice without a width covers all boundaries that have a bounding
// box.
static void lattice_limits(const SandWorld *world, const SandFill *fill, int *columns, double *top) {
    double width = 0, height = -DBL_MAX;
    for (int i = 0; i < world->boundary_count; i++) {
        SandVec3 lower, upper;
        if (!sand_fill_bounds(&world->boundaries[i], &lower, &upper)) continue;
        double x = fmax(fabs(lower.x - fill->center[0]), fabs(upper.x - fill->center[0]));
        double y = fmax(fabs(lower.y - fill->center[1]), fabs(upper.y - fill->center[1]));
        width = fmax(width, 2 * fmax(x, y));
        // Open ground ends below the fill; only a vessel has a top.
        if (world->boundaries[i].kind != SAND_MESH) height = fmax(height, upper.z);
    }
    if (fill->cylinder > 0) width = 2 * fill->cylinder;
    if (fill->box[0] > 0) width = fmax(fill->box[0], fill->box[1]);
    *columns = fill->columns ? fill->columns : 2 * (int)fmin(0.5 * width / fill->spacing, 1e6) + 1;
    *top = fill->inside && height > -DBL_MAX ? fmin(fill->to, height) : fill->to;
}

// Whether a lattice point is kept; (x, y) is relative to the lattice's center, before the jitter.
static bool in_region(const SandWorld *world, const SandFill *fill, const SandPose *poses, double x, double y, double z,
                      double margin) {
    if (fill->cylinder > 0 && x * x + y * y > fill->cylinder * fill->cylinder) return false;
    if (fill->box[0] > 0 && (fabs(x) > 0.5 * fill->box[0] || fabs(y) > 0.5 * fill->box[1])) return false;
    if (!fill->inside) return true;
    SandVec3 point = v3_make(x + fill->center[0], y + fill->center[1], z);
    for (int i = 0; i < world->boundary_count; i++)
        if (!(clear_distance(&world->boundaries[i], &poses[i], point, margin) >= margin)) return false;
    return true;
}

// Draws the size of a body.
static double random_size(const SandFill *fill, SandRandom *random) {
    if (fill->least == fill->most) return fill->least; // no draw: the drivers of other engines draw none
    double u = sand_random_unit(random);
    if (fill->mostly_small) return fill->least / (1 - u * (1 - fill->least / fill->most));
    return fill->least + u * (fill->most - fill->least);
}

// Adds a body, or leaves it to another process.
static bool add(SandWorld *world, const SandBodyDef *def, SandKept *kept, SandError *error) {
    if (!kept || (world->body_count >= kept->first && world->body_count < kept->end))
        return sand_world_add_body(world, def, error) >= 0;
    if (!sand_world_skip_body(world, def, error)) return false;
    double r = def->scale * world->shapes[def->shape].bound;
    SandVec3 reach = v3_make(r, r, r);
    sand_box_include(&kept->lower, &kept->upper, v3_sub(def->pose.position, reach), v3_add(def->pose.position, reach));
    return true;
}

// Adds one body near the lattice point. Draws in this order: x, y, z, size, shape, orientation.
bool sand_fill_place(SandWorld *world, const SandFill *fill, SandRandom *random, double x, double y, double z, double enter,
                     SandError *error) {
    SandBodyDef def = sand_default_body();
    def.pose.position.x = x + fill->jitter * sand_random_signed(random) + fill->center[0];
    def.pose.position.y = y + fill->jitter * sand_random_signed(random) + fill->center[1];
    def.pose.position.z = z + fill->jitter * sand_random_signed(random);
    def.scale = random_size(fill, random);
    def.shape = fill->shapes[0];
    if (fill->shape_count > 1) def.shape = fill->shapes[(int)(sand_random_unit(random) * fill->shape_count)];
    if (fill->random_rotation) def.pose.rotation = sand_random_rotation(random);
    def.material = fill->material;
    def.mass = fill->mass;
    def.velocity = fill->velocity;
    def.enter = enter;
    return add(world, &def, fill->kept, error);
}

int sand_fill(SandWorld *world, const SandFill *fill, SandRandom *random, SandError *error) {
    int columns, placed = 0, empty = 0;
    double top, bound = 0;
    lattice_limits(world, fill, &columns, &top);
    for (int i = 0; i < fill->shape_count; i++) bound = fmax(bound, world->shapes[fill->shapes[i]].bound);
    double margin = bound * fill->most + fill->clearance + 1.7320508 * fill->jitter;
    SandPose *poses = NULL;
    size_t capacity = 0;
    if (!SAND_GROW(poses, capacity, world->boundary_count, "poses of the boundaries", error)) return -1;
    for (int i = 0; i < world->boundary_count; i++) poses[i] = sand_boundary_pose(&world->boundaries[i], 0);

    // Give up after a thousand empty layers in a row.
    long long tries = fill->tries;
    double rise = fill->dense ? 0.70710678118654752 * fill->spacing : fill->spacing;
    for (int k = 0; placed < fill->count && empty < 1000 && tries > 0; k++) {
        double z = fill->from + (fill->pour > 0 ? 0 : k * rise);
        double shift = fill->dense && k % 2 ? 0.5 * fill->spacing : 0;
        double enter = fill->pour > 0 ? k * fill->spacing / fill->pour : 0;
        if (z > top) break;
        int before = placed;
        for (int i = 0; i < columns && tries > 0; i++)
            for (int j = 0; j < columns && placed < fill->count; j++, tries--) {
                double x = (i - (columns - 1) / 2.) * fill->spacing + shift;
                double y = (j - (columns - 1) / 2.) * fill->spacing + shift;
                if (!in_region(world, fill, poses, x, y, z, margin)) continue;
                if (!sand_fill_place(world, fill, random, x, y, z, enter, error)) {
                    sand_free(poses);
                    return -1;
                }
                placed++;
            }
        empty = placed > before ? 0 : empty + 1;
    }
    sand_free(poses);
    return placed;
}

bool sand_fill_bounds(const SandBoundary *boundary, SandVec3 *lower, SandVec3 *upper) {
    SandVec3 low, high;
    double wide = 0;
    switch (boundary->kind) {
    case SAND_BOX_WALLS:
        high = boundary->half;
        low = v3_neg(high);
        break;
    case SAND_SPHERE_WALL:
        high = v3_make(boundary->radius, boundary->radius, boundary->radius);
        low = v3_neg(high);
        break;
    case SAND_REVOLUTION:
        low = v3_make(0, 0, boundary->profile[0][1]);
        high = low;
        for (int i = 0; i < boundary->profile_count; i++) {
            wide = fmax(wide, boundary->profile[i][0]);
            low.z = fmin(low.z, boundary->profile[i][1]);
            high.z = fmax(high.z, boundary->profile[i][1]);
        }
        low.x = low.y = -wide;
        high.x = high.y = wide;
        break;
    case SAND_MESH:
        low = boundary->mesh->lower;
        high = boundary->mesh->upper;
        break;
    default: return false;
    }
    // Bounds of the rotated box: each world axis sums the absolute values of its matrix row.
    SandMat3 m = q_matrix(boundary->pose.rotation);
    SandVec3 middle = pose_apply(boundary->pose, v3_scale(0.5, v3_add(low, high))), half = v3_scale(0.5, v3_sub(high, low));
    double reach[3];
    for (int i = 0; i < 3; i++) reach[i] = fabs(m.m[i][0]) * half.x + fabs(m.m[i][1]) * half.y + fabs(m.m[i][2]) * half.z;
    *lower = v3_sub(middle, v3_make(reach[0], reach[1], reach[2]));
    *upper = v3_add(middle, v3_make(reach[0], reach[1], reach[2]));
    return true;
}

// ---- overlaps ----

// Spheres are hashed into grids whose cells are powers of two, each into the grid with cells of two to four diameters, so
// that any mixture of sizes costs the same: a sphere looks at the nearest 8 cells of its own grid and of every coarser one.
typedef struct Sphere {
    SandVec3 center;
    double radius;
    int body, next; // next in the bucket, or -1
    int level;      // binary exponent of the cell size
    int image;      // of a periodic world: period_shift; 0: the sphere itself
} Sphere;

typedef struct Spheres {
    Sphere *sphere;
    int *head; // first sphere of each bucket, or -1
    size_t sphere_capacity, head_capacity;
    int count;
    uint64_t mask;
    int levels[64], level_count;
} Spheres;

static int64_t cell_of(double x, int level) { return (int64_t)fmax(-9e18, fmin(9e18, floor(ldexp(x, -level)))); }

// Hashes a cell of a level, for bodies that enter at this time.
static uint64_t bucket(const Spheres *spheres, int level, double enter, int64_t i, int64_t j, int64_t k) {
    uint64_t h, e;
    memcpy(&e, &enter, sizeof e);
    h = (uint64_t)i * 0x9e3779b97f4a7c15ull + (uint64_t)j * 0xc2b2ae3d27d4eb4full + (uint64_t)k * 0x165667b19e3779f9ull;
    h ^= (e + (uint64_t)(int64_t)level) * 0xd6e8feb86659fd93ull;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93ull;
    return (h ^ h >> 32) & spheres->mask;
}

static bool is_convex(const SandWorld *world, int body) { return world->shapes[world->shape[body]].sphere_count == 0; }

// A convex body counts as the sphere around it.
static int sphere_count(const SandWorld *world, int body) {
    return is_convex(world, body) ? 1 : world->shapes[world->shape[body]].sphere_count;
}

// Whether a world repeats along all axes of an image: then it has that image.
static bool has_image(const SandWorld *world, int image) {
    for (int a = 0; a < 3; a++)
        if (image >> a & 1 && !world->periodic[a]) return false;
    return true;
}

// Adds one sphere of a body, or an image of it, to its bucket.
static bool add_sphere(const SandWorld *world, Spheres *spheres, int body, int sub, int image, SandError *error) {
    const SandShape *shape = &world->shapes[world->shape[body]];
    Sphere *sphere = &spheres->sphere[spheres->count];
    SandShapeSphere around = {.radius = shape->bound};
    const SandShapeSphere *from = is_convex(world, body) ? &around : &shape->spheres[sub];
    SandVec3 local = v3_scale(world->scale[body], from->center);
    sphere->center = v3_add(world->position[body], q_rotate(world->rotation[body], local));
    if (image) sphere->center = v3_add(sphere->center, period_shift(world, image));
    sphere->radius = world->scale[body] * from->radius;
    sphere->body = body;
    sphere->image = image;
    frexp(4 * sphere->radius, &sphere->level);
    int l = 0;
    while (l < spheres->level_count && spheres->levels[l] != sphere->level) l++;
    if (l == 64) return sand_fail(error, "the sizes of the bodies differ too much");
    if (l == spheres->level_count) spheres->levels[spheres->level_count++] = sphere->level;
    uint64_t b = bucket(spheres, sphere->level, world->enter[body], cell_of(sphere->center.x, sphere->level),
                        cell_of(sphere->center.y, sphere->level), cell_of(sphere->center.z, sphere->level));
    sphere->next = spheres->head[b];
    spheres->head[b] = spheres->count++;
    return true;
}

static bool gather_spheres(const SandWorld *world, Spheres *spheres, SandError *error) {
    size_t count = 0, images = 0;
    for (int image = 0; image < 8; image++) images += has_image(world, image);
    for (int i = 0; i < world->body_count; i++) count += images * (size_t)sphere_count(world, i);
    if (count > INT32_MAX / 2) return sand_fail(error, "%zu spheres are more than can be checked", count);
    spheres->mask = 1;
    while (spheres->mask < count) spheres->mask *= 2;
    if (!SAND_GROW(spheres->sphere, spheres->sphere_capacity, count + 1, "spheres of the overlap check", error))
        return false;
    if (!SAND_GROW(spheres->head, spheres->head_capacity, spheres->mask, "grid of the overlap check", error)) return false;
    memset(spheres->head, -1, spheres->mask * sizeof *spheres->head);
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

// A sphere of a body, or the whole of it where it is convex, relative to `origin`; `smallest` is its least half extent.
static Convex convex_of(const SandWorld *world, const Sphere *sphere, SandVec3 origin, double *smallest) {
    int body = sphere->body;
    SandVec3 at = v3_sub(sphere->center, origin), half = world->shapes[world->shape[body]].half;
    *smallest = sphere->radius;
    if (!is_convex(world, body)) return convex_sphere(&zero, at, sphere->radius);
    *smallest = world->scale[body] * fmin(half.x, fmin(half.y, half.z));
    return convex_make(&world->shapes[world->shape[body]], world->scale[body], world->rotation[body], at);
}

// The same where one of them stands for a convex body.
static bool convex_deep(const SandWorld *world, const Sphere *a, const Sphere *b, double tolerance, SandOverlap *overlap) {
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
static bool deep(const SandWorld *world, const Sphere *a, const Sphere *b, double tolerance, SandOverlap *overlap) {
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

static bool sphere_overlaps(const SandWorld *world, const Spheres *spheres, int index, double tolerance,
                            SandOverlap *overlap) {
    const Sphere *sphere = &spheres->sphere[index];
    for (int l = 0; l < spheres->level_count; l++) {
        int level = spheres->levels[l];
        if (level < sphere->level) continue;
        // A sphere of this grid has a radius of at most a quarter of the cell, and so has this one.
        double reach = 0.5 * ldexp(1, level);
        SandVec3 c = sphere->center;
        int64_t x = cell_of(c.x - reach, level), y = cell_of(c.y - reach, level), z = cell_of(c.z - reach, level);
        for (int n = 0; n < 8; n++) {
            uint64_t b = bucket(spheres, level, world->enter[sphere->body], x + (n & 1), y + (n >> 1 & 1), z + (n >> 2));
            for (int other = spheres->head[b]; other >= 0; other = spheres->sphere[other].next)
                if (other != index && deep(world, sphere, &spheres->sphere[other], tolerance, overlap)) return true;
        }
    }
    return false;
}

// Tests the corners of a convex body, or points of its rims, against the boundaries.
static bool convex_in_boundary(const SandWorld *world, const Sphere *sphere, double tolerance, SandOverlap *overlap) {
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
            double gap = clear_distance(boundary, &pose, point, c.radius) - c.radius;
            if (!(gap < -tolerance * smallest)) continue;
            *overlap = (SandOverlap){body, -1, i, -gap};
            return true;
        }
    }
    return false;
}

static bool sphere_in_boundary(const SandWorld *world, const Sphere *sphere, double tolerance, SandOverlap *overlap) {
    if (is_convex(world, sphere->body)) return convex_in_boundary(world, sphere, tolerance, overlap);
    for (int i = 0; i < world->boundary_count; i++) {
        const SandBoundary *boundary = &world->boundaries[i];
        SandPose pose = sand_boundary_pose(boundary, world->enter[sphere->body]);
        double depth = sphere->radius - clear_distance(boundary, &pose, sphere->center, sphere->radius);
        if (!(depth > tolerance * sphere->radius)) continue;
        *overlap = (SandOverlap){sphere->body, -1, i, depth};
        return true;
    }
    return false;
}

// The search for the first sphere that overlaps with anything, over several threads: each has a range of the spheres.
typedef struct OverlapSearch {
    const SandWorld *world;
    const Spheres *spheres;
    double tolerance;
    int first[SAND_MAX_THREADS]; // that overlaps in each range; the number of all spheres: none does
} OverlapSearch;

static bool overlaps(const OverlapSearch *s, int i, SandOverlap *overlap) {
    const Sphere *sphere = &s->spheres->sphere[i];
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
    Spheres spheres = {0};
    OverlapSearch s = {.world = world, .spheres = &spheres, .tolerance = tolerance};
    int found = gather_spheres(world, &spheres, error) ? search(&s, overlap, error) : -1;
    sand_free(spheres.sphere);
    sand_free(spheres.head);
    return found;
}
