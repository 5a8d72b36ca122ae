// SPDX-License-Identifier: MIT
// The provenance of an export as JSON. It has what decides the bits of a run and nothing of when and where it ran, so that a
// run that was interrupted writes the same files.
#include "app/io/export/describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/io/json.h"
#include "sim/core/array.h"
#include "sim/step/asking.h"

#ifndef SAND_COMMIT // the build knows of none
#define SAND_COMMIT ""
#endif

// --- provenance ---------------------------------------------------------------------------------------------

static void put_params(Json *json, const SandSolveDef *solve) {
    const SandSolver *solver = &sand_solver_table[solve->solver];
    json_open_object(json, "parameters");
    for (int k = 0; k < sand_param_count(solver); k++) json_number(json, solver->params[k].name, solve->params[k]);
    json_close_object(json);
}

static void put_solve(Json *json, const SandSolveDef *solve) {
    json_text(json, "solver", sand_solver_table[solve->solver].name);
    put_params(json, solve);
    json_text(json, "friction", sand_friction_table[solve->friction].name);
    json_integer(json, "iterations", solve->iterations);
    json_number(json, "budget_ms", solve->budget_ms);
    json_number(json, "tolerance", solve->tolerance);
    json_integer(json, "islands", solve->islands);
}

static void put_world(Json *json, const SandWorld *world) {
    const double gravity[3] = {world->gravity.x, world->gravity.y, world->gravity.z};
    json_integer(json, "bodies", world->body_count);
    json_number(json, "step", world->step);
    json_open_array(json, "gravity");
    for (int k = 0; k < 3; k++) json_number(json, NULL, gravity[k]);
    json_close_array(json);
}

// As a text where readers of JSON may not have so large a number.
static void put_seed(Json *json, uint64_t seed) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    if (seed <= INT64_MAX)
        json_integer(json, "seed", (int64_t)seed);
    else
        json_text(json, "seed", text);
}

// The backend by its bits: those of mpi are the CPU's, on any number of processes, and files are the same.
static const char *backend_of(const SandSimulation *sim) {
    const char *name = sand_simulation_backend(sim)->name;
    return strcmp(name, "mpi") ? name : "cpu";
}

static void put_about(FILE *out, const SandSimulation *sim, const SandSolveDef *solve, const ExportOrigin *origin) {
    Json json = json_make(out);
    json_open_object(&json, NULL);
    json_text(&json, "program", "sandglass");
    json_text(&json, "version", sand_version());
    json_text(&json, "commit", *SAND_COMMIT ? SAND_COMMIT : NULL);
    json_text(&json, "scene", origin->scene);
    if (origin->has_seed) put_seed(&json, origin->seed);
    put_world(&json, sand_simulation_world(sim));
    put_solve(&json, solve);
    json_text(&json, "precision", sand_simulation_precision(sim) == SAND_DOUBLE ? "double" : "float");
    json_text(&json, "backend", backend_of(sim));
    json_text(&json, "units", "m, kg, s, rad, N");
    json_close_object(&json);
}

static char *about_text(SandSimulation *sim, const ExportOrigin *origin, SandError *error) {
    char *text = NULL;
    size_t size;
    SandAsked asked;
    if (!sand_simulation_begin_asking(sim, 0, &asked, error)) return NULL;
    FILE *out = open_memstream(&text, &size);
    if (out) put_about(out, sim, asked.solve, origin);
    bool whole = out && fclose(out) == 0;
    sand_simulation_end_asking(sim, true);
    if (whole) return text;
    free(text);
    return sand_fail(error, "out of memory for an export"), NULL;
}

void export_write_comment(FILE *out, const char *about) {
    fputs("<!--\n", out);
    for (const char *s = about; *s; s++)
        if (*s == '-' && s[1] == '-')
            fputs("\\u002d", out);
        else
            putc(*s, out);
    fputs("-->\n", out);
}

// --- box, shapes and boundaries -----------------------------------------------------------------------------------------

// Of one axis: the period and its middle, or as much on both sides of the origin as the view reaches.
static double place_axis(bool repeats, double lower, double upper, double view_lower, double view_upper, double *middle) {
    *middle = repeats ? 0.5 * (lower + upper) : 0;
    double reach = fmax(fabs(view_lower), fabs(view_upper));
    return repeats ? upper - lower : reach > 0 ? 2 * reach : 1;
}

static bool place(ExportDef *def, const SandWorld *w, SandVec3 low, SandVec3 high, SandError *error) {
    SandShape *shapes = NULL;
    size_t capacity = 0;
    def->box.x = place_axis(w->periodic[0], w->lower.x, w->upper.x, low.x, high.x, &def->middle.x);
    def->box.y = place_axis(w->periodic[1], w->lower.y, w->upper.y, low.y, high.y, &def->middle.y);
    def->box.z = place_axis(w->periodic[2], w->lower.z, w->upper.z, low.z, high.z, &def->middle.z);
    if (!SAND_GROW(shapes, capacity, w->shape_count + 1, "export", error)) return false;
    memcpy(shapes, w->shapes, (size_t)w->shape_count * sizeof *shapes);
    def->shapes = shapes;
    def->shape_count = w->shape_count;
    SandBoundary *boundaries = NULL;
    capacity = 0;
    if (!SAND_GROW(boundaries, capacity, w->boundary_count + 1, "export", error)) return export_describe_end(def), false;
    memcpy(boundaries, w->boundaries, (size_t)w->boundary_count * sizeof *boundaries);
    def->boundaries = boundaries;
    def->boundary_count = w->boundary_count;
    def->lower = low;
    def->upper = high;
    return true;
}

bool export_describe(ExportDef *def, SandSimulation *sim, const ExportOrigin *origin, SandError *error) {
    if (!place(def, sand_simulation_world(sim), origin->lower, origin->upper, error)) return false;
    def->about = about_text(sim, origin, error);
    if (!def->about) export_describe_end(def);
    return def->about != NULL;
}

void export_describe_end(ExportDef *def) {
    sand_free((void *)def->shapes);
    sand_free((void *)def->boundaries);
    free((void *)def->about);
    def->shapes = NULL;
    def->boundaries = NULL;
    def->about = NULL;
}
