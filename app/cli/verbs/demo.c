// SPDX-License-Identifier: MIT
// `sandglass demo`: scenes in turn, as a playlist says (app/engine/playlist.h), in a window that never ends, or as a film.
// film_scene is the loop of the film; that of the window is in app/ui/window_demo.c.
#include "app/cli/commands.h"

#ifndef SAND_WINDOW

Outcome demo_playlist(const Options *options, SandError *error) {
    (void)options;
    return sand_fail(error,
                     "this build has no pictures; build with -DSAND_WINDOW=ON where GLFW, EGL, glad, stb and cglm are"),
           OUTCOME_FAILED;
}

#else

#include "app/cli/film/offscreen.h"
#include "app/cli/options/picture_options.h"
#include "app/cli/session/watchdog.h"
#include "app/engine/aim.h"
#include "app/engine/playlist.h"
#include "app/engine/real_time_trial.h"
#include "app/io/free_path.h"
#include "app/io/recorder.h"
#include "app/ui/input.h"
#include "app/ui/show_caption.h"
#include "app/ui/window.h"
#include "sim/core/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Demo {
    Options options; // with those of the present scene
    Playlist playlist;
    Show show;
    double fps;
    Session session; // the present scene
    Offscreen offscreen;
    Interface *interface; // for captions
    Recorder *recorder;
    Camera still; // before it turns
    int64_t frames;
    WindowDef window;
    Heart *heart; // beats with every frame of a kiosk; NULL: nobody listens
} Demo;

static OptionValue number(int64_t value) { return (OptionValue){.integer = value, .real = (double)value}; }

// --- the film -----------------------------------------------------------------------------------------------

// Throws a ball along the middle of the picture.
static bool throw_ball(Demo *demo, const Camera *camera, SandError *error) {
    Session *session = &demo->session;
    double aspect = (double)demo->offscreen.width / demo->offscreen.height;
    Act aim = input_aim(&demo->offscreen.render_scene, camera, aspect, 0.5, 0.5), ball;
    SandError why;
    if (!sand_simulation_fetch(session->sim, error)) return false;
    if (!aim_act(&aim, &session->scene, sand_simulation_world(session->sim), &ball, &why)) {
        progress_say(&session->progress, why.text); // a ball that has no room ends no film
        return true;
    }
    return act_apply(&ball, &session->scene, session->sim, &session->solve, error);
}

static bool carry_out(Demo *demo, const PlaylistAct *from, const Camera *camera, SandError *error) {
    Session *session = &demo->session;
    Act act = {.kind = ACT_FLIP, .solve = session->solve};
    switch (from->kind) {
    case PLAYLIST_THROW: return throw_ball(demo, camera, error);
    case PLAYLIST_COLOR: demo->offscreen.color = from->color; return true;
    case PLAYLIST_CAPTION: return true; // the show has it
    case PLAYLIST_BESIDE:
    case PLAYLIST_RACE:
    case PLAYLIST_ALONE: return true; // of the window alone
    case PLAYLIST_FLIP: break;
    case PLAYLIST_GRAVITY:
        act.kind = ACT_GRAVITY;
        act.vector = from->gravity;
        break;
    case PLAYLIST_DRIVE:
        act.kind = ACT_DRIVE;
        act.vector = v3_make(from->speeds[0], from->speeds[1], 0);
        break;
    case PLAYLIST_SOLVE:
        act.kind = ACT_SOLVE;
        playlist_act_solve(from, &act.solve);
        break;
    }
    return act_apply(&act, &session->scene, session->sim, &session->solve, error);
}

// Opens the scene that is due, with the options of the command line and the playlist's.
static bool open_scene(Demo *demo, SandError *error) {
    const PlaylistScene *scene = show_scene(&demo->show);
    Offscreen *offscreen = &demo->offscreen;
    demo->options.subject = scene->scene;
    demo->options.values[OPTION_BODIES] = number(scene->bodies);
    if (session_open(&demo->session, &demo->options, "demo", error) != OUTCOME_DONE) return false;
    offscreen->color = scene->color;
    offscreen->chains = scene->chains;
    render_scene_free(&offscreen->render_scene);
    if (!offscreen_init_scene(offscreen, &demo->session, error)) return false;
    ShowView view = {.width = offscreen->width, .height = offscreen->height};
    return show_aim(&demo->show, &view, &offscreen->render_scene, view.width, &demo->still, error);
}

static bool draw_frame(Demo *demo, double time, const Camera *camera, SandError *error) {
    Offscreen *offscreen = &demo->offscreen;
    if (!offscreen_draw(offscreen, demo->session.sim, time, camera, error)) return false;
    ShowView view = {.width = offscreen->width, .height = offscreen->height};
    interface_begin(demo->interface, offscreen->width, offscreen->height, show_scale(view.width, view.height), 1);
    show_draw(&demo->show, &view);
    interface_end(demo->interface, split_overdraw(offscreen->split, offscreen->renderer));
    return recorder_add(demo->recorder, offscreen_framebuffer(offscreen), error);
}

