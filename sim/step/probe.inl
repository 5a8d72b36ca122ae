// SPDX-License-Identifier: MIT
// What a body and a contact add to the sums of a probe; one source for the CPU and the GPU. A term is a list of numbers, the
// same for all cells, and a walk over the cells that it has a share in:
//
//     double value[PROBE_SUMS];
//     ProbeWalk walk;
//     if (probe_body_terms(view, probe, k, value, &walk))
//         while (probe_next(view->world, probe, &walk)) ... walk.share * value[j] belongs to sum j of cell walk.number
//
// A body is spread over cells as a sphere of its volume is: the part of the sphere between the sides of the cell along each
// of its axes, the three multiplied. That is exact for slabs, and the shares of all cells sum to one. A contact is spread
// along its branch vector, from center to center (or from the center to a boundary): by the length within the cell, so that
// the mean stress of a region is exact.
#pragma once
#include "sandglass/probe.h"
#include "sim/step/laws.inl"

enum { PROBE_SUMS = 16 }; // the most of any kind

// The state after a step, and the contacts of the step.
typedef struct ProbeView {
    const SandWorld *world;
    const SandCollision *collision;
    const SandProblemBody *before; // by solver index: bodies as they went into the step
    const uint32_t *carrying;      // by solver index: contacts that carry a force; of coordination alone
} ProbeView;

// Sums of a cell.
SAND_HOST_DEVICE int probe_sums(SandProbeKind kind) {
    switch (kind) {
    case SAND_PROBE_FLOW: return 2;         // mass, bodies
    case SAND_PROBE_FORCE: return 6;        // impulse, its moment
    case SAND_PROBE_DENSITY: return 2;      // volume, mass
    case SAND_PROBE_VELOCITY: return 4;     // mass, momentum
    case SAND_PROBE_STRESS: return 16;      // mass, momentum, mass times velocity times velocity, impulse times branch
    case SAND_PROBE_COORDINATION: return 3; // bodies, their contacts, bodies without any
    case SAND_PROBE_SURFACE: return 1;      // the highest point; no sum but a maximum
    case SAND_PROBE_CENTER: return 4;       // mass, mass times position
    case SAND_PROBE_ENERGY: return 3;       // kinetic, its rotational part, potential
    default: return 14;                     // of a path: position, velocity, spin, rotation, and one for being there
    }
}

SAND_HOST_DEVICE bool probe_has_contacts(SandProbeKind kind) {
    return kind == SAND_PROBE_FORCE || kind == SAND_PROBE_STRESS;
}
// Whether it is measured from contacts, be it by terms of theirs or by counting them.
SAND_HOST_DEVICE bool probe_reads_contacts(SandProbeKind kind) {
    return probe_has_contacts(kind) || kind == SAND_PROBE_COORDINATION;
}
SAND_HOST_DEVICE bool probe_has_bodies(const SandProbe *p) {
    return p->kind != SAND_PROBE_FORCE && !(p->kind == SAND_PROBE_FLOW && p->outlet >= 0);
}
// Whether everything goes to one cell, wherever it is.
SAND_HOST_DEVICE bool probe_is_single(const SandProbe *p) {
    return p->whole || p->kind == SAND_PROBE_FLOW || p->kind == SAND_PROBE_FORCE || p->kind == SAND_PROBE_PATH;
}

// --- the walk over cells ------------------------------------------------------------------------------------

typedef struct ProbeWalk {
    SandVec3 from, to;                    // m, world frame: the ends of a branch, or twice the center of a body
    double radius;                        // m, of a body; 0: it is in one cell. -1: a branch
    int image;                            // of the 27 in a periodic world
    double begin[3], along[3];            // of this image, along the axes of the region
    int low[3], high[3], cell[3], number; // cells that it may be in, the current one and its number
    double share;
} ProbeWalk;

SAND_HOST_DEVICE void probe_walk_begin(ProbeWalk *walk, SandVec3 from, SandVec3 to, double radius) {
    walk->from = from;
    walk->to = to;
    walk->radius = radius;
    walk->image = -1;
    for (int a = 0; a < 3; a++) walk->low[a] = walk->high[a] = walk->cell[a] = 0;
}

// How far the current image is from the original, along an axis of the world. Returns false where there is no such image.
SAND_HOST_DEVICE bool probe_shift(double period, int image, double *shift) {
    *shift = period * (image - 1);
    return image == 1 || period > 0;
}

