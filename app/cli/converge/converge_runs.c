// SPDX-License-Identifier: MIT
// The runs of `converge --seconds`: each starts from the same checkpoint with its own solver and budget, and leaves the sums
// over its steps as a row.
#include "app/cli/converge/converge_runs.h"

#include <math.h>
#include <stdio.h>

// Sums over the steps of a run.
typedef struct Sums {
    int64_t steps, first_counted, first_late; // all; after which potential energy counts; from which kinetic energy does
    double potential, kinetic, residual, ms;
} Sums;

static void add_step(Sums *sums, int64_t at, const SandSimulation *sim) {
    SandEnergy energy = sand_simulation_energy(sim);
    if (at + 1 == sums->first_counted) sums->potential = energy.potential;
    if (at >= sums->first_late) sums->kinetic += energy.kinetic;
    sums->residual += sand_simulation_counters(sim)->metrics.residual_rms;
    sums->ms += sand_simulation_profile(sim)->step;
}

static bool take_steps(Session *session, Sums *sums, SandError *error) {
    sums->potential = sand_simulation_energy(session->sim).potential;
    for (int64_t i = 0; i < sums->steps; i++) {
        if (session_interrupted()) return sand_fail(error, "interrupted at step %lld of a run", (long long)i);
        if (!session_step(session, i, sums->steps, error)) return false;
        add_step(sums, i, session->sim);
    }
    return true;
}

// What there is to say at the end of a run.
static bool finish_row(RunRow *row, Session *session, const Sums *sums, SandError *error) {
    Penetration penetration;
    SandEnergy energy = sand_simulation_energy(session->sim);
    if (!session_penetration(session, &penetration, error)) return false;
    row->ran = true;
    row->kinetic = energy.kinetic;
    row->kinetic_mean = sums->kinetic / (double)(sums->steps - sums->first_late);
    row->potential_lost = sums->potential - energy.potential;
    row->overlap = penetration.bodies;
    row->overlap_boundaries = penetration.boundaries;
    row->residual = sums->residual / (double)sums->steps;
    row->step_ms = sums->ms / (double)sums->steps;
    return true;
}

// Brings the session to the start of a run. A solver that the backend lacks runs on the CPU, as in a race.
static bool begin_run(Session *session, const SandSolveDef *solve, const SandBackend *backend, const SandCheckpoint *start,
                      SandError *error) {
    bool there = backend && !backend->on_host && sand_solver_table[solve->solver].on_cuda;
    return sand_simulation_move(session->sim, there ? backend : NULL, error) &&
           sand_simulation_restore_state(session->sim, start, error) &&
           sand_simulation_set_solve(session->sim, solve, error);
}

static bool take_run(RunRow *row, const Runs *runs, Session *session, const SandSolveDef *solve, const SandBackend *backend,
                     const SandCheckpoint *start, SandError *error) {
    SandError why;
    *row = (RunRow){.solver = solve->solver, .budget = solve->iterations, .device = "cpu"};
    if (!sand_solve_check(solve, &why)) return snprintf(row->refused, sizeof row->refused, "%.159s", why.text), true;
    if (!begin_run(session, solve, backend, start, error)) return false;
    row->device = sand_simulation_backend(session->sim)->name;
    double step = sand_simulation_world(session->sim)->step;
    Sums sums = {.steps = llround(runs->seconds / step), .first_counted = llround(runs->from / step)};
    if (sums.steps < 1) sums.steps = 1;
    sums.first_late = sums.steps - (sums.steps + 3) / 4;
    fprintf(stderr, "run: %s, %d products a step\n", sand_solver_table[row->solver].name, row->budget);
    session->progress = progress_begin("converge");
    bool ok = take_steps(session, &sums, error) && finish_row(row, session, &sums, error);
    progress_end(&session->progress);
    return ok;
}

bool runs_take(Runs *runs, Session *session, const SandGapStudyDef *def, const SandCheckpoint *start, SandError *error) {
    const SandBackend *backend = def->race.backend;
    SandSolveDef solve = sand_race_solve(&def->race, sand_solver_find(SAND_GAP_REFERENCE));
    solve.iterations = runs->converged;
    solve.budget_ms = solve.tolerance = solve.accuracy = 0;
    runs->count = 0;
    if (!take_run(&runs->rows[runs->count++], runs, session, &solve, backend, start, error)) return false;
    for (int s = 0; s < def->race.count; s++)
        for (int b = 0; b < def->budget_count; b++) {
            solve = sand_race_solve(&def->race, def->race.solvers[s]);
            solve.iterations = def->budgets[b];
            solve.budget_ms = 0;
            if (!take_run(&runs->rows[runs->count++], runs, session, &solve, backend, start, error)) return false;
        }
    return true;
}
