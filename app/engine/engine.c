// SPDX-License-Identifier: MIT
// The engine thread: requests in, frames out. engine_main is the loop; read it first.
//
//   window thread                         engine thread
//   engine_ask ------> queue -----------> engine_obey, between two steps
//   engine_frame <---- triple buffer <--- engine_publish, after every step
//   engine_scene, engine_messages <------ under the lock
//
// Only the engine thread touches the simulation. A seek goes back to a checkpoint and runs forward again (timeline.h).
#include "app/engine/engine_parts.h"

#include "sim/core/array.h"
#include "sim/core/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

EngineDef engine_default(void) {
    EngineDef def = {
        .scene = "hourglass", .simulation = sand_default_simulation(), .playing = true, .history_bytes = 512u << 20};
    return def;
}

// --- takes ------------------------------------------------------------------------------------------------

bool engine_save(Engine *e, const char *path, const CameraPath *views, SandError *error) {
    pthread_mutex_lock(&e->lock);
    bool free = !*e->save_path;
    if (free) {
        snprintf(e->save_path, sizeof e->save_path, "%s", path);
        e->save_views = *views;
        pthread_cond_signal(&e->wake);
    }
    pthread_mutex_unlock(&e->lock);
    return free || sand_fail(error, "another take is being saved");
}

// Saves the run up to this step as a take.
static void save_take(Engine *e) {
    Take take;
    SandError error;
    char path[TAKE_PATH], sentence[TAKE_PATH + 32];
    const Timeline *t = &e->timeline;
    const SandWorld *world = sand_simulation_world(e->sim);
    take_begin(&take, e->scene_name, &e->scene, world->step, e->def.simulation.precision, &t->first_solve, t->first_gravity);
    bool saved = sand_simulation_fetch(e->sim, &error);
    take.backend = t->first_backend;
    take.steps = world->step_index;
    take.hash = sand_world_hash(world);
    take.has_hash = take.steps > 0;
    take.acts = (ActLog){.items = t->log.items, .count = t->done}; // borrowed; acts ahead of this step are left out
    pthread_mutex_lock(&e->lock);
    snprintf(path, sizeof path, "%s", e->save_path);
    take.views = e->save_views;
    pthread_mutex_unlock(&e->lock);
    saved = saved && take_save(&take, path, &error);
    snprintf(sentence, sizeof sentence, "The take is saved as %s", path);
    engine_tell(e, saved ? sentence : error.text);
    pthread_mutex_lock(&e->lock);
    e->save_path[0] = '\0';
    pthread_mutex_unlock(&e->lock);
}

// --- files ------------------------------------------------------------------------------------------------

bool engine_open(Engine *e, const char *path, const Act *race, SandError *error) {
    if (strlen(path) >= sizeof e->open_path) return sand_fail(error, "%.80s...: the path is too long", path);
    pthread_mutex_lock(&e->lock);
    bool free = !*e->open_path;
    if (free) {
        strcpy(e->open_path, path);
        e->open_race = *race;
        pthread_cond_signal(&e->wake);
    }
    pthread_mutex_unlock(&e->lock);
    return free || sand_fail(error, "another file is being opened");
}

// Opens the file that was asked for.
static bool open_due(Engine *e, SandError *error) {
    char path[TAKE_PATH];
    pthread_mutex_lock(&e->lock);
    memcpy(path, e->open_path, sizeof path);
    Act race = e->open_race;
    pthread_mutex_unlock(&e->lock);
    bool ok = engine_open_file(e, path, &race, error);
    pthread_mutex_lock(&e->lock);
    if (ok) {
        e->shown.openings++;
        memcpy(e->shown.opened, path, sizeof path);
    }
    e->open_path[0] = '\0';
    pthread_mutex_unlock(&e->lock);
    return ok;
}

// --- the thread -------------------------------------------------------------------------------------------