// Films the present scene, in lock step with its time.
static bool film_scene(Demo *demo, SandError *error) {
    Session *session = &demo->session;
    Show *show = &demo->show;
    const PlaylistScene *scene = show_scene(show);
    const RenderScene *drawn = &demo->offscreen.render_scene;
    const SandWorld *world = sand_simulation_world(session->sim);
    int64_t steps = (int64_t)ceil(show_seconds(show) * scene->speed / world->step) + 1;
    show->is_open = true;
    for (int64_t k = 0; !show_is_over(show) && !session_interrupted(); k++) {
        Camera camera = demo->still;
        camera_turn(&camera, v3_scale(0.5, v3_add(drawn->lower, drawn->upper)), show_angle(show));
        double time = show->time * scene->speed;
        while (world->time < time - 1e-9 * world->step && !session_interrupted())
            if (!session_step(session, (int64_t)world->step_index, steps, error)) return false;
        if (!draw_frame(demo, time, &camera, error)) return false;
        demo->frames++;
        int first, due = show_advance(show, (double)(k + 1) / demo->fps - show->time, &first);
        for (int n = first; n < due; n++)
            if (!carry_out(demo, &scene->acts[n], &camera, error)) return false;
    }
    return true;
}

static double resident_mb(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    long all, resident = 0;
    if (!file) return 0;
    if (fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

// Says what came of a scene and, at the end of a round, how much memory is in use: a demo of hours must not grow.
static void report_scene(const Demo *demo, int index, int round) {
    fprintf(stderr, "demo: %s, %.1f s\n", demo->playlist.scenes[index].scene, demo->show.time);
    if (index == demo->playlist.count - 1)
        fprintf(stderr, "demo: round %d is over, %.1f MB of arrays, %.0f MB in all\n", round + 1,
                (double)sand_bytes_held() / 1048576, resident_mb());
}

static bool film_rounds(Demo *demo, int rounds, SandError *error) {
    bool ok = true;
    while (ok && demo->show.round < rounds && !session_interrupted()) {
        int index = demo->show.index, round = demo->show.round;
        ok = open_scene(demo, error) && film_scene(demo, error);
        ok = session_close(&demo->session, ok ? OUTCOME_DONE : OUTCOME_FAILED, error) == OUTCOME_DONE;
        demo->session = (Session){0};
        if (ok) report_scene(demo, index, round);
        show_next(&demo->show);
    }
    return ok;
}

// Reads where the film goes; without a name it gets one that is free.
static bool plan_film(Demo *demo, FilmDef *film, RecorderDef *recorder, char *path, size_t size, SandError *error) {
    OptionValue *values = demo->options.values;
    *film = (FilmDef){.fps = demo->fps, .width = demo->offscreen.width, .height = demo->offscreen.height};
    if (!film_options(&demo->options, film, error)) return false;
    if (!film->path && !values[OPTION_OUT].given) {
        char folder[3500];
        if (!getcwd(folder, sizeof folder)) snprintf(folder, sizeof folder, ".");
        if (!free_path(path, size, folder, "demo", "mp4", error)) return false;
        film->path = path;
    }
    *recorder = (RecorderDef){.folder = values[OPTION_OUT].given ? values[OPTION_OUT].text : NULL,
                              .film = film->path ? film : NULL,
                              .width = film->width,
                              .height = film->height};
    fprintf(stderr, "demo: films into %s\n", film->path ? film->path : recorder->folder);
    return true;
}

static Outcome film(Demo *demo, SandError *error) {
    OptionValue *values = demo->options.values;
    Offscreen *offscreen = &demo->offscreen;
    FilmDef film;
    RecorderDef def;
    char path[4000];
    demo->options.verb = VERB_RECORD; // a budget in milliseconds is refused, as by record
    demo->fps = values[OPTION_FPS].given ? values[OPTION_FPS].real : 30;
    if (!values[OPTION_SIZE].given) values[OPTION_SIZE] = (OptionValue){.width = 1280, .height = 720};
    if (!offscreen_plan(offscreen, &demo->options, error)) return OUTCOME_WRONG;
    if (!samples_option(&demo->options, &offscreen->look.samples, error)) return OUTCOME_WRONG;
    if (!plan_film(demo, &film, &def, path, sizeof path, error)) return OUTCOME_WRONG;
    if (!offscreen_open(offscreen, error)) return OUTCOME_FAILED;
    if (context_is_software() && !values[OPTION_SAMPLES].given) offscreen->look.samples = 1;
    if (context_is_software() && !values[OPTION_QUALITY].given) offscreen->look.quality = QUALITY_LOW;
    demo->interface = interface_create(NULL, error);
    demo->recorder = demo->interface ? recorder_open(&def, error) : NULL;
    if (!demo->recorder) return OUTCOME_FAILED;
    bool shot = film_rounds(demo, values[OPTION_ROUNDS].given ? (int)values[OPTION_ROUNDS].integer : 1, error);
    SandError closing;
    bool closed = recorder_close(demo->recorder, shot ? error : &closing);
    if (!shot || !closed || !offscreen_check_errors(offscreen, error)) return OUTCOME_FAILED;
    fprintf(stderr, "demo: %lld frames of %d x %d\n%s\n", (long long)demo->frames, film.width, film.height,
            film.path ? film.path : def.folder);
    return OUTCOME_DONE;
}

// --- the window ---------------------------------------------------------------------------------------------

// Reduces the scenes to sizes that this machine simulates in real time, but not below what is worth to be seen: then they
// are slower. The window shows meanwhile that it goes on.
static bool fit_scenes(void *user, SandError *error) {
    Demo *demo = user;
    const SandSimulationDef *def = &demo->session.def;
    for (int i = 0; i < demo->playlist.count; i++) {
        PlaylistScene *scene = &demo->playlist.scenes[i];
        Measured m;
        SandSceneOptions options = {.bodies = scene->bodies};
        if (!measure_scene(&m, scene->scene, &options, def, error)) return false;
        if (m.bodies > 0 && m.bodies < m.whole) scene->bodies = m.bodies;
    }
    demo->window.engine.options.bodies = demo->playlist.scenes[0].bodies;
    return true;
}

static bool is_over(void *user) {
    Demo *demo = user;
    if (demo->heart) ++*demo->heart;
    const OptionValue *rounds = &demo->options.values[OPTION_ROUNDS];
    return session_interrupted() || (rounds->given && demo->show.round >= rounds->integer);
}

static bool solve_as_asked(const void *asked, const SandScene *scene, SandSolveDef *solve, SandError *error) {
    return session_solve(asked, scene, solve, error);
}

static Outcome show(Demo *demo, SandError *error) {
    Options *options = &demo->options;
    OptionValue *values = options->values;
    options->subject = demo->playlist.scenes[0].scene;
    Outcome outcome = session_plan(&demo->session, options, error);
    Session *session = &demo->session;
    if (outcome == OUTCOME_DONE && !values[OPTION_THREADS].given && session->def.threads > 1) session->def.threads--;
    if (outcome == OUTCOME_DONE) {
        WindowDef def = window_default();
        if (!session->def.backend) def.prepare = fit_scenes;
        def.engine.scene = demo->playlist.scenes[0].scene;
        def.engine.options = session_scene_options(options);
        def.engine.options.bodies = demo->playlist.scenes[0].bodies;
        def.engine.simulation = session->def;
        def.engine.own_solve = true;
        def.engine.choose_solve = solve_as_asked;
        def.engine.asked = options;
        def.engine.history_bytes = 64u << 20; // a person may go back a little; a demo never does
        def.show = &demo->show;
        def.kiosk = values[OPTION_KIOSK].given;
        def.turns = true;
        def.fullscreen = !values[OPTION_SIZE].given;
        if (values[OPTION_SIZE].given) {
            def.width = values[OPTION_SIZE].width;
            def.height = values[OPTION_SIZE].height;
        }
        def.ui_scale = values[OPTION_UI_SCALE].real;
        def.panel = PANEL_OFF;
        if (values[OPTION_QUALITY].given) def.quality = (int)values[OPTION_QUALITY].integer;
        def.should_close = is_over;
        def.user = demo;
        WindowReport report = {0};
        bool right = picture_options(options, &def.look, &def.limits, error);
        demo->window = def;
        if (!right)
            outcome = OUTCOME_WRONG;
        else if (!window_run(&demo->window, &report, error))
            outcome = OUTCOME_FAILED;
    }
    return session_close(session, outcome, error);
}

Outcome demo_playlist(const Options *options, SandError *error) {
    Demo demo = {.options = *options};
    const OptionValue *values = options->values;
    const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    Outcome watched = OUTCOME_DONE;
    bool window = ((display && *display) || (wayland && *wayland)) && !values[OPTION_HEADLESS].given;
    if (!playlist_load(&demo.playlist, options->subject ? options->subject : "exhibition", error)) return OUTCOME_WRONG;
    if (window && values[OPTION_KIOSK].given && !watchdog_begin(&demo.heart, &watched, error))
        return playlist_free(&demo.playlist), watched;
    demo.show = show_begin(&demo.playlist, values[OPTION_SECONDS].given ? values[OPTION_SECONDS].real : 0);
    demo.options.sets.count = 0;
    Outcome outcome = window ? show(&demo, error) : film(&demo, error);
    interface_free(demo.interface);
    offscreen_close(&demo.offscreen);
    playlist_free(&demo.playlist);
    return outcome;
}

#endif
