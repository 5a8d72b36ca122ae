// SPDX-License-Identifier: MIT
// `sandglass race`: runs solvers in turn on one contact problem, of the next step of a scene or of a file, and compares
// them.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/engine/backends.h"
#include "app/engine/race_job.h"
#include "app/cli/commands.h"
#include "app/cli/verbs/race_folder.h"
#include "app/cli/verbs/solutions.h"
#ifdef SAND_WINDOW
#include "app/render/context.h"
#include "app/ui/race_plot.h"
#endif

// The scene runs with its own budget up to that time; the options set the budget of the race.
static Outcome build_scene(Session *session, const Options *options, SandRaceDef *def, SandError *error) {
    Options scene = *options;
    scene.values[OPTION_ITERATIONS].given = scene.values[OPTION_BUDGET_MS].given = false;
    scene.values[OPTION_TOLERANCE].given = scene.values[OPTION_RELATIVE].given = false;
    scene.values[OPTION_ACCURACY].given = false;
    Outcome outcome = session_open(session, &scene, "race", error);
    if (outcome != OUTCOME_DONE) return outcome;
    const SandWorld *world = sand_simulation_world(session->sim);
    int64_t steps = (int64_t)llround(options->values[OPTION_AT].real / world->step);
    for (int64_t i = 0; i < steps; i++) {
        if (session_interrupted()) return sand_fail(error, "interrupted at step %lld", (long long)i), OUTCOME_FAILED;
        if (!session_step(session, i, steps, error)) return OUTCOME_FAILED;
    }
    progress_end(&session->progress);
    SandSolveDef budget = def->solve;
    def->solve = session->def.solve; // the model, and the parameters of the scene's own solver
    def->solve.iterations = budget.iterations;
    def->solve.budget_ms = budget.budget_ms;
    def->solve.tolerance = budget.tolerance;
    def->solve.relative = budget.relative;
    def->solve.accuracy = budget.accuracy;
    def->own_params = true;
    def->backend = sand_simulation_backend(session->sim);
    return sand_simulation_build(session->sim, error) ? OUTCOME_DONE : OUTCOME_FAILED;
}

static bool read_budget(const Options *options, SandRaceDef *def, SandError *error) {
    const OptionValue *values = options->values;
    if (values[OPTION_ITERATIONS].given) def->solve.iterations = (int)values[OPTION_ITERATIONS].integer;
    if (values[OPTION_BUDGET_MS].given) {
        def->solve.iterations = SAND_ANY_ITERATIONS;
        def->solve.budget_ms = values[OPTION_BUDGET_MS].real;
    }
    if (!session_tolerance(options, &def->solve, error)) return false;
    if (values[OPTION_PRECISION].given) def->precision = (SandPrecision)values[OPTION_PRECISION].integer;
    def->cold = values[OPTION_COLD].given;
    def->threads = session_threads(options);
    return sand_race_parse(def, values[OPTION_SOLVERS].text, error);
}

// A stored matrix comes without a time step, and so without a fall that an accuracy is measured by.
static bool open_stored(SandProblem *problem, const char *path, const SandRaceDef *def, SandError *error) {
    if (!sand_problem_open(problem, path, error)) return false;
    return !(problem->matrix && def->solve.accuracy > 0) ||
           sand_fail(error, "--accuracy: %.300s has no time step to measure it by; give a --tolerance", path);
}

// A stored problem has no scene and no backend: the CPU, unless --backend names another.
static bool read_backend(const Options *options, SandRaceDef *def, SandError *error) {
    if (options->values[OPTION_BACKEND].integer != BACKEND_CUDA) return true;
    SandError why;
    SandPrecision precision = options->values[OPTION_PRECISION].given ? def->precision : SAND_FLOAT;
    return backends_choose(BACKEND_CUDA, &def->solve, precision, &def->backend, &why) ||
           sand_fail(error, "--backend cuda: %s", why.text);
}

// --solver names the solver whose parameters --set may change.
static bool read_params(const Options *options, SandRaceDef *def, SandError *error) {
    const OptionValue *name = &options->values[OPTION_SOLVER];
    if (options->sets.count && !name->given) return sand_fail(error, "--set on a stored problem needs --solver NAME");
    if (!name->given) return true;
    int solver = sand_solver_find(name->text);
    if (solver < 0) return sand_solver_refuse("--solver ", name->text, error);
    sand_solve_choose(&def->solve, solver);
    def->own_params = true;
    for (int i = 0; i < options->sets.count; i++) {
        const char *set = options->sets.items[i], *equals = strchr(set, '=');
        char key[SAND_NAME];
        snprintf(key, sizeof key, "%.*s", (int)(equals - set), set);
        if (!sand_solve_set(&def->solve, key, equals + 1, error)) return false;
    }
    return true;
}

