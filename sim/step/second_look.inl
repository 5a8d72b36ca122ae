// SPDX-License-Identifier: MIT
// The second look: the contacts that a step has missed, found where its solution would move the bodies; one source for CPU
// and GPU. Start at look_around and look_at_sphere; docs/problem.md (Spinning bodies) says what for.
//
// A contact holds two points of two bodies apart, in a plane that the step begins with. For bodies that turn this is not
// all: another corner comes in, or a body that a blow has just set in motion meets a third. So bodies that turn, or are
// hit, are placed where the velocities of the solve bring them, and where they then lie in something, deeper than their
// contacts know, a contact is made of it, linearized about these velocities: its gap is the one in which they end, less what
// they close in the step. The step is then solved again.
//
// What the contacts of a pair know is the least gap in which they end themselves: a deep overlap that is pushed out in many
// steps, and what a solve with few iterations leaves, are not missing contacts.
#pragma once
#include "sim/collision/narrow_phase.inl"
#include "sim/collision/warm_start.inl"
#include "sim/step/sleep.inl"

#define LOOK_TOLERANCE 0.003 // of the smaller body: an overlap that is left to the next step

// The bodies at the end of the step, and how they come there.
typedef struct SandPreview {
    SandFinder finder;         // world and boundaries at the end; its step is 0, so that nothing moves on
    const SandWorld *world;    // at the beginning
    const SandCollision *from; // its boundaries, and the grids
    SandNewContacts contacts;  // that it has
    const SandVec3 *velocity;  // m/s, of the solve, by solver index
    const SandVec3 *spin;      // rad/s
} SandPreview;

SAND_HOST_DEVICE double look_size(const SandWorld *w, int body) { return w->scale[body] * w->shapes[w->shape[body]].bound; }

SAND_HOST_DEVICE bool is_convex(const SandWorld *w, int body) { return w->shapes[w->shape[body]].sphere_count == 0; }

// What moves the body with solver index k. One that rests stands still, whatever the solve makes of it.
SAND_HOST_DEVICE SandVec3 look_linear(const SandPreview *look, int k) {
    return body_is_asleep(look->world, look->from->body[k]) ? v3_make(0, 0, 0) : look->velocity[k];
}
SAND_HOST_DEVICE SandVec3 look_spin(const SandPreview *look, int k) {
    return body_is_asleep(look->world, look->from->body[k]) ? v3_make(0, 0, 0) : look->spin[k];
}

// How far a body goes in the step beyond what its velocity before it and gravity let expect (m).
SAND_HOST_DEVICE double look_stray(const SandPreview *look, int body) {
    const SandWorld *w = look->world;
    SandVec3 change = v3_sub(look->velocity[look->from->solver_index[body]], w->velocity[body]);
    return fmax(0., w->step * (v3_length(change) - w->step * v3_length(w->gravity)));
}

// Whether a body is to be looked at: it is convex, or made of convex pieces, and turns or is hit.
SAND_HOST_DEVICE bool look_wanted(const SandPreview *look, int body) {
    const SandWorld *w = look->world;
    if (!is_convex(w, body) || body_is_asleep(w, body)) return false;
    double size = look_size(w, body), turn = w->step * size * v3_length(look->spin[look->from->solver_index[body]]);
    return turn + look_stray(look, body) > LOOK_TOLERANCE * size;
}

// The velocity at a point of a body, or of a boundary, over the step.
SAND_HOST_DEVICE SandVec3 look_velocity(const SandPreview *look, int k, SandVec3 point) {
    const SandCollision *from = look->from;
    if (k < 0)
        return v3_add(from->velocity[-1 - k], v3_cross(from->spin[-1 - k], v3_sub(point, from->pose[-1 - k].position)));
    return v3_add(look_linear(look, k), v3_cross(look_spin(look, k), v3_sub(point, look->world->position[from->body[k]])));
}

// How far a contact opens in the step (m).
SAND_HOST_DEVICE double look_opening(const SandPreview *look, const SandContactCandidate *c) {
    SandVec3 u = v3_sub(look_velocity(look, c->b, c->point), look_velocity(look, c->index_a, c->point));
    return look->world->step * v3_dot(u, c->normal);
}

