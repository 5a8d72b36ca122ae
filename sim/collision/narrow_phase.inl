// The narrow phase: the contacts of one sphere or one convex body, one source for CPU and GPU. Start at sphere_contacts (all
// contacts of a sphere) and convex_body_contacts (a box or cylinder against the boundaries).
//
// Contacts are speculative: a pair becomes one while its gap is within reach of the coming step,
//     gap <= max(envelope, impact margins, h (1 + mu) |u|)
// with u the relative velocity, counting spin and one step of gravity. The factor 1 + mu is the friction model's: the convex
// cone asks for u_n + gap / h >= mu |u_t|, so a sliding contact acts from a gap of h mu |u_t| more.
//
// The including file defines where contacts go, and then SAND_SINK to say so:
//   SandSink                                        the type
//   sink_put(sink, &found)                          takes a contact
//   sink_too_many(sink, body, boundary, count)      reports a mesh so fine that a sphere touches it in more than MAX_TOUCHES
//                                                   places
#pragma once
#include "sim/collision/collide.h"

#include "sim/geometry/boundary_distance.inl"
#include "sim/collision/broad_phase.inl"
#include "sim/geometry/shape_distance.inl"

// Without a sink, as when an editor opens this file by itself: one that counts.
#ifndef SAND_SINK
#define SAND_SINK
typedef struct SandSink {
    int count;
} SandSink;
SAND_HOST_DEVICE void sink_put(SandSink *sink, const SandContactCandidate *found) { sink->count += found != NULL; }
SAND_HOST_DEVICE void sink_too_many(SandSink *sink, int body, int boundary, int count) {
    (void)body, (void)boundary, (void)count;
    sink->count = -1;
}
#endif

// The constants of one collision pass, shared by all searches.
typedef struct SandFinder {
    const SandWorld *world;
    const SandCollision *collision;
    double largest_mu; // over all pairs of materials
    double fall;       // m/s, the speed one step of gravity gives: a body at rest now may move at it
    int convex_body;   // the box or cylinder of the world, -1: none
} SandFinder;

SAND_HOST_DEVICE SandFinder finder_make(const SandWorld *world, const SandCollision *collision) {
    SandFinder finder = {world, collision, 0, world->step * v3_length(world->gravity), -1};
    for (int i = 0; i < world->material_count; i++)
        for (int j = 0; j <= i; j++) finder.largest_mu = fmax(finder.largest_mu, sand_world_pair(world, i, j));
    return finder;
}

// Returns sphere k of a body as a proxy for the broad phase.
SAND_HOST_DEVICE SandSphereProxy sphere_proxy(const SandFinder *finder, int body, int k) {
    const SandWorld *w = finder->world;
    const SandShape *shape = &w->shapes[w->shape[body]];
    SandVec3 arm = shape->kind == SAND_SPHERE
                       ? v3_make(0, 0, 0)
                       : q_rotate(w->rotation[body], v3_scale(w->scale[body], shape->spheres[k].center));
    SandSphereProxy sphere;
    sphere.center = v3_add(w->position[body], arm);
    sphere.radius = w->scale[body] * shape->spheres[k].radius;
    sphere.velocity = v3_add(w->velocity[body], v3_cross(w->spin[body], arm));
    sphere.turning = v3_length(w->spin[body]) * sphere.radius;
    double speed = v3_length(sphere.velocity), horizon = w->step * (1 + finder->largest_mu);
    sphere.extent = sphere.radius + 0.5 * w->envelope + horizon * (speed + sphere.turning + finder->fall);
    sphere.impact_margin = impact_margin(sphere.radius, horizon * speed);
    sphere.unused = 0;
    sphere.body = body;
    sphere.sub = k;
    return sphere;
}

// Packs the spheres of a and b into the feature of a contact key.
SAND_HOST_DEVICE uint32_t two_subs(int a, int b) { return (uint32_t)a << 24 | (uint32_t)b; }

