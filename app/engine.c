#include "engine.h"

#include "history.h"
#include "sim/memory.h"
#include "sim/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUEUE = 256, MESSAGES = 64, KEYFRAME_DISTANCE = 10 };
static const double FLIP_SECONDS = 4, HAND_RATE = 12, HEAVY_DENSITY = 8000;

// Two indices change hands through `ready`: the frame the engine finished last, and whether the window has seen it.
enum { FRAMES = 3, FRESH = 4 };

struct Engine {
    pthread_t thread;
    bool started;
    atomic_bool quit;

    // The simulation, touched by its thread alone once that runs.
    EngineDef def;
    SandScene scene;
    SandSimulation *sim;
    SandSolveDef solve, first_solve; // now, and at the start of the scene
    SandCpu *shadow_cpu;
    SandSolveDef shadow_solve;
    bool shadow, curve;
    SandSolution shadow_solution;
    RaceJob race;
    History history;
    ActLog log;
    int replayed;         // acts of the log that are done
    uint64_t newest_step; // furthest the run has come
    bool playing;
    int64_t steps_due; // to take whatever `playing` says
    double speed;
    double clock_wall, clock_time; // the simulated time is due at the wall time
    double factor;                 // real-time factor, lately
    double factor_wall, factor_time;
    PictureColor color;

    Frame frames[FRAMES];
    int writing, reading;
    atomic_int ready;

    // Under the lock.
    pthread_mutex_t lock;
    pthread_cond_t wake;
    Act queue[QUEUE];
    int queued;
    EngineScene shown;
    char messages[MESSAGES][SAND_SENTENCE];
    int message_count;
};

EngineDef engine_default(void) {
    EngineDef def = {
        .scene = "hourglass", .simulation = sand_default_simulation(), .playing = true, .history_bytes = 512u << 20};
    return def;
}

// --- telling the window -----------------------------------------------------------------------------------

static void tell(void *user, const char *sentence) {
    Engine *e = user;
    pthread_mutex_lock(&e->lock);
    if (e->message_count == MESSAGES) { // the oldest gives way
        memmove(e->messages[0], e->messages[1], sizeof e->messages - sizeof e->messages[0]);
        e->message_count--;
    }
    snprintf(e->messages[e->message_count++], SAND_SENTENCE, "%s", sentence);
    pthread_mutex_unlock(&e->lock);
}

int engine_messages(Engine *e, char (*messages)[SAND_SENTENCE], int room) {
    pthread_mutex_lock(&e->lock);
    int count = e->message_count < room ? e->message_count : room;
    memcpy(messages, e->messages, (size_t)count * SAND_SENTENCE);
    memmove(e->messages, e->messages[count], (size_t)(e->message_count - count) * SAND_SENTENCE);
    e->message_count -= count;
    pthread_mutex_unlock(&e->lock);
    return count;
}

// What the window is told of the scene. A new scene has a new version; an act within it has not.
static void show_scene(Engine *e, bool new_scene) {
    pthread_mutex_lock(&e->lock);
    EngineScene *s = &e->shown;
    if (new_scene) s->version++;
    memcpy(s->name, e->scene.name, sizeof s->name);
    memcpy(s->about, e->scene.about, sizeof s->about);
    s->knob_count = e->scene.knob_count;
    memcpy(s->knobs, e->scene.knobs, sizeof s->knobs);
    s->solve = e->solve;
    s->gravity = sand_simulation_world(e->sim)->gravity;
    s->view_lower = e->scene.view_lower, s->view_upper = e->scene.view_upper;
    pthread_mutex_unlock(&e->lock);
}

void engine_scene(Engine *e, EngineScene *scene) {
    pthread_mutex_lock(&e->lock);
    *scene = e->shown;
    pthread_mutex_unlock(&e->lock);
}

static bool copy_curve(const SandSolution *s, SandCurvePoint **curve, size_t *room, int *count, SandError *error) {
    *count = 0;
    if (!sand_grow((void *)curve, room, (size_t)s->curve_count, sizeof **curve, "residual curve", error)) return false;
    for (int i = 0; i < s->curve_count; i++) (*curve)[i] = s->curve[i];
    *count = s->curve_count;
    return true;
}

