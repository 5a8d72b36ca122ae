// SPDX-License-Identifier: MIT
// Running the solvers of a race in turn, choosing the reference that objectives are compared with, and saving the curves as
// CSV.
#include "sim/study/race.h"

#include "sim/core/array.h"
#include "sim/solver/status.h"
#include "sim/study/track.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

SandRaceDef sand_default_race(void) {
    SandRaceDef def = {.solve = sand_default_solve(), .threads = 1, .precision = SAND_DOUBLE};
    def.solve.iterations = 500;
    for (int i = 0; i < sand_solver_count() && i < SAND_RACE_MOST; i++) def.solvers[def.count++] = i;
    return def;
}

void sand_race_free(SandRace *race) {
    for (int i = 0; i < race->count; i++) sand_solution_free(&race->entries[i].solution);
    *race = (SandRace){0};
}

void sand_race_cancel(SandRace *race) { __atomic_store_n(&race->stop, 1, __ATOMIC_RELAXED); }
bool sand_race_canceled(const SandRace *race) { return __atomic_load_n(&race->stop, __ATOMIC_RELAXED) != 0; }
int sand_race_at(const SandRace *race) { return __atomic_load_n(&race->at, __ATOMIC_ACQUIRE); }
int sand_race_points(const SandRace *race, int racer, const SandCurvePoint **points) {
    const SandRaceEntry *entry = &race->entries[racer];
    int count = __atomic_load_n(&entry->live, __ATOMIC_ACQUIRE); // set after the curve is there
    *points = count > 0 ? entry->solution.curve : NULL;
    return count;
}

bool sand_race_parse(SandRaceDef *def, const char *list, SandError *error) {
    if (!strcmp(list, "all")) {
        SandRaceDef all = sand_default_race();
        memcpy(def->solvers, all.solvers, sizeof def->solvers);
        def->count = all.count;
        return true;
    }
    def->count = 0;
    for (const char *word = list; *word;) {
        size_t length = strcspn(word, ",");
        char name[SAND_NAME];
        snprintf(name, sizeof name, "%.*s", (int)length, word);
        int solver = sand_solver_find(name);
        if (solver < 0) return sand_solver_refuse("", name, error);
        if (def->count == SAND_RACE_MOST) return sand_fail(error, "more than %d solvers in a race", SAND_RACE_MOST);
        def->solvers[def->count++] = solver;
        word += length + (word[length] == ',');
    }
    return def->count > 0 || sand_fail(error, "a race needs a solver");
}

SandSolveDef sand_race_solve(const SandRaceDef *def, int solver) {
    SandSolveDef solve = def->solve;
    if (!def->own_params || solver != solve.solver) sand_solve_choose(&solve, solver);
    solve.islands = 0; // methods are compared, and not what is solved in place of them
    return solve;
}

// Whether only rounding is left of the residual; a tolerance may have ended the solve long before.
static bool is_exact(const SandSolution *s) { return s->metrics.residual <= SAND_ROUNDING * s->metrics.r_norm; }

// The least objective there is: an interior point method's where one can do the model and comes to an end, else the best
// of the race.
static void find_reference(SandRace *race, const SandProblem *problem, const SandRaceDef *def, SandCpu *cpu) {
    enum { MOST_CONTACTS = 20000 }; // beyond this its factors take too long for a yardstick
    SandError error;
    race->reference = NAN;
    race->exact = false;
    if (sand_friction_table[def->solve.friction].set == SAND_SET_LAW) return; // Coulomb's law minimizes nothing
    if (problem->matrix && problem->matrix->asymmetry > 0) return;            // nor does an N that is not symmetric
    int ipm = sand_solver_find("ipm-soc");
    if (!sand_solver_can(ipm, def->solve.friction)) ipm = sand_solver_find("ipm"); // for cones of facets
    const SandSolution *known = NULL;
    SandSolution own = {.stop = &race->stop};
    for (int i = 0; i < race->count; i++)
        if (race->entries[i].ran && race->entries[i].solver == ipm && is_exact(&race->entries[i].solution))
            known = &race->entries[i].solution;
    bool can = sand_solver_can(ipm, def->solve.friction);
    if (!known && can && problem->contact_count <= MOST_CONTACTS) {
        SandSolveDef solve = sand_race_solve(def, ipm);
        solve.iterations = 100;
        solve.tolerance = solve.accuracy = 0;
        solve.relative = false;
        solve.budget_ms = 0;
        if (sand_cpu_solve(cpu, problem, &solve, &own, &error)) known = &own;
    }
    race->reference = INFINITY;
    race->exact = known && is_exact(known);
    if (race->exact) {
        race->reference = known->metrics.objective;
    } else {
        for (int i = 0; i < race->count; i++)
            for (int k = 0; k < race->entries[i].solution.curve_count; k++)
                race->reference = fmin(race->reference, race->entries[i].solution.curve[k].objective);
    }
    sand_solution_free(&own);
}