// A contact at the end of the step as one of its beginning: half way back between its bodies, or with its body to where that
// was, and with the gap from which these velocities end in that one.
SAND_HOST_DEVICE SandContactCandidate look_back(const SandPreview *look, const SandContactCandidate *end) {
    SandContactCandidate c = *end;
    double h = look->world->step;
    SandVec3 way = look_linear(look, c.index_a);
    if (c.b >= 0) way = v3_scale(0.5, v3_add(way, look_linear(look, c.b)));
    c.point = v3_madd(c.point, -h, way);
    c.gap -= look_opening(look, &c);
    return c;
}

// The least gap in which the contacts with this pair end that push about this way, at most 0.
SAND_HOST_DEVICE double look_known(const SandPreview *look, int index_a, int b, SandVec3 normal) {
    double least = 0;
    for (int i = look->contacts.first[index_a]; i < look->contacts.first[index_a + 1]; i++) {
        const SandContactCandidate *c = new_contact(&look->contacts, i);
        if (c->b != b || sand_candidate_is_joint(c) || v3_dot(c->normal, normal) < 0.5) continue;
        least = fmin(least, c->gap + look_opening(look, c));
    }
    return least;
}

// The overlap of two convex bodies, or of one and a boundary (NULL), that is left to the next step (m). Of compounds the
// pieces count: a wall of a bucket is much thinner than the bucket.
SAND_HOST_DEVICE double look_tolerance(const SandSphereProxy *a, const SandSphereProxy *b) {
    return LOOK_TOLERANCE * (b ? fmin(a->radius, b->radius) : a->radius);
}

// Whether a contact is missing that lies in its overlap by more than `tolerance` (m).
SAND_HOST_DEVICE bool look_misses(const SandPreview *look, const SandContactCandidate *end, double tolerance) {
    return end->gap < -tolerance && end->gap < look_known(look, end->index_a, end->b, end->normal) - tolerance;
}

// Emits the contacts of a convex body, or of a piece, with the boundaries at the end of the step.
SAND_HOST_DEVICE void look_at_boundaries(const SandPreview *look, SandSink *sink, const SandSphereProxy *proxy) {
    SandSphereProxy end = convex_proxy(&look->finder, proxy->body, proxy->sub);
    sink->tolerance = look_tolerance(proxy, NULL);
    convex_boundaries(&look->finder, sink, &end);
}

// Whether a pair of convex bodies is deeper in each other than its contacts know.
SAND_HOST_DEVICE bool look_misses_pair(const SandPreview *look, const ConvexPair *pair, const Manifold *m,
                                       double tolerance) {
    int a = look->from->solver_index[pair->body_a], b = look->from->solver_index[pair->body_b];
    SandContactCandidate deepest = {.index_a = a < b ? a : b, .b = a < b ? b : a};
    deepest.normal = a < b ? m->normal : v3_neg(m->normal);
    for (int k = 0; k < m->count; k++) deepest.gap = fmin(deepest.gap, m->point[k].gap);
    return look_misses(look, &deepest, tolerance);
}

// Emits the contacts of two convex bodies: all points of a face, where one of them is missing.
SAND_HOST_DEVICE_NOINLINE void look_at_pair(const SandPreview *look, SandSink *sink, const SandSphereProxy *p,
                                            const SandSphereProxy *q) {
    ConvexPair pair = convex_pair(look->finder.world, p, q);
    double tolerance = look_tolerance(p, q);
    if (convex_far_apart(&pair.a, &pair.b, convex_far(&pair.a, &pair.b, -tolerance))) return;
    Manifold m;
    convex_manifold(&pair.a, &pair.b, tolerance, &m);
    sink->tolerance = -INFINITY;
    if (look_misses_pair(look, &pair, &m, tolerance)) add_convex_pair(&look->finder, sink, p, q, &m);
}

// Where the center of a proxy is in its body, in this world (m): of a compound's piece.
SAND_HOST_DEVICE SandVec3 look_arm(const SandWorld *w, const SandSphereProxy *proxy) {
    int body = proxy->body;
    return shape_piece(&w->shapes[w->shape[body]], w->scale[body], w->rotation[body], proxy->sub).arm;
}

