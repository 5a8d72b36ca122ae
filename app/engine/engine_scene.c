// SPDX-License-Identifier: MIT
// Scenes of the engine: opening, restarting and replacing them, and the second run that parts from one.
#include "app/engine/engine_parts.h"

#include "app/engine/settled.h"
#include "sim/core/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- the second run -----------------------------------------------------------------------------------------

// Starts a second run with this solver from the state of the first. What it cannot do must not stop the first.
static void part(Engine *e, const SandSolveDef *solve) {
    SandError why;
    BesideDef def = {.scene = &e->scene,
                     .first = e->sim,
                     .log = &e->timeline.log,
                     .done = e->timeline.done,
                     .simulation = e->def.simulation,
                     .history_bytes = e->def.history_bytes,
                     .tell = engine_tell,
                     .user = e};
    def.simulation.solve = *solve;
    if (!beside_start(&e->beside, &def, &why)) engine_tell(e, why.text);
}

void engine_part_anew(Engine *e) {
    if (!e->beside.sim) return;
    SandSolveDef solve = e->beside.timeline.solve;
    part(e, &solve);
    engine_show_scene(e, AFTER_REPLAY);
}

void engine_end_beside(Engine *e, const SandError *why) {
    char sentence[SAND_SENTENCE];
    snprintf(sentence, sizeof sentence, "%.200s; the second run ends here", why->text);
    engine_tell(e, sentence);
    beside_free(&e->beside);
    engine_show_scene(e, AFTER_REPLAY);
}

bool engine_ask_beside(Engine *e, const Act *act, SandError *error) {
    bool ok = true;
    if (act->number == 0)
        beside_free(&e->beside);
    else if (e->beside.sim)
        ok = beside_solve(&e->beside, &act->solve, &e->scene, &e->timeline, error);
    else
        part(e, &act->solve);
    bool as_asked = ok && (e->beside.sim != NULL) == (act->number != 0);
    engine_show_scene(e, as_asked ? AFTER_ACT : AFTER_REPLAY); // else the panel is reset to what is in use
    return ok;
}

// --- scenes -------------------------------------------------------------------------------------------------

void engine_restart_clock(Engine *e) {
    e->clock_wall = e->factor_wall = sand_seconds();
    e->clock_time = e->factor_time = sand_simulation_world(e->sim)->time;
}

// Keeps the current backend for a new simulation; where that fails, the CPU takes over and a message says why.
static void choose_backend(Engine *e, SandSimulation *sim, SandSolveDef *solve) {
    SandError why;
    char sentence[SAND_SENTENCE];
    if (!act_apply(&(Act){.kind = ACT_BACKEND, .number = e->timeline.backend}, NULL, sim, solve, &why)) {
        snprintf(sentence, sizeof sentence, "%.220s; the CPU goes on", why.text);
        engine_tell(e, sentence);
    }
}

static bool on_settling(void *user, double done) {
    Engine *e = user;
    engine_work_done(e, done);
    return !e->quit && !engine_canceled(e);
}

// Builds a scene, with its bodies settled where they are to start so. Canceled, it fails.
static bool build_scene(Engine *e, SandScene *scene, SandError *error) {
    SettledDef settle = {.threads = e->def.simulation.threads, .tell = on_settling, .on_message = engine_tell, .user = e};
    bool began = scene->bodies > 0 ? engine_begin_work(e, 0, "Opening %s with %d bodies", scene->name, scene->bodies)
                                   : engine_begin_work(e, 0, "Opening %s", scene->name);
    bool built = settled_build(scene, &settle, error);
    if (engine_canceled(e)) built = sand_fail(error, "%s was not opened: canceled", scene->name);
    engine_end_work(e, began);
    return built;
}

bool engine_start_scene(Engine *e, SandScene *scene, const SandSolveDef *solve, const SandVec3 *gravity, SandError *error) {
    if (!build_scene(e, scene, error)) return false;
    SandSimulationDef def = e->def.simulation;
    def.solve = *solve;
    def.backend = NULL;
    if (gravity) scene->world.gravity = *gravity;
    SandSimulation *sim = sand_simulation_create(&scene->world, &def, error);
    if (!sim) return false;
    choose_backend(e, sim, &def.solve);
    sand_simulation_free(e->sim);
    e->sim = sim;
    sand_simulation_on_message(sim, engine_tell, e);
    sand_simulation_want_curve(sim, e->curve);
    sand_simulation_cancel_by(sim, &e->stop);
    e->steps_due = 0;
    engine_restart_clock(e);
    return timeline_begin(&e->timeline, sim, &def.solve, error);
}

