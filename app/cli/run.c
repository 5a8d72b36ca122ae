// A scene: in a window; as a short film where there is no display; or, with a log, a report or a headless take, as figures
// alone.
#include <math.h>

#include "app/cli/commands.h"
#ifdef SAND_WINDOW
#include "app/engine/real_time_trial.h"
#include "app/render/renderer.h"
#include "sim/core/clock.h"
#include "app/ui/window.h"

#include <stdlib.h>
#include <unistd.h>
#endif

// The largest penetrations of a run, m.
typedef struct Peak {
    double all, walls;
} Peak;

// Steps until the end or until interrupted; counts those taken.
static bool take_steps(Session *session, int64_t steps, int64_t *taken, Peak *peak, SandError *error) {
    for (*taken = 0; *taken < steps && !session_interrupted(); ++*taken) {
        if (!session_step(session, *taken, steps, error)) return false;
        const SandCounters *c = sand_simulation_counters(session->sim);
        peak->all = fmax(peak->all, c->penetration_max), peak->walls = fmax(peak->walls, c->penetration_walls);
    }
    return true;
}

static bool report(Session *session, const Options *options, int64_t taken, const Peak *peak, SandError *error) {
    const SandWorld *world = sand_simulation_world(session->sim);
    const SandCounters *c = sand_simulation_counters(session->sim);
    double elapsed = progress_now() - session->begin;
    double factor = (double)taken * world->step / elapsed;
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
    json_integer(&json, "steps", taken);
    json_number(&json, "seconds", elapsed);
    json_number(&json, "real_time_factor", factor);
    json_bool(&json, "interrupted", session_interrupted());
    json_close_object(&json);
    return true;
}

#ifdef SAND_WINDOW
// One core is left to the window.
static void leave_a_core(Session *session, const Options *options) {
    if (!options->values[OPTION_THREADS].given && session->def.threads > 1) session->def.threads--;
}

// Where neither the person nor a take says how large the scene is, and its own size would be too slow, one that holds real
// time. A sentence about it, or an empty one.
static Outcome fit_scene(Session *session, Options *options, char *sentence, size_t size, SandError *error) {
    Measured m;
    sentence[0] = '\0';
    if (options->values[OPTION_BODIES].given || session->has_take) return OUTCOME_DONE;
    if (session->def.backend) return OUTCOME_DONE; // a GPU is faster than the scenes ask for
    SandSceneOptions scene = session_scene_options(options);
    if (!measure_scene(&m, session_name(options), &scene, &session->def, error)) return OUTCOME_FAILED;
    if (m.bodies == m.whole) return OUTCOME_DONE;
    snprintf(sentence, size, "%d of %d bodies, %s (%.1f ms a step); --bodies %d has all", m.bodies, m.whole,
             m.holds ? "which this machine holds in real time" : "and even these are slower than real time here", m.step_ms,
             m.whole);
    options->values[OPTION_BODIES] = (OptionValue){.given = true, .integer = m.bodies, .real = m.bodies};
    Outcome outcome = session_close(session, OUTCOME_DONE, error);
    return outcome == OUTCOME_DONE ? session_plan(session, options, error) : outcome;
}

static bool solve_as_asked(const void *asked, const SandScene *scene, SandSolveDef *solve, SandError *error) {
    return session_solve(asked, scene, solve, error);
}

static bool interrupted(void *user) { return (void)user, session_interrupted(); }

static Outcome show(const Options *asked, SandError *error) {
    Session session;
    Options fitted = *asked, *options = &fitted;
    double begin = sand_seconds();
    char sentence[SAND_SENTENCE];
    Outcome outcome = session_plan(&session, options, error);
    leave_a_core(&session, options);
    if (outcome == OUTCOME_DONE) outcome = fit_scene(&session, options, sentence, sizeof sentence, error);
    leave_a_core(&session, options);
    if (outcome == OUTCOME_DONE) {
        const OptionValue *values = options->values;
        WindowDef def = window_default();
        def.engine.opened = &session.scene;
        def.engine.scene = session.has_take ? session.take.scene : session_name(options);
        if (session.has_take) def.engine.take = &session.take;
        def.engine.options = session_scene_options(options);
        def.engine.simulation = session.def;
        def.engine.own_solve = true;
        if (!session.has_take) def.engine.choose_solve = solve_as_asked, def.engine.asked = options;
        def.engine.playing = !values[OPTION_PAUSED].given;
        if (sentence[0]) fprintf(stderr, "%s: %s\n", session.scene.name, sentence);
        def.notice = sentence;
        def.camera = values[OPTION_CAMERA].given ? values[OPTION_CAMERA].text : NULL;
        def.color = (RenderColor)values[OPTION_COLOR].integer;
        def.map = (ColorMap)values[OPTION_COLORMAP].integer;
        def.chains = values[OPTION_CHAINS].given;
        if (values[OPTION_QUALITY].given) def.quality = (int)values[OPTION_QUALITY].integer;
        if (values[OPTION_SIZE].given) def.width = values[OPTION_SIZE].width, def.height = values[OPTION_SIZE].height;
        def.ui_scale = values[OPTION_UI_SCALE].real;
        if (values[OPTION_SPEED].given) def.speed = values[OPTION_SPEED].real;
        def.hidden = values[OPTION_PANEL].integer != 0;
        def.engine.own_gravity = session.has_gravity, def.engine.gravity = session.gravity;
        def.take = values[OPTION_TAKE].given ? values[OPTION_TAKE].text : NULL;
        if (session.has_shadow) def.shadow = &session.shadow;
        def.should_close = interrupted;
        if (values[OPTION_OVERLAY].given && !overlay_parse(&def.overlay, values[OPTION_OVERLAY].text, error))
            return session_close(&session, OUTCOME_WRONG, error);
        WindowReport report = {0};
        if (!window_run(&def, &report, error))
            outcome = OUTCOME_FAILED;
        else
            fprintf(stderr, "%lld frames in %.1f s, longest pause %.0f ms; bodies moved %.1f s after the start\n",
                    (long long)report.frames, report.seconds, 1e3 * report.stall,
                    report.flows > 0 ? report.flows - begin : 0);
    }
    return session_close(&session, outcome, error);
}

