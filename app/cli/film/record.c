// SPDX-License-Identifier: MIT
// `sandglass record`: films a scene in lock step with simulated time. Frame k shows the time k / fps / slow, however long it
// takes to compute. shoot_scene is the plan of it, shoot_frames the loop.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/commands.h"

#ifndef SAND_WINDOW

Outcome record_scene(const Options *options, SandError *error) {
    (void)options;
    return sand_fail(error,
                     "this build has no pictures; build with -DSAND_WINDOW=ON where GLFW, EGL, glad, stb and cglm are"),
           OUTCOME_FAILED;
}

#else

#include "app/ui/overlay.h"
#include "app/io/recorder.h"
#include "app/engine/beside.h"
#include "app/cli/film/resume.h"
#include "sim/core/array.h"
#include "app/cli/film/exposure.h"
#include "app/cli/film/composite.h"
#include "app/cli/options/picture_options.h"
#include "app/render/accumulator.h"

typedef struct Shoot {
    Session session;
    Offscreen offscreen;
    Exposure exposure;
    Accumulator *accumulator; // of the pictures of an exposure; NULL: a frame is one picture
    Beside beside;            // the second run
    Recorder *recorder;
    Interface *interface; // for overlays; NULL: none
    OverlayDef overlay;
    Camera camera, still;  // current, and the one without keys
    CameraPath path;       // empty: the camera is fixed
    bool follow;           // the camera moves with the body that the scene names
    double turn;           // s of film, of one turn around the scene; 0: none
    double slow;           // seconds of film per simulated second
    double rate;           // frames per simulated second
    uint64_t downloaded;   // bytes of bodies downloaded before the film began
    int64_t first, frames; // the first missing frame, and the total
    FilmDef film;
    RecorderDef def;
} Shoot;

// Reads the options that need no scene.
static bool plan(Shoot *shoot, const Options *options, SandError *error) {
    const OptionValue *values = options->values;
    if (!offscreen_plan(&shoot->offscreen, options, error)) return false;
    if (!exposure_plan(&shoot->exposure, options, error)) return false;
    int side;
    if (!samples_option(options, &side, error)) return false;
    if (values[OPTION_OVERLAY].given && !overlay_parse(&shoot->overlay, values[OPTION_OVERLAY].text, error)) return false;
    shoot->slow = values[OPTION_SLOW].real;
    shoot->rate = values[OPTION_FPS].real * shoot->slow;
    shoot->follow = values[OPTION_FOLLOW].integer == 0;
    shoot->turn = values[OPTION_TURNTABLE].given ? values[OPTION_TURNTABLE].real : 0;
    // The pictures of an exposure lie at different places within a pixel, which smooths it already.
    shoot->offscreen.look.samples = shoot->exposure.count > 1 && !values[OPTION_SAMPLES].given ? 1 : side;
    shoot->offscreen.look.transparent = values[OPTION_ALPHA].given;

    shoot->film = (FilmDef){.width = shoot->offscreen.width,
                            .height = shoot->offscreen.height,
                            .fps = values[OPTION_FPS].real,
                            .alpha = shoot->offscreen.look.transparent};
    if (!film_options(options, &shoot->film, error)) return false;
    bool films = shoot->film.path != NULL;
    if (values[OPTION_RESUME].given && (films || !values[OPTION_OUT].given))
        return sand_fail(error, "--resume goes on with the PNG frames of --out DIR; a film by ffmpeg is made in one go");
    if (!films && !values[OPTION_OUT].given)
        return sand_fail(error, "record needs --out DIR for PNG frames, or --mp4, --webm or --gif FILE");
    shoot->def = (RecorderDef){.folder = values[OPTION_OUT].given ? values[OPTION_OUT].text : NULL,
                               .film = films ? &shoot->film : NULL,
                               .width = shoot->offscreen.width,
                               .height = shoot->offscreen.height,
                               .alpha = shoot->offscreen.look.transparent,
                               .caption = values[OPTION_CAPTION].text};
    return true;
}

