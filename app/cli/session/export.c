// SPDX-License-Identifier: MIT
// Options of --export turned into the definition of an export: what is written, by which ranks, and the box that formats
// with a box get.
#include "app/cli/session/export.h"
#include "app/cli/session/ranks.h"

#include <math.h>
#include <string.h>

#include "sim/core/array.h"

bool export_plan(ExportDef *def, const Options *options, SandError *error) {
    const OptionValue *values = options->values;
    const OptionValue *file = &values[options->verb == VERB_EXPORT ? OPTION_OUT : OPTION_EXPORT];
    *def = (ExportDef){.path = file->given ? file->text : NULL, .rate = values[OPTION_EXPORT_RATE].real};
    bool more = values[OPTION_EXPORT_COLUMNS].given || values[OPTION_EXPORT_CONTACTS].given;
    if (!def->path && more) return sand_fail(error, "--export-columns and --export-contacts need --export FILE");
    return !def->path || (exporter_knows(def->path, error) && export_choose(def->choice, values[OPTION_EXPORT_COLUMNS].text,
                                                                            values[OPTION_EXPORT_CONTACTS].given, error));
}

void export_join(ExportDef *def, const SandSimulation *sim) {
    def->ranks = sand_simulation_backend(sim)->read_block ? ranks_all() : NULL;
}

// Of one axis: the period and its middle, or as much on both sides of the origin as the view reaches.
static double place_axis(bool repeats, double lower, double upper, double view_lower, double view_upper, double *middle) {
    *middle = repeats ? 0.5 * (lower + upper) : 0;
    double reach = fmax(fabs(view_lower), fabs(view_upper));
    return repeats ? upper - lower : reach > 0 ? 2 * reach : 1;
}

bool export_place(ExportDef *def, const SandScene *scene, const SandWorld *w, SandError *error) {
    SandVec3 low = scene->view_lower, high = scene->view_upper;
    SandShape *shapes = NULL;
    size_t capacity = 0;
    def->box.x = place_axis(w->periodic[0], w->lower.x, w->upper.x, low.x, high.x, &def->middle.x);
    def->box.y = place_axis(w->periodic[1], w->lower.y, w->upper.y, low.y, high.y, &def->middle.y);
    def->box.z = place_axis(w->periodic[2], w->lower.z, w->upper.z, low.z, high.z, &def->middle.z);
    if (!SAND_GROW(shapes, capacity, w->shape_count + 1, "export", error)) return false;
    memcpy(shapes, w->shapes, (size_t)w->shape_count * sizeof *shapes);
    def->shapes = shapes;
    def->shape_count = w->shape_count;
    return true;
}