// Waits for a request, at most this long; returns at once where one is already there. The caller holds the lock.
static void wait_for_request(Engine *e, double seconds) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    double until = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + seconds;
    t.tv_sec = (time_t)until;
    t.tv_nsec = (long)(1e9 * (until - (double)t.tv_sec));
    if (e->queued == 0 && !*e->save_path && !*e->open_path && !e->quit) pthread_cond_timedwait(&e->wake, &e->lock, &t);
}

// Seconds until the next step is due; zero or less: now. A run that falls more than 0.1 s behind does not catch up.
static double due_in(Engine *e) {
    double time = sand_simulation_world(e->sim)->time;
    double wait = (time - e->clock_time) / e->speed - (sand_seconds() - e->clock_wall);
    if (wait < -0.1) {
        e->clock_wall = sand_seconds();
        e->clock_time = time;
    }
    return wait;
}

static void measure_factor(Engine *e) {
    double wall = sand_seconds(), time = sand_simulation_world(e->sim)->time;
    if (wall - e->factor_wall < 0.5) return;
    e->factor = (time - e->factor_time) / (wall - e->factor_wall);
    e->factor_wall = wall;
    e->factor_time = time;
}

// What a window that closes has cut off is no fault.
static void complain(Engine *e, const SandError *error) {
    if (e->quit) return;
    engine_tell(e, error->text);
    e->playing = false;
    e->steps_due = 0;
}

// Lowers the priority of this thread, so that the window draws smoothly where cores are few. The worker threads of the
// simulation are created by this thread and inherit its priority.
static void lower_priority(void) {
    enum { NICE = 10 };
    setpriority(PRIO_PROCESS, 0, NICE); // on Linux this thread alone; where it is refused both share the cores evenly
}

// Opens the scene that the engine begins with.
static bool open_first(Engine *e, SandError *error) {
    const EngineDef *def = &e->def;
    bool ready;
    if (e->has_opened) {
        SandScene scene = e->opened;
        e->has_opened = false;
        ready = engine_start_scene(e, &scene, def->own_solve ? &def->simulation.solve : &scene.solve,
                                   def->own_gravity ? &def->gravity : NULL, error);
        if (ready)
            engine_replace_scene(e, &scene, def->scene);
        else
            sand_scene_free(&scene);
    } else {
        ready = engine_open_scene(e, def->scene, def->options.bodies, error);
    }
    if (!ready) return false;
    pthread_mutex_lock(&e->lock);
    if (def->take) e->views = def->take->views;
    snprintf(e->shown.opened, sizeof e->shown.opened, "%s", def->take_file ? def->take_file : e->shown.file);
    e->shown.openings = *e->shown.opened != '\0';
    pthread_mutex_unlock(&e->lock);
    if (def->beside) engine_ask_beside(e, &(Act){.number = 1, .solve = *def->beside}, error);
    return true;
}

static void fail_first(Engine *e, const SandError *error) {
    pthread_mutex_lock(&e->lock);
    e->failed = true;
    e->failure = *error;
    pthread_mutex_unlock(&e->lock);
}

static void *engine_main(void *argument) {
    Engine *e = argument;
    SandError error;
    lower_priority();
    if (!e->sim && !open_first(e, &error)) return fail_first(e, &error), NULL;
    if (!engine_publish(e, &error)) complain(e, &error);
    while (!e->quit) {
        // Take the requests between two steps.
        Act acts[ENGINE_QUEUE];
        pthread_mutex_lock(&e->lock);
        bool active = e->playing || e->steps_due > 0;
        double wait = !active ? 1 : e->steps_due > 0 ? 0 : due_in(e);
        if (wait > 0) wait_for_request(e, wait);
        int count = e->queued;
        memcpy(acts, e->queue, (size_t)count * sizeof *acts);
        e->queued = 0;
        bool save = *e->save_path, open = *e->open_path;
        pthread_mutex_unlock(&e->lock);
        for (int i = 0; i < count; i++)
            if (!engine_obey(e, &acts[i], &error)) complain(e, &error);
        if (save) save_take(e);
        if (open && !open_due(e, &error) && !e->quit) engine_tell(e, error.text); // the scene before goes on

        active = e->steps_due > 0 || (e->playing && due_in(e) <= 0);
        if (active) {
            if (e->steps_due > 0) e->steps_due--;
            if (!engine_take_step(e, e->shadow, &error)) complain(e, &error);
            measure_factor(e);
        }
        if ((active || count || open) && !engine_publish(e, &error)) complain(e, &error);
    }
    if (*e->save_path) save_take(e);
    return NULL;
}

