// SPDX-License-Identifier: MIT
// Probes of a world: making and checking them, and what their values are called. sim/step/probe.c fills the values in.
#include "sandglass/world.h"

#include "sim/core/array.h"

#include <string.h>

typedef struct KindRow {
    const char *name;
    const char *columns[SAND_MAX_PROBE_COLUMNS]; // the last is followed by NULL, where there are fewer
} KindRow;

static const KindRow kinds[SAND_PROBE_KINDS] = {
    [SAND_PROBE_FLOW] = {"flow", {"mass_kg", "bodies", "rate_kg_s"}},
    [SAND_PROBE_FORCE] = {"force", {"force_x_n", "force_y_n", "force_z_n", "torque_x_n_m", "torque_y_n_m", "torque_z_n_m"}},
    [SAND_PROBE_DENSITY] = {"density", {"solid_fraction", "density_kg_m3"}},
    [SAND_PROBE_VELOCITY] = {"velocity", {"velocity_x_m_s", "velocity_y_m_s", "velocity_z_m_s"}},
    [SAND_PROBE_STRESS] = {"stress",
                           {"stress_xx_pa", "stress_yy_pa", "stress_zz_pa", "stress_xy_pa", "stress_xz_pa", "stress_yz_pa"}},
    [SAND_PROBE_COORDINATION] = {"coordination", {"coordination", "rattlers"}},
    [SAND_PROBE_SURFACE] = {"surface", {"angle_deg", "heading_deg", "height_m", "rms_m"}},
    [SAND_PROBE_CENTER] = {"center", {"x_m", "y_m", "z_m", "mass_kg"}},
    [SAND_PROBE_ENERGY] = {"energy", {"kinetic_j", "rotational_j", "potential_j"}},
    [SAND_PROBE_PATH] = {"path",
                         {"x_m", "y_m", "z_m", "velocity_x_m_s", "velocity_y_m_s", "velocity_z_m_s", "spin_x_rad_s",
                          "spin_y_rad_s", "spin_z_rad_s", "rotation_w", "rotation_x", "rotation_y", "rotation_z"}},
};

const char *sand_probe_kind_name(SandProbeKind kind) { return kinds[kind].name; }
const char *sand_probe_column(const SandProbe *probe, int column) { return kinds[probe->kind].columns[column]; }

int sand_probe_columns(const SandProbe *probe) {
    int count = 0;
    while (count < SAND_MAX_PROBE_COLUMNS && kinds[probe->kind].columns[count]) count++;
    return count;
}

// The kinds that have values for each cell of their region.
static bool has_cells(SandProbeKind kind) {
    return kind == SAND_PROBE_DENSITY || kind == SAND_PROBE_VELOCITY || kind == SAND_PROBE_STRESS ||
           kind == SAND_PROBE_COORDINATION;
}

int sand_probe_cells(const SandProbe *p) { return has_cells(p->kind) ? p->cells[0] * p->cells[1] * p->cells[2] : 1; }

SandVec3 sand_probe_cell_center(const SandProbe *p, int cell) {
    int at[3] = {cell % p->cells[0], cell / p->cells[0] % p->cells[1], cell / p->cells[0] / p->cells[1]};
    SandVec3 center = p->origin;
    for (int a = 0; a < 3; a++) center = v3_madd(center, p->size[a] * (at[a] + 0.5) / p->cells[a], p->axis[a]);
    return center;
}

bool sand_probe_sampled(const SandWorld *w, int probe) {
    return w->step_index > 0 && w->probes[probe].sample_step == w->step_index;
}

const double *sand_probe_values(const SandWorld *w, int probe) { return w->probe_values + w->probes[probe].first_value; }

// --- making a probe -------------------------------------------------------------------------------------------

SandProbe sand_probe_of(SandProbeKind kind) {
    return (SandProbe){.kind = kind,
                       .outlet = -1,
                       .boundary = -1,
                       .body = -1,
                       .whole = true,
                       .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                       .size = {INFINITY, INFINITY, INFINITY},
                       .radius = INFINITY,
                       .cells = {1, 1, 1}};
}

// The axes across a direction: the first along x, as far as there is such a direction, else along y.
static void axes_across(SandVec3 along, SandVec3 *first, SandVec3 *second) {
    SandVec3 x = fabs(along.x) < 0.9 ? v3_make(1, 0, 0) : v3_make(0, 1, 0);
    *first = v3_unit_or(v3_madd(x, -v3_dot(x, along), along), x);
    *second = v3_cross(along, *first);
}

SandProbe sand_probe_flow(SandVec3 point, SandVec3 normal) {
    SandProbe p = sand_probe_of(SAND_PROBE_FLOW);
    p.origin = point;
    p.axis[2] = v3_unit_or(normal, v3_make(0, 0, 0));
    axes_across(p.axis[2], &p.axis[0], &p.axis[1]);
    return p;
}

void sand_probe_box(SandProbe *p, SandVec3 lower, SandVec3 upper) {
    SandVec3 size = v3_sub(upper, lower);
    p->whole = false;
    p->origin = lower;
    p->size[0] = size.x;
    p->size[1] = size.y;
    p->size[2] = size.z;
}

