// SPDX-License-Identifier: MIT
// Reading the axes of a sweep from --vary and --seeds, checking each value against the option or knob it is for, and setting
// the options of run number k.
#include "app/cli/sweep/sweep_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/options/option_table.h"
#include "sandglass/solver.h"
#include "sim/core/array.h"
#include "sim/core/suggestion.h"

// --- values -------------------------------------------------------------------------------------------------------

static bool is_number(const char *text) {
    char *end;
    double number = strtod(text, &end);
    return end != text && !*end && isfinite(number);
}

static bool add_value(SweepAxis *axis, const char *text, int length, SandError *error) {
    if (length == 0) return sand_fail(error, "--vary %s: one of its values is empty", axis->name);
    if (length >= SWEEP_VALUE) return sand_fail(error, "--vary %s: %.80s... is too long a value", axis->name, text);
    if (axis->count == SWEEP_MOST_RUNS) return sand_fail(error, "--vary %s: too many values", axis->name);
    if (!SAND_GROW(axis->values, axis->capacity, axis->count + 1, "the values of a sweep", error)) return false;
    char *value = axis->values[axis->count++];
    memcpy(value, text, (size_t)length);
    value[length] = '\0';
    axis->numeric = (axis->count == 1 || axis->numeric) && is_number(value);
    return true;
}

// Adds COUNT numbers from FROM to TO, both included; twelve digits, so that 0.1:0.9:9 has 0.3 and no 0.30000000000000004.
static bool add_range(SweepAxis *axis, double from, double to, double count, SandError *error) {
    if (!(count >= 2 && count <= SWEEP_MOST_RUNS && count == floor(count)) || !isfinite(from + to) || from == to)
        return sand_fail(error, "--vary %s: expected FROM:TO:COUNT with two different ends and a COUNT of 2 to %d",
                         axis->name, SWEEP_MOST_RUNS);
    for (int k = 0; k < (int)count; k++) {
        char text[SWEEP_VALUE];
        int length = snprintf(text, sizeof text, "%.12g", from + (to - from) * k / (count - 1));
        if (!add_value(axis, text, length, error)) return false;
    }
    return true;
}

// Whether the last value is none of those before it; else with a sentence.
static bool is_new(const SweepAxis *axis, SandError *error) {
    const char *value = axis->values[axis->count - 1];
    for (int k = 0; k + 1 < axis->count; k++)
        if (!strcmp(axis->values[k], value)) return sand_fail(error, "--vary %s: %s is there twice", axis->name, value);
    return true;
}

// Adds `a,b,c`, or `a;b;c` where a value has commas.
static bool add_list(SweepAxis *axis, const char *text, SandError *error) {
    const char *between = strchr(text, ';') ? ";" : ",";
    for (;; text++) {
        int length = (int)strcspn(text, between);
        if (!add_value(axis, text, length, error) || !is_new(axis, error)) return false;
        text += length;
        if (!*text) return true;
    }
}

// --- axes ---------------------------------------------------------------------------------------------------------

// An option that says what is computed, and is neither a flag nor a list: what run has too.
static int find_option(const char *name) {
    int id = option_find(name, strlen(name));
    unsigned both = 1u << VERB_RUN | 1u << VERB_SWEEP;
    bool fits = id >= 0 && (option_table[id].verbs & both) == both && option_table[id].kind != KIND_FLAG;
    return fits && id != OPTION_SET && id != OPTION_PROBE ? id : -1;
}

static SweepAxis *add_axis(SweepGrid *grid, const char *name, int length, SandError *error) {
    SweepAxis *axis = &grid->axes[grid->axis_count];
    if (length >= SAND_NAME) return sand_fail(error, "--vary %.80s...: there is no such name", name), NULL;
    *axis = (SweepAxis){.option = -1};
    memcpy(axis->name, name, (size_t)length);
    axis->option = find_option(axis->name);
    for (int k = 0; k < grid->axis_count; k++)
        if (!strcmp(grid->axes[k].name, axis->name))
            return sand_fail(error, "%s varies twice; --vary and --seeds name it once", axis->name), NULL;
    grid->axis_count++;
    return axis;
}

// Whether the sweep also gives it one fixed value.
static bool is_fixed(const SweepAxis *axis, const Options *options) {
    size_t length = strlen(axis->name);
    for (int i = 0; i < options->sets.count; i++)
        if (!strncmp(options->sets.items[i], axis->name, length) && options->sets.items[i][length] == '=') return true;
    return axis->option >= 0 && options->values[axis->option].given;
}

static bool check_values(const SweepAxis *axis, const Options *options, SandError *error) {
    if (is_fixed(axis, options)) return sand_fail(error, "%s varies and is also given one value; give one", axis->name);
    Options trial = *options;
    for (int k = 0; axis->option >= 0 && k < axis->count; k++)
        if (!options_set(&trial, (OptionId)axis->option, axis->values[k], error)) return false;
    return true;
}