// Fills the frame that is being written and hands it over for the one the window has not taken.
static bool publish(Engine *e, SandError *error) {
    Frame *f = &e->frames[e->writing];
    const SandWorld *world = sand_simulation_world(e->sim);
    f->step = world->step_index, f->time = world->time, f->step_seconds = world->step;
    f->real_time_factor = e->factor;
    f->playing = e->playing;
    f->bodies = world->body_count;
    f->counters = *sand_simulation_counters(e->sim);
    f->profile = *sand_simulation_profile(e->sim);
    f->kinetic = sand_world_kinetic_energy(world), f->potential = sand_world_potential_energy(world);
    f->oldest_step = history_oldest(&e->history), f->newest_step = e->newest_step;
    f->curve_count = f->shadow_count = 0;
    if (e->curve && !copy_curve(sand_simulation_solution(e->sim), &f->curve, &f->curve_room, &f->curve_count, error))
        return false;
    if (e->shadow && !copy_curve(&e->shadow_solution, &f->shadow, &f->shadow_room, &f->shadow_count, error)) return false;
    if (f->scene_version != e->shown.version) {
        picture_free(&f->picture);
        if (!picture_init(&f->picture, world, e->scene.view_lower, e->scene.view_upper, error)) return false;
        f->scene_version = e->shown.version;
    }
    if (!picture_take(&f->picture, world, e->sim, world->time, e->color, error)) return false;
    int taken = atomic_exchange(&e->ready, e->writing | FRESH);
    e->writing = taken & ~FRESH;
    return true;
}

Frame *engine_frame(Engine *e) {
    if (!(atomic_load(&e->ready) & FRESH)) return NULL;
    e->reading = atomic_exchange(&e->ready, e->reading) & ~FRESH;
    return &e->frames[e->reading];
}

// --- scenes -----------------------------------------------------------------------------------------------

static void restart_clock(Engine *e) {
    e->clock_wall = e->factor_wall = sand_seconds();
    e->clock_time = e->factor_time = sand_simulation_world(e->sim)->time;
}

// Builds the scene that is open and puts a new simulation in the place of the old. On failure the old one goes on.
static bool start_scene(Engine *e, SandScene *scene, SandError *error) {
    if (!sand_scene_build(scene, error)) return false;
    SandSimulationDef def = e->def.simulation;
    if (!e->def.own_solve) def.solve = scene->solve;
    SandSimulation *sim = sand_simulation_create(&scene->world, &def, error);
    if (!sim) return false;
    sand_simulation_free(e->sim);
    e->sim = sim;
    sand_simulation_on_report(sim, tell, e);
    sand_simulation_want_curve(sim, e->curve);
    e->solve = e->first_solve = def.solve;
    history_clear(&e->history);
    e->log.count = e->replayed = 0;
    e->newest_step = 0;
    e->steps_due = 0;
    restart_clock(e);
    return history_note(&e->history, sim, error);
}

static bool open_scene(Engine *e, const char *name, int bodies, SandError *error) {
    SandScene scene;
    SandSceneOptions options = e->def.options;
    if (bodies) options.bodies = bodies;
    if (!sand_scene_open(&scene, name, &options, error)) return false;
    if (!start_scene(e, &scene, error)) {
        sand_scene_free(&scene);
        return false;
    }
    sand_scene_free(&e->scene);
    e->scene = scene;
    show_scene(e, true);
    return true;
}

// --- acts -------------------------------------------------------------------------------------------------

static int sphere_shape(SandWorld *world, SandError *error) {
    for (int k = 0; k < world->shape_count; k++)
        if (world->shapes[k].kind == SAND_SPHERE) return k;
    SandShape shape;
    return sand_shape_sphere(&shape, error) ? sand_world_add_shape(world, &shape, error) : -1;
}

static bool throw_ball(SandWorld *world, const Act *act, SandError *error) {
    SandBodyDef def = sand_default_body();
    def.shape = sphere_shape(world, error);
    def.scale = act->number;
    def.mass = HEAVY_DENSITY * 4.18879020478639 * act->number * act->number * act->number;
    def.pose.position = act->vector;
    def.velocity = act->direction;
    return def.shape >= 0 && sand_world_add_body(world, &def, error) >= 0;
}

static bool apply_motion(Engine *e, const Act *act, SandError *error) {
    SandWorld *world = sand_simulation_change(e->sim);
    switch (act->kind) {
    case ACT_SOLVE:
        e->solve = act->solve;
        sand_simulation_set_solve(e->sim, &e->solve);
        return true;
    case ACT_GRAVITY: world->gravity = act->vector; return true;
    case ACT_FLIP: {
        SandVec3 middle = v3_scale(0.5, v3_add(e->scene.view_lower, e->scene.view_upper));
        for (int b = 0; b < world->boundary_count; b++)
            if (world->boundaries[b].kind == SAND_REVOLUTION)
                sand_world_flip(world, b, middle, v3_make(1, 0, 0), FLIP_SECONDS);
        return true;
    }
    case ACT_GRAB:
        if (act->body < 0 || act->body >= world->body_count)
            return sand_fail(error, "there is no body %d to grab", act->body);
        world->spring =
            (SandSpring){.body = act->body,
                         .point = q_unrotate(world->rotation[act->body], v3_sub(act->vector, world->position[act->body])),
                         .target = act->vector,
                         .rate = HAND_RATE};
        return true;
    case ACT_DRAG: world->spring.target = act->vector; return true;
    case ACT_RELEASE: world->spring.body = -1; return true;
    case ACT_THROW: return throw_ball(world, act, error);
    default: return true;
    }
}

