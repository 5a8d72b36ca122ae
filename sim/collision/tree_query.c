// SPDX-License-Identifier: MIT
// Questions to the hierarchy of bodies: the first hit of a ray, the nearest surface, what a shape overlaps. Of equal answers
// the one with the lower number of a body counts, so that they do not depend on how the tree was built.
#include "sim/collision/body_tree.h"

#include "sim/geometry/boundary_ray.h"
#include "sim/geometry/convex_manifold.inl"
#include "sim/geometry/shape_distance.inl"
#include "sim/geometry/shape_ray.inl"

enum { STACK = 64 }; // nodes that wait: one for each level, of which there are fewer than 32

static const SandHit no_hit = {.distance = INFINITY, .body = -1, .boundary = -1};

static const SandShape *shape_of(const SandWorld *w, int body) { return &w->shapes[w->shape[body]]; }

// A sphere of a clump about its center: the shift of it in the world frame.
static SandVec3 sphere_shift(const SandWorld *w, int body, const SandShapeSphere *s) {
    return q_rotate(w->rotation[body], v3_scale(w->scale[body], s->center));
}

// --- rays ---------------------------------------------------------------------------------------------------

// A ray with what is known of it: the direction inverted, and the nearest hit so far.
typedef struct Cast {
    const SandWorld *world;
    SandVec3 from, d, inverse;
    int passes;
    SandHit hit;
} Cast;

static double inverse_of(double d) { return d == 0 ? 1e300 : 1 / d; }

// Narrows a range to a slab; without branches, as most of a search is this.
static void clip(RayRange *r, double low, double high, double from, double inverse) {
    double a = (low - from) * inverse, b = (high - from) * inverse, first = a < b ? a : b, last = a < b ? b : a;
    r->from = first > r->from ? first : r->from;
    r->to = last < r->to ? last : r->to;
}

// Where a ray enters a box; INFINITY: not before what it has already met, or nobody is in it.
static double enter_node(const Cast *c, const SandTreeBox *box) {
    RayRange r = {0, c->hit.distance};
    if (box->lower.x > box->upper.x) return INFINITY;
    clip(&r, box->lower.x, box->upper.x, c->from.x, c->inverse.x);
    clip(&r, box->lower.y, box->upper.y, c->from.y, c->inverse.y);
    clip(&r, box->lower.z, box->upper.z, c->from.z, c->inverse.z);
    return r.from <= r.to * (1 + 1e-12) ? r.from : INFINITY;
}

// Whether a body is met before what has been met so far.
static bool is_first(const SandHit *hit, double distance, int body) {
    return distance < hit->distance || (distance == hit->distance && body < hit->body);
}

static void take(Cast *c, double t, int body, SandVec3 point, SandVec3 normal) {
    c->hit = (SandHit){.distance = t, .body = body, .boundary = -1, .point = point, .normal = normal};
}

// A shape without parts about `center`. The ray begins next to it, so that no digits are lost far away.
static void cast_part(Cast *c, int body, const SandShape *shape, double scale, double bound, SandVec3 center, SandQuat q) {
    SandVec3 off = v3_sub(c->from, center);
    double shift = -v3_dot(off, c->d);
    SandVec3 beside = v3_madd(off, shift, c->d);
    if (v3_dot(beside, beside) > bound * bound || shift + bound < 0 || shift - bound > c->hit.distance) return;
    SandVec3 local = q_unrotate(q, beside), along = q_unrotate(q, c->d), normal;
    RayRange r = shape_range(shape, scale, local, along);
    double t = fmax(r.from + shift, 0);
    uint32_t feature;
    if (r.from > r.to || r.to + shift < 0 || !is_first(&c->hit, t, body)) return;
    if (t == 0) return take(c, 0, body, c->from, v3_neg(c->d)); // it begins inside
    SandVec3 at = v3_madd(local, r.from, along);
    if (shape->kind == SAND_SPHERE)
        normal = v3_unit_or(at, v3_neg(along));
    else
        sand_shape_distance(shape, scale, at, &normal, &feature);
    take(c, t, body, v3_madd(c->from, t, c->d), q_rotate(q, normal));
}

static void cast_item(Cast *c, const SandTreeItem *item) {
    static const SandShape ball = {.kind = SAND_SPHERE, .bound = 1};
    const SandWorld *w = c->world;
    int body = item->body;
    const SandShape *shape = shape_of(w, body);
    if (body == c->passes) return;
    for (int k = 0; !shape->sphere_count && k < shape_proxies(shape); k++) {
        PlacedPiece p = shape_piece(shape, w->scale[body], w->rotation[body], k);
        double bound = shape->piece_count ? p.scale * p.shape->bound : item->bound;
        cast_part(c, body, p.shape, p.scale, bound, v3_add(item->center, p.arm), p.rotation);
    }
    for (int k = 0; k < shape->sphere_count; k++) {
        const SandShapeSphere *s = &shape->spheres[k];
        double radius = w->scale[body] * s->radius;
        cast_part(c, body, &ball, radius, radius, v3_add(item->center, sphere_shift(w, body, s)), q_identity());
    }
}

