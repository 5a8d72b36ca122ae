// SPDX-License-Identifier: MIT
// Applying the keys `solver` and `friction` of a file to a solve def.
#include "sim/scene/solver_file.h"
#include "sim/core/suggestion.h"
#include "sim/scene/scene_builder.h"
#include "sim/scene/yaml_schema.h"
#include <stdio.h>

static const cyaml_schema_field_t setting_fields[] = {
    TEXT_NEEDED(SandSettingDef, name),
    TEXT_NEEDED(SandSettingDef, value),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t setting_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandSettingDef, setting_fields)};

const cyaml_schema_field_t sand_solver_fields[] = {
    TEXT(SandSolverDef, name),
    TEXT(SandSolverDef, bounds),
    WHOLE(SandSolverDef, facets),
    WHOLE(SandSolverDef, iterations),
    REAL(SandSolverDef, budget_ms),
    REAL(SandSolverDef, tolerance),
    FLAG(SandSolverDef, relative),
    REAL(SandSolverDef, accuracy),
    WHOLE(SandSolverDef, islands),
    LIST(SandSolverDef, set, setting_value, SAND_MAX_PARAMS),
    CYAML_FIELD_END,
};

// Joins parent and key, as in "acts[2].solver.name".
static const char *join(char *path, size_t capacity, const char *parent, const char *key) {
    snprintf(path, capacity, "%s%s%s", parent, *parent ? "." : "", key);
    return path;
}

static bool apply_friction(const SandYaml *yaml, const char *parent, const char *name, SandSolveDef *solve,
                           SandError *error) {
    int friction = sand_friction_find(name);
    char path[160];
    SandError reason;
    solve->friction = (SandFriction)friction;
    if (friction >= 0) return true;
    sand_friction_refuse("", name, &reason);
    return sand_yaml_wrong(yaml, error, join(path, sizeof path, parent, "friction"), "%s", reason.text);
}

static bool refuse_bounds(const SandYaml *yaml, const char *path, const char *name, SandError *error) {
    SandSuggestion names = sand_suggestion(name);
    for (int i = 0; i < SAND_BOUNDS_COUNT; i++) sand_suggestion_add(&names, sand_bounds_table[i].name);
    return sand_yaml_wrong(yaml, error, path, "unknown '%s'; %s", name, sand_suggestion_text(&names));
}

// Reads how friction bounds are found, and the number of facets of a polyhedral section.
static bool apply_section(const SandYaml *yaml, const char *within, const SandSolverDef *solver, SandSolveDef *solve,
                          SandError *error) {
    char path[160];
    if (solver->bounds) {
        int bounds = sand_bounds_find(solver->bounds);
        if (bounds < 0) return refuse_bounds(yaml, join(path, sizeof path, within, "bounds"), solver->bounds, error);
        solve->bounds = (SandBounds)bounds;
    }
    if (solver->facets) {
        if (*solver->facets < 4 || *solver->facets > SAND_MAX_FACETS || *solver->facets % 2)
            return sand_yaml_wrong(yaml, error, join(path, sizeof path, within, "facets"),
                                   "expected an even number from 4 to %d, got %u", SAND_MAX_FACETS, *solver->facets);
        solve->facets = (int)*solver->facets;
    }
    return true;
}

// Reads what ends a solve before its budget is used up: a tolerance or an accuracy. Each replaces both.
static bool apply_goal(const SandYaml *yaml, const char *within, const SandSolverDef *solver, SandSolveDef *solve,
                       SandError *error) {
    char path[160];
    double tolerance = solver->tolerance ? *solver->tolerance : 0, accuracy = solver->accuracy ? *solver->accuracy : 0;
    if (!sand_yaml_range(yaml, error, within, "tolerance", solver->tolerance, 0, 1e6)) return false;
    if (!sand_yaml_range(yaml, error, within, "accuracy", solver->accuracy, 0, SAND_MOST_ACCURACY)) return false;
    if (tolerance > 0 && accuracy > 0)
        return sand_yaml_wrong(yaml, error, join(path, sizeof path, within, "accuracy"),
                               "a solve ends at an accuracy or at a tolerance; give one of them");
    if (solver->tolerance || solver->accuracy) {
        solve->tolerance = tolerance;
        solve->accuracy = accuracy;
    }
    if (solver->tolerance || solver->accuracy || solver->relative) solve->relative = solver->relative && *solver->relative;
    return true;
}

static bool choose(const SandYaml *yaml, const char *parent, const char *name, SandSolveDef *solve, SandError *error) {
    int index = sand_solver_find(name);
    char path[160];
    SandError reason;
    if (index >= 0) return sand_solve_choose(solve, index), true;
    sand_solver_refuse("", name, &reason);
    return sand_yaml_wrong(yaml, error, join(path, sizeof path, parent, "name"), "%s", reason.text);
}

bool sand_solver_file_apply(const SandYaml *yaml, const char *parent, const SandSolverDef *solver, const char *friction,
                            SandSolveDef *solve, SandError *error) {
    char within[128], path[160], key[32];
    if (friction && !apply_friction(yaml, parent, friction, solve, error)) return false;
    if (!solver) return true;
    join(within, sizeof within, parent, "solver");
    if (solver->name && !choose(yaml, within, solver->name, solve, error)) return false;
    for (uint32_t i = 0; i < solver->set_count; i++) {
        SandError reason;
        snprintf(key, sizeof key, "set[%u]", i);
        if (!sand_solve_set(solve, solver->set[i].name, solver->set[i].value, &reason))
            return sand_yaml_wrong(yaml, error, join(path, sizeof path, within, key), "%s", reason.text);
    }
    if (!apply_section(yaml, within, solver, solve, error)) return false;
    if (!sand_yaml_range(yaml, error, within, "budget_ms", solver->budget_ms, 0, 1e6)) return false;
    if (!apply_goal(yaml, within, solver, solve, error)) return false;
    if (solver->iterations) {
        if (*solver->iterations < 1 || *solver->iterations > 1000000)
            return sand_yaml_wrong(yaml, error, join(path, sizeof path, within, "iterations"),
                                   "expected 1 to 1000000, got %u", *solver->iterations);
        solve->iterations = (int)*solver->iterations;
    }
    if (solver->islands) {
        if (*solver->islands > 1000000)
            return sand_yaml_wrong(yaml, error, join(path, sizeof path, within, "islands"), "expected 0 to 1000000, got %u",
                                   *solver->islands);
        solve->islands = (int)*solver->islands;
    }
    if (solver->budget_ms) solve->budget_ms = *solver->budget_ms;
    return true;
}