// --- the result -------------------------------------------------------------------------------------------

static void write_json(const SandRace *race, const SandProblem *problem) {
    Json json = json_make(stdout);
    json_open_array(&json, NULL);
    for (int i = 0; i < race->count; i++) {
        const SandRaceEntry *entry = &race->entries[i];
        const SandSolution *s = &entry->solution;
        json_open_object(&json, NULL);
        json_text(&json, "name", sand_solver_table[entry->solver].name);
        json_text(&json, "device", entry->device);
        if (problem->note[0]) json_text(&json, "problem", problem->note);
        json_text(&json, "status", entry->ran ? sand_status_text(s->status) : "refused");
        if (!entry->ran) json_text(&json, "why", entry->refused);
        json_integer(&json, "iterations", s->iterations);
        json_number(&json, "seconds", s->seconds);
        json_number(&json, "objective", entry->ran ? s->metrics.objective : NAN);
        json_number(&json, "above", entry->ran ? s->metrics.objective - race->reference : NAN);
        json_number(&json, "residual", entry->ran ? s->metrics.residual : NAN);
        json_number(&json, "relative", entry->ran ? s->metrics.relative : NAN);
        json_number(&json, "complementarity", entry->ran ? s->metrics.complementarity : NAN);
        if (entry->ran && s->status == SAND_INFEASIBLE) json_number(&json, "least_energy", s->least_energy);
        json_open_array(&json, "curve");
        for (int k = 0; k < s->curve_count; k++) {
            json_open_object(&json, NULL);
            json_integer(&json, "iteration", s->curve[k].iteration);
            json_number(&json, "seconds", s->curve[k].seconds);
            json_number(&json, "residual", s->curve[k].residual);
            json_number(&json, "objective", s->curve[k].objective);
            json_close_object(&json);
        }
        json_close_array(&json);
        json_close_object(&json);
    }
    json_close_array(&json);
}

// What there is of an infeasible problem to check: the certificate that the solver found.
static void write_certificates(const SandRace *race) {
    for (int i = 0; i < race->count; i++) {
        const SandSolution *s = &race->entries[i].solution;
        if (!race->entries[i].ran || s->status != SAND_INFEASIBLE) continue;
        const char *name = sand_solver_table[race->entries[i].solver].name;
        printf("%s: infeasible: by the direction in which its impulses grow, a solution takes at least %.3g J\n", name,
               s->least_energy);
    }
}

static void write_table(const SandRace *race, const SandProblem *problem) {
    printf("%-14s %-7s %-15s %10s %10s %12s %12s %15s %12s\n", "solver", "device", "status", "iterations", "ms", "residual",
           "relative", "above the least", "largest g.u");
    for (int i = 0; i < race->count; i++) {
        const SandRaceEntry *entry = &race->entries[i];
        const SandSolution *s = &entry->solution;
        const char *name = sand_solver_table[entry->solver].name;
        if (!entry->ran) {
            printf("%-14s %-7s %s\n", name, entry->device, entry->refused);
            continue;
        }
        char above[32] = "-"; // Coulomb's law minimizes nothing
        if (!isnan(race->reference)) snprintf(above, sizeof above, "%.3g", s->metrics.objective - race->reference);
        printf("%-14s %-7s %-15s %10d %10.2f %12.3g %12.3g %15s %12.3g\n", name, entry->device, sand_status_text(s->status),
               s->iterations, 1e3 * s->seconds, s->metrics.residual, s->metrics.relative, above, s->metrics.complementarity);
    }
    write_certificates(race);
    if (!isnan(race->reference))
        printf("least objective %.12g J, %s\n", race->reference,
               race->exact ? "by an interior point method" : "the best of the race");
    if (problem->note[0]) printf("problem: %s\n", problem->note);
}

#ifdef SAND_WINDOW
static bool draw(RaceJob *job, const char *title, const char *path, SandError *error) {
    enum { WIDTH = 1600, HEIGHT = 1100 };
    ContextDef off_screen = context_default();
    Context *context = context_create(&off_screen, error);
    Interface *interface = context ? interface_create(NULL, error) : NULL;
    RacePlots plots = {0};
    RaceCurves *curves = calloc(1, sizeof *curves);
    bool drawn = interface && (curves || sand_fail(error, "out of memory for the curves of a race")) &&
                 race_job_copy(job, curves, error) && race_plots_make(&plots, curves, 0, error);
    if (drawn) {
        interface_begin(interface, WIDTH, HEIGHT, 1.4, 0.01);
        drawn = plot_save_sheet(plots.plots, plots.count, title, interface, path, WIDTH, HEIGHT, error);
        interface_end(interface, 0);
    }
    race_plots_free(&plots);
    if (curves) race_curves_free(curves);
    free(curves);
    interface_free(interface);
    context_free(context);
    return drawn;
}
#else
static bool draw(RaceJob *job, const char *title, const char *path, SandError *error) {
    (void)job, (void)title, (void)path;
    return sand_fail(error, "--plot: this build has no pictures; build with -DSAND_WINDOW=ON");
}
#endif

