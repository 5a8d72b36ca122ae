// SPDX-License-Identifier: MIT
// The tables of solvers and friction models as data, and how a setting is read from text.
#include "sim/solver/method_traits.h"
#include "sim/solver/registry.h"
#include "sim/core/suggestion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const SandFrictionRow sand_friction_table[SAND_FRICTION_COUNT] = {
    [SAND_FRICTIONLESS] = {"frictionless", "normal impulses alone, one row a contact", SAND_POINT, SAND_SET_CONE},
    [SAND_FRICTION_BOX] = {"box", "each tangential impulse within a bound of its own", SAND_SQUARE, SAND_SET_CYLINDER},
    [SAND_FRICTION_PYRAMID] = {"pyramid",
                               "each tangential impulse within mu times the normal one; a pyramid around the cone",
                               SAND_SQUARE, SAND_SET_CONE},
    [SAND_FRICTION_POLYHEDRAL] = {"polyhedral", "a cone of facets inside the circular one", SAND_POLYGON, SAND_SET_CONE},
    [SAND_FRICTION_PRISM] = {"prism", "a polygon of facets with a bound that does not follow the normal impulse",
                             SAND_POLYGON, SAND_SET_CYLINDER},
    [SAND_FRICTION_CONE] = {"cone",
                            "circular Coulomb cone, in the convex relaxation in which a sliding contact floats a little",
                            SAND_DISC, SAND_SET_CONE},
    [SAND_FRICTION_CYLINDER] = {"cylinder", "a disc with a bound that does not follow the normal impulse", SAND_DISC,
                                SAND_SET_CYLINDER},
    [SAND_FRICTION_COULOMB] = {"coulomb",
                               "Coulomb's law itself: the cone without the floating, by a fixed point around the solver",
                               SAND_DISC, SAND_SET_LAW},
};

const SandBoundsRow sand_bounds_table[SAND_BOUNDS_COUNT] = {
    [SAND_BOUNDS_PRESOLVE] = {"presolve", "from a solve without friction, then kept"},
    [SAND_BOUNDS_OUTSIDE] = {"outside", "renewed from the normal impulses now and then (Tresca's fixed point)"},
    [SAND_BOUNDS_INSIDE] = {"inside", "following the normal impulses in every iteration"},
};

static const char *const sand_gauss_seidel_orders[] = {"sequential", "symmetric", "colored", "uncoordinated", NULL};
static const char *const sand_ipm_systems[] = {"normal", "augmented", NULL};
static const char *const sand_amg_ways[] = {"projected", "rejected", NULL};
static const char *const sand_tron_preconditioners[] = {"cholesky", "none", NULL};

const SandSolver sand_solver_table[] = {
#define SAND_ROW(id, row_name, row_vectors, cuda, row_owns, row_needs, models, source, line, weak, ...) \
    {.name = row_name, \
     .paper = source, \
     .idea = line, \
     .weakness = weak, \
     .friction = models, \
     .on_cuda = cuda, \
     .vectors = row_vectors, \
     .owns = row_owns, \
     .needs = row_needs, \
     .params = {__VA_ARGS__}},
#define SAND_ASSEMBLED_ROW(id, row_name, models, source, line, weak, ...) \
    {.name = row_name, \
     .paper = source, \
     .idea = line, \
     .weakness = weak, \
     .friction = models, \
     .vectors = 1, \
     .assembled = true, \
     .params = {__VA_ARGS__}},
#define SAND_TAO_ROW SAND_ASSEMBLED_ROW
#include "sim/solver/solver_table.inl"
};
enum { KNOWN = sizeof sand_solver_table / sizeof *sand_solver_table };
const int sand_solver_known = KNOWN;
const int sand_solver_default = 0;

// --- methods of other libraries -----------------------------------------------------------------------------

static const SandAssembledMethod *registered[KNOWN];

void sand_solver_register(const char *name, const SandAssembledMethod *method) {
    for (int i = 0; i < KNOWN; i++)
        if (sand_solver_table[i].assembled && !strcmp(sand_solver_table[i].name, name)) registered[i] = method;
}

