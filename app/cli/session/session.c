// SPDX-License-Identifier: MIT
// From options to a simulation, and the steps, reports and signals that run, bench, freeze, race and record share.
#include "app/cli/session/session.h"
#include "app/io/export/describe.h"

#include "app/cli/session/ranks.h"
#include "app/engine/backends.h"
#include "app/engine/settled.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "sim/core/array.h"
#include "sim/core/suggestion.h"

static volatile sig_atomic_t interrupted;

static void on_signal(int signal) {
    (void)signal;
    interrupted = 1;
}

bool session_interrupted(void) { return interrupted; }

void session_watch(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void on_report(void *user, const char *sentence) { progress_say(user, sentence); }

// Splits a --set: copies the key, returns the value.
static const char *split_set(const char *set, char *key, size_t capacity) {
    const char *equals = strchr(set, '=');
    snprintf(key, capacity, "%.*s", (int)(equals - set), set);
    return equals + 1;
}

// Applies one --set: a parameter of the solver, which session_solve has already applied, or a knob of the scene.
static bool apply_set(Session *session, const char *set, SandError *error) {
    const SandSolver *solver = &sand_solver_table[session->def.solve.solver];
    SandScene *scene = &session->scene;
    char key[SAND_NAME];
    const char *value = split_set(set, key, sizeof key);
    if (session->has_shadow && !strncmp(key, "shadow.", 7)) return sand_solve_set(&session->shadow, key + 7, value, error);
    if (session->has_beside && !strncmp(key, "beside.", 7)) return sand_solve_set(&session->beside, key + 7, value, error);
    if (sand_param_find(solver, key) >= 0) return true;
    int knob = sand_scene_knob(scene, key);
    if (knob >= 0) {
        char *end;
        double number = strtod(value, &end);
        if (end == value || *end || !isfinite(number)) return sand_fail(error, "--set %s: expected a number", set);
        return sand_scene_set_knob(scene, knob, number, error);
    }

    SandSuggestion params = sand_suggestion(key), names = params; // of the solver; of the solver and the scene
    for (int i = 0; i < sand_param_count(solver); i++) {
        sand_suggestion_add(&params, solver->params[i].name);
        sand_suggestion_add(&names, solver->params[i].name);
    }
    SandSuggestion knobs = sand_suggestion(key);
    for (int i = 0; i < scene->knob_count; i++) {
        sand_suggestion_add(&knobs, scene->knobs[i].name);
        sand_suggestion_add(&names, scene->knobs[i].name);
    }
    if (sand_suggestion_nearest(&names)) return sand_fail(error, "--set %s: %s", set, sand_suggestion_text(&names));
    return sand_fail(error, "--set %s: the solver %s has %s; the scene %s has %s", set, solver->name,
                     *params.known ? params.known : "no parameters", scene->name, *knobs.known ? knobs.known : "no knobs");
}

bool session_tolerance(const Options *options, SandSolveDef *solve, SandError *error) {
    const OptionValue *tolerance = &options->values[OPTION_TOLERANCE], *accuracy = &options->values[OPTION_ACCURACY];
    bool relative = options->values[OPTION_RELATIVE].given;
    if (relative && !tolerance->given) return sand_fail(error, "--relative: it says what --tolerance X means; give both");
    if (accuracy->given && tolerance->given)
        return sand_fail(error, "--accuracy: a solve ends at an accuracy or at a --tolerance; give one of them");
    if (!accuracy->given && !tolerance->given) return true;
    solve->tolerance = tolerance->given ? tolerance->real : 0;
    solve->relative = relative;
    solve->accuracy = accuracy->given ? accuracy->real : 0;
    return true;
}

bool session_model(const Options *options, SandSolveDef *solve, SandError *error) {
    const OptionValue *values = options->values;
    if (values[OPTION_FRICTION].given) {
        int friction = sand_friction_find(values[OPTION_FRICTION].text);
        if (friction < 0) return sand_friction_refuse("--friction ", values[OPTION_FRICTION].text, error);
        solve->friction = (SandFriction)friction;
    }
    if (values[OPTION_BOUNDS].given) solve->bounds = (SandBounds)sand_bounds_find(values[OPTION_BOUNDS].text);
    if (values[OPTION_FACETS].given) solve->facets = (int)values[OPTION_FACETS].integer;
    return true;
}

bool session_solve(const Options *options, const SandScene *scene, SandSolveDef *solve, SandError *error) {
    const OptionValue *values = options->values;
    *solve = scene->solve;

    if (values[OPTION_SOLVER].given) {
        int solver = sand_solver_find(values[OPTION_SOLVER].text);
        if (solver < 0) return sand_solver_refuse("--solver ", values[OPTION_SOLVER].text, error);
        // The scene's own solver keeps the parameters of the scene.
        if (solver != solve->solver) sand_solve_choose(solve, solver);
    }
    if (values[OPTION_ISLANDS].given) solve->islands = (int)values[OPTION_ISLANDS].integer;
    if (!session_model(options, solve, error) || !sand_solve_check(solve, error)) return false;

    if (values[OPTION_ITERATIONS].given) {
        solve->iterations = (int)values[OPTION_ITERATIONS].integer;
        solve->budget_ms = 0;
    }
    if (values[OPTION_BUDGET_MS].given) {
        solve->iterations = SAND_ANY_ITERATIONS;
        solve->budget_ms = values[OPTION_BUDGET_MS].real;
    }
    if (!session_tolerance(options, solve, error)) return false;
    for (int i = 0; i < options->sets.count; i++) {
        char key[SAND_NAME];
        const char *value = split_set(options->sets.items[i], key, sizeof key);
        bool of_solver = sand_param_find(&sand_solver_table[solve->solver], key) >= 0;
        if (of_solver && !sand_solve_set(solve, key, value, error)) return false;
    }
    return true;
}

// The shadow solver has the budget and the friction of the first, so that the two can be compared.
static bool choose_shadow(Session *session, const Options *options, SandError *error) {
    const OptionValue *value = &options->values[OPTION_SHADOW];
    if (!value->given) return true;
    int solver = sand_solver_find(value->text);
    if (solver < 0) return sand_solver_refuse("--shadow ", value->text, error);
    session->has_shadow = true;
    session->shadow = session->def.solve;
    sand_solve_choose(&session->shadow, solver);
    return sand_solve_check(&session->shadow, error);
}

// The second run has the budget and the friction of the first, unless it is given its own.
static bool choose_beside(Session *session, const Options *options, SandError *error) {
    const OptionValue *solver = &options->values[OPTION_BESIDE], *budget = &options->values[OPTION_BESIDE_ITERATIONS],
                      *friction = &options->values[OPTION_BESIDE_FRICTION];
    session->has_beside = solver->given || budget->given || friction->given;
    session->beside = session->def.solve;
    if (solver->given) {
        int found = sand_solver_find(solver->text);
        if (found < 0) return sand_solver_refuse("--beside ", solver->text, error);
        if (found != session->beside.solver) sand_solve_choose(&session->beside, found);
    }
    if (budget->given) {
        session->beside.iterations = (int)budget->integer;
        session->beside.budget_ms = 0;
    }
    if (friction->given) {
        int found = sand_friction_find(friction->text);
        if (found < 0) return sand_friction_refuse("--beside-friction ", friction->text, error);
        session->beside.friction = (SandFriction)found;
    }
    return sand_solve_check(&session->beside, error);
}

static bool choose_gravity(Session *session, const Options *options, SandError *error) {
    const OptionValue *value = &options->values[OPTION_GRAVITY];
    if (!value->given) return true;
    SandVec3 *g = &session->gravity;
    char rest;
    session->has_gravity =
        sscanf(value->text, "%lf,%lf,%lf%c", &g->x, &g->y, &g->z, &rest) == 3 && isfinite(g->x + g->y + g->z);
    return session->has_gravity || sand_fail(error, "--gravity %.60s: expected X,Y,Z in m/s^2", value->text);
}

int session_threads(const Options *options) {
    int cores = omp_get_num_procs() / ranks_here();
    if (options->values[OPTION_THREADS].given) return (int)options->values[OPTION_THREADS].integer;
    return cores < 1 ? 1 : cores < SAND_MAX_THREADS ? cores : SAND_MAX_THREADS;
}

SandSceneOptions session_scene_options(const Options *options) {
    const OptionValue *values = options->values;
    return (SandSceneOptions){
        .bodies = (int)values[OPTION_BODIES].integer,
        .step = values[OPTION_STEP].real,
        .has_seed = values[OPTION_SEED].given,
        .seed = (uint64_t)values[OPTION_SEED].integer,
        .start = values[OPTION_START].given ? (SandStart)(SAND_START_LATTICE + values[OPTION_START].integer)
                                            : SAND_START_AS_SCENE,
        .probes = options->probes.items,
        .probe_count = options->probes.count,
    };
}

const char *session_name(const Options *options) { return options->subject ? options->subject : "hourglass"; }

static bool plan_scene(Session *session, const Options *options, SandError *error) {
    SandSceneOptions scene = session_scene_options(options);
    if (!sand_scene_open(&session->scene, session_name(options), &scene, error)) return false;
    if (!session_solve(options, &session->scene, &session->def.solve, error)) return false;
    if (!choose_gravity(session, options, error)) return false;
    session->def.precision = (SandPrecision)options->values[OPTION_PRECISION].integer;
    return true;
}

// A take fixes everything that affects the motion; options that would change it are refused.
static bool plan_take(Session *session, const Options *options, SandError *error) {
    static const struct {
        OptionId id;
        const char *name;
    } fixed[] = {{OPTION_SOLVER, "solver"},
                 {OPTION_FRICTION, "friction"},
                 {OPTION_BOUNDS, "bounds"},
                 {OPTION_FACETS, "facets"},
                 {OPTION_ITERATIONS, "iterations"},
                 {OPTION_BUDGET_MS, "budget-ms"},
                 {OPTION_TOLERANCE, "tolerance"},
                 {OPTION_RELATIVE, "relative"},
                 {OPTION_ACCURACY, "accuracy"},
                 {OPTION_ISLANDS, "islands"},
                 {OPTION_PRECISION, "precision"},
                 {OPTION_BODIES, "bodies"},
                 {OPTION_STEP, "step"},
                 {OPTION_SEED, "seed"},
                 {OPTION_START, "start"},
                 {OPTION_GRAVITY, "gravity"}};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (options->values[fixed[i].id].given)
            return sand_fail(error, "--%s: a take is replayed as it was; change it in %.200s", fixed[i].name,
                             options->subject);
    if (!take_load(&session->take, options->subject, error)) return false;
    session->has_take = true;
    if (session->take.backend != BACKEND_AUTO && options->values[OPTION_BACKEND].given)
        return sand_fail(error, "--backend: the take says `backend: %s`; change it in %.200s",
                         backend_names[session->take.backend], options->subject);
    if (!take_open_scene(&session->take, &session->scene, error)) return false;
    session->scene.options.probes = options->probes.items; // they do not change the motion
    session->scene.options.probe_count = options->probes.count;
    session->def.solve = session->take.has_solve ? session->take.solve : session->scene.solve;
    session->def.precision = session->take.precision;
    session->has_gravity = session->take.has_gravity;
    session->gravity = session->take.gravity;
    return true;
}

// Parameters of a second solver do not affect the motion of the first; any others would change the take.
static bool may_set(const Session *session, const char *set, SandError *error) {
    return !session->has_take || !strncmp(set, "shadow.", 7) || !strncmp(set, "beside.", 7) ||
           sand_fail(error, "--set %.100s: a take is replayed as it was; change it in its file", set);
}

static bool check_clock(const Session *session, const Options *options, SandError *error) {
    bool clock = session->def.solve.budget_ms > 0 || (session->has_take && take_depends_on_clock(&session->take));
    if (options->verb != VERB_RECORD || !clock || options->values[OPTION_NONDETERMINISTIC].given) return true;
    return sand_fail(error,
                     "a budget in milliseconds makes every film another; give --nondeterministic to record all the same");
}

Outcome session_plan(Session *session, const Options *options, SandError *error) {
    const OptionValue *values = options->values;
    *session = (Session){.def = sand_default_simulation()};
    bool is_take = take_is(session_name(options));
    if (!(is_take ? plan_take : plan_scene)(session, options, error)) return OUTCOME_WRONG;
    if (!choose_shadow(session, options, error) || !choose_beside(session, options, error)) return OUTCOME_WRONG;
    for (int i = 0; i < options->sets.count; i++)
        if (!may_set(session, options->sets.items[i], error) || !apply_set(session, options->sets.items[i], error))
            return OUTCOME_WRONG;
    if (!check_clock(session, options, error)) return OUTCOME_WRONG;
    session->def.threads = session_threads(options);
    session_watch();
    SandError why;
    session->backend = session->take.backend ? session->take.backend : (Backend)values[OPTION_BACKEND].integer;
    if (backends_choose(session->backend, &session->def.solve, session->def.precision, &session->def.backend, &why))
        return OUTCOME_DONE;
    return sand_fail(error, "%s %s: %s", session->has_take ? "the take's backend" : "--backend",
                     backend_names[session->backend], why.text),
           OUTCOME_WRONG;
}

// Creates the simulation. Where the backend was chosen automatically and fails, the CPU takes over, with a message.
static SandSimulation *start_simulation(Session *session, SandError *error) {
    SandSimulationDef cpu = session->def;
    cpu.backend = NULL;
    SandSimulation *sim = sand_simulation_create(&session->scene.world, &cpu, error);
    if (!sim || !session->def.backend || sand_simulation_move(sim, session->def.backend, error)) return sim;
    if (session->backend != BACKEND_AUTO) return sand_simulation_free(sim), NULL;
    fprintf(stderr, "sandglass: %s; the CPU goes on\n", error->text);
    session->def.backend = NULL;
    return sim;
}

static bool on_settling(void *user, double done) {
    Session *session = user;
    if (progress_due(&session->progress))
        progress_update(&session->progress, done, "the bodies settle; this is done once and kept");
    return !session_interrupted();
}

static void on_settled(void *user, const char *sentence) { progress_say(&((Session *)user)->progress, sentence); }

bool session_build(Session *session, SandError *error) {
    SettledDef settle = {.threads = session->def.threads, .tell = on_settling, .on_message = on_settled, .user = session};
    session->progress = progress_begin(session->scene.name);
    bool built = settled_build(&session->scene, &settle, error);
    progress_end(&session->progress);
    return built;
}

// With several ranks, each builds its block of the scene alone. Acts of a take and a checkpoint need all bodies on every
// rank.
static void share_bodies(Session *session, const Options *options) {
    const SandRanks *ranks = ranks_all();
    if (!ranks || session->has_take || options_resume(options)) return;
    session->scene.options.process = ranks->rank;
    session->scene.options.processes = ranks->count;
}

Outcome session_open(Session *session, const Options *options, const char *label, SandError *error) {
    const OptionValue *values = options->values;
    Outcome outcome = session_plan(session, options, error);
    if (outcome != OUTCOME_DONE) return outcome;
    if (!export_plan(&session->export, options, error)) return OUTCOME_WRONG;
    if (values[OPTION_LOG].given && !log_open(&session->log, values[OPTION_LOG].text, options_resume(options), error))
        return OUTCOME_WRONG;
    share_bodies(session, options);
    if (!session_build(session, error)) return session_interrupted() ? OUTCOME_FAILED : OUTCOME_WRONG;
    if (session->has_gravity) session->scene.world.gravity = session->gravity;
    session->gravity = session->scene.world.gravity;
    session->solve = session->def.solve;
    bool without_files = options->verb == VERB_BENCH || options->verb == VERB_SWEEP; // a sweep has them in its table
    if (options->probes.count && !values[OPTION_PROBES].given && !without_files)
        return sand_fail(error, "--probe: its samples are written to the folder of --probes; give both"), OUTCOME_WRONG;
    if (values[OPTION_PROBES].given && !probe_files_open(&session->probes, values[OPTION_PROBES].text,
                                                         options_resume(options), &session->scene.world, error))
        return OUTCOME_WRONG;
    session->sim = start_simulation(session, error);
    if (!session->sim) return OUTCOME_FAILED;
    session->progress = progress_begin(label);
    sand_simulation_on_message(session->sim, on_report, &session->progress);
    session->begin = progress_now();
    return OUTCOME_DONE;
}

double session_seconds(const Session *session, const Options *options) {
    if (options->values[OPTION_SECONDS].given) return options->values[OPTION_SECONDS].real;
    if (!session->has_take || !session->take.steps) return session->scene.seconds;
    return (double)session->take.steps * sand_simulation_world(session->sim)->step;
}

int64_t session_steps(const Session *session, const Options *options) {
    // Slightly less than the whole, so that rounding adds no step.
    return (int64_t)ceil(session_seconds(session, options) / sand_simulation_world(session->sim)->step * (1 - 1e-12));
}

bool session_save_take(const Session *session, const Options *options, const char *path, SandError *error) {
    Take take;
    if (!sand_simulation_fetch(session->sim, error)) return false;
    const SandWorld *world = sand_simulation_world(session->sim);
    const char *opened = session->has_take ? session->take.scene : session_name(options);
    take_begin(&take, opened, &session->scene, world->step, session->def.precision, &session->def.solve, session->gravity);
    take.backend = backends_bits(session->def.backend);
    take.steps = world->step_index;
    take.hash = sand_world_hash(world);
    take.has_hash = take.steps > 0;
    take.views = session->take.views;
    take.acts = (ActLog){.items = session->take.acts.items, .count = session->acts_done}; // borrowed
    return take_save(&take, path, error);
}

// A few words about the state, for the progress line.
static void describe(const Session *session, char *text, size_t size) {
    const SandWorld *world = sand_simulation_world(session->sim);
    const SandCounters *c = sand_simulation_counters(session->sim);
    double elapsed = progress_now() - session->begin;
    snprintf(text, size,
             "t %.2f s, %.2f x real time, %d bodies, %d contacts, residual %.1e, %.0f %% solved, penetration %.2g mm",
             world->time, elapsed > 0 ? world->time / elapsed : 0, c->bodies, c->contacts, c->metrics.residual, c->solved,
             1e3 * c->penetration_max);
}

// Opens the export before the first step, which also writes the state at the start.
static bool start_export(Session *session, SandError *error) {
    if (!session->export.path || session->exporter) return true;
    const SandWorld *world = sand_simulation_world(session->sim);
    export_join(&session->export, session->sim);
    if (!export_place(&session->export, &session->scene, session->sim, error)) return false;
    session->exporter = exporter_open(&session->export, on_report, &session->progress, error);
    return session->exporter && (world->step_index > 0 || exporter_step(session->exporter, session->sim, error));
}

bool session_step(Session *session, int64_t at, int64_t total, SandError *error) {
    SandError differs;
    if (session->has_take &&
        (!ranks_meet(session->sim, error) ||
         !acts_replay(&session->take.acts, &session->acts_done, &session->scene, session->sim, &session->solve, error)))
        return false;
    if (!start_export(session, error) || !sand_simulation_step(session->sim, error) ||
        !log_step(&session->log, session->sim, error) ||
        !probe_files_write(&session->probes, sand_simulation_world(session->sim), error) ||
        (session->exporter && !exporter_step(session->exporter, session->sim, error)))
        return false;
    session->def.backend = sand_simulation_backend(session->sim); // the device may have failed, and the CPU gone on
    if (session->has_take && sand_simulation_world(session->sim)->step_index == session->take.steps &&
        !sand_simulation_fetch(session->sim, error))
        return false;
    if (session->has_take && !take_check(&session->take, sand_simulation_world(session->sim), &differs))
        progress_say(&session->progress, differs.text);
    if (progress_due(&session->progress)) {
        char detail[200];
        describe(session, detail, sizeof detail);
        progress_update(&session->progress, (double)(at + 1) / (double)total, detail);
    }
    return true;
}

Outcome session_close(Session *session, Outcome outcome, SandError *error) {
    SandError closing;
    progress_end(&session->progress);
    bool logged = log_close(&session->log, &closing);
    bool probed = probe_files_close(&session->probes, logged ? &closing : NULL);
    if (!(logged && probed) && outcome == OUTCOME_DONE) {
        *error = closing;
        outcome = OUTCOME_FAILED;
    }
    if (!exporter_close(session->exporter, &closing) && outcome == OUTCOME_DONE) {
        *error = closing;
        outcome = OUTCOME_FAILED;
    }
    export_describe_end(&session->export);
    sand_simulation_free(session->sim);
    sand_scene_free(&session->scene);
    take_free(&session->take);
    session->sim = NULL;
    return outcome;
}

// The penetrations that the last step has reported.
static Penetration penetration_of_step(const SandCounters *c) {
    return (Penetration){.largest = c->penetration_max,
                         .p99 = NAN,
                         .all = NAN,
                         .bodies = NAN,
                         .boundaries = c->penetration_walls,
                         .contacts = c->contacts};
}

bool session_penetration(Session *session, Penetration *penetration, SandError *error) {
    if (sand_simulation_world(session->sim)->body_count > SESSION_MOST_SEARCHED) {
        *penetration = penetration_of_step(sand_simulation_counters(session->sim));
        return sand_simulation_fetch(session->sim, error);
    }
    *penetration = (Penetration){0};
    if (!sand_simulation_build(session->sim, error)) return false;
    const SandProblem *problem = sand_simulation_problem(session->sim);
    penetration->contacts = problem->contact_count - problem->joint_count;
    for (int i = 0; i < problem->contact_count; i++) {
        const SandContact *c = &problem->contacts[i]; // a block of a joint has no gap
        double *worst = c->b < problem->dynamic_count ? &penetration->bodies : &penetration->boundaries;
        if (-c->gap > *worst) *worst = -c->gap;
    }
    penetration->largest = fmax(penetration->bodies, penetration->boundaries);
    sand_simulation_measure(session->sim);
    penetration->p99 = sand_simulation_counters(session->sim)->penetration_p99;
    penetration->all = sand_simulation_counters(session->sim)->penetration_all;
    return true;
}

double session_memory_mb(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

// Writes the volume of the box as the squeeze has left it, and the pressure on it.
static void json_squeeze(Json *json, const SandWorld *world) {
    SandVec3 size = sand_world_period(world);
    json_number(json, "volume", size.x * size.y * size.z);
    json_number(json, "pressure", world->squeeze.now);
}

// Writes the traffic between ranks in the last solve.
static void write_traffic(const SandTraffic *traffic, int iterations, Json *json) {
    double per_iteration = iterations ? 1.0 / iterations : NAN;
    json_integer(json, "ranks", traffic->ranks);
    json_integer(json, "ghosts", traffic->ghosts);
    json_integer(json, "exchanges", traffic->exchanges);
    json_integer(json, "allgathers", traffic->allgathers);
    json_integer(json, "messages", traffic->messages);
    json_integer(json, "message_bytes", traffic->bytes);
    json_number(json, "messages_per_iteration", (double)traffic->messages * per_iteration);
    json_number(json, "message_bytes_per_iteration", (double)traffic->bytes * per_iteration);
}

void session_write(const Session *session, const Penetration *penetration, Json *json) {
    const SandWorld *world = sand_simulation_world(session->sim);
    const SandCounters *c = sand_simulation_counters(session->sim);
    const SandSolveDef *solve = &session->solve;
    char hash[20];
    snprintf(hash, sizeof hash, "%016" PRIx64, sand_world_hash(world));

    // What ran.
    json_text(json, "scene", session->scene.name);
    json_text(json, "backend", session->def.backend ? session->def.backend->name : "cpu");
    json_text(json, "device", sand_simulation_device_name(session->sim));
    json_text(json, "solver", sand_solver_table[solve->solver].name);
    json_text(json, "friction", sand_friction_table[solve->friction].name);
    json_text(json, "precision", session->def.precision == SAND_DOUBLE ? "double" : "float");
    json_integer(json, "threads", session->def.threads);
    json_number(json, "step", world->step);

    // How it stands.
    json_number(json, "time", world->time);
    json_integer(json, "bodies", c->bodies);
    json_integer(json, "contacts", c->contacts);
    json_integer(json, "joint_rows", c->joint_rows);
    json_integer(json, "iterations", c->iterations);
    json_text(json, "status", sand_status_text(c->status));
    json_number(json, "residual", c->metrics.residual);
    json_number(json, "residual_rms", c->metrics.residual_rms);
    json_number(json, "solved_percent", c->solved);
    json_number(json, "objective", c->metrics.objective);
    if (c->islands.count) {
        json_integer(json, "islands", c->islands.count);
        json_integer(json, "islands_solved", c->islands.solved);
        json_number(json, "islands_rms", c->islands.rms);
    }
    json_number(json, "penetration_max", penetration->largest);
    json_number(json, "penetration_p99", penetration->p99);
    json_number(json, "penetration_p99_all", penetration->all);
    json_number(json, "penetration_bodies_max", penetration->bodies);
    SandEnergy energy = sand_simulation_energy(session->sim);
    json_number(json, "kinetic_energy", energy.kinetic);
    json_number(json, "potential_energy", energy.potential);
    if (world->squeeze.rate > 0) json_squeeze(json, world);
    json_integer(json, "lost", c->lost_total);
    json_integer(json, "entered", c->entered_total);
    json_integer(json, "left", c->left_total);
    json_number(json, "left_mass", c->left_mass);
    json_integer(json, "infeasible_steps", c->infeasible_total);
    json_text(json, "hash", hash);

    // Memory: peak of the process, and arrays of the library now.
    double held = (double)sand_bytes_held();
    json_number(json, "memory_mb", session_memory_mb());
    json_number(json, "bytes_held", held);
    json_number(json, "bytes_per_body", c->bodies ? held / c->bodies : NAN);
    json_number(json, "bytes_per_contact", c->contacts ? held / c->contacts : NAN);

    const SandTraffic *traffic = &sand_simulation_profile(session->sim)->traffic;
    if (traffic->ranks) write_traffic(traffic, c->iterations, json);
}