static bool report(RaceJob *job, const SandProblem *problem, const Options *options, SandError *error) {
    const OptionValue *values = options->values;
    const SandRace *race = &job->race;
    if (values[OPTION_JSON].given)
        write_json(race, problem);
    else
        write_table(race, problem);
    char title[256];
    const char *slash = strrchr(options->subject, '/');
    snprintf(title, sizeof title, "%.120s: %d contacts between %d bodies", slash ? slash + 1 : options->subject,
             problem->contact_count, problem->dynamic_count);
    return (!values[OPTION_CSV].given || sand_race_save_csv(race, values[OPTION_CSV].text, error)) &&
           solutions_save(options, race, problem, error) &&
           (!values[OPTION_PLOT].given || draw(job, title, values[OPTION_PLOT].text, error));
}

// Runs the race on its own thread, so that progress can be shown and Ctrl-C ends it with partial results.
static bool run(RaceJob *job, const SandProblem *problem, const SandRaceDef *def, SandError *error) {
    if (!race_job_start(job, problem, def, "", 0, error)) return false;
    Progress progress = progress_begin("race");
    while (race_job_running(job)) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        if (session_interrupted()) sand_race_cancel(&job->race);
        int at = sand_race_at(&job->race);
        const char *now = at < def->count ? sand_solver_table[def->solvers[at]].name : "the reference";
        if (progress_due(&progress)) progress_update(&progress, (double)at / (def->count + 1), now);
    }
    progress_end(&progress);
    if (job->failed) *error = job->error;
    return !job->failed;
}

// Whether a path ends as those of stored problems do; what is not there is then a missing file and no scene.
static bool is_named_as_stored(const char *path) {
    static const char *const endings[] = {".sand", ".hdf5", ".h5", ".dat"};
    size_t length = strlen(path);
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
        size_t end = strlen(endings[k]);
        if (length > end && !strcmp(path + length - end, endings[k])) return true;
    }
    return false;
}

// Why something without --at is nothing to race on: a path that cannot be read, or a scene.
static void refuse_subject(const char *subject, SandError *error) {
    bool is_path = strpbrk(subject, "./") != NULL;
    FILE *file = fopen(subject, "rb");
    if (is_path && !file)
        sand_fail(error, "%.300s: cannot read: %s", subject, strerror(errno));
    else
        sand_fail(error, "race %.300s: it is no stored problem, and a scene needs --at SECONDS", subject);
    if (file) fclose(file);
}

Outcome race_solvers(const Options *options, SandError *error) {
    SandRaceDef def = sand_default_race();
    RaceJob *job = calloc(1, sizeof *job);
    SandProblem stored = {0};
    Session session = {0};
    if (!job) return sand_fail(error, "out of memory for a race"), OUTCOME_FAILED;
    race_job_init(job);
    Outcome outcome = read_budget(options, &def, error) ? OUTCOME_DONE : OUTCOME_WRONG;
    bool from_file = sand_problem_is_stored(options->subject) || is_named_as_stored(options->subject);
    session_watch();
    if (outcome == OUTCOME_DONE && race_is_folder(options->subject)) {
        bool ready = session_model(options, &def.solve, error) && read_params(options, &def, error);
        outcome = ready ? race_folder(options, &def, error) : OUTCOME_WRONG;
        race_job_free(job);
        free(job);
        return outcome;
    }
    if (outcome == OUTCOME_DONE && from_file) {
        if (!open_stored(&stored, options->subject, &def, error) || !session_model(options, &def.solve, error) ||
            !read_backend(options, &def, error) || !read_params(options, &def, error))
            outcome = OUTCOME_WRONG;
    } else if (outcome == OUTCOME_DONE && !options->values[OPTION_AT].given) {
        refuse_subject(options->subject, error);
        outcome = OUTCOME_WRONG;
    } else if (outcome == OUTCOME_DONE) {
        outcome = build_scene(&session, options, &def, error);
    }
    if (outcome == OUTCOME_DONE) {
        const SandProblem *problem = from_file ? &stored : sand_simulation_problem(session.sim);
        fprintf(stderr, "%s: %d contacts between %d bodies, %d solvers\n", options->subject, problem->contact_count,
                problem->dynamic_count, def.count);
        if (!run(job, problem, &def, error) || !report(job, problem, options, error)) outcome = OUTCOME_FAILED;
    }
    race_job_free(job);
    free(job);
    sand_problem_free(&stored);
    return session_close(&session, outcome, error);
}