// Whether two bodies, by their proxies at the beginning of the step, may overlap at its end. Only those are asked for whose
// extents meet: a rank of several has no others. A pair that is looked at from both sides is left to the lower body.
SAND_HOST_DEVICE bool look_may_meet(const SandPreview *look, const SandSphereProxy *proxy, const SandSphereProxy *other) {
    int p = proxy->body, q = other->body;
    if (p == q || !proxies_near(proxy, other) || sand_world_apart(look->world, p, q)) return false;
    if (is_ghost_body(&look->finder, p) && is_ghost_body(&look->finder, q)) return false;
    const SandWorld *end = look->finder.world;
    SandVec3 from = v3_add(end->position[p], look_arm(end, proxy)), to = v3_add(end->position[q], look_arm(end, other));
    SandVec3 apart = v3_sub(to, from);
    double reach = proxy->radius + other->radius;
    if (v3_dot(apart, apart) > reach * reach) return false;
    return p < q || !look_wanted(look, q);
}

// Emits what the body of a proxy lacks with other convex bodies.
SAND_HOST_DEVICE void look_at_bodies(const SandPreview *look, SandSink *sink, const SandSphereProxy *proxy) {
    const SandBroadPhase *g = &look->from->convex_phase;
    for (int k = 0; k < g->level_count; k++) {
        SandCellRange range = cell_range_around(g, proxy, k);
        for (int r = 0; r < range.rows; r++) {
            SandCellRow row = cell_row(g, &range, r);
            for (int half = 0; half < 2; half++)
                for (int j = row.run[half].begin; j < row.run[half].end; j++)
                    if (look_may_meet(look, proxy, &g->sorted[j])) look_at_pair(look, sink, proxy, &g->sorted[j]);
        }
    }
}

// Emits what sorted convex proxy i lacks, with other convex bodies and with boundaries.
SAND_HOST_DEVICE void look_around(const SandPreview *look, SandSink *sink, int i) {
    const SandSphereProxy *proxy = &look->from->convex_phase.sorted[i];
    if (!look_wanted(look, proxy->body)) return;
    look_at_bodies(look, sink, proxy);
    if (!is_ghost_body(&look->finder, proxy->body)) look_at_boundaries(look, sink, proxy);
}

// Whether contact i is the first of its owner with its key.
SAND_HOST_DEVICE bool look_is_first(const SandPreview *look, int i, const SandContactCandidate *c) {
    for (int k = look->contacts.first[c->index_a]; k < i; k++) {
        const SandContactCandidate *before = new_contact(&look->contacts, k);
        if (before->key.other == c->key.other && before->key.feature == c->key.feature) return false;
    }
    return true;
}

// Emits what contact i lacks, if it is of a sphere and a convex body: spheres that are hit have been found from afar
// (impact_margin), so that there is a contact to begin with. Spheres have the lower solver indices.
SAND_HOST_DEVICE void look_at_sphere(const SandPreview *look, SandSink *sink, int i) {
    const SandContactCandidate *c = new_contact(&look->contacts, i);
    const SandWorld *w = look->finder.world;
    if (c->b < 0 || sand_candidate_is_joint(c)) return;
    int sphere = look->from->body[c->index_a], body = look->from->body[c->b];
    if (is_convex(w, sphere) || !look_wanted(look, body) || !look_is_first(look, i, c)) return;
    int piece = (int)(c->key.feature & 0xffff);
    SandSphereProxy end = sphere_proxy(&look->finder, sphere, (int)(swapped_feature(c->key.feature) & 0xffff));
    SandSphereProxy other = convex_proxy(&look->finder, body, piece);
    double size = fmin(look_size(w, sphere), other.radius);
    sink->tolerance = LOOK_TOLERANCE * size;
    touch_convex_body(&look->finder, sink, &end, body, piece);
}

// The pose of a boundary at the end of the step.
SAND_HOST_DEVICE SandPose look_pose(const SandCollision *from, int boundary, double step) {
    SandPose pose = from->pose[boundary];
    pose.position = v3_madd(pose.position, step, from->velocity[boundary]);
    pose.rotation = q_mul(q_exp(v3_scale(step, from->spin[boundary])), pose.rotation);
    return pose;
}

// The order of the missing contacts of one look, whatever found them: by owner, then by the key.
SAND_HOST_DEVICE bool missing_before(const SandContactCandidate *p, const SandContactCandidate *q) {
    if (p->index_a != q->index_a) return p->index_a < q->index_a;
    if (p->b != q->b) return p->b < q->b;
    if (p->key.feature != q->key.feature) return p->key.feature < q->key.feature;
    return p->gap < q->gap;
}