// Parses `SECONDS=VIEW`.
static bool read_key(Shoot *shoot, const char *text, SandError *error) {
    char *end;
    Camera camera;
    CameraKey key = {.time = strtod(text, &end)};
    if (end == text || *end != '=' || !(key.time >= 0 && key.time <= 1e9))
        return sand_fail(error, "--camera-key %.60s: expected SECONDS=VIEW", text);
    if (!offscreen_view(&shoot->offscreen, &camera, end + 1, error)) return false;
    key.view = camera_view(&camera, shoot->offscreen.render_scene.origin);
    return camera_path_add(&shoot->path, &key, error);
}

// Sets up the camera: keys, those of the take, or fixed.
static bool plan_camera(Shoot *shoot, const Options *options, SandError *error) {
    const OptionValue *view = &options->values[OPTION_CAMERA];
    for (int i = 0; i < options->camera_keys.count; i++)
        if (!read_key(shoot, options->camera_keys.items[i], error)) return false;
    if (shoot->path.count && view->given)
        return sand_fail(error, "--camera and --camera-key are two cameras; give one of them");
    if (!shoot->path.count && !view->given) shoot->path = shoot->session.take.views;
    return offscreen_view(&shoot->offscreen, &shoot->still, view->text, error);
}

// Moves the camera with the body that the scene names, to where that is at `time`, up to a step before the state.
static bool follow_body(Shoot *shoot, double time, SandError *error) {
    const SandScene *scene = &shoot->session.scene;
    const SandWorld *world = sand_simulation_world(shoot->session.sim);
    SandBodyState body;
    if (!shoot->follow || scene->follow < 0 || shoot->path.count) return true;
    if (!sand_simulation_read_body(shoot->session.sim, scene->follow, &body, error)) return false;
    SandVec3 at = v3_madd(body.position, time - world->time, body.velocity);
    shoot->offscreen.render_scene.followed = v3_sub(at, scene->follow_from);
    camera_shift(&shoot->camera, shoot->offscreen.render_scene.followed);
    return true;
}

static bool aim(Shoot *shoot, double time, SandError *error) {
    const RenderScene *scene = &shoot->offscreen.render_scene;
    shoot->camera = shoot->still;
    if (shoot->path.count) {
        CameraView view = camera_path_at(&shoot->path, time);
        camera_set(&shoot->camera, &view, scene->origin, scene->lower, scene->upper);
    }
    SandVec3 middle = v3_scale(0.5, v3_add(scene->lower, scene->upper));
    if (shoot->turn > 0)
        camera_turn(&shoot->camera, middle, 2 * 3.14159265358979323846 * fmod(time * shoot->slow / shoot->turn, 1));
    return follow_body(shoot, time, error);
}

static OverlayRun figures(SandSimulation *sim, const SandSolveDef *solve) {
    const SandCounters *counters = sand_simulation_counters(sim);
    SandEnergy energy = sand_simulation_energy(sim);
    bool solved = sand_simulation_world(sim)->step_index > 0;
    return (OverlayRun){.solve = solve,
                        .residual = solved ? counters->metrics.residual : NAN,
                        .overlap = solved ? counters->penetration_max : NAN,
                        .energy = energy.kinetic + energy.potential};
}

static void draw_overlays(Shoot *shoot, double time) {
    if (!shoot->interface) return;
    const SandSolution *solution = sand_simulation_solution(shoot->session.sim);
    OverlayView view = {.render_scene = &shoot->offscreen.render_scene,
                        .counters = sand_simulation_counters(shoot->session.sim),
                        .solver = sand_solver_table[shoot->session.solve.solver].name,
                        .curve = solution->curve,
                        .curve_count = solution->curve_count,
                        .time = time,
                        .below = shoot->def.caption ? caption_margin(shoot->offscreen.height) : 0};
    if (shoot->beside.sim) {
        view.runs[0] = figures(shoot->session.sim, &shoot->session.solve);
        view.runs[1] = figures(shoot->beside.sim, &shoot->beside.timeline.solve);
        view.area = offscreen_area(&shoot->offscreen);
    }
    overlay_film(&shoot->overlay, &view, shoot->interface, shoot->offscreen.width, shoot->offscreen.height,
                 split_overdraw(shoot->offscreen.split, shoot->offscreen.renderer));
}

static void on_report(void *user, const char *sentence) {
    char text[SAND_SENTENCE];
    snprintf(text, sizeof text, "beside: %.240s", sentence);
    progress_say(user, text);
}

