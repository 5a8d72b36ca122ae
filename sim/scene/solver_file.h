// SPDX-License-Identifier: MIT
// The keys `solver` and `friction`, which scenes and takes share:
//     solver: {name, bounds, facets, iterations, budget_ms, tolerance, relative, accuracy, islands,
//              set: [{name, value}]}
#pragma once
#include "sandglass/solver.h"
#include "sim/scene/yaml_file.h"
#include <cyaml/cyaml.h>

typedef struct SandSettingDef {
    char *name, *value;
} SandSettingDef;

typedef struct SandSolverDef {
    char *name, *bounds;
    uint32_t *iterations, *facets, *islands;
    double *budget_ms, *tolerance, *accuracy;
    bool *relative;
    SandSettingDef *set;
    uint32_t set_count;
} SandSolverDef;

extern const cyaml_schema_field_t sand_solver_fields[];

// Changes in `solve` what the file names; `solver` and `friction` may be NULL. `parent` is the path of the mapping that
// holds the two keys, "" at the top.
bool sand_solver_file_apply(const SandYaml *yaml, const char *parent, const SandSolverDef *solver, const char *friction,
                            SandSolveDef *solve, SandError *error);