// A step, with the acts of the log that belong before it when the run goes over old ground again.
static bool take_step(Engine *e, SandError *error) {
    uint64_t step = sand_simulation_world(e->sim)->step_index;
    while (e->replayed < e->log.count && e->log.items[e->replayed].step <= step)
        if (!apply_motion(e, &e->log.items[e->replayed++].act, error)) return false;
    if (!sand_simulation_step(e->sim, error)) return false;
    step = sand_simulation_world(e->sim)->step_index;
    if (step > e->newest_step) e->newest_step = step;
    return history_note(&e->history, e->sim, error);
}

static bool seek(Engine *e, uint64_t step, SandError *error) {
    const SandCheckpoint *from = history_before(&e->history, step);
    if (!from) return sand_fail(error, "step %llu is no longer kept", (unsigned long long)step);
    uint64_t now = sand_simulation_world(e->sim)->step_index;
    if (step < now) {
        if (!sand_simulation_restore(e->sim, from, error)) return false;
        // The settings that a checkpoint does not hold: the solver that was in use there.
        e->solve = e->first_solve;
        for (e->replayed = 0; e->replayed < e->log.count && e->log.items[e->replayed].step < from->step_index; e->replayed++)
            if (e->log.items[e->replayed].act.kind == ACT_SOLVE) e->solve = e->log.items[e->replayed].act.solve;
        sand_simulation_set_solve(e->sim, &e->solve);
    }
    while (sand_simulation_world(e->sim)->step_index < step && !e->quit)
        if (!take_step(e, error)) return false;
    return true;
}

static bool solve_shadow(Engine *e, SandError *error) {
    if (!e->shadow_cpu) e->shadow_cpu = sand_cpu_create(e->def.simulation.threads, e->def.simulation.precision, error);
    e->shadow_solution.want_curve = true;
    return e->shadow_cpu &&
           sand_cpu_solve(e->shadow_cpu, sand_simulation_problem(e->sim), &e->shadow_solve, &e->shadow_solution, error);
}

// On the problem of the last step, the one on the screen. The scene keeps its threads; the race has one.
static bool start_race(Engine *e, const Act *act, SandError *error) {
    SandRaceDef def = sand_default_race();
    const SandProblem *problem = sand_simulation_problem(e->sim);
    if (!problem->contact_count) return sand_fail(error, "this step has no contacts to race on");
    def.solve = act->solve, def.own_params = true;
    def.cold = act->number != 0;
    return sand_race_parse(&def, act->text, error) &&
           race_job_start(&e->race, problem, &def, sand_simulation_world(e->sim)->step_index, error);
}

static bool obey(Engine *e, const Act *act, SandError *error) {
    uint64_t step = sand_simulation_world(e->sim)->step_index;
    if (act_changes_motion(act->kind)) {
        // The run takes another way from here: what was ahead is forgotten.
        acts_cut(&e->log, step);
        history_cut(&e->history, step);
        e->newest_step = step;
        bool ok = apply_motion(e, act, error) && acts_add(&e->log, step, act, error);
        e->replayed = e->log.count;
        show_scene(e, false);
        return ok;
    }
    switch (act->kind) {
    case ACT_PLAY:
        e->playing = act->number != 0, e->steps_due = 0;
        restart_clock(e);
        return true;
    case ACT_STEP: e->playing = false, e->steps_due += (int64_t)act->number; return true;
    case ACT_SEEK: e->playing = false, e->steps_due = 0; return seek(e, act->number > 0 ? (uint64_t)act->number : 0, error);
    case ACT_RESET:
        if (!start_scene(e, &e->scene, error)) return false;
        show_scene(e, true);
        return true;
    case ACT_SCENE: return open_scene(e, act->text, (int)act->number, error);
    case ACT_KNOB: {
        int knob = sand_scene_knob(&e->scene, act->text);
        if (knob < 0) return sand_fail(error, "the scene has no knob '%s'", act->text);
        if (!sand_scene_set_knob(&e->scene, knob, act->number, error) || !start_scene(e, &e->scene, error)) return false;
        show_scene(e, true);
        return true;
    }
    case ACT_SHADOW: e->shadow = act->number != 0, e->shadow_solve = act->solve; return true;
    case ACT_SPEED:
        e->speed = act->number;
        restart_clock(e);
        return true;
    case ACT_COLOR: e->color = (PictureColor)act->number; return true;
    case ACT_RACE: return start_race(e, act, error);
    case ACT_RACE_CANCEL: sand_race_cancel(&e->race.race); return true;
    case ACT_CURVE:
        e->curve = act->number != 0;
        sand_simulation_want_curve(e->sim, e->curve);
        return true;
    default: return true;
    }
}