static bool start_beside(Shoot *shoot, SandError *error) {
    Session *session = &shoot->session;
    if (!session->has_beside) return true;
    BesideDef def = {.scene = &session->scene,
                     .first = session->sim,
                     .log = &session->take.acts,
                     .simulation = session->def,
                     .tell = on_report,
                     .user = &session->progress};
    def.simulation.solve = session->beside;
    if (!beside_start(&shoot->beside, &def, error)) return false;
    shoot->offscreen.beside = shoot->beside.sim;
    return true;
}

// One step of the scene, and of the second run.
static bool step(Shoot *shoot, int64_t steps, SandError *error) {
    Session *session = &shoot->session;
    Beside *beside = &shoot->beside;
    int64_t at = (int64_t)sand_simulation_world(session->sim)->step_index;
    return (!beside->sim || beside_replay(beside, &session->scene, session->sim, error)) &&
           session_step(session, at, steps, error) &&
           (!beside->sim || beside_follow(beside, &session->scene, session->sim, error));
}

// Steps until the state is at `time` or up to one step after it.
static bool step_to(Shoot *shoot, double time, int64_t steps, SandError *error) {
    const SandWorld *world = sand_simulation_world(shoot->session.sim);
    while (world->time < time - 1e-9 * world->step && !session_interrupted())
        if (!step(shoot, steps, error)) return false;
    return true;
}

// Draws the frame at `time`: the mean of the pictures of its exposure, or a single one.
static bool expose(Shoot *shoot, double time, int64_t steps, SandError *error) {
    Offscreen *offscreen = &shoot->offscreen;
    const Exposure *exposure = &shoot->exposure;
    if (shoot->accumulator) accumulator_clear(shoot->accumulator);
    for (int k = 0; k < exposure->count; k++) {
        double now = exposure_time(exposure, k, time, shoot->rate);
        if (!step_to(shoot, now, steps, error)) return false;
        if (session_interrupted()) return true;
        if (!aim(shoot, now, error) ||
            !exposure_place(exposure, k, offscreen->render_scene.origin, offscreen->height, &shoot->camera, error) ||
            !offscreen_draw(offscreen, shoot->session.sim, now, &shoot->camera, error))
            return false;
        if (shoot->accumulator) accumulator_add(shoot->accumulator, split_texture(offscreen->split, offscreen->renderer));
    }
    if (shoot->accumulator) accumulator_finish(shoot->accumulator, split_overdraw(offscreen->split, offscreen->renderer));
    return true;
}

static bool shoot_frames(Shoot *shoot, int64_t *taken, SandError *error) {
    const SandWorld *world = sand_simulation_world(shoot->session.sim);
    int64_t steps = (int64_t)ceil((double)shoot->frames / shoot->rate / world->step) + 1;
    bool told = false;
    for (*taken = 0; shoot->first + *taken < shoot->frames; ++*taken) {
        double time = (double)(shoot->first + *taken) / shoot->rate;
        if (!expose(shoot, time, steps, error)) return false;
        if (session_interrupted()) return true;
        draw_overlays(shoot, time);
        if (!recorder_add(shoot->recorder, offscreen_framebuffer(&shoot->offscreen), error)) return false;
        if (!told && *recorder_complaint(shoot->recorder)) {
            progress_say(&shoot->session.progress, recorder_complaint(shoot->recorder));
            progress_say(&shoot->session.progress, "the film ends here; the PNG frames go on");
            told = true;
        }
    }
    return true;
}

// What a picture of several ranks took, on average.
static void report_composite(const Composite *composite) {
    CompositeCost cost = composite ? composite_cost(composite) : (CompositeCost){0};
    if (!cost.pictures) return;
    double n = (double)cost.pictures, instances = (double)cost.instances / n;
    if (cost.links)
        fprintf(stderr, "to rank 0 came %.0f links of force chains a picture, %.1f MB\n", (double)cost.links / n,
                1e-6 * sizeof(RenderLink) * (double)cost.links / n);
    fprintf(stderr,
            "a picture took %.1f MB of depths from each rank; to rank 0 came %.1f MB of shadows, and %.0f visible balls and "
            "convex bodies, %.1f MB\n",
            1e-6 * (double)cost.depth_bytes / n, 1e-6 * (double)cost.shadow_bytes / n, instances,
            1e-6 * sizeof(SandInstance) * instances);
}