bool engine_ask(Engine *e, const Act *act) {
    pthread_mutex_lock(&e->lock);
    // Consecutive drags collapse into the newest one.
    bool follows = act->kind == ACT_DRAG && e->queued && e->queue[e->queued - 1].kind == ACT_DRAG;
    if (follows) e->queued--;
    bool accepted = e->queued < ENGINE_QUEUE;
    if (accepted) e->queue[e->queued++] = *act;
    pthread_cond_signal(&e->wake);
    pthread_mutex_unlock(&e->lock);
    return accepted;
}

Engine *engine_create(const EngineDef *def, SandError *error) {
    Engine *e = calloc(1, sizeof *e);
    if (!e) return sand_fail(error, "out of memory for the simulation"), NULL;
    e->def = *def;
    e->playing = def->playing;
    e->speed = 1;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->wake, NULL);
    race_job_init(&e->race);
    e->picked = -1;
    e->buffer = def->buffer ? def->buffer : triple_buffer_create(NULL, NULL, NULL, error);
    bool ready = e->buffer && timeline_init(&e->timeline, def->take, def->history_bytes, error);
    e->timeline.backend = backends_kind(def->simulation.backend);
    if (def->opened) {
        e->opened = *def->opened;
        e->has_opened = true;
        *def->opened = (SandScene){0};
    }
    if (!ready || (!def->in_background && !open_first(e, error))) return engine_free(e), NULL;
    e->started = pthread_create(&e->thread, NULL, engine_main, e) == 0;
    if (!e->started) return sand_fail(error, "the simulation's thread could not be started"), engine_free(e), NULL;
    return e;
}

bool engine_failed(Engine *e, SandError *error) {
    pthread_mutex_lock(&e->lock);
    bool failed = e->failed;
    if (failed) *error = e->failure;
    pthread_mutex_unlock(&e->lock);
    return failed;
}

void engine_stop(Engine *e) {
    pthread_mutex_lock(&e->lock);
    e->quit = true;
    __atomic_store_n(&e->stop, 1, __ATOMIC_RELAXED); // a step of minutes is not waited for
    pthread_cond_signal(&e->wake);
    pthread_mutex_unlock(&e->lock);
    if (e->started) pthread_join(e->thread, NULL);
    e->started = false;
}

void engine_free(Engine *e) {
    if (!e) return;
    engine_stop(e);
    sand_simulation_free(e->sim);
    beside_free(&e->beside);
    sand_scene_free(&e->scene);
    if (e->has_opened) sand_scene_free(&e->opened);
    race_job_free(&e->race);
    sand_cpu_free(e->shadow_cpu);
    sand_solution_free(&e->shadow_solution);
    timeline_free(&e->timeline);
    if (e->take) take_free(e->take);
    free(e->take);
    for (int i = 0; i < TRIPLE_BUFFER_SLOTS; i++) {
        render_scene_free(&e->frames[i].render_scene);
        render_scene_free(&e->frames[i].beside.render_scene);
        SAND_FREE_ARRAYS(&e->frames[i].curve, &e->frames[i].shadow);
    }
    triple_buffer_free(e->buffer);
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->wake);
    free(e);
}

RaceJob *engine_race(Engine *engine) { return &engine->race; }