bool sand_race_run(SandRace *race, const SandProblem *problem, const SandRaceDef *def, SandError *error) {
    SandTrack track;
    if (!sand_track_open(&track, def->backend, def->threads, def->precision, error)) return sand_track_close(&track), false;
    SandProblem start = *problem; // shares all but the start
    start.start = NULL;
    start.start_capacity = 0;
    bool ok =
        !def->cold || SAND_GROW(start.start, start.start_capacity, sand_problem_vectors(problem) + 1, "impulses", error);
    if (!def->cold) start.start = problem->start;
    race->count = ok ? def->count : 0;
    for (int i = 0; i < race->count; i++) {
        SandRaceEntry *entry = &race->entries[i];
        SandSolveDef solve = sand_race_solve(def, def->solvers[i]);
        SandError why;
        *entry = (SandRaceEntry){.solver = solve.solver,
                                 .device = sand_track_device(&track, problem, &solve),
                                 .solution = {.want_curve = true, .want_metrics = true, .stop = &race->stop}};
        SandSolution *s = &entry->solution;
        s->live = &entry->live;
        if (sand_race_canceled(race)) {
            snprintf(entry->refused, sizeof entry->refused, "canceled");
        } else if (!SAND_GROW(s->curve, s->curve_capacity, sand_curve_points(solve.iterations), "residual curve", &why)) {
            snprintf(entry->refused, sizeof entry->refused, "%.159s", why.text);
        } else {
            entry->ran = sand_track_solve(&track, &start, &solve, s, &why);
            if (!entry->ran) snprintf(entry->refused, sizeof entry->refused, "%.159s", why.text);
            if (entry->ran) __atomic_store_n(&entry->live, s->curve_count, __ATOMIC_RELEASE);
        }
        __atomic_store_n(&race->at, i + 1, __ATOMIC_RELEASE);
    }
    if (ok) find_reference(race, &start, def, track.cpu);
    if (def->cold) sand_free(start.start);
    sand_track_close(&track);
    return ok;
}

bool sand_race_save_csv(const SandRace *race, const char *path, SandError *error) {
    FILE *file = fopen(path, "w");
    if (!file) return sand_fail(error, "%.200s: cannot write: %s", path, strerror(errno));
    fprintf(file, "solver,device,iteration,seconds,residual (m/s),objective (J),above the least (J)\n");
    for (int i = 0; i < race->count; i++) {
        const SandSolution *s = &race->entries[i].solution;
        for (int k = 0; race->entries[i].ran && k < s->curve_count; k++) {
            const SandCurvePoint *p = &s->curve[k];
            fprintf(file, "%s,%s,%d,%.9g,%.17g,%.17g,", sand_solver_table[race->entries[i].solver].name,
                    race->entries[i].device, p->iteration, p->seconds, p->residual, p->objective);
            if (!isnan(race->reference)) fprintf(file, "%.17g", p->objective - race->reference);
            fputc('\n', file);
        }
    }
    bool bad = ferror(file);
    if (fclose(file) != 0 || bad) return sand_fail(error, "%.200s: cannot write: %s", path, strerror(errno));
    return true;
}