// Places the current image in the frame of the region, and finds the cells that it may be in; false: none.
SAND_HOST_DEVICE bool probe_place(const SandWorld *w, const SandProbe *p, ProbeWalk *walk) {
    SandVec3 period = sand_world_period(w), shift;
    if (!probe_shift(period.x, walk->image % 3, &shift.x) || !probe_shift(period.y, walk->image / 3 % 3, &shift.y) ||
        !probe_shift(period.z, walk->image / 9, &shift.z))
        return false;
    SandVec3 from = v3_sub(v3_add(walk->from, shift), p->origin), along = v3_sub(walk->to, walk->from);
    double reach = walk->radius > 0 ? walk->radius : 0;
    for (int a = 0; a < 3; a++) {
        walk->begin[a] = v3_dot(from, p->axis[a]);
        walk->along[a] = v3_dot(along, p->axis[a]);
        double side = p->size[a] / p->cells[a], end = walk->begin[a] + walk->along[a];
        double low = floor((fmin(walk->begin[a], end) - reach) / side),
               high = floor((fmax(walk->begin[a], end) + reach) / side);
        if (!(low < p->cells[a] && high >= 0)) return false;
        walk->low[a] = walk->cell[a] = low > 0 ? (int)low : 0;
        walk->high[a] = high < p->cells[a] ? (int)high : p->cells[a] - 1;
    }
    return true;
}

// The part of a sphere, of radius 1 about 0, that is below a plane.
SAND_HOST_DEVICE double probe_cap(double height) {
    double u = height < -1 ? -1 : height > 1 ? 1 : height;
    return 0.25 * (2 + 3 * u - u * u * u);
}

// The share of a body between two sides of a cell.
SAND_HOST_DEVICE double probe_body_share(double center, double radius, double low, double high) {
    if (!(radius > 0)) return center >= low && center < high ? 1 : 0;
    return probe_cap((high - center) / radius) - probe_cap((low - center) / radius);
}

// Cuts the part [first, last] of a branch that is between two sides of a cell.
SAND_HOST_DEVICE void probe_clip(double begin, double along, double low, double high, double *first, double *last) {
    if (along == 0) {
        if (!(begin >= low && begin < high)) *last = -1;
        return;
    }
    double enters = ((along > 0 ? low : high) - begin) / along, leaves = ((along > 0 ? high : low) - begin) / along;
    *first = fmax(*first, enters);
    *last = fmin(*last, leaves);
}

SAND_HOST_DEVICE double probe_share(const SandProbe *p, const ProbeWalk *walk) {
    double share = 1, first = 0, last = 1;
    for (int a = 0; a < 3; a++) {
        double side = p->size[a] / p->cells[a], low = side * walk->cell[a], high = side * (walk->cell[a] + 1);
        if (walk->radius >= 0)
            share *= probe_body_share(walk->begin[a], walk->radius, low, high);
        else
            probe_clip(walk->begin[a], walk->along[a], low, high, &first, &last);
    }
    return walk->radius >= 0 ? share : fmax(last - first, 0.0);
}

// Moves on to the next cell of this image; false: there is none.
SAND_HOST_DEVICE bool probe_next_cell(ProbeWalk *walk) {
    for (int a = 0; a < 3; a++) {
        if (++walk->cell[a] <= walk->high[a]) return true;
        walk->cell[a] = walk->low[a];
    }
    return false;
}

// Moves on to the next image that reaches into the region.
SAND_HOST_DEVICE bool probe_next_image(const SandWorld *w, const SandProbe *p, ProbeWalk *walk) {
    bool repeats = sand_world_repeats(w);
    if (!repeats && walk->image >= 0) return false;
    if (!repeats) {
        walk->image = 13; // the one in the middle
        return probe_place(w, p, walk);
    }
    while (++walk->image < 27)
        if (probe_place(w, p, walk)) return true;
    return false;
}

// Whether the cells are one, and nothing has images: then no walk is needed.
SAND_HOST_DEVICE bool probe_has_one_cell(const SandWorld *w, const SandProbe *p) {
    return p->cells[0] == 1 && p->cells[1] == 1 && p->cells[2] == 1 && !sand_world_repeats(w);
}

// The share in the one cell of a probe.
SAND_HOST_DEVICE double probe_only_share(const SandProbe *p, const ProbeWalk *walk) {
    SandVec3 from = v3_sub(walk->from, p->origin), along = v3_sub(walk->to, walk->from);
    double share = 1, first = 0, last = 1;
    for (int a = 0; a < 3; a++) {
        double begin = v3_dot(from, p->axis[a]);
        if (walk->radius >= 0)
            share *= probe_body_share(begin, walk->radius, 0, p->size[a]);
        else
            probe_clip(begin, v3_dot(along, p->axis[a]), 0, p->size[a], &first, &last);
    }
    return walk->radius >= 0 ? share : fmax(last - first, 0.0);
}

