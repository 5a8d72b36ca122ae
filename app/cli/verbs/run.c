// SPDX-License-Identifier: MIT
// `sandglass SCENE`: opens a window; without a display films; with --json, --log, --probes or a headless take only computes.
#include <math.h>

#include "app/cli/session/checkpoints.h"
#include "app/cli/commands.h"
#include "app/cli/options/picture_options.h"
#ifdef SAND_WINDOW
#include "app/engine/real_time_trial.h"
#include "app/io/free_path.h"
#include "app/render/context.h"
#include "app/render/renderer.h"
#include "sim/core/clock.h"
#include "app/ui/window.h"

#include <stdlib.h>
#include <unistd.h>
#endif

// Steps until the end or an interrupt, with a checkpoint now and then and at the end.
static bool take_steps(Session *session, Checkpoints *checkpoints, int64_t steps, Peak *peak, SandError *error) {
    const SandWorld *world = sand_simulation_world(session->sim);
    while ((int64_t)world->step_index < steps && !session_interrupted()) {
        if (!session_step(session, (int64_t)world->step_index, steps, error)) return false;
        const SandCounters *c = sand_simulation_counters(session->sim);
        peak->all = fmax(peak->all, c->penetration_max);
        peak->walls = fmax(peak->walls, c->penetration_walls);
        if (checkpoints_due(checkpoints, session)) checkpoints_write(checkpoints, session, peak);
    }
    checkpoints_write(checkpoints, session, peak);
    return true;
}

static bool report(Session *session, const Options *options, uint64_t first, const Peak *peak, SandError *error) {
    const SandWorld *world = sand_simulation_world(session->sim);
    const SandCounters *c = sand_simulation_counters(session->sim);
    double elapsed = progress_now() - session->begin;
    double factor = (double)(world->step_index - first) * world->step / elapsed;
    progress_end(&session->progress);
    fprintf(stderr,
            "%s: %.2f s simulated in %.1f s (%.2f x real time), %d bodies, %d contacts, largest penetration %.3g mm, "
            "%d lost%s\n",
            session->scene.name, world->time, elapsed, factor, c->bodies, c->contacts, 1e3 * peak->all, c->lost_total,
            session_interrupted() ? ", interrupted" : "");
    if (!options->values[OPTION_JSON].given) return true;

    Penetration penetration;
    if (!session_penetration(session, &penetration, error)) return false;
    Json json = json_make(stdout);
    json_open_object(&json, NULL);
    session_write(session, &penetration, &json);
    json_number(&json, "penetration_peak", peak->all);
    json_number(&json, "penetration_walls_peak", peak->walls);
    json_integer(&json, "steps", (int64_t)world->step_index);
    json_number(&json, "seconds", elapsed);
    json_number(&json, "real_time_factor", factor);
    json_bool(&json, "interrupted", session_interrupted());
    json_close_object(&json);
    return true;
}

#ifdef SAND_WINDOW
// Leaves one core to the window.
static void leave_a_core(Session *session, const Options *options) {
    if (!options->values[OPTION_THREADS].given && session->def.threads > 1) session->def.threads--;
}

// Reduces the scene to a size that this machine simulates in real time, where neither the options nor a take set its size.
// `sentence` says so; empty: nothing was changed.
static Outcome fit_scene(Session *session, Options *options, char *sentence, size_t size, SandError *error) {
    Measured m;
    sentence[0] = '\0';
    if (options->values[OPTION_BODIES].given || session->has_take) return OUTCOME_DONE;
    if (session->def.backend) return OUTCOME_DONE; // a GPU is fast enough for every scene
    SandSceneOptions scene = session_scene_options(options);
    if (!measure_scene(&m, session_name(options), &scene, &session->def, error)) return OUTCOME_FAILED;
    if (m.bodies == 0 || m.bodies == m.whole) return OUTCOME_DONE; // nothing to choose, or all of them
    snprintf(sentence, size, "%d of %d bodies, %s (%.1f ms a step); --bodies %d has all", m.bodies, m.whole,
             m.holds ? "which this machine holds in real time" : "slower than real time here", m.step_ms, m.whole);
    options->values[OPTION_BODIES] = (OptionValue){.given = true, .integer = m.bodies, .real = m.bodies};
    Outcome outcome = session_close(session, OUTCOME_DONE, error);
    if (outcome == OUTCOME_DONE) outcome = session_plan(session, options, error);
    leave_a_core(session, options); // the new plan has all of them again
    return outcome;
}

static bool solve_as_asked(const void *asked, const SandScene *scene, SandSolveDef *solve, SandError *error) {
    return session_solve(asked, scene, solve, error);
}