bool engine_restart_scene(Engine *e, bool own_gravity, SandError *error) {
    Timeline *t = &e->timeline;
    SandSolveDef solve = t->take ? t->first_solve : t->solve;
    SandVec3 gravity = t->take ? t->first_gravity : sand_simulation_world(e->sim)->gravity;
    if (t->take) t->backend = t->first_backend;
    if (!engine_start_scene(e, &e->scene, &solve, own_gravity ? NULL : &gravity, error)) return false;
    engine_part_anew(e);
    engine_show_scene(e, NEW_SCENE);
    return true;
}

// Keeps the texts of the probes that the scene was opened with, and of those that are added later.
static void adopt_probes(Engine *e) {
    SandSceneOptions *options = &e->scene.options;
    e->probe_count = options->probe_count;
    if (e->probe_count == 0) e->own_probe_count = 0;
    for (int k = 0; k < e->probe_count; k++) e->probes[k] = options->probes[k];
    options->probes = e->probes;
}

// The number of bodies that a scene has where nobody asks for another; 0: it is fixed, or the file cannot be read.
static int own_bodies(const Engine *e, const char *name) {
    SandScene scene;
    SandSceneOptions options = e->def.options;
    SandError why;
    options.bodies = 0;
    if (!sand_scene_open(&scene, name, &options, &why)) return 0;
    int bodies = scene.bodies;
    sand_scene_free(&scene);
    return bodies;
}

void engine_replace_scene(Engine *e, SandScene *scene, const char *name) {
    e->own_bodies = own_bodies(e, name);
    sand_scene_free(&e->scene);
    e->scene = *scene;
    adopt_probes(e);
    if (name != e->scene_name) snprintf(e->scene_name, sizeof e->scene_name, "%s", name);
    engine_show_scene(e, NEW_SCENE);
}

// The solver definition for a scene that is opened while another runs: the same scene keeps the current one, another scene
// gets its own with the options of the command line applied.
static SandSolveDef solve_of(Engine *e, const SandScene *scene, bool again) {
    SandSolveDef solve = again ? e->timeline.solve : scene->solve;
    SandError why;
    char sentence[SAND_SENTENCE];
    if (again || !e->def.choose_solve || e->def.choose_solve(e->def.asked, scene, &solve, &why)) return solve;
    snprintf(sentence, sizeof sentence, "%.160s; %.60s has its own settings", why.text, scene->name);
    engine_tell(e, sentence);
    return scene->solve;
}

bool engine_open_scene(Engine *e, const char *name, int bodies, SandError *error) {
    SandScene scene;
    SandSceneOptions options = e->def.options;
    options.bodies = bodies;
    if (e->sim) { // probes belong to the scene that they were made for
        options.probes = e->probes;
        options.probe_count = strcmp(name, e->scene_name) ? 0 : e->probe_count;
    }
    if (e->sim && !strcmp(name, e->scene_name)) options.start = e->scene.options.start; // as the panel says
    if (!sand_scene_open(&scene, name, &options, error)) return false;
    const Take *take = e->timeline.take;
    bool first = !e->sim, again = !first && !strcmp(name, e->scene_name);
    SandVec3 gravity = again ? sand_simulation_world(e->sim)->gravity : v3_make(0, 0, 0);
    SandSolveDef solve = first && e->def.own_solve ? e->def.simulation.solve : solve_of(e, &scene, again);
    e->timeline.take = NULL;
    if (!engine_start_scene(e, &scene, &solve, again ? &gravity : NULL, error)) {
        e->timeline.take = take;
        sand_scene_free(&scene);
        return false;
    }
    engine_replace_scene(e, &scene, name);
    engine_part_anew(e);
    return true;
}

