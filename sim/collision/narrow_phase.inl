// SPDX-License-Identifier: MIT
// The narrow phase: the contacts of one sphere or one convex body, one source for CPU and GPU. Start at sphere_contacts (all
// contacts of a sphere) and convex_contacts (those of a convex body with its like and with boundaries: convex_contacts.inl).
//
// Contacts are speculative: a pair becomes one while its gap is within reach of the coming step,
//     gap <= max(envelope, impact margins, h (1 + mu) |u|)
// with u the relative velocity, counting spin and one step of gravity. The factor 1 + mu is the friction model's: the convex
// cone asks for u_n + gap / h >= mu |u_t|, so a sliding contact acts from a gap of h mu |u_t| more.
#pragma once
#include "sim/collision/convex_contacts.inl"
#include "sim/world/period.inl"

SAND_HOST_DEVICE double spheres_gap(const SandSphereProxy *p, const SandSphereProxy *q) {
    return v3_length(v3_sub(q->center, p->center)) - p->radius - q->radius;
}

// Whether two spheres are a contact: their gap is within h (1 + mu) |u| of their relative motion, within the envelope,
// or within the impact margin of one of them.
SAND_HOST_DEVICE bool spheres_touch(const SandFinder *finder, const SandSphereProxy *p, const SandSphereProxy *q) {
    if (!proxies_near(p, q) || p->body == q->body || (p->image & q->image)) return false;
    const SandWorld *w = finder->world;
    double gap = spheres_gap(p, q);
    if (gap <= fmax(w->envelope, fmax(p->impact_margin, q->impact_margin))) return true;
    double mu = sand_world_pair(w, w->material[p->body], w->material[q->body])->mu;
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
    if (p->image) point = v3_sub(point, period_shift(finder->world, p->image)); // beside the body itself
    add_pair(finder, sink, p->body, p->sub, q->body, q->sub, normal, point, gap);
}

// Emits the contacts of a sphere with the boundaries. A boundary within a radius is always a contact: a solve of few
// iterations may give a squeezed sphere many times its speed, and it must not escape through the wall.
SAND_HOST_DEVICE void sphere_boundaries(const SandFinder *finder, SandSink *sink, const SandSphereProxy *sphere) {
    if (sphere->image || is_ghost_body(finder, sphere->body)) return; // boundaries do not repeat
    touch_boundaries(finder, sink, sphere->body, sphere->sub, sphere->center, sphere->radius, sphere->velocity,
                     sphere->turning, fmax(sphere->impact_margin, sphere->radius));
}

// Emits the contacts of a sphere with everything that is not a sphere: convex bodies and the boundaries.
SAND_HOST_DEVICE void nonsphere_contacts(const SandFinder *finder, SandSink *sink, const SandSphereProxy *sphere) {
    if (finder->collision->convex_phase.sphere_count) touch_convex_bodies(finder, sink, sphere);
    sphere_boundaries(finder, sink, sphere);
}

// Emits the contacts of a sphere with those in a row of cells.
SAND_HOST_DEVICE void row_contacts(const SandFinder *finder, SandSink *sink, const SandSphereProxy *sphere,
                                   SandCellRow row) {
    const SandSphereProxy *sorted = finder->collision->broad_phase.sorted;
    bool is_ghost = is_ghost_body(finder, sphere->body);
    for (int k = 0; k < 2; k++)
        for (int j = row.run[k].begin; j < row.run[k].end; j++) {
            if (is_ghost && is_ghost_body(finder, sorted[j].body)) continue;
            if (spheres_touch(finder, sphere, &sorted[j])) add_sphere_pair(finder, sink, sphere, &sorted[j]);
        }
}

// Emits all contacts of sorted proxy i: with its neighbors in the grids, then with convex bodies and the boundaries.
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