// Emits a contact between two bodies, owned by the one of lower solver index, unless a joint keeps them from colliding.
SAND_HOST_DEVICE void add_pair(const SandFinder *finder, SandSink *sink, int body_a, int sub_a, int body_b, int sub_b,
                               SandVec3 normal, SandVec3 point, double gap) {
    const SandCollision *collision = finder->collision;
    if (sand_world_apart(finder->world, body_a, body_b)) return;
    if (collision->solver_index[body_a] > collision->solver_index[body_b]) {
        int body = body_a, sub = sub_a;
        body_a = body_b;
        sub_a = sub_b;
        body_b = body;
        sub_b = sub;
        normal = v3_neg(normal);
    }
    const SandWorld *w = finder->world;
    SandContactCandidate candidate = {.index_a = collision->solver_index[body_a],
                                      .b = collision->solver_index[body_b],
                                      .key = {(uint32_t)body_b, two_subs(sub_a, sub_b)},
                                      .normal = normal,
                                      .point = point,
                                      .gap = gap,
                                      .mu = sand_world_pair(w, w->material[body_a], w->material[body_b])};
    sink_put(sink, &candidate);
}

SAND_HOST_DEVICE double spheres_gap(const SandSphereProxy *p, const SandSphereProxy *q) {
    return v3_length(v3_sub(q->center, p->center)) - p->radius - q->radius;
}

// Whether two spheres are a contact: their gap is within h (1 + mu) |u| of their relative motion, within the envelope,
// or within the impact margin of one of them.
SAND_HOST_DEVICE bool spheres_touch(const SandFinder *finder, const SandSphereProxy *p, const SandSphereProxy *q) {
    if (!proxies_near(p, q) || p->body == q->body) return false;
    const SandWorld *w = finder->world;
    double gap = spheres_gap(p, q);
    if (gap <= fmax(w->envelope, fmax(p->impact_margin, q->impact_margin))) return true;
    double mu = sand_world_pair(w, w->material[p->body], w->material[q->body]);
    double speed = v3_length(v3_sub(q->velocity, p->velocity)) + p->turning + q->turning + finder->fall;
    return gap <= w->step * (1 + mu) * speed;
}

// Emits the contact of two spheres.
SAND_HOST_DEVICE void add_sphere_pair(const SandFinder *finder, SandSink *sink, const SandSphereProxy *p,
                                      const SandSphereProxy *q) {
    SandVec3 apart = v3_sub(q->center, p->center);
    double distance = v3_length(apart), gap = spheres_gap(p, q);
    // Coincident centers have no direction: use one that is the same in every step.
    SandVec3 normal = distance > 1e-12 * p->radius ? v3_scale(1 / distance, apart) : v3_make(0, 0, 1);
    SandVec3 point = v3_madd(p->center, p->radius + 0.5 * gap, normal);
    add_pair(finder, sink, p->body, p->sub, q->body, q->sub, normal, point, gap);
}

// Emits the contact of a sphere, or of a point of radius 0, with a boundary.
SAND_HOST_DEVICE void add_touch(const SandFinder *finder, SandSink *sink, int body, int sub, int boundary, SandVec3 center,
                                double radius, const SandTouch *t) {
    const SandWorld *w = finder->world;
    SandContactCandidate candidate = {.index_a = finder->collision->solver_index[body],
                                      .b = -1 - boundary,
                                      .key = {SAND_BOUNDARY_BIT | (uint32_t)boundary, (uint32_t)sub << 24 | t->feature},
                                      .normal = t->normal,
                                      .point = v3_madd(center, radius + 0.5 * t->gap, t->normal),
                                      .gap = t->gap,
                                      .mu = sand_world_pair(w, w->material[body], w->boundaries[boundary].material)};
    sink_put(sink, &candidate);
}

enum { MAX_TOUCHES = 64 }; // of one sphere with one boundary