static void cast_leaf(Cast *c, const SandBodyTree *t, int leaf) {
    for (int i = leaf * SAND_TREE_LEAF; i < (leaf + 1) * SAND_TREE_LEAF && i < t->count; i++)
        cast_item(c, &t->items.data[i]);
}

// A node that waits, and where the ray enters it.
typedef struct Waiting {
    int node;
    double entry;
} Waiting;

// Lets the children of a node wait, the nearer one on top.
static int open_node(const Cast *c, const SandBodyTree *t, int node, Waiting *stack, int depth) {
    Waiting low = {2 * node, enter_node(c, &t->boxes.data[2 * node])};
    Waiting high = {2 * node + 1, enter_node(c, &t->boxes.data[2 * node + 1])};
    bool in_order = low.entry <= high.entry;
    Waiting nearer = in_order ? low : high, farther = in_order ? high : low;
    if (farther.entry < INFINITY) stack[depth++] = farther;
    if (nearer.entry < INFINITY) stack[depth++] = nearer;
    return depth;
}

static void cast_bodies(Cast *c, const SandBodyTree *t) {
    Waiting stack[STACK] = {{1, enter_node(c, &t->boxes.data[1])}};
    int depth = stack[0].entry < INFINITY;
    while (depth) {
        Waiting next = stack[--depth];
        if (next.entry > c->hit.distance) continue; // something nearer has been met meanwhile
        if (next.node >= t->leaves)
            cast_leaf(c, t, next.node - t->leaves);
        else
            depth = open_node(c, t, next.node, stack, depth);
    }
}

static void cast_boundaries(Cast *c) {
    const SandWorld *w = c->world;
    for (int k = 0; k < w->boundary_count; k++) {
        SandPose pose = sand_boundary_pose(&w->boundaries[k], w->time);
        SandVec3 normal;
        double t = sand_boundary_ray(&w->boundaries[k], &pose, c->from, c->d, &normal);
        if (!(t < c->hit.distance)) continue;
        c->hit = (SandHit){t, -1, k, v3_madd(c->from, t, c->d), normal};
    }
}

SandHit sand_tree_raycast(const SandBodyTree *t, const SandWorld *world, const SandRay *ray) {
    SandVec3 d = ray->along, inverse = {inverse_of(d.x), inverse_of(d.y), inverse_of(d.z)};
    Cast c = {world, ray->from, d, inverse, ray->passes, no_hit};
    c.hit.distance = ray->reach;
    cast_bodies(&c, t);
    cast_boundaries(&c);
    return c.hit.body < 0 && c.hit.boundary < 0 ? no_hit : c.hit;
}

// --- the nearest surface ------------------------------------------------------------------------------------

static double beyond(double low, double high, double at) { return at < low ? low - at : at > high ? at - high : 0; }

// How far a point is from a box; 0 in it, INFINITY where nobody is in it.
static double to_box(const SandTreeBox *b, SandVec3 p) {
    return v3_length(v3_make(beyond(b->lower.x, b->upper.x, p.x), beyond(b->lower.y, b->upper.y, p.y),
                             beyond(b->lower.z, b->upper.z, p.z)));
}

typedef struct Approach {
    const SandWorld *world;
    SandVec3 point;
    SandHit hit;
} Approach;

static void approach(Approach *a, double distance, int body, SandVec3 normal) {
    if (!is_first(&a->hit, distance, body)) return;
    a->hit = (SandHit){distance, body, -1, v3_madd(a->point, -distance, normal), normal};
}

static void approach_ball(Approach *a, int body, SandVec3 center, double radius) {
    SandVec3 off = v3_sub(a->point, center);
    approach(a, v3_length(off) - radius, body, v3_unit_or(off, v3_make(0, 0, 1)));
}

static void approach_item(Approach *a, const SandTreeItem *item) {
    const SandWorld *w = a->world;
    int body = item->body;
    const SandShape *shape = shape_of(w, body);
    if (shape->kind == SAND_SPHERE) return approach_ball(a, body, item->center, w->scale[body]);
    for (int k = 0; k < shape->sphere_count; k++) {
        const SandShapeSphere *s = &shape->spheres[k];
        approach_ball(a, body, v3_add(item->center, sphere_shift(w, body, s)), w->scale[body] * s->radius);
    }
    for (int k = 0; !shape->sphere_count && k < shape_proxies(shape); k++) {
        PlacedPiece p = shape_piece(shape, w->scale[body], w->rotation[body], k);
        SandVec3 local = q_unrotate(p.rotation, v3_sub(a->point, v3_add(item->center, p.arm))), normal;
        uint32_t feature;
        double distance = sand_shape_distance(p.shape, p.scale, local, &normal, &feature);
        approach(a, distance, body, q_rotate(p.rotation, normal));
    }
}