static void report(const Shoot *shoot, int64_t taken, double seconds) {
    fprintf(stderr, "%s: %lld frames of %d x %d in %.1f s (%.1f frames a second), drawn by %s%s\n",
            shoot->session.scene.name, (long long)taken, shoot->offscreen.width, shoot->offscreen.height, seconds,
            seconds > 0 ? (double)taken / seconds : 0, context_renderer(shoot->offscreen.context),
            session_interrupted() ? ", interrupted" : "");
    if (sand_simulation_backend(shoot->session.sim)->instances && taken) // a device draws
        fprintf(stderr, "bodies drawn by %s; %.0f bytes of them a frame came to the host\n",
                triple_buffer_transfer(shoot->offscreen.buffer),
                (double)(sand_bytes_downloaded() - shoot->downloaded) / (double)taken);
    report_composite(shoot->offscreen.composite);
    if (shoot->def.folder) {
        char path[1100];
        recorder_frame_path(path, sizeof path, shoot->def.folder, shoot->first);
        fprintf(stderr, "%s and on\n", path);
    }
    if (shoot->def.film) fprintf(stderr, "%s\n", shoot->film.path);
}

static Outcome shoot_scene(Shoot *shoot, const Options *options, SandError *error) {
    const OptionValue *values = options->values;
    double seconds = session_seconds(&shoot->session, options);
    shoot->frames =
        values[OPTION_FRAMES].given ? values[OPTION_FRAMES].integer : (int64_t)ceil(seconds * shoot->rate * (1 - 1e-12));
    if (!start_beside(shoot, error)) return OUTCOME_FAILED;
    if (!offscreen_init_scene(&shoot->offscreen, &shoot->session, error)) return OUTCOME_FAILED;
    if (!plan_camera(shoot, options, error)) return OUTCOME_WRONG;
    const char *folder = shoot->def.folder;
    if (values[OPTION_RESUME].given && !resume_find(folder, options, &shoot->session, &shoot->first, error))
        return OUTCOME_WRONG;
    if (shoot->first >= shoot->frames) {
        fprintf(stderr, "%s: has all of the %lld frames already\n", folder, (long long)shoot->frames);
        return OUTCOME_DONE;
    }
    shoot->def.first = shoot->first;
    sand_simulation_want_curve(shoot->session.sim, shoot->overlay.residual);

    const Offscreen *offscreen = &shoot->offscreen;
    if (!offscreen_open(&shoot->offscreen, error)) return OUTCOME_FAILED;
    if (shoot->exposure.count > 1 && !(shoot->accumulator = accumulator_create(offscreen->width, offscreen->height, error)))
        return OUTCOME_FAILED;
    if (options->values[OPTION_OVERLAY].given || shoot->beside.sim) {
        shoot->interface = interface_create(NULL, error);
        if (!shoot->interface) return OUTCOME_FAILED;
    }
    shoot->recorder = recorder_open(&shoot->def, error);
    if (!shoot->recorder) return OUTCOME_FAILED;

    int64_t taken = 0;
    double begin = progress_now();
    shoot->downloaded = sand_bytes_downloaded();
    bool noted = !folder || shoot->first > 0 || resume_note(folder, options, &shoot->session, error);
    bool shot = noted && shoot_frames(shoot, &taken, error);
    // Frames taken so far are written in any case.
    SandError closing;
    bool closed = recorder_close(shoot->recorder, shot ? error : &closing);
    progress_end(&shoot->session.progress);
    if (shot) report(shoot, taken, progress_now() - begin);
    return shot && closed && offscreen_check_errors(&shoot->offscreen, error) ? OUTCOME_DONE : OUTCOME_FAILED;
}

Outcome record_scene(const Options *options, SandError *error) {
    Shoot shoot = {0};
    if (!plan(&shoot, options, error)) return OUTCOME_WRONG;
    Outcome outcome = session_open(&shoot.session, options, "record", error);
    if (outcome == OUTCOME_DONE) outcome = shoot_scene(&shoot, options, error);
    interface_free(shoot.interface);
    accumulator_free(shoot.accumulator);
    offscreen_close(&shoot.offscreen);
    beside_free(&shoot.beside);
    return session_close(&shoot.session, outcome, error);
}

#endif