// --- the thread -------------------------------------------------------------------------------------------

static void sleep_until(Engine *e, double seconds) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    double until = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + seconds;
    t.tv_sec = (time_t)until;
    t.tv_nsec = (long)(1e9 * (until - (double)t.tv_sec));
    if (e->queued == 0 && !e->quit) pthread_cond_timedwait(&e->wake, &e->lock, &t);
}

// Seconds until the next step is due; zero or less: now. A run that falls behind does not try to catch up.
static double due_in(Engine *e) {
    double time = sand_simulation_world(e->sim)->time;
    double wait = (time - e->clock_time) / e->speed - (sand_seconds() - e->clock_wall);
    if (wait < -0.1) e->clock_wall = sand_seconds(), e->clock_time = time;
    return wait;
}

static void measure_factor(Engine *e) {
    double wall = sand_seconds(), time = sand_simulation_world(e->sim)->time;
    if (wall - e->factor_wall < 0.5) return;
    e->factor = (time - e->factor_time) / (wall - e->factor_wall);
    e->factor_wall = wall, e->factor_time = time;
}

static void complain(Engine *e, const SandError *error) {
    tell(e, error->text);
    e->playing = false, e->steps_due = 0;
}

static void *engine_main(void *argument) {
    Engine *e = argument;
    SandError error;
    if (!publish(e, &error)) complain(e, &error);
    while (!e->quit) {
        // Requests are taken here, between two steps.
        Act acts[QUEUE];
        pthread_mutex_lock(&e->lock);
        bool active = e->playing || e->steps_due > 0;
        double wait = !active ? 1 : e->steps_due > 0 ? 0 : due_in(e);
        if (wait > 0) sleep_until(e, wait);
        int count = e->queued;
        memcpy(acts, e->queue, (size_t)count * sizeof *acts);
        e->queued = 0;
        pthread_mutex_unlock(&e->lock);
        for (int i = 0; i < count; i++)
            if (!obey(e, &acts[i], &error)) complain(e, &error);

        active = e->steps_due > 0 || (e->playing && due_in(e) <= 0);
        if (active) {
            if (e->steps_due > 0) e->steps_due--;
            if (!take_step(e, &error) || (e->shadow && !solve_shadow(e, &error))) complain(e, &error);
            measure_factor(e);
        }
        if ((active || count) && !publish(e, &error)) complain(e, &error);
    }
    return NULL;
}

bool engine_ask(Engine *e, const Act *act) {
    pthread_mutex_lock(&e->lock);
    // A drag follows the hand: only its newest place counts.
    bool follows = act->kind == ACT_DRAG && e->queued && e->queue[e->queued - 1].kind == ACT_DRAG;
    if (follows) e->queued--;
    bool room = e->queued < QUEUE;
    if (room) e->queue[e->queued++] = *act;
    pthread_cond_signal(&e->wake);
    pthread_mutex_unlock(&e->lock);
    return room;
}

Engine *engine_create(const EngineDef *def, SandError *error) {
    Engine *e = calloc(1, sizeof *e);
    if (!e) return sand_fail(error, "out of memory for the simulation"), NULL;
    e->def = *def;
    e->playing = def->playing;
    e->speed = 1;
    e->writing = 0, e->reading = 1;
    atomic_store(&e->ready, 2);
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->wake, NULL);
    history_init(&e->history, KEYFRAME_DISTANCE, def->history_bytes);
    bool ready = false;
    if (def->opened) {
        e->scene = *def->opened;
        *def->opened = (SandScene){0};
        ready = start_scene(e, &e->scene, error);
        if (ready) show_scene(e, true);
    } else {
        ready = open_scene(e, def->scene, 0, error);
    }
    if (!ready) return engine_free(e), NULL;
    e->started = pthread_create(&e->thread, NULL, engine_main, e) == 0;
    if (!e->started) return sand_fail(error, "the simulation's thread could not be started"), engine_free(e), NULL;
    return e;
}

void engine_free(Engine *e) {
    if (!e) return;
    pthread_mutex_lock(&e->lock);
    e->quit = true;
    pthread_cond_signal(&e->wake);
    pthread_mutex_unlock(&e->lock);
    if (e->started) pthread_join(e->thread, NULL);
    sand_simulation_free(e->sim);
    sand_scene_free(&e->scene);
    race_job_free(&e->race);
    sand_cpu_free(e->shadow_cpu);
    sand_solution_free(&e->shadow_solution);
    history_free(&e->history);
    acts_free(&e->log);
    for (int i = 0; i < FRAMES; i++) {
        picture_free(&e->frames[i].picture);
        sand_free(e->frames[i].curve);
        sand_free(e->frames[i].shadow);
    }
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->wake);
    free(e);
}

const RaceJob *engine_race(const Engine *engine) { return &engine->race; }