// A run that is opened in a window.
typedef struct Opening {
    Session session;
    Options options;
    WindowDef def;
    Outcome outcome;
    char sentence[SAND_SENTENCE]; // what the trial found
    char about[SAND_SENTENCE];    // of the scene
    StartChoice choice;           // on the start screen
    SandError why;                // it could not be opened
} Opening;

static bool interrupted(void *user) { return (void)user, session_interrupted(); }

// The trial, while the window shows that it goes on.
static bool fit(void *user, SandError *error) {
    Opening *o = user;
    o->outcome = fit_scene(&o->session, &o->options, o->sentence, sizeof o->sentence, error);
    if (o->outcome != OUTCOME_DONE) return false;
    o->def.engine.options = session_scene_options(&o->options);
    o->def.engine.simulation = o->session.def;
    if (o->sentence[0]) fprintf(stderr, "%s: %s\n", o->session.scene.name, o->sentence);
    return true;
}

static void define_engine(Opening *o) {
    Session *session = &o->session;
    EngineDef *def = &o->def.engine;
    def->opened = &session->scene;
    def->scene = session->has_take ? session->take.scene : session_name(&o->options);
    if (session->has_take) {
        def->take = &session->take;
        def->take_file = session_name(&o->options);
    } else {
        def->choose_solve = solve_as_asked;
        def->asked = &o->options;
    }
    def->options = session_scene_options(&o->options);
    def->simulation = session->def;
    def->own_solve = true;
    def->own_gravity = session->has_gravity;
    def->gravity = session->gravity;
    def->playing = !o->options.values[OPTION_PAUSED].given;
    if (session->has_beside) def->beside = &session->beside;
}

// What the options say of the window.
static bool define(Opening *o, SandError *error) {
    const Session *session = &o->session;
    const OptionValue *values = o->options.values;
    WindowDef *def = &o->def;
    *def = window_default();
    define_engine(o);
    if (session->has_shadow) def->shadow = &session->shadow;
    def->notice = o->sentence;
    snprintf(o->about, sizeof o->about, "%s", session->scene.about);
    def->subject = o->about;
    def->camera = values[OPTION_CAMERA].given ? values[OPTION_CAMERA].text : NULL;
    def->color = (RenderColor)values[OPTION_COLOR].integer;
    def->map = (ColorMap)values[OPTION_COLORMAP].integer;
    def->chains = values[OPTION_CHAINS].given;
    if (values[OPTION_QUALITY].given) def->quality = (int)values[OPTION_QUALITY].integer;
    if (values[OPTION_SIZE].given) {
        def->width = values[OPTION_SIZE].width;
        def->height = values[OPTION_SIZE].height;
    }
    def->ui_scale = values[OPTION_UI_SCALE].real;
    if (values[OPTION_SPEED].given) def->speed = values[OPTION_SPEED].real;
    if (values[OPTION_PANEL].given) def->panel = values[OPTION_PANEL].integer ? PANEL_OFF : PANEL_ON;
    def->follow = values[OPTION_FOLLOW].integer == 0;
    def->take = values[OPTION_TAKE].given ? values[OPTION_TAKE].text : NULL;
    def->turns = !session->has_take && !values[OPTION_PAUSED].given && !values[OPTION_TAKE].given;
    bool sized = values[OPTION_BODIES].given || session->has_take || session->def.backend;
    def->prepare = sized ? NULL : fit;
    def->should_close = interrupted;
    def->user = o;
    return picture_options(&o->options, &def->look, &def->limits, error) &&
           (!values[OPTION_OVERLAY].given || overlay_parse(&def->overlay, values[OPTION_OVERLAY].text, error));
}

// Opens what was chosen on the start screen in place of the default scene. What cannot be opened is said, and the default
// comes.
static bool choose(void *user, const StartChoice *choice, bool *leave, SandError *error) {
    Opening *o = user;
    o->choice = *choice;
    *leave = choice->kind == START_DEMO;
    if (choice->kind != START_SCENE) return true;
    const char *before = o->options.subject;
    session_close(&o->session, OUTCOME_DONE, error);
    o->options.subject = o->choice.name;
    o->outcome = session_plan(&o->session, &o->options, &o->why);
    if (o->outcome != OUTCOME_DONE) {
        o->options.subject = before;
        o->outcome = session_plan(&o->session, &o->options, error);
        fprintf(stderr, "sandglass: %s\n", o->why.text);
        snprintf(o->sentence, sizeof o->sentence, "%s", o->why.text);
    }
    leave_a_core(&o->session, &o->options);
    return o->outcome == OUTCOME_DONE && define(o, error);
}