// Moves on to the next cell with a share; false: there is none.
SAND_HOST_DEVICE bool probe_next(const SandWorld *w, const SandProbe *p, ProbeWalk *walk) {
    if (probe_is_single(p) || probe_has_one_cell(w, p)) {
        walk->number = 0;
        walk->share = probe_is_single(p) ? 1 : probe_only_share(p, walk);
        return ++walk->image == 0 && walk->share > 0;
    }
    do {
        bool more = (walk->image >= 0 && probe_next_cell(walk)) || probe_next_image(w, p, walk);
        if (!more) return false;
        walk->share = probe_share(p, walk);
    } while (!(walk->share > 0));
    walk->number = walk->cell[0] + p->cells[0] * (walk->cell[1] + p->cells[1] * walk->cell[2]);
    return true;
}

// --- terms of bodies ----------------------------------------------------------------------------------------

SAND_HOST_DEVICE double probe_volume(const SandWorld *w, int body) {
    double scale = w->scale[body];
    return w->shapes[w->shape[body]].volume * scale * scale * scale;
}

// The radius of the sphere of the same volume.
SAND_HOST_DEVICE double probe_radius(const SandWorld *w, int body) {
    if (w->shapes[w->shape[body]].kind == SAND_SPHERE) return w->scale[body];
    return cbrt(probe_volume(w, body) * 0.23873241463784300); // 3 / (4 pi)
}

SAND_HOST_DEVICE void probe_put(double *value, SandVec3 v) {
    value[0] = v.x;
    value[1] = v.y;
    value[2] = v.z;
}

// The symmetric part of the product of two vectors: xx, yy, zz, xy, xz, yz.
SAND_HOST_DEVICE void probe_put_product(double *value, SandVec3 a, SandVec3 b) {
    value[0] = a.x * b.x;
    value[1] = a.y * b.y;
    value[2] = a.z * b.z;
    value[3] = 0.5 * (a.x * b.y + a.y * b.x);
    value[4] = 0.5 * (a.x * b.z + a.z * b.x);
    value[5] = 0.5 * (a.y * b.z + a.z * b.y);
}

// Whether a body became non-finite in this step: it was put to the origin, and has not been there.
SAND_HOST_DEVICE bool probe_was_reset(const SandWorld *w, int body) {
    SandVec3 p = w->position[body], v = w->velocity[body];
    return w->gone[body] == 1 && v3_dot(p, p) + v3_dot(v, v) == 0;
}

// Whether the way of a body in the step passes through the plane of the probe; `sign`: along its normal, or against it.
SAND_HOST_DEVICE bool probe_passes(const ProbeView *v, const SandProbe *p, int k, double *sign) {
    const SandWorld *w = v->world;
    int body = v->collision->body[k];
    SandVec3 from = period_image(w, v->before[k].position, p->origin), to = period_image(w, w->position[body], from);
    double behind = v3_dot(v3_sub(from, p->origin), p->axis[2]), ahead = v3_dot(v3_sub(to, p->origin), p->axis[2]);
    if ((behind < 0) == (ahead < 0) || probe_was_reset(w, body)) return false;
    *sign = ahead < 0 ? -1 : 1;
    SandVec3 through = v3_sub(v3_madd(from, behind / (behind - ahead), v3_sub(to, from)), p->origin);
    double x = v3_dot(through, p->axis[0]), y = v3_dot(through, p->axis[1]);
    return fabs(x) <= 0.5 * p->size[0] && fabs(y) <= 0.5 * p->size[1] && x * x + y * y <= p->radius * p->radius;
}

SAND_HOST_DEVICE void probe_path_terms(const SandWorld *w, int body, double *value) {
    SandQuat q = w->rotation[body];
    probe_put(value, w->position[body]);
    probe_put(value + 3, w->velocity[body]);
    probe_put(value + 6, w->spin[body]);
    value[9] = q.w;
    value[10] = q.x;
    value[11] = q.y;
    value[12] = q.z;
    value[13] = 1;
}

SAND_HOST_DEVICE void probe_energy_terms(const SandWorld *w, int body, double *value) {
    double kinetic = sand_body_kinetic_energy(w, body);
    value[0] = kinetic;
    value[1] = 0.5 * v3_dot(w->spin[body], sand_body_spin_momentum(w, body));
    value[2] = sand_body_potential_energy(w, body);
}

// Fills the numbers of a body that is there.
SAND_HOST_DEVICE void probe_fill_body(const ProbeView *v, const SandProbe *p, int k, double *value) {
    const SandWorld *w = v->world;
    int body = v->collision->body[k];
    double mass = w->mass[body];
    value[0] = mass; // of most kinds
    switch (p->kind) {
    case SAND_PROBE_DENSITY:
        value[0] = probe_volume(w, body);
        value[1] = mass;
        break;
    case SAND_PROBE_VELOCITY: probe_put(value + 1, v3_scale(mass, w->velocity[body])); break;
    case SAND_PROBE_STRESS:
        probe_put(value + 1, v3_scale(mass, w->velocity[body]));
        probe_put_product(value + 4, v3_scale(mass, w->velocity[body]), w->velocity[body]);
        for (int j = 10; j < 16; j++) value[j] = 0;
        break;
    case SAND_PROBE_COORDINATION:
        value[0] = 1;
        value[1] = v->carrying[k];
        value[2] = v->carrying[k] ? 0 : 1;
        break;
    case SAND_PROBE_SURFACE: value[0] = w->position[body].z + w->scale[body] * w->shapes[w->shape[body]].bound; break;
    case SAND_PROBE_CENTER: probe_put(value + 1, v3_scale(mass, w->position[body])); break;
    case SAND_PROBE_ENERGY: probe_energy_terms(w, body, value); break;
    default: probe_path_terms(w, body, value);
    }
}