const SandAssembledMethod *sand_solver_assembled(int solver) { return registered[solver]; }

int sand_solver_count(void) {
    int count = 0;
    while (count < KNOWN && (!sand_solver_table[count].assembled || registered[count])) count++;
    return count;
}

int sand_solver_find(const char *name) {
    for (int i = 0; i < sand_solver_count(); i++)
        if (!strcmp(sand_solver_table[i].name, name)) return i;
    return -1;
}

bool sand_solver_absent(const char *name) {
    for (int i = sand_solver_count(); i < sand_solver_known; i++)
        if (!strcmp(sand_solver_table[i].name, name)) return true;
    return false;
}

bool sand_solver_refuse(const char *option, const char *name, SandError *error) {
    bool reference = sand_solver_assembled(sand_solver_count() - 1) != NULL; // the last that is available
    if (sand_solver_absent(name))
        return sand_fail(error, "%s%s: not in this build; %s", option, name,
                         reference ? SAND_PETSC_WANTED : SAND_REFERENCE_WANTED);
    SandSuggestion names = sand_suggestion(name);
    for (int i = 0; i < sand_solver_count(); i++) sand_suggestion_add(&names, sand_solver_table[i].name);
    return sand_fail(error, "%s%.60s: there is no such solver; %s", option, name, sand_suggestion_text(&names));
}

bool sand_solver_can(int solver, SandFriction friction) {
    return solver >= 0 && (sand_solver_table[solver].friction >> friction & 1);
}

int sand_friction_find(const char *name) {
    for (int i = 0; i < SAND_FRICTION_COUNT; i++)
        if (!strcmp(sand_friction_table[i].name, name)) return i;
    return -1;
}

bool sand_friction_refuse(const char *option, const char *name, SandError *error) {
    SandSuggestion names = sand_suggestion(name);
    for (int i = 0; i < SAND_FRICTION_COUNT; i++) sand_suggestion_add(&names, sand_friction_table[i].name);
    return sand_fail(error, "%s%.60s: there is no such friction model; %s", option, name, sand_suggestion_text(&names));
}

int sand_bounds_find(const char *name) {
    for (int i = 0; i < SAND_BOUNDS_COUNT; i++)
        if (!strcmp(sand_bounds_table[i].name, name)) return i;
    return -1;
}

int sand_param_count(const SandSolver *solver) {
    int n = 0;
    while (n < SAND_MAX_PARAMS && solver->params[n].name) n++;
    return n;
}

int sand_param_find(const SandSolver *solver, const char *name) {
    for (int i = 0; i < sand_param_count(solver); i++)
        if (!strcmp(solver->params[i].name, name)) return i;
    return -1;
}

SandSolveDef sand_default_solve(void) {
    SandSolveDef def = {.friction = SAND_FRICTION_CONE, .iterations = 50, .facets = 8, .presolve = 50, .renewal = 20};
    sand_solve_choose(&def, sand_solver_default);
    return def;
}

// A budget that is no budget would let a solve run on, or never start.
static bool check_budget(const SandSolveDef *def, SandError *error) {
    if (def->iterations < 0) return sand_fail(error, "iterations: expected at least 0, got %d", def->iterations);
    if (!(def->budget_ms >= 0)) return sand_fail(error, "budget_ms: expected at least 0, got %g", def->budget_ms);
    if (!(def->tolerance >= 0)) return sand_fail(error, "tolerance: expected at least 0, got %g", def->tolerance);
    if (def->presolve < 0) return sand_fail(error, "presolve: expected at least 0, got %d", def->presolve);
    if (def->renewal < 0) return sand_fail(error, "renewal: expected at least 0, got %d", def->renewal);
    return (def->accuracy >= 0 && def->accuracy <= SAND_MOST_ACCURACY) ||
           sand_fail(error, "accuracy: expected 0 to %g percent, got %g", SAND_MOST_ACCURACY, def->accuracy);
}

