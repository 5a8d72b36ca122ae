// SPDX-License-Identifier: MIT
// From the sums of a step to the values of probes: which are due, what accumulates from step to step, and the formulas.
#include "sim/step/probe.h"

#include "sim/core/array.h"
#include "sim/step/probe.inl"

#define DEGREES (180 / 3.14159265358979323846)

void sand_probe_batch_free(SandProbeBatch *batch) {
    sand_free(batch->sums);
    *batch = (SandProbeBatch){0};
}

// Samples that a probe has taken by the end of a step, from the number of the step alone: nothing drifts.
static double samples_by(const SandProbe *p, const SandWorld *w, uint64_t step) {
    return floor((double)step * w->step * p->rate + 1e-9);
}

static bool is_due(const SandProbe *p, const SandWorld *w) {
    return p->rate == 0 || samples_by(p, w, w->step_index) > samples_by(p, w, w->step_index - 1);
}

// Flows and impulses are counted in every step, whatever the rate.
static bool accumulates(const SandProbe *p) { return p->kind == SAND_PROBE_FLOW || p->kind == SAND_PROBE_FORCE; }

static size_t sum_count(const SandProbe *p) {
    size_t cells = probe_is_single(p) ? 1 : (size_t)p->cells[0] * (size_t)p->cells[1] * (size_t)p->cells[2];
    return cells * (size_t)probe_sums(p->kind);
}

bool sand_probes_plan(SandProbeBatch *batch, const SandWorld *w, SandError *error) {
    batch->count = 0;
    batch->first[0] = 0;
    for (int k = 0; k < w->probe_count; k++) {
        const SandProbe *p = &w->probes[k];
        if (!(probe_has_bodies(p) || probe_has_contacts(p->kind)) || !(accumulates(p) || is_due(p, w))) continue;
        batch->probe[batch->count++] = p;
        batch->first[batch->count] = batch->first[batch->count - 1] + sum_count(p);
    }
    return SAND_GROW(batch->sums, batch->capacity, batch->first[batch->count], "probes", error);
}

// --- values of a cell ---------------------------------------------------------------------------------------

static double cell_volume(const SandProbe *p) {
    double volume = 1;
    for (int a = 0; a < 3; a++) volume *= p->size[a] / p->cells[a];
    return volume;
}

static double share_of(double part, double whole) { return whole > 0 ? part / whole : NAN; }

// The kinetic part from the velocities about their mean, and the contact part.
static void stress_values(const SandProbe *p, const double *sum, double step, double *value) {
    SandVec3 momentum = v3_make(sum[1], sum[2], sum[3]);
    double mean[6] = {0}, volume = cell_volume(p);
    if (sum[0] > 0) probe_put_product(mean, momentum, v3_scale(1 / sum[0], momentum));
    for (int i = 0; i < 6; i++) value[i] = (sum[4 + i] - mean[i] + sum[10 + i] / step) / volume;
}

static void cell_values(const SandProbe *p, const double *sum, double step, double *value) {
    switch (p->kind) {
    case SAND_PROBE_DENSITY:
        for (int i = 0; i < 2; i++) value[i] = sum[i] / cell_volume(p);
        break;
    case SAND_PROBE_VELOCITY:
        for (int i = 0; i < 3; i++) value[i] = share_of(sum[1 + i], sum[0]);
        break;
    case SAND_PROBE_STRESS: stress_values(p, sum, step, value); break;
    case SAND_PROBE_COORDINATION:
        for (int i = 0; i < 2; i++) value[i] = share_of(sum[1 + i], sum[0]);
        break;
    case SAND_PROBE_CENTER:
        for (int i = 0; i < 3; i++) value[i] = share_of(sum[1 + i], sum[0]);
        value[3] = sum[0];
        break;
    case SAND_PROBE_ENERGY:
        for (int i = 0; i < 3; i++) value[i] = sum[i];
        break;
    default: // a path
        for (int i = 0; i < 13; i++) value[i] = sum[13] == 1 ? sum[i] : NAN;
    }
}

// --- the free surface ---------------------------------------------------------------------------------------

// Moments of the highest points over the cells, about their mean.
typedef struct SurfaceFit {
    int count;
    SandVec3 mean;
    double xx, xy, yy, xz, yz, zz;
} SurfaceFit;

// The highest point over a cell, at the middle of the cell; false: there is no body.
static bool surface_point(const SandProbe *p, const SandExactSum *sums, int cell, SandVec3 *point) {
    if (sums[cell].limb[0] == 0) return false;
    *point = sand_probe_cell_center(p, cell);
    point->z = exact_from_order((uint64_t)sums[cell].limb[0]);
    return true;
}

