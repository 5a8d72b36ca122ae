// SPDX-License-Identifier: MIT
// Reading the probes of a world for the panel: means of their shown columns, and for a probe with several cells a profile
// along its longest axis.
#include "app/engine/probe_readings.h"

#include <math.h>
#include <stdio.h>

// The columns of a kind that are shown: the first of them, and how many.
typedef struct Shown {
    int first, count;
} Shown;

static const Shown shown[SAND_PROBE_KINDS] = {
    [SAND_PROBE_FLOW] = {2, 1},     [SAND_PROBE_FORCE] = {0, 3},  [SAND_PROBE_DENSITY] = {0, 1},
    [SAND_PROBE_VELOCITY] = {0, 3}, [SAND_PROBE_STRESS] = {0, 3}, [SAND_PROBE_COORDINATION] = {0, 1},
    [SAND_PROBE_SURFACE] = {0, 1},  [SAND_PROBE_CENTER] = {2, 1}, [SAND_PROBE_ENERGY] = {0, 1},
    [SAND_PROBE_PATH] = {0, 3},
};

// The axis along which a probe has the most cells.
static int longest_axis(const SandProbe *p) {
    int axis = 0;
    for (int a = 1; a < 3; a++)
        if (p->cells[a] > p->cells[axis]) axis = a;
    return axis;
}

// Which cell of that axis a cell belongs to.
static int along_axis(const SandProbe *p, int axis, int cell) {
    if (axis == 0) return cell % p->cells[0];
    return axis == 1 ? cell / p->cells[0] % p->cells[1] : cell / p->cells[0] / p->cells[1];
}

// The means of one column over all cells that share a point of the profile, those without a value apart.
static void read_profile(const SandWorld *w, int probe, int column, const ProbeReading *r, double *means) {
    const SandProbe *p = &w->probes[probe];
    const double *values = sand_probe_values(w, probe);
    int axis = longest_axis(p), columns = sand_probe_columns(p), counts[READING_POINTS] = {0};
    for (int i = 0; i < r->points; i++) means[i] = 0;
    for (int cell = 0; cell < sand_probe_cells(p); cell++) {
        double value = values[(size_t)cell * (size_t)columns + (size_t)column];
        int point = (int)((int64_t)along_axis(p, axis, cell) * r->points / p->cells[axis]);
        if (isnan(value)) continue;
        means[point] += value;
        counts[point]++;
    }
    for (int i = 0; i < r->points; i++) means[i] = counts[i] ? means[i] / counts[i] : NAN;
}

static void read_probe(const SandWorld *w, int probe, ProbeReading *r) {
    const SandProbe *p = &w->probes[probe];
    Shown show = shown[p->kind];
    int axis = longest_axis(p), cells = sand_probe_cells(p) > 1 ? p->cells[axis] : 1;
    *r = (ProbeReading){.kind = p->kind, .step = p->sample_step, .time = p->state.since, .curves = show.count};
    snprintf(r->name, sizeof r->name, "%s", p->name);
    r->points = cells < READING_POINTS ? cells : READING_POINTS;
    for (int i = 0; i < r->points; i++) r->at[i] = p->size[axis] * (i + 0.5) / r->points;
    for (int c = 0; c < show.count; c++) {
        r->columns[c] = sand_probe_column(p, show.first + c);
        read_profile(w, probe, show.first + c, r, r->values[c]);
    }
}

void probe_readings_read(const SandWorld *w, ProbeReadings *readings) {
    readings->count = w->probe_count;
    for (int k = 0; k < w->probe_count; k++) read_probe(w, k, &readings->probes[k]);
}
