// SPDX-License-Identifier: MIT
// `sandglass freeze`: runs a scene to a time and saves the contact problem of the next step.
#include <math.h>
#include <stdlib.h>

#include "app/cli/commands.h"
#include "app/cli/verbs/solutions.h"
#include "sim/solver/reference/fclib.h"

static bool run_to(Session *session, int64_t steps, SandError *error) {
    for (int64_t i = 0; i < steps; i++) {
        if (session_interrupted()) return sand_fail(error, "interrupted at step %lld; nothing was written", (long long)i);
        if (!session_step(session, i, steps, error)) return false;
    }
    return true;
}

static bool save(const SandProblem *problem, const Options *options, SandError *error) {
    const char *path = options->values[OPTION_OUT].text;
    bool global = options->values[OPTION_GLOBAL].given;
    if (solutions_is_hdf5(path))
        return sand_fclib_save(problem, NULL, global ? SAND_FCLIB_GLOBAL : SAND_FCLIB_LOCAL, path, error);
    return sand_problem_save(problem, path, error);
}

// --solutions: runs the solvers on the frozen problem, each with the iterations of a race.
static bool solve(const Session *session, const SandProblem *problem, const Options *options, SandError *error) {
    if (!options->values[OPTION_SOLUTIONS].given) return true;
    SandRaceDef def = sand_default_race();
    SandRace *race = calloc(1, sizeof *race);
    int iterations = def.solve.iterations;
    def.solve = session->def.solve;
    def.solve.iterations = iterations;
    def.own_params = true;
    def.threads = session_threads(options);
    bool ok = (race || sand_fail(error, "out of memory for a race")) &&
              sand_race_parse(&def, options->values[OPTION_SOLVERS].text, error) &&
              sand_race_run(race, problem, &def, error) && solutions_save(options, race, problem, error);
    for (int i = 0; ok && i < race->count; i++)
        if (!race->entries[i].ran)
            fprintf(stderr, "no solution of %s: %s\n", sand_solver_table[race->entries[i].solver].name,
                    race->entries[i].refused);
    if (race) sand_race_free(race);
    free(race);
    return ok;
}

Outcome freeze_step(const Options *options, SandError *error) {
    const char *path = options->values[OPTION_OUT].text;
    Session session;
    Outcome outcome = session_open(&session, options, "freeze", error);
    if (outcome == OUTCOME_DONE) {
        const SandWorld *world = sand_simulation_world(session.sim);
        int64_t steps = (int64_t)llround(options->values[OPTION_AT].real / world->step);
        bool saved = run_to(&session, steps, error) && sand_simulation_build(session.sim, error) &&
                     save(sand_simulation_problem(session.sim), options, error) &&
                     solve(&session, sand_simulation_problem(session.sim), options, error);
        progress_end(&session.progress);
        if (!saved) outcome = OUTCOME_FAILED;
        if (saved) {
            const SandProblem *problem = sand_simulation_problem(session.sim);
            fprintf(stderr, "%s: %d contacts between %d bodies at %g s, saved to %s\n", session.scene.name,
                    problem->contact_count, problem->dynamic_count, world->time, path);
            if (options->values[OPTION_JSON].given) {
                Json json = json_make(stdout);
                json_open_object(&json, NULL);
                json_text(&json, "scene", session.scene.name);
                json_text(&json, "file", path);
                json_number(&json, "time", world->time);
                json_number(&json, "step", problem->step);
                json_integer(&json, "bodies", problem->dynamic_count);
                json_integer(&json, "boundaries", problem->body_count - problem->dynamic_count);
                json_integer(&json, "contacts", problem->contact_count);
                json_close_object(&json);
            }
        }
    }
    return session_close(&session, outcome, error);
}