static bool read_axis(SweepGrid *grid, const char *text, const Options *options, SandError *error) {
    int length = (int)strcspn(text, "=");
    const char *values = text + length + 1;
    SweepAxis *axis = add_axis(grid, text, length, error);
    double from, to, count;
    char rest;
    if (!axis) return false;
    bool range = sscanf(values, "%lf:%lf:%lf%c", &from, &to, &count, &rest) == 3;
    if (!(range ? add_range(axis, from, to, count, error) : add_list(axis, values, error))) return false;
    return check_values(axis, options, error);
}

static bool read_seeds(SweepGrid *grid, const Options *options, SandError *error) {
    if (!options->values[OPTION_SEEDS].given) return true;
    SweepAxis *axis = add_axis(grid, "seed", 4, error);
    if (!axis) return false;
    for (int k = 1; k <= (int)options->values[OPTION_SEEDS].integer; k++) {
        char text[SWEEP_VALUE];
        if (!add_value(axis, text, snprintf(text, sizeof text, "%d", k), error)) return false;
    }
    return check_values(axis, options, error);
}

bool sweep_grid_read(SweepGrid *grid, const Options *options, SandError *error) {
    *grid = (SweepGrid){.count = 1};
    for (int i = 0; i < options->varied.count; i++)
        if (!read_axis(grid, options->varied.items[i], options, error)) return false;
    if (!read_seeds(grid, options, error)) return false;
    for (int k = 0; k < grid->axis_count; k++) {
        if (grid->axes[k].count > SWEEP_MOST_RUNS / grid->count)
            return sand_fail(error, "the grid has more than %d runs", SWEEP_MOST_RUNS);
        grid->count *= grid->axes[k].count;
    }
    return true;
}

void sweep_grid_free(SweepGrid *grid) {
    for (int k = 0; k < SWEEP_MOST_AXES; k++) sand_free(grid->axes[k].values);
    *grid = (SweepGrid){0};
}

// --- what a name may be -------------------------------------------------------------------------------------------

static bool is_parameter(const char *name) {
    for (int s = 0; s < sand_solver_count(); s++)
        if (sand_param_find(&sand_solver_table[s], name) >= 0) return true;
    return false;
}

// Names the nearest knob or option, else the knobs.
static bool refuse_name(const char *name, const SandScene *scene, SandError *error) {
    SandSuggestion names = sand_suggestion(name), knobs = names;
    for (int i = 0; i < scene->knob_count; i++) {
        sand_suggestion_add(&names, scene->knobs[i].name);
        sand_suggestion_add(&knobs, scene->knobs[i].name);
    }
    for (int id = 0; id < OPTION_COUNT; id++)
        if (find_option(option_table[id].name) >= 0) sand_suggestion_add(&names, option_table[id].name);
    const char *nearest = sand_suggestion_nearest(&names);
    if (nearest) return sand_fail(error, "--vary %s: did you mean %s?", name, nearest);
    return sand_fail(error,
                     "--vary %s: neither an option of run, nor a parameter of a solver, nor a knob; the scene %s has %s",
                     name, scene->name, *knobs.known ? knobs.known : "no knobs");
}

bool sweep_grid_check(const SweepGrid *grid, const SandScene *scene, SandError *error) {
    for (int k = 0; k < grid->axis_count; k++) {
        const SweepAxis *axis = &grid->axes[k];
        if (axis->option < 0 && sand_scene_knob(scene, axis->name) < 0 && !is_parameter(axis->name))
            return refuse_name(axis->name, scene, error);
    }
    return true;
}

// --- runs ---------------------------------------------------------------------------------------------------------

int sweep_grid_index(const SweepGrid *grid, int run, int axis) {
    for (int k = grid->axis_count - 1; k > axis; k--) run /= grid->axes[k].count;
    return run % grid->axes[axis].count;
}

const char *sweep_grid_value(const SweepGrid *grid, int run, int axis) {
    return grid->axes[axis].values[sweep_grid_index(grid, run, axis)];
}

// Adds NAME=VALUE as --set would.
static bool add_set(SweepPoint *point, const char *name, const char *value, SandError *error) {
    OptionList *sets = &point->options.sets;
    if (sets->count == OPTIONS_MAX_LIST)
        return sand_fail(error, "--set and --vary name more than %d parameters and knobs", OPTIONS_MAX_LIST);
    snprintf(point->sets[sets->count], sizeof point->sets[0], "%s=%s", name, value);
    sets->items[sets->count] = point->sets[sets->count];
    sets->count++;
    return true;
}

bool sweep_grid_point(const SweepGrid *grid, int run, const Options *options, SweepPoint *point, SandError *error) {
    point->options = *options;
    for (int k = 0; k < grid->axis_count; k++) {
        const SweepAxis *axis = &grid->axes[k];
        const char *value = sweep_grid_value(grid, run, k);
        bool set = axis->option >= 0 ? options_set(&point->options, (OptionId)axis->option, value, error)
                                     : add_set(point, axis->name, value, error);
        if (!set) return false;
    }
    return options_check(&point->options, error);
}