enum { FILM_BODIES = 3000 };

// Where there is no display, a short film shows the scene instead. Its name is the scene's, in the folder one is in.
static Outcome film(const Options *options, SandError *error) {
    char folder[3500], path[sizeof folder + SAND_NAME + 8];
    if (!getcwd(folder, sizeof folder)) snprintf(folder, sizeof folder, "."); // its path is told whole where it can be
    Session session;
    Outcome outcome = session_plan(&session, options, error);
    // A film is the same on every machine: a fixed number of bodies, few enough for any, where the scene has more.
    int film_bodies = !session.has_take && session.scene.bodies > FILM_BODIES ? FILM_BODIES : 0;
    if (outcome == OUTCOME_DONE) snprintf(path, sizeof path, "%s/%s.mp4", folder, session.scene.name);
    bool has_length = options->values[OPTION_SECONDS].given || session.take.steps > 0;
    outcome = session_close(&session, outcome, error);
    if (outcome != OUTCOME_DONE) return outcome;

    Options record = *options;
    record.verb = VERB_RECORD;
    OptionValue *values = record.values;
    values[OPTION_MP4] = (OptionValue){.given = true, .text = path};
    if (!has_length) values[OPTION_SECONDS] = (OptionValue){.given = true, .text = "6", .real = 6};
    if (!values[OPTION_BODIES].given) values[OPTION_BODIES].integer = film_bodies;
    values[OPTION_FPS] = (OptionValue){.text = "30", .real = 30};
    if (!values[OPTION_SIZE].given) values[OPTION_SIZE].width = 960, values[OPTION_SIZE].height = 540;
    values[OPTION_SAMPLES] = (OptionValue){.text = "1", .integer = 1};
    values[OPTION_QUALITY] = (OptionValue){.text = "medium", .integer = QUALITY_MEDIUM};
    fprintf(stderr, "there is no display: filming %s off-screen\n", path);
    return record_scene(&record, error);
}

static bool has_display(void) {
    const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (display && *display) || (wayland && *wayland);
}
#endif

Outcome run_scene(const Options *options, SandError *error) {
#ifdef SAND_WINDOW
    const OptionValue *values = options->values;
    // Who asks for a report or a log wants figures, not pictures; and a film does not make a take.
    bool window = has_display() && !values[OPTION_HEADLESS].given;
    if (!values[OPTION_JSON].given && !values[OPTION_LOG].given && (window || !values[OPTION_TAKE].given))
        return window ? show(options, error) : film(options, error);
#endif
    Session session;
    Outcome outcome = session_open(&session, options, "run", error);
    if (outcome == OUTCOME_DONE) {
        double seconds = session_seconds(&session, options);
        const SandWorld *world = sand_simulation_world(session.sim);
        fprintf(stderr, "%s: %d bodies, %g s in steps of %g s, %s, %d threads\n", session.scene.name, world->body_count,
                seconds, world->step, sand_solver_table[session.def.solve.solver].name, session.def.threads);
        // A little less than the whole, so that rounding does not add a step.
        int64_t steps = (int64_t)ceil(seconds / world->step * (1 - 1e-12));
        int64_t taken;
        Peak peak = {0};
        bool ran = take_steps(&session, steps, &taken, &peak, error) && report(&session, options, taken, &peak, error);
        const OptionValue *take = &options->values[OPTION_TAKE];
        if (ran && take->given) ran = session_save_take(&session, options, take->text, error);
        if (!ran) outcome = OUTCOME_FAILED;
    }
    return session_close(&session, outcome, error);
}