// The direct solve of an island knows circular cones.
static bool check_islands(const SandSolveDef *def, SandError *error) {
    const SandFrictionRow *model = &sand_friction_table[def->friction];
    if (def->islands < 0) return sand_fail(error, "islands: expected at least 0, got %d", def->islands);
    bool circular = model->set != SAND_SET_CYLINDER && (model->section == SAND_POINT || model->section == SAND_DISC);
    return !def->islands || circular ||
           sand_fail(error,
                     "islands are not solved directly with the friction model %s; with frictionless, cone and coulomb "
                     "they are",
                     model->name);
}

// Numbers that index tables. A method that this build is without is out of range as well.
static bool check_indices(const SandSolveDef *def, SandError *error) {
    if (def->solver < 0 || def->solver >= sand_solver_count())
        return sand_fail(error, "there is no solver %d; there are %d, from 0 on", def->solver, sand_solver_count());
    if ((int)def->friction < 0 || def->friction >= SAND_FRICTION_COUNT)
        return sand_fail(error, "there is no friction model %d", (int)def->friction);
    return ((int)def->bounds >= 0 && def->bounds < SAND_BOUNDS_COUNT) ||
           sand_fail(error, "there are no bounds of friction %d", (int)def->bounds);
}

// Parameters in the ranges of the table; a choice is a whole number.
static bool check_params(const SandSolveDef *def, SandError *error) {
    const SandSolver *solver = &sand_solver_table[def->solver];
    for (int k = 0; k < sand_param_count(solver); k++) {
        const SandParam *param = &solver->params[k];
        double value = def->params[k], most = param->most;
        if (param->kind == SAND_PARAM_CHOICE)
            for (most = -1; param->choices[(int)most + 1];) most++;
        double least = param->kind == SAND_PARAM_CHOICE ? 0 : param->least;
        bool whole = param->kind == SAND_PARAM_REAL || value == floor(value);
        if (!(value >= least && value <= most) || !whole)
            return sand_fail(error, "%s of %s: expected %s from %g to %g, got %g", param->name, solver->name,
                             param->kind == SAND_PARAM_REAL ? "a number" : "a whole number", least, most, value);
    }
    return true;
}

bool sand_solve_check(const SandSolveDef *def, SandError *error) {
    if (!check_indices(def, error) || !check_params(def, error)) return false;
    const SandSolver *solver = &sand_solver_table[def->solver];
    const SandFrictionRow *model = &sand_friction_table[def->friction];
    if (!sand_solver_can(def->solver, def->friction))
        return sand_fail(error, "the solver %s cannot do the friction model %s", solver->name, model->name);
    if (model->set == SAND_SET_CYLINDER && def->bounds == SAND_BOUNDS_INSIDE && !(solver->friction & SAND_ADAPTS))
        return sand_fail(error, "the solver %s cannot adapt the bounds of friction inside its iteration", solver->name);
    if (model->section == SAND_POLYGON && (def->facets < 4 || def->facets > SAND_MAX_FACETS || def->facets % 2))
        return sand_fail(error, "facets: expected an even number from 4 to %d, got %d", SAND_MAX_FACETS, def->facets);
    return check_islands(def, error) && check_budget(def, error);
}

bool sand_solve_check_rolling(const SandSolveDef *def, SandError *error) {
    const SandSolver *solver = &sand_solver_table[def->solver];
    if (def->friction == SAND_FRICTIONLESS) return true;
    if (!(solver->friction & SAND_ROLLS))
        return sand_fail(error, "%s cannot do rolling friction, which contacts of this problem have", solver->name);
    return def->friction == SAND_FRICTION_CONE || def->friction == SAND_FRICTION_COULOMB ||
           sand_fail(error, "the friction model %s has no rolling friction; cone and coulomb have",
                     sand_friction_table[def->friction].name);
}