static Outcome show(const Options *asked, SandError *error) {
    Opening o = {.options = *asked};
    double begin = sand_seconds();
    o.outcome = session_plan(&o.session, &o.options, error);
    leave_a_core(&o.session, &o.options);
    if (o.outcome == OUTCOME_DONE && !define(&o, error)) o.outcome = OUTCOME_WRONG;
    if (o.outcome == OUTCOME_DONE) {
        WindowReport report = {0};
        if (!asked->subject) o.def.choose = choose;
        bool ran = window_run(&o.def, &report, error);
        if (!ran && o.outcome == OUTCOME_DONE) o.outcome = OUTCOME_FAILED;
        if (ran)
            fprintf(
                stderr,
                "%lld frames in %.1f s, longest pause %.0f ms; first picture %.1f s after the start, bodies moved %.1f s "
                "after the start\n",
                (long long)report.frames, report.seconds, 1e3 * report.stall, report.first_picture - begin,
                report.first_motion > 0 ? report.first_motion - begin : 0);
    }
    Outcome outcome = session_close(&o.session, o.outcome, error);
    if (outcome != OUTCOME_DONE || o.choice.kind != START_DEMO) return outcome;
    Options demo;
    char *words[] = {"sandglass", "demo"};
    return options_parse(&demo, 2, words, error) ? demo_playlist(&demo, error) : OUTCOME_FAILED;
}

// Defaults of a film. The number of bodies is fixed, not measured, so that the film is the same on every machine that draws
// in the same way. With the software renderer the film is small: the full one takes four minutes on two cores, 120 frames of
// 640 x 360 with 1,500 bodies less than one.
typedef struct FilmSize {
    int bodies; // at most
    double seconds;
    int width, height;
    RendererQuality quality;
} FilmSize;
static const FilmSize full_film = {3000, 6, 960, 540, QUALITY_MEDIUM}, small_film = {1500, 4, 640, 360, QUALITY_LOW};
enum { FILM_FPS = 30 };

static bool processor_draws(void) {
    ContextDef off_screen = context_default();
    SandError error; // record_scene fails in the same way, and reports it
    Context *context = context_create(&off_screen, &error);
    bool software = context && context_is_software();
    context_free(context);
    return software;
}

static OptionValue integer_value(int64_t number) { return (OptionValue){.integer = number, .real = (double)number}; }

// Sets the options of `sandglass record` that the user has not given.
static void set_film(OptionValue *values, const FilmSize *size, bool has_length, int bodies) {
    if (!has_length) values[OPTION_SECONDS] = (OptionValue){.given = true, .real = size->seconds};
    if (!values[OPTION_BODIES].given) values[OPTION_BODIES] = integer_value(bodies > size->bodies ? size->bodies : 0);
    if (!values[OPTION_SIZE].given) values[OPTION_SIZE] = (OptionValue){.width = size->width, .height = size->height};
    if (!values[OPTION_QUALITY].given) values[OPTION_QUALITY] = integer_value(size->quality);
    values[OPTION_FPS] = (OptionValue){.real = FILM_FPS};
    values[OPTION_SAMPLES] = integer_value(1);
}

// Says how the film is smaller than with a GPU, and how to get the full one.
static void tell_small_film(const Options *asked, const OptionValue *values, bool has_length, int bodies) {
    bool fewer = values[OPTION_BODIES].integer > 0 && !values[OPTION_BODIES].given, sized = values[OPTION_SIZE].given;
    if (!fewer && has_length && sized) return;
    fprintf(stderr, "a processor draws here, so the film is a small one:");
    if (fewer) fprintf(stderr, " %lld of %d bodies,", (long long)values[OPTION_BODIES].integer, bodies);
    if (!has_length) fprintf(stderr, " %g s,", values[OPTION_SECONDS].real);
    fprintf(stderr, " %d x %d pixels\n", values[OPTION_SIZE].width, values[OPTION_SIZE].height);
    fprintf(stderr, "for the full one, in some minutes: sandglass %s", session_name(asked));
    if (fewer) fprintf(stderr, " --bodies %d", full_film.bodies < bodies ? full_film.bodies : bodies);
    if (!has_length) fprintf(stderr, " --seconds %g", full_film.seconds);
    if (!sized) fprintf(stderr, " --size %dx%d", full_film.width, full_film.height);
    if (!values[OPTION_QUALITY].given) fprintf(stderr, " --quality %s", renderer_quality_names[full_film.quality]);
    fprintf(stderr, "\n");
}

// Says what will be written, before it is.
static void tell_film(const Options *asked, const OptionValue *values) {
    fprintf(stderr, "%s: ", session_name(asked));
    if (asked->values[OPTION_HEADLESS].given)
        fprintf(stderr, "--headless names no output, so it films");
    else
        fprintf(stderr, "there is no display, so it films");
    if (values[OPTION_SECONDS].given) fprintf(stderr, " %g s", values[OPTION_SECONDS].real);
    fprintf(stderr, " into %s; --json, --log FILE.csv or --take FILE.take write figures or a take instead\n",
            values[OPTION_MP4].text);
}