static SurfaceFit surface_moments(const SandProbe *p, const SandExactSum *sums) {
    SurfaceFit f = {0};
    SandVec3 at;
    for (int cell = 0; cell < p->cells[0] * p->cells[1]; cell++)
        if (surface_point(p, sums, cell, &at)) {
            f.count++;
            f.mean = v3_add(f.mean, at);
        }
    f.mean = v3_scale(1.0 / (f.count ? f.count : 1), f.mean);
    for (int cell = 0; cell < p->cells[0] * p->cells[1]; cell++) {
        if (!surface_point(p, sums, cell, &at)) continue;
        SandVec3 d = v3_sub(at, f.mean);
        f.xx += d.x * d.x;
        f.xy += d.x * d.y;
        f.yy += d.y * d.y;
        f.xz += d.x * d.z;
        f.yz += d.y * d.z;
        f.zz += d.z * d.z;
    }
    return f;
}

// The slopes of the plane of least squares. Across a region of one row of cells it is level.
static void surface_slopes(const SurfaceFit *f, double size, double *along_x, double *along_y) {
    double least = 1e-12 * size * size, determinant = f->xx * f->yy - f->xy * f->xy;
    *along_x = *along_y = 0;
    if (f->xx > least && f->yy > least) {
        *along_x = (f->xz * f->yy - f->yz * f->xy) / determinant;
        *along_y = (f->yz * f->xx - f->xz * f->xy) / determinant;
    } else if (f->xx > least) {
        *along_x = f->xz / f->xx;
    } else {
        *along_y = f->yz / f->yy; // not a number where all is in one cell
    }
}

static void surface_values(const SandProbe *p, const SandWorld *w, const SandExactSum *sums, double *value) {
    SurfaceFit f = surface_moments(p, sums);
    double a, b;
    surface_slopes(&f, p->size[0] + p->size[1], &a, &b);
    SandVec3 up = v3_unit_or(v3_neg(w->gravity), v3_make(0, 0, 1)), normal = v3_make(-a, -b, 1);
    SandVec3 downhill = v3_madd(normal, -v3_dot(normal, up), up);
    value[0] = DEGREES * atan2(v3_length(v3_cross(normal, up)), v3_dot(normal, up));
    value[1] = DEGREES * atan2(downhill.y, downhill.x);
    value[2] = f.mean.z + a * (p->origin.x + 0.5 * p->size[0] - f.mean.x) + b * (p->origin.y + 0.5 * p->size[1] - f.mean.y);
    value[3] = sqrt(fmax(f.zz - a * f.xz - b * f.yz, 0) / f.count);
}

// --- values of a probe --------------------------------------------------------------------------------------

static void read_cell(const SandProbe *p, const SandExactSum *sums, double *sum) {
    for (int j = 0; j < probe_sums(p->kind); j++) sum[j] = exact_value(&sums[j]);
}

// The mean force since the last sample: all impulses of that time over it.
static void force_values(SandProbe *p, double elapsed, double *value) {
    for (int i = 0; i < 6; i++) {
        value[i] = p->state.total[i] / elapsed;
        p->state.total[i] = 0;
    }
}

static void flow_values(SandProbe *p, const SandWorld *w, double elapsed, double *value) {
    SandProbeState *s = &p->state;
    if (p->outlet >= 0) {
        s->total[0] = w->outlets[p->outlet].mass;
        s->total[1] = (double)w->outlets[p->outlet].bodies;
    }
    value[0] = s->total[0];
    value[1] = s->total[1];
    value[2] = (s->total[0] - s->sampled) / elapsed;
    s->sampled = s->total[0];
}

static void sample(SandProbe *p, const SandWorld *w, const SandExactSum *sums, double *value) {
    double sum[PROBE_SUMS], elapsed = w->time - p->state.since;
    if (p->kind == SAND_PROBE_FLOW)
        flow_values(p, w, elapsed, value);
    else if (p->kind == SAND_PROBE_FORCE)
        force_values(p, elapsed, value);
    else if (p->kind == SAND_PROBE_SURFACE)
        surface_values(p, w, sums, value);
    else
        for (int cell = 0; cell < sand_probe_cells(p); cell++) {
            read_cell(p, sums + (size_t)cell * (size_t)probe_sums(p->kind), sum);
            cell_values(p, sum, w->step, value + (size_t)cell * (size_t)sand_probe_columns(p));
        }
    p->state.since = w->time;
    p->sample_step = w->step_index;
}

// Adds what passed, or acted, in the step.
static void accumulate(SandProbe *p, const SandExactSum *sums) {
    double sum[PROBE_SUMS];
    read_cell(p, sums, sum);
    for (int j = 0; j < probe_sums(p->kind); j++) p->state.total[j] += sum[j];
}

void sand_probes_sample(const SandProbeBatch *batch, SandWorld *w) {
    int next = 0;
    for (int k = 0; k < w->probe_count; k++) {
        SandProbe *p = &w->probes[k];
        bool summed = next < batch->count && batch->probe[next] == p;
        const SandExactSum *sums = summed ? batch->sums + batch->first[next++] : NULL;
        if (summed && accumulates(p)) accumulate(p, sums);
        if (is_due(p, w)) sample(p, w, sums, w->probe_values + p->first_value);
    }
}