// Finds all touches of a sphere with a boundary; returns how many, or -1 where they exceed MAX_TOUCHES.
SAND_HOST_DEVICE_NOINLINE int find_touches(const SandFinder *finder, SandSink *sink, int body, int boundary, SandVec3 center,
                                           double radius, double reach, SandTouch *touches) {
    const SandBoundary *b = &finder->world->boundaries[boundary];
    int count = boundary_touch(b, &finder->collision->pose[boundary], center, radius, reach, touches, MAX_TOUCHES);
    if (count <= MAX_TOUCHES) return count;
    sink_too_many(sink, body, boundary, count);
    return -1;
}

// Returns how far to look for a boundary: h (1 + mu) |u| of the motion relative to it, the envelope or the impact margin.
SAND_HOST_DEVICE double boundary_reach(const SandFinder *finder, int body, int boundary, SandVec3 center, SandVec3 velocity,
                                       double turning, double impact_margin) {
    const SandWorld *w = finder->world;
    const SandCollision *collision = finder->collision;
    double mu = sand_world_pair(w, w->material[body], w->boundaries[boundary].material);
    SandVec3 boundary_velocity = collision->velocity[boundary];
    if (w->boundaries[boundary].moves)
        boundary_velocity = v3_add(boundary_velocity,
                                   v3_cross(collision->spin[boundary], v3_sub(center, collision->pose[boundary].position)));
    double speed = v3_length(v3_sub(velocity, boundary_velocity)) + turning + finder->fall;
    return fmax(fmax(w->envelope, impact_margin), w->step * (1 + mu) * speed);
}

// Tests a sphere, or a corner of radius 0, against every boundary.
SAND_HOST_DEVICE void touch_boundaries(const SandFinder *finder, SandSink *sink, int body, int sub, SandVec3 center,
                                       double radius, SandVec3 velocity, double turning, double impact_margin) {
    SandTouch touches[MAX_TOUCHES];
    const SandWorld *w = finder->world;
    double speed = v3_length(velocity) + turning + finder->fall; // relative to what does not move
    double far = radius + fmax(fmax(w->envelope, impact_margin), w->step * (1 + finder->largest_mu) * speed);
    for (int b = 0; b < w->boundary_count; b++) {
        const SandGuard *guard = &finder->collision->guard[b];
        if (v3_dot(guard->normal, center) - guard->offset > far) continue; // a fixed plane that is far away
        double reach = boundary_reach(finder, body, b, center, velocity, turning, impact_margin);
        int count = find_touches(finder, sink, body, b, center, radius, reach, touches);
        for (int k = 0; k < count; k++) add_touch(finder, sink, body, sub, b, center, radius, &touches[k]);
    }
}

// Tests a sphere against the box or cylinder, by the nearest point of its surface.
SAND_HOST_DEVICE_NOINLINE void touch_convex_body(const SandFinder *finder, SandSink *sink, const SandSphereProxy *sphere,
                                                 int convex_body) {
    const SandWorld *w = finder->world;
    const SandShape *shape = &w->shapes[w->shape[convex_body]];
    SandVec3 apart = v3_sub(sphere->center, w->position[convex_body]);
    double bound = shape->bound * w->scale[convex_body];
    double mu = sand_world_pair(w, w->material[sphere->body], w->material[convex_body]);
    double speed = v3_length(v3_sub(w->velocity[convex_body], sphere->velocity)) + v3_length(w->spin[convex_body]) * bound +
                   sphere->turning + finder->fall;
    double reach = fmax(fmax(w->envelope, sphere->impact_margin), w->step * (1 + mu) * speed);
    if (v3_length(apart) > bound + sphere->radius + reach) return;
    SandVec3 outward;
    uint32_t feature; // not in the key: a sphere touches a convex body once
    double gap =
        sand_shape_distance(shape, w->scale[convex_body], q_unrotate(w->rotation[convex_body], apart), &outward, &feature) -
        sphere->radius;
    if (gap > reach) return;
    SandVec3 normal = v3_neg(q_rotate(w->rotation[convex_body], outward)); // from the sphere to the convex body
    add_pair(finder, sink, sphere->body, sphere->sub, convex_body, 0, normal,
             v3_madd(sphere->center, sphere->radius + 0.5 * gap, normal), gap);
}