// Films the scene where there is no window.
static Outcome film(const Options *options, SandError *error) {
    char folder[3500], path[sizeof folder + SAND_NAME + 20];
    if (!getcwd(folder, sizeof folder))
        snprintf(folder, sizeof folder, "."); // messages give the whole path where there is one
    Session session;
    Outcome outcome = session_plan(&session, options, error);
    int bodies = session.has_take ? 0 : session.scene.bodies;
    if (outcome == OUTCOME_DONE && !free_path(path, sizeof path, folder, session.scene.name, "mp4", error))
        outcome = OUTCOME_FAILED;
    bool has_length = options->values[OPTION_SECONDS].given || session.take.steps > 0;
    outcome = session_close(&session, outcome, error);
    if (outcome != OUTCOME_DONE) return outcome;

    Options record = *options;
    record.verb = VERB_RECORD;
    bool small = processor_draws();
    record.values[OPTION_MP4] = (OptionValue){.given = true, .text = path};
    set_film(record.values, small ? &small_film : &full_film, has_length, bodies);
    FilmDef def = {.width = record.values[OPTION_SIZE].width, .height = record.values[OPTION_SIZE].height};
    if (!film_options(&record, &def, error)) return OUTCOME_WRONG;
    tell_film(options, record.values);
    if (small) tell_small_film(options, record.values, has_length, bodies);
    return record_scene(&record, error);
}

static bool has_display(void) {
    const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (display && *display) || (wayland && *wayland);
}
#endif

// Goes on from a checkpoint where there is one, steps to the end and reports. `steps`: the length of the whole run.
static Outcome compute_steps(Session *session, Checkpoints *checkpoints, const Options *options, int64_t steps,
                             SandError *error) {
    const SandWorld *world = sand_simulation_world(session->sim);
    Peak peak = {0};
    if (!checkpoints_open(checkpoints, options, session, error)) return OUTCOME_WRONG;
    if (options_resume(options) && !checkpoints_resume(checkpoints, session, &peak, error)) return OUTCOME_WRONG;
    uint64_t first = world->step_index;
    if (first)
        fprintf(stderr, "%s: goes on from step %llu, t = %g s\n", session->scene.name, (unsigned long long)first,
                world->time);
    const OptionValue *take = &options->values[OPTION_TAKE];
    bool ran = take_steps(session, checkpoints, steps, &peak, error) && report(session, options, first, &peak, error) &&
               (!take->given || session_save_take(session, options, take->text, error));
    return ran ? OUTCOME_DONE : OUTCOME_FAILED;
}

Outcome compute_scene(const Options *options, SandError *error) {
    Session session;
    Checkpoints checkpoints = {0};
    Outcome outcome = session_open(&session, options, "run", error);
    if (outcome == OUTCOME_DONE) {
        double seconds = session_seconds(&session, options);
        const SandWorld *world = sand_simulation_world(session.sim);
        fprintf(stderr, "%s: %d bodies, %g s in steps of %g s, %s, %d threads\n", session.scene.name, world->body_count,
                seconds, world->step, sand_solver_table[session.def.solve.solver].name, session.def.threads);
        outcome = compute_steps(&session, &checkpoints, options, session_steps(&session, options), error);
    }
    checkpoints_close(&checkpoints);
    return session_close(&session, outcome, error);
}

Outcome run_scene(const Options *options, SandError *error) {
#ifdef SAND_WINDOW
    const OptionValue *values = options->values;
    // A report or a log means figures, not pictures; and a film saves no take.
    bool window = has_display() && !values[OPTION_HEADLESS].given;
    bool figures = values[OPTION_JSON].given || values[OPTION_LOG].given || values[OPTION_PROBES].given ||
                   values[OPTION_CHECKPOINT].given || values[OPTION_EXPORT].given ||
                   backends_several((Backend)values[OPTION_BACKEND].integer); // several processes have no window
    bool pictures = !figures && (window || !values[OPTION_TAKE].given);
    if (values[OPTION_SLOW].given && (window || !pictures))
        return sand_fail(error, "--slow is the speed of a film, and this run makes none; a window has --speed"),
               OUTCOME_WRONG;
    bool beside =
        values[OPTION_BESIDE].given || values[OPTION_BESIDE_ITERATIONS].given || values[OPTION_BESIDE_FRICTION].given;
    if (beside && !pictures)
        return sand_fail(error, "a run beside the first is to be seen, and this run makes no pictures; run it on its own"),
               OUTCOME_WRONG;
    RendererDef look;
    RenderRange limits;
    if (pictures && !picture_options(options, &look, &limits, error))
        return OUTCOME_WRONG; // before anything is said or settled
    if (pictures) return window ? show(options, error) : film(options, error);
#endif
    return compute_scene(options, error);
}
