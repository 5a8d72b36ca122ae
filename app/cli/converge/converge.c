// SPDX-License-Identifier: MIT
// `sandglass converge`: what a budget leaves unsolved, solver by solver. On frozen problems of some steps the share of the
// objective gap that is left (sim/study/gap_study.h), and in the running simulation what that does to the physics.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/cli/commands.h"
#include "app/cli/converge/converge_report.h"

static const char DEFAULT_SOLVERS[] = "p-spg-fb,apgd,gauss-seidel,jacobi";

static bool read_def(Convergence *c, const Options *options, SandError *error) {
    const OptionValue *values = options->values, *budgets = &values[OPTION_BUDGETS];
    SandGapStudyDef *def = &c->def;
    _Static_assert((int)OPTIONS_MAX_NUMBERS <= (int)SAND_GAP_BUDGETS, "every budget has a place");
    for (int i = 0; i < budgets->count; i++) def->budgets[i] = (int)budgets->numbers[i];
    def->budget_count = budgets->count;
    def->reference = (int)values[OPTION_REFERENCE].integer;
    def->race = sand_default_race();
    c->runs.seconds = values[OPTION_SECONDS].real;
    c->runs.from = values[OPTION_FROM].given ? values[OPTION_FROM].real : 0.5 * c->runs.seconds;
    c->runs.converged = (int)values[OPTION_CONVERGED].integer;
    const OptionValue *solvers = &values[OPTION_SOLVERS];
    return sand_race_parse(&def->race, solvers->given ? solvers->text : DEFAULT_SOLVERS, error);
}

static Outcome open_scene(Convergence *c, Session *session, const Options *options, SandError *error) {
    if (take_is(session_name(options)))
        return sand_fail(error, "converge %.200s: a take is replayed as it was; give its scene", options->subject),
               OUTCOME_WRONG;
    Outcome outcome = session_open(session, options, "converge", error);
    if (outcome != OUTCOME_DONE) return outcome;
    if (options->values[OPTION_AT].given && !sand_evaluator_check(&session->def.solve, error)) return OUTCOME_WRONG;
    SandRaceDef *race = &c->def.race;
    race->solve = session->def.solve; // the model, the tolerance of runs, and the parameters of the scene's own solver
    race->own_params = true;
    race->threads = session->def.threads;
    race->precision = session->def.precision;
    race->backend = sand_simulation_backend(session->sim);
    return OUTCOME_DONE;
}

// --- the frozen part ----------------------------------------------------------------------------------------------

static bool on_progress(void *user, double done, const char *next) {
    Session *session = user;
    if (progress_due(&session->progress)) progress_update(&session->progress, done, next);
    return !session_interrupted();
}

static bool run_to(Session *session, double time, SandError *error) {
    const SandWorld *world = sand_simulation_world(session->sim);
    int64_t steps = llround(time / world->step);
    session->progress = progress_begin("converge");
    for (int64_t i = (int64_t)world->step_index; i < steps; i++) {
        if (session_interrupted()) return sand_fail(error, "interrupted at step %lld", (long long)i);
        if (!session_step(session, i, steps, error)) return false;
    }
    progress_end(&session->progress);
    return sand_simulation_build(session->sim, error);
}

static bool study_moment(Convergence *c, Session *session, double time, SandError *error) {
    Moment *moment = &c->moments[c->moment_count];
    if (!run_to(session, time, error)) return false;
    const SandProblem *problem = sand_simulation_problem(session->sim);
    moment->time = sand_simulation_world(session->sim)->time;
    moment->contacts = problem->contact_count;
    moment->bodies = problem->dynamic_count;
    if (!moment->contacts) return sand_fail(error, "--at %g: there is no contact at this time", time);
    fprintf(stderr, "%s at %g s: %d contacts between %d bodies, %d solvers\n", session->scene.name, moment->time,
            moment->contacts, moment->bodies, c->def.race.count);
    session->progress = progress_begin("converge");
    bool ok = sand_gap_study_run(&moment->study, problem, &c->def, error);
    progress_end(&session->progress);
    c->moment_count++; // its study is freed in any case
    if (ok) converge_write_moment(c, moment, session->scene.name);
    return ok;
}

// --- the verb -----------------------------------------------------------------------------------------------------

static bool measure(Convergence *c, Session *session, const Options *options, SandError *error) {
    const OptionValue *at = &options->values[OPTION_AT];
    SandCheckpoint start = {0};
    bool runs = c->runs.seconds > 0, ok = !runs || sand_simulation_save_state(session->sim, &start, error);
    c->def.progress = on_progress;
    c->def.user = session;
    for (int m = 0; ok && m < at->count; m++) ok = study_moment(c, session, at->numbers[m], error);
    ok = ok && (!runs || runs_take(&c->runs, session, &c->def, &start, error));
    if (ok && runs) converge_write_runs(c);
    sand_checkpoint_free(&start);
    return ok;
}

static bool save(const Convergence *c, const Session *session, const Options *options, SandError *error) {
    const OptionValue *csv = &options->values[OPTION_CSV], *plot = &options->values[OPTION_PLOT];
    char title[160];
    snprintf(title, sizeof title, "%.100s, %d bodies", session->scene.name, sand_simulation_world(session->sim)->body_count);
    return (!csv->given || converge_save_csv(c, csv->text, error)) &&
           (!plot->given || converge_draw(c, title, plot->text, error));
}

Outcome converge_scene(const Options *options, SandError *error) {
    Session session = {0};
    Convergence *c = calloc(1, sizeof *c);
    if (!c) return sand_fail(error, "out of memory for the results"), OUTCOME_FAILED;
    Outcome outcome = read_def(c, options, error) ? open_scene(c, &session, options, error) : OUTCOME_WRONG;
    if (outcome == OUTCOME_DONE && (!measure(c, &session, options, error) || !save(c, &session, options, error)))
        outcome = OUTCOME_FAILED;
    for (int m = 0; m < c->moment_count; m++) sand_gap_study_free(&c->moments[m].study);
    free(c);
    return session_close(&session, outcome, error);
}