// Tests one corner of a box against the boundaries.
SAND_HOST_DEVICE void touch_corner(const SandFinder *finder, SandSink *sink, int body, int sub, SandVec3 local) {
    const SandWorld *w = finder->world;
    SandVec3 arm = q_rotate(w->rotation[body], local);
    SandVec3 velocity = v3_add(w->velocity[body], v3_cross(w->spin[body], arm));
    touch_boundaries(finder, sink, body, sub, v3_add(w->position[body], arm), 0, velocity, 0, 0);
}

// One rim of a cylinder against one boundary. It touches each smooth piece (feature) of the boundary by its point of least
// gap and three more at quarter turns from there, so that a standing cylinder has a base.
typedef struct Rim {
    const SandFinder *finder;
    SandSink *sink;
    int body, sub, boundary;
    double radius, reach;
    SandVec3 center, x, y; // m, world frame; x and y span its plane, each as long as the radius
} Rim;

enum { RIM_SAMPLES = 16 }; // angles at which a rim is sampled before bisection
#define QUARTER_TURN 1.57079632679489661923

SAND_HOST_DEVICE SandVec3 rim_point(const Rim *r, double angle) {
    return v3_add(r->center, v3_add(v3_scale(cos(angle), r->x), v3_scale(sin(angle), r->y)));
}

// Finds the touch of the rim point at this angle with one piece of the boundary, and the derivative of its gap by the angle
// (up to a positive factor). False where the piece is out of reach there.
SAND_HOST_DEVICE_NOINLINE bool rim_touch(const Rim *r, double angle, uint32_t piece, SandTouch *touch, double *slope) {
    SandTouch touches[MAX_TOUCHES];
    int count =
        find_touches(r->finder, r->sink, r->body, r->boundary, rim_point(r, angle), 0, r->reach + 0.1 * r->radius, touches);
    for (int k = 0; k < count; k++) {
        if (touches[k].feature != piece) continue;
        *touch = touches[k];
        *slope = -v3_dot(touch->normal, v3_sub(v3_scale(cos(angle), r->y), v3_scale(sin(angle), r->x)));
        return true;
    }
    return false;
}

