// SPDX-License-Identifier: MIT
// Options of --export turned into the definition of an export: what is written, by which ranks, and what it says of the run.
#include "app/cli/session/export.h"
#include "app/cli/session/ranks.h"
#include "app/io/export/describe.h"

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

bool export_place(ExportDef *def, const SandScene *scene, SandSimulation *sim, SandError *error) {
    ExportOrigin origin = {scene->name, true, scene->seed, scene->view_lower, scene->view_upper};
    return export_describe(def, sim, &origin, error);
}