// A node may have something nearer; where the point is in its box, something deeper.
static bool is_worth(const Approach *a, double away) { return away == 0 || (away <= a->hit.distance && away < INFINITY); }

static void approach_bodies(Approach *a, const SandBodyTree *t) {
    int stack[STACK] = {1}, depth = 1;
    while (depth) {
        int node = stack[--depth];
        if (!is_worth(a, to_box(&t->boxes.data[node], a->point))) continue;
        if (node < t->leaves) {
            int nearer =
                2 * node + (to_box(&t->boxes.data[2 * node + 1], a->point) < to_box(&t->boxes.data[2 * node], a->point));
            stack[depth++] = nearer ^ 1;
            stack[depth++] = nearer;
            continue;
        }
        int first = (node - t->leaves) * SAND_TREE_LEAF;
        for (int i = first; i < first + SAND_TREE_LEAF && i < t->count; i++) approach_item(a, &t->items.data[i]);
    }
}

static void approach_boundaries(Approach *a) {
    const SandWorld *w = a->world;
    for (int k = 0; k < w->boundary_count; k++) {
        SandPose pose = sand_boundary_pose(&w->boundaries[k], w->time);
        SandVec3 nearest, normal;
        double distance;
        if (!sand_boundary_nearest(&w->boundaries[k], &pose, a->point, a->hit.distance, &distance, &nearest, &normal))
            continue;
        a->hit = (SandHit){distance, -1, k, nearest, normal};
    }
}

SandHit sand_tree_closest(const SandBodyTree *t, const SandWorld *world, SandVec3 point, double reach) {
    Approach a = {world, point, no_hit};
    a.hit.distance = reach;
    approach_bodies(&a, t);
    approach_boundaries(&a);
    return a.hit.body < 0 && a.hit.boundary < 0 ? no_hit : a.hit;
}

// --- what a shape overlaps ----------------------------------------------------------------------------------

static const SandVec3 zero = {0, 0, 0};

// The parts of a shape as convex bodies: of a clump its spheres, of a compound its pieces, else the shape itself.
static Convex part_of(const SandShape *s, double scale, SandPose pose, int k) {
    if (!s->sphere_count) return convex_piece(s, scale, pose.rotation, pose.position, k);
    SandVec3 center = v3_add(pose.position, q_rotate(pose.rotation, v3_scale(scale, s->spheres[k].center)));
    return convex_sphere(&zero, center, scale * s->spheres[k].radius);
}

static bool parts_overlap(const Convex *a, const Convex *b) {
    ConvexGap gap;
    convex_distance(a, b, convex_far(a, b, 0), &gap);
    return convex_touch(a, b, 0, &gap);
}

// Whether two shapes overlap, in a frame whose origin is the center of the first.
static bool shapes_overlap(const SandShape *s, double scale, SandPose pose, const SandShape *other, double other_scale,
                           SandPose other_pose) {
    SandPose at = {zero, pose.rotation}, at_other = {v3_sub(other_pose.position, pose.position), other_pose.rotation};
    for (int i = 0; i < shape_proxies(s); i++)
        for (int k = 0; k < shape_proxies(other); k++) {
            Convex a = part_of(s, scale, at, i), b = part_of(other, other_scale, at_other, k);
            if (parts_overlap(&a, &b)) return true;
        }
    return false;
}

int sand_tree_overlap(const SandBodyTree *t, const SandWorld *w, const SandShape *shape, double scale, SandPose pose,
                      SandFoundBodies *found, SandError *error) {
    int stack[STACK] = {1}, depth = 1, count = 0;
    double bound = scale * shape->bound;
    while (depth) {
        int node = stack[--depth];
        if (to_box(&t->boxes.data[node], pose.position) > bound) continue;
        if (node < t->leaves) {
            stack[depth++] = 2 * node;
            stack[depth++] = 2 * node + 1;
            continue;
        }
        int first = (node - t->leaves) * SAND_TREE_LEAF;
        for (int i = first; i < first + SAND_TREE_LEAF && i < t->count; i++) {
            const SandTreeItem *item = &t->items.data[i];
            SandPose at = {item->center, w->rotation[item->body]};
            if (!shapes_overlap(shape, scale, pose, shape_of(w, item->body), w->scale[item->body], at)) continue;
            if (!SAND_RESERVE(*found, count + 1, "bodies that overlap", error)) return -1;
            found->data[count++] = item->body;
        }
    }
    return count;
}