// Returns the angle of least gap between two angles, by bisection on the slope; the middle where there is no minimum between
// them.
SAND_HOST_DEVICE_NOINLINE double rim_least(const Rim *r, uint32_t piece, double low, double high) {
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

// Emits the contacts of a rim with one piece of the boundary.
SAND_HOST_DEVICE void rim_piece(const Rim *r, uint32_t piece) {
    double least = INFINITY, most = -INFINITY, angle = 0, slope;
    SandTouch touch;
    for (int k = 0; k < RIM_SAMPLES; k++) {
        double sample = k * (4 * QUARTER_TURN / RIM_SAMPLES), gap = INFINITY;
        if (rim_touch(r, sample, piece, &touch, &slope)) gap = touch.gap;
        most = fmax(most, gap);
        if (gap < least) {
            least = gap;
            angle = sample;
        }
    }
    // Where a rim lies flat the point of least gap is rounding noise: it then touches by the same points in every step.
    bool flat = most - least < 1e-4 * r->radius;
    if (flat) angle = 0;
    for (int quarter = 0; quarter < 4; quarter++) {
        double half = quarter == 0 ? 4 * QUARTER_TURN / RIM_SAMPLES : 0.5 * QUARTER_TURN;
        double at = angle + quarter * QUARTER_TURN;
        if (!flat) at = rim_least(r, piece, at - half, at + half);
        if (quarter == 0) angle = at;
        if (rim_touch(r, at, piece, &touch, &slope) && touch.gap <= r->reach)
            add_touch(r->finder, r->sink, r->body, r->sub + quarter, r->boundary, rim_point(r, at), 0, &touch);
    }
}

// Emits the contacts of a rim with every piece of the boundary that some sample of it is near, in the order of the samples.
SAND_HOST_DEVICE void touch_rim(const Rim *r) {
    uint32_t pieces[MAX_TOUCHES];
    SandTouch touches[MAX_TOUCHES];
    int piece_count = 0;
    for (int k = 0; k < RIM_SAMPLES; k++) {
        SandVec3 point = rim_point(r, k * (4 * QUARTER_TURN / RIM_SAMPLES));
        int count = find_touches(r->finder, r->sink, r->body, r->boundary, point, 0, r->reach + 0.1 * r->radius, touches);
        for (int t = 0; t < count; t++) {
            int known = 0;
            while (known < piece_count && pieces[known] != touches[t].feature) known++;
            if (known == piece_count && piece_count < MAX_TOUCHES) pieces[piece_count++] = touches[t].feature;
        }
    }
    for (int k = 0; k < piece_count; k++) rim_piece(r, pieces[k]);
}

// Emits the contacts of the box or cylinder with the boundaries: by the corners of a box, by the rims of a cylinder.
SAND_HOST_DEVICE_NOINLINE void convex_body_contacts(const SandFinder *finder, SandSink *sink, int body) {
    const SandWorld *w = finder->world;
    const SandShape *shape = &w->shapes[w->shape[body]];
    SandVec3 half = v3_scale(w->scale[body], shape->half);
    if (shape->kind == SAND_BOX) {
        for (int k = 0; k < 8; k++)
            touch_corner(finder, sink, body, k,
                         v3_make(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z));
        return;
    }
    double turning = v3_length(w->spin[body]) * shape->bound * w->scale[body];
    for (int end = 0; end < 2; end++)
        for (int b = 0; b < w->boundary_count; b++) {
            SandVec3 arm = q_rotate(w->rotation[body], v3_make(0, 0, end ? half.z : -half.z));
            Rim rim = {.finder = finder, .sink = sink, .body = body, .sub = 4 * end, .boundary = b, .radius = half.x};
            rim.center = v3_add(w->position[body], arm);
            rim.x = q_rotate(w->rotation[body], v3_make(half.x, 0, 0));
            rim.y = q_rotate(w->rotation[body], v3_make(0, half.x, 0));
            rim.reach = boundary_reach(finder, body, b, rim.center, w->velocity[body], turning, 0);
            touch_rim(&rim);
        }
}

// Emits the contacts of a sphere with everything that is not a sphere: the convex body and the boundaries. A boundary within
// a radius is always a contact: a solve of few iterations may give a squeezed sphere many times its speed, and it must not
// escape through the wall.
SAND_HOST_DEVICE void nonsphere_contacts(const SandFinder *finder, SandSink *sink, const SandSphereProxy *sphere) {
    if (finder->convex_body >= 0) touch_convex_body(finder, sink, sphere, finder->convex_body);
    touch_boundaries(finder, sink, sphere->body, sphere->sub, sphere->center, sphere->radius, sphere->velocity,
                     sphere->turning, fmax(sphere->impact_margin, sphere->radius));
}

// Emits the contacts of a sphere with those in a row of cells.
SAND_HOST_DEVICE void row_contacts(const SandFinder *finder, SandSink *sink, const SandSphereProxy *sphere,
                                   SandCellRow row) {
    const SandSphereProxy *sorted = finder->collision->broad_phase.sorted;
    for (int k = 0; k < 2; k++)
        for (int j = row.run[k].begin; j < row.run[k].end; j++)
            if (spheres_touch(finder, sphere, &sorted[j])) add_sphere_pair(finder, sink, sphere, &sorted[j]);
}

// Emits all contacts of sorted proxy i: with its neighbors in the grids, then with the convex body and the boundaries.
SAND_HOST_DEVICE void sphere_contacts(const SandFinder *finder, SandSink *sink, int level, int i) {
    const SandBroadPhase *g = &finder->collision->broad_phase;
    const SandSphereProxy *sphere = &g->sorted[i];
    for (int k = 0; k < g->level_count; k++) {
        if (!grid_looks_in(level, k)) continue;
        SandCellRange range = cell_range_of(g, level, i, k);
        for (int row = 0; row < range.rows; row++) row_contacts(finder, sink, sphere, cell_row(g, &range, row));
    }
    nonsphere_contacts(finder, sink, sphere);
}