// What the body with solver index k adds; false: nothing.
SAND_HOST_DEVICE bool probe_body_terms(const ProbeView *v, const SandProbe *p, int k, double *value, ProbeWalk *walk) {
    const SandWorld *w = v->world;
    int body = v->collision->body[k];
    if (p->kind == SAND_PROBE_PATH && body != p->body) return false;
    double radius = probe_is_single(p) || p->kind == SAND_PROBE_SURFACE ? 0 : probe_radius(w, body), sign;
    probe_walk_begin(walk, w->position[body], w->position[body], radius);
    if (p->kind == SAND_PROBE_FLOW) {
        if (!probe_passes(v, p, k, &sign)) return false;
        value[0] = sign * w->mass[body];
        value[1] = sign;
        return true;
    }
    if (w->gone[body]) return false;
    probe_fill_body(v, p, k, value);
    return true;
}

// --- terms of contacts --------------------------------------------------------------------------------------

// The impulse of a contact on its body b: that of the solution without the cohesion that the free velocities have.
SAND_HOST_DEVICE SandVec3 probe_impulse(const ProbeView *v, const SandContactCandidate *c, SandVec3 impulse) {
    return v3_madd(impulse, -contact_pull(v->world, v->collision, c), c->normal);
}

// Whether a contact carries a force of the probe's least size.
SAND_HOST_DEVICE bool probe_carries(const ProbeView *v, const SandProbe *p, const SandContactCandidate *c,
                                    SandVec3 impulse) {
    if (sand_candidate_is_joint(c)) return false;
    return v3_dot(probe_impulse(v, c, impulse), c->normal) > p->least_force * v->world->step;
}

// Whether a contact acts on what the probe is at: 1 as its b, -1 as its a, 0 not at all.
SAND_HOST_DEVICE int probe_side(const ProbeView *v, const SandProbe *p, const SandContactCandidate *c) {
    if (p->boundary >= 0) return c->b == -1 - p->boundary ? 1 : 0;
    if (v->collision->body[c->index_a] == p->body) return -1;
    return c->b >= 0 && v->collision->body[c->b] == p->body ? 1 : 0;
}

// Where the center of a body was before the step; in a periodic world, that of its image at a point.
SAND_HOST_DEVICE SandVec3 probe_center(const ProbeView *v, int k, SandVec3 point) {
    return period_image(v->world, v->before[k].position, point);
}

// The impulse on what the probe is at, and its moment.
SAND_HOST_DEVICE void probe_force_terms(const ProbeView *v, const SandProbe *p, const SandContactCandidate *c,
                                        SandVec3 impulse, SandVec3 torque, double *value) {
    int side = probe_side(v, p, c);
    SandVec3 center = p->about           ? p->origin
                      : p->boundary >= 0 ? v->collision->pose[p->boundary].position
                                         : probe_center(v, side < 0 ? c->index_a : c->b, c->point);
    probe_put(value, v3_scale(side, impulse));
    probe_put(value + 3, v3_scale(side, v3_add(v3_cross(v3_sub(c->point, center), impulse), torque)));
}

// What a contact adds, given its impulse and torque on b from the solution; false: nothing.
SAND_HOST_DEVICE bool probe_contact_terms(const ProbeView *v, const SandProbe *p, const SandContactCandidate *c,
                                          SandVec3 impulse, SandVec3 torque, double *value, ProbeWalk *walk) {
    if (sand_candidate_is_joint(c) || (p->kind == SAND_PROBE_FORCE && probe_side(v, p, c) == 0)) return false;
    SandVec3 acts = probe_impulse(v, c, impulse);
    SandVec3 from = probe_center(v, c->index_a, c->point), to = c->b < 0 ? c->point : probe_center(v, c->b, c->point);
    probe_walk_begin(walk, from, to, -1);
    if (p->kind == SAND_PROBE_FORCE) {
        probe_force_terms(v, p, c, acts, torque, value);
        return true;
    }
    for (int j = 0; j < 10; j++) value[j] = 0;
    probe_put_product(value + 10, acts, v3_sub(to, from));
    return true;
}