void sand_probe_line(SandProbe *p, SandVec3 from, SandVec3 to, double width, int bins) {
    SandVec3 along = v3_sub(to, from);
    p->whole = false;
    p->size[0] = v3_length(along);
    p->size[1] = p->size[2] = width;
    p->axis[0] = v3_unit_or(along, v3_make(0, 0, 0));
    axes_across(p->axis[0], &p->axis[1], &p->axis[2]);
    p->origin = v3_madd(v3_madd(from, -0.5 * width, p->axis[1]), -0.5 * width, p->axis[2]);
    p->cells[0] = bins;
}

// --- adding it to a world -------------------------------------------------------------------------------------

static bool check_plane(const SandProbe *p, SandError *error) {
    if (!v3_finite(p->origin) || !(v3_length(p->axis[2]) > 0.5))
        return sand_fail(error, "probe %s: its plane needs a finite point and a normal with a length", p->name);
    return (p->size[0] > 0 && p->size[1] > 0 && p->radius > 0) ||
           sand_fail(error, "probe %s: its part of the plane has no area", p->name);
}

static bool check_region(const SandProbe *p, SandError *error) {
    int64_t cells = 1;
    if (p->whole) return sand_fail(error, "probe %s: %s needs a region", p->name, kinds[p->kind].name);
    for (int a = 0; a < 3; a++) {
        if (!isfinite(p->size[a]) || !(p->size[a] > 0))
            return sand_fail(error, "probe %s: its region has no volume", p->name);
        if (p->cells[a] < 1 || (cells *= p->cells[a]) > SAND_MAX_PROBE_CELLS)
            return sand_fail(error, "probe %s: expected 1 to %d cells", p->name, SAND_MAX_PROBE_CELLS);
    }
    if (cells > 1 && (p->kind == SAND_PROBE_CENTER || p->kind == SAND_PROBE_ENERGY))
        return sand_fail(error, "probe %s: %s has one value for all of its region, and no cells", p->name,
                         kinds[p->kind].name);
    if (p->kind == SAND_PROBE_SURFACE && (!(p->axis[2].z == 1) || p->cells[2] != 1))
        return sand_fail(error, "probe %s: a surface is looked for in an upright box, with cells along x and y", p->name);
    return v3_finite(p->origin) || sand_fail(error, "probe %s: its region is not finite", p->name);
}

static bool check_body(const SandWorld *w, const SandProbe *p, SandError *error) {
    return (p->body >= 0 && p->body < w->body_count) ||
           sand_fail(error, "probe %s: there is no body %d among %d", p->name, p->body, w->body_count);
}

static bool check_place(const SandWorld *w, const SandProbe *p, SandError *error) {
    if (p->kind == SAND_PROBE_PATH) return check_body(w, p, error);
    if (p->kind == SAND_PROBE_FORCE && p->boundary < 0) return check_body(w, p, error);
    if (p->kind == SAND_PROBE_FORCE)
        return p->boundary < w->boundary_count ||
               sand_fail(error, "probe %s: there is no boundary %d", p->name, p->boundary);
    if (p->kind == SAND_PROBE_FLOW && p->outlet < 0) return check_plane(p, error);
    if (p->kind == SAND_PROBE_FLOW)
        return p->outlet < w->outlet_count || sand_fail(error, "probe %s: there is no outlet %d", p->name, p->outlet);
    bool anywhere = p->kind == SAND_PROBE_CENTER || p->kind == SAND_PROBE_ENERGY;
    return (anywhere && p->whole) || check_region(p, error);
}

static bool check_probe(const SandWorld *w, const SandProbe *p, SandError *error) {
    if (!*p->name || strchr(p->name, '/')) return sand_fail(error, "a probe needs a name, without a slash");
    for (int k = 0; k < w->probe_count; k++)
        if (!strcmp(w->probes[k].name, p->name)) return sand_fail(error, "there are two probes '%s'", p->name);
    if (!isfinite(p->rate) || p->rate < 0) return sand_fail(error, "probe %s: its rate must not be below 0", p->name);
    if (w->probe_count >= SAND_MAX_PROBES) return sand_fail(error, "a world has at most %d probes", SAND_MAX_PROBES);
    return check_place(w, p, error);
}

int sand_world_add_probe(SandWorld *w, const SandProbe *probe, SandError *error) {
    if (!check_probe(w, probe, error)) return -1;
    int values = 0, more = sand_probe_cells(probe) * sand_probe_columns(probe);
    for (int k = 0; k < w->probe_count; k++) values += sand_probe_cells(&w->probes[k]) * sand_probe_columns(&w->probes[k]);
    if (!SAND_GROW(w->probes, w->probe_capacity, w->probe_count + 1, "probes", error) ||
        !SAND_GROW(w->probe_values, w->probe_value_capacity, values + more, "probes", error))
        return -1;
    SandProbe *p = &w->probes[w->probe_count];
    *p = *probe;
    p->state = (SandProbeState){.since = w->time};
    p->sample_step = 0;
    p->first_value = values;
    for (int i = 0; i < more; i++) w->probe_values[values + i] = NAN; // until the first sample
    return w->probe_count++;
}