bool engine_change_scene(Engine *e, const char *name, int bodies, SandError *error) {
    int most = e->def.options.bodies;
    if (!strcmp(name, e->scene.name)) name = e->scene_name; // a scene file may be outside the scenes folder
    if (bodies == 0 && most > 0) {
        SandScene scene;
        SandSceneOptions options = e->def.options;
        options.bodies = 0;
        if (!sand_scene_open(&scene, name, &options, error)) return false;
        bool smaller = scene.bodies > most;
        sand_scene_free(&scene);
        if (smaller && engine_open_scene(e, name, most, error)) return true;
    }
    return engine_open_scene(e, name, bodies, error);
}

// --- probes -----------------------------------------------------------------------------------------------------

void engine_add_probe(Engine *e, const char *text) {
    SandError why;
    if (!sand_scene_add_probe(&e->scene, sand_simulation_change(e->sim), text, &why)) {
        engine_tell(e, why.text);
        return;
    }
    char *own = e->own_probes[e->own_probe_count++]; // a world has room for no more than these
    snprintf(own, SAND_SENTENCE, "%s", text);
    e->probes[e->probe_count++] = own;
    e->scene.options.probe_count = e->probe_count; // when it is built again
}

// --- files ------------------------------------------------------------------------------------------------------

// Replays a take in place of what runs. On failure the old run goes on.
static bool open_take(Engine *e, Take *take, SandError *error) {
    Timeline *t = &e->timeline;
    SandScene scene;
    ActLog acts = {0};
    if (!take_open_scene(take, &scene, error)) return false;
    if (!acts_copy(&acts, &take->acts, error)) return sand_scene_free(&scene), false;
    const Take *former_take = t->take;
    ActLog former_log = t->log;
    Backend former_backend = t->backend;
    SandPrecision former_precision = e->def.simulation.precision;
    t->take = take;
    t->log = acts;
    if (take->backend != BACKEND_AUTO) t->backend = take->backend;
    e->def.simulation.precision = take->precision;
    if (!engine_start_scene(e, &scene, take->has_solve ? &take->solve : &scene.solve,
                            take->has_gravity ? &take->gravity : NULL, error)) {
        t->take = former_take;
        t->log = former_log;
        t->backend = former_backend;
        e->def.simulation.precision = former_precision;
        acts_free(&acts);
        sand_scene_free(&scene);
        return false;
    }
    acts_free(&former_log);
    engine_replace_scene(e, &scene, take->scene);
    engine_part_anew(e);
    e->playing = true;
    return true;
}

static bool load_take(Engine *e, const char *path, SandError *error) {
    Take *take = malloc(sizeof *take);
    if (!take) return sand_fail(error, "out of memory for a take");
    bool loaded = take_load(take, path, error);
    if (!loaded || !open_take(e, take, error)) {
        if (loaded) take_free(take);
        free(take);
        return false;
    }
    if (e->take) take_free(e->take);
    free(e->take);
    e->take = take;
    return true;
}

// Races on a stored problem. What runs stays as it is.
static bool race_problem(Engine *e, const char *path, const Act *act, SandError *error) {
    SandProblem problem = {0};
    SandRaceDef def = sand_default_race();
    const char *slash = strrchr(path, '/');
    def.solve = act->solve;
    def.cold = act->number != 0;
    bool began = engine_begin_work(e, 0, "Opening %.200s", slash ? slash + 1 : path);
    bool ok = sand_problem_open(&problem, path, error) && sand_race_parse(&def, act->text, error) &&
              race_job_start(&e->race, &problem, &def, slash ? slash + 1 : path, 0, error);
    engine_end_work(e, began);
    sand_problem_free(&problem);
    return ok;
}

// A scene that is opened again keeps the number of bodies that a person chose, until its file asks for another.
static bool open_again(Engine *e, const char *path, SandError *error) {
    int bodies = own_bodies(e, path), former = e->own_bodies;
    return engine_change_scene(e, path, bodies == former ? e->scene.bodies : 0, error);
}

bool engine_open_file(Engine *e, const char *path, const Act *race, SandError *error) {
    if (sand_problem_is_stored(path)) return race_problem(e, path, race, error);
    bool is_take = take_is(path), again = !is_take && !strcmp(path, e->scene_name);
    bool ok = is_take ? load_take(e, path, error)
              : again ? open_again(e, path, error)
                      : engine_change_scene(e, path, 0, error);
    if (!ok || !is_take) return ok;
    pthread_mutex_lock(&e->lock);
    e->views = e->take->views;
    pthread_mutex_unlock(&e->lock);
    return true;
}