bool sand_solve_check_ranks(const SandSolveDef *def, SandError *error) {
    const SandSolver *solver = &sand_solver_table[def->solver];
    if (solver->assembled)
        return sand_fail(error, "%s needs N as one matrix in one process, and cannot run on several ranks", solver->name);
    if (solver->needs & SAND_NEEDS_WHOLE)
        return sand_fail(error, "%s needs the whole problem in one process, and cannot run on several ranks", solver->name);
    if (def->islands > 0)
        return sand_fail(error, "islands are solved in one process, and not on several ranks; give islands of 0 contacts");
    if (solver->needs & SAND_NEEDS_COLORS && !sand_solve_needs_colors(def))
        return sand_fail(error,
                         "%s runs on several ranks only with order=colored: in this order contacts wait for each other",
                         solver->name);
    return true;
}

void sand_solve_choose(SandSolveDef *def, int solver) {
    def->solver = solver;
    memset(def->params, 0, sizeof def->params);
    for (int i = 0; i < sand_param_count(&sand_solver_table[solver]); i++)
        def->params[i] = sand_solver_table[solver].params[i].value;
}

double sand_solve_param(const SandSolveDef *def, const char *name) {
    int k = sand_param_find(&sand_solver_table[def->solver], name);
    if (k >= 0) return def->params[k];
    const SandSolver *other = &sand_solver_table[sand_solver_default];
    return other->params[sand_param_find(other, name)].value;
}

bool sand_solve_needs_colors(const SandSolveDef *def) {
    const SandSolver *solver = &sand_solver_table[def->solver];
    if (!(solver->needs & SAND_NEEDS_COLORS)) return false;
    int order = sand_param_find(solver, "order");
    return !strcmp(solver->params[order].choices[(int)def->params[order]], "colored");
}

bool sand_solve_needs_cells(const SandSolveDef *def, int64_t bodies) {
    const SandSolver *solver = &sand_solver_table[def->solver];
    if (!(solver->needs & SAND_NEEDS_CELLS)) return false;
    bool chosen = solver->needs & SAND_NEEDS_BLOCKS; // by the number of bodies
    return !chosen || (bodies >= SAND_CORRECTED_BODIES && sand_solve_param(def, "first") > 0);
}

// "a, b or c", for a sentence about a choice.
static void list_choices(const SandParam *param, char *text, size_t capacity) {
    size_t used = 0;
    for (int i = 0; param->choices[i] && used < capacity; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%s",
                                 i == 0                  ? ""
                                 : param->choices[i + 1] ? ", "
                                                         : " or ",
                                 param->choices[i]);
}

static bool refuse_param(const SandSolver *solver, const char *name, SandError *error) {
    SandSuggestion names = sand_suggestion(name);
    for (int i = 0; i < sand_param_count(solver); i++) sand_suggestion_add(&names, solver->params[i].name);
    return sand_fail(error, "%.60s: solver %s has no such parameter; %s", name, solver->name, sand_suggestion_text(&names));
}

bool sand_solve_set(SandSolveDef *def, const char *name, const char *value, SandError *error) {
    const SandSolver *solver = &sand_solver_table[def->solver];
    int k = sand_param_find(solver, name);
    if (k < 0) return refuse_param(solver, name, error);
    const SandParam *param = &solver->params[k];
    if (param->kind == SAND_PARAM_CHOICE) {
        for (int i = 0; param->choices[i]; i++)
            if (!strcmp(param->choices[i], value)) return def->params[k] = i, true;
        char choices[160];
        list_choices(param, choices, sizeof choices);
        SandSuggestion names = sand_suggestion(value);
        for (int i = 0; param->choices[i]; i++) sand_suggestion_add(&names, param->choices[i]);
        return sand_fail(error, "%s: expected %s, got '%s'%s", name, choices, value, sand_suggestion_hint(&names));
    }
    char *end;
    double v = strtod(value, &end);
    bool whole = param->kind != SAND_PARAM_INTEGER || v == floor(v);
    if (end == value || *end || !(v >= param->least && v <= param->most) || !whole)
        return sand_fail(error, "%s: expected %s from %g to %g, got '%s'", name,
                         param->kind == SAND_PARAM_INTEGER ? "a whole number" : "a number", param->least, param->most,
                         value);
    def->params[k] = v;
    return true;
}
