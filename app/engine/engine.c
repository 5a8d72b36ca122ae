// The engine thread: requests in, frames out. engine_main is the loop; read it first.
//
//   window thread                         engine thread
//   engine_ask ------> queue -----------> obey, between two steps
//   engine_frame <---- triple buffer <--- publish, after every step
//   engine_scene, engine_messages <------ under the lock
//
// Only the engine thread touches the simulation. A seek goes back to a keyframe and runs forward again (timeline.h).
#include "app/engine/engine.h"

#include "sim/core/array.h"
#include "sim/core/clock.h"
#include "app/engine/aim.h"
#include "app/engine/beside.h"
#include "app/engine/timeline.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { QUEUE = 256, MESSAGES = 64 };

struct Engine {
    pthread_t thread;
    bool started;
    atomic_bool quit;

    // The simulation: owned by the engine thread while it runs.
    EngineDef def;
    SandScene scene;
    SandSimulation *sim;
    char scene_name[TAKE_PATH]; // name or path it was opened by
    Timeline timeline;
    Beside beside; // the second run
    SandCpu *shadow_cpu;
    SandSolveDef shadow_solve;
    bool shadow, curve;
    SandSolution shadow_solution;
    RaceJob race;
    bool playing;
    int64_t steps_due; // steps still to take, even while paused
    double speed;
    double clock_wall, clock_time; // pacing: this simulated time is due at this wall time
    double factor;                 // recent real-time factor
    double factor_wall, factor_time;
    RenderColor color;
    int picked; // body that the probe reads, -1: none
    bool chains;
    RenderRange limits; // of the color map

    EngineFrame frames[TRIPLE_BUFFER_SLOTS]; // one for each slot of the triple buffer, which holds its instances
    TripleBuffer *buffer;

    // Shared with the window, guarded by `lock`.
    pthread_mutex_t lock;
    pthread_cond_t wake;
    Act queue[QUEUE];
    int queued;
    EngineScene shown;
    char save_path[TAKE_PATH]; // a take is to be saved here; "": none
    CameraPath save_views;
    char messages[MESSAGES][SAND_SENTENCE];
    int message_count;
};

EngineDef engine_default(void) {
    EngineDef def = {
        .scene = "hourglass", .simulation = sand_default_simulation(), .playing = true, .history_bytes = 512u << 20};
    return def;
}

// --- what the window reads -----------------------------------------------------------------------------------

static void tell(void *user, const char *sentence) {
    Engine *e = user;
    pthread_mutex_lock(&e->lock);
    if (e->message_count == MESSAGES) { // drop the oldest
        memmove(e->messages[0], e->messages[1], sizeof e->messages - sizeof e->messages[0]);
        e->message_count--;
    }
    snprintf(e->messages[e->message_count++], SAND_SENTENCE, "%s", sentence);
    pthread_mutex_unlock(&e->lock);
}

int engine_messages(Engine *e, char (*messages)[SAND_SENTENCE], int capacity) {
    pthread_mutex_lock(&e->lock);
    int count = e->message_count < capacity ? e->message_count : capacity;
    memcpy(messages, e->messages, (size_t)count * SAND_SENTENCE);
    memmove(e->messages, e->messages[count], (size_t)(e->message_count - count) * SAND_SENTENCE);
    e->message_count -= count;
    pthread_mutex_unlock(&e->lock);
    return count;
}

// Why the published scene changed: a request, a replay or a step back that changed settings, or a new scene.
typedef enum Reason { AFTER_ACT, AFTER_REPLAY, NEW_SCENE } Reason;

static void describe_backend(const Engine *e, char *text, size_t size) {
    const SandSimulationDef *def = &e->def.simulation;
    const char *device = sand_simulation_device_name(e->sim), *real = def->precision == SAND_FLOAT ? "float" : "double";
    if (e->timeline.backend == BACKEND_CPU)
        snprintf(text, size, "%s, %d thread%s, %s", device, def->threads, def->threads == 1 ? "" : "s", real);
    else
        snprintf(text, size, "%s, %s", device, real);
}

static void show_scene(Engine *e, Reason reason) {
    pthread_mutex_lock(&e->lock);
    EngineScene *s = &e->shown;
    if (reason == NEW_SCENE) s->version++;
    if (reason != AFTER_ACT) s->settings++;
    memcpy(s->name, e->scene.name, sizeof s->name);
    memcpy(s->about, e->scene.about, sizeof s->about);
    size_t length = strlen(e->scene_name);
    bool by_path = length > 5 && !strcmp(e->scene_name + length - 5, ".yaml");
    snprintf(s->file, sizeof s->file, "%s", by_path ? e->scene_name : "");
    s->bodies = e->scene.bodies;
    s->knob_count = e->scene.knob_count;
    memcpy(s->knobs, e->scene.knobs, sizeof s->knobs);
    s->solve = e->timeline.solve;
    s->has_beside = e->beside.sim;
    if (s->has_beside) s->beside = e->beside.timeline.solve;
    s->gravity = sand_simulation_world(e->sim)->gravity;
    s->precision = e->def.simulation.precision;
    s->backend = e->timeline.backend;
    describe_backend(e, s->device, sizeof s->device);
    s->view_lower = e->scene.view_lower;
    s->view_upper = e->scene.view_upper;
    pthread_mutex_unlock(&e->lock);
}

void engine_scene(Engine *e, EngineScene *scene) {
    pthread_mutex_lock(&e->lock);
    *scene = e->shown;
    pthread_mutex_unlock(&e->lock);
}

static bool copy_curve(const SandSolution *s, SandCurvePoint **curve, size_t *capacity, int *count, SandError *error) {
    *count = 0;
    if (!sand_grow((void *)curve, capacity, (size_t)s->curve_count, sizeof **curve, "residual curve", error)) return false;
    for (int i = 0; i < s->curve_count; i++) (*curve)[i] = s->curve[i];
    *count = s->curve_count;
    return true;
}

// Fills the frame of the slot being written and publishes it, replacing one that the window has not fetched yet.
static bool publish(Engine *e, SandError *error) {
    EngineFrame *f = &e->frames[triple_buffer_writing(e->buffer)];
    const SandWorld *world = sand_simulation_world(e->sim);
    f->step = world->step_index;
    f->time = world->time;
    f->step_seconds = world->step;
    f->real_time_factor = e->factor;
    f->playing = e->playing;
    f->bodies = world->body_count;
    f->counters = *sand_simulation_counters(e->sim);
    f->profile = *sand_simulation_profile(e->sim);
    SandEnergy energy = sand_simulation_energy(e->sim);
    f->kinetic = energy.kinetic;
    f->potential = energy.potential;
    f->oldest_step = history_oldest(&e->timeline.history);
    f->newest_step = e->timeline.newest;
    f->acts = e->timeline.take ? 0 : e->timeline.done;
    if (e->picked >= 0 && (!sand_simulation_fetch(e->sim, error) || !sand_simulation_fetch_contacts(e->sim, error)))
        return false;
    f->picked = probe_read(e->sim, e->picked);
    f->curve_count = f->shadow_count = 0;
    if (e->curve && !copy_curve(sand_simulation_solution(e->sim), &f->curve, &f->curve_capacity, &f->curve_count, error))
        return false;
    if (e->shadow && !copy_curve(&e->shadow_solution, &f->shadow, &f->shadow_capacity, &f->shadow_count, error))
        return false;
    if (f->scene_version != e->shown.version) {
        render_scene_free(&f->render_scene);
        if (!render_scene_init(&f->render_scene, world, e->scene.view_lower, e->scene.view_upper, error) ||
            !render_scene_dress(&f->render_scene, world, &e->scene.studio, error))
            return false;
        f->scene_version = e->shown.version;
    }
    f->render_scene.store = triple_buffer_store(e->buffer);
    f->render_scene.chains = e->chains;
    f->render_scene.limits = e->limits;
    if (!render_scene_update(&f->render_scene, world, e->sim, world->time, e->color, error) ||
        !beside_show(&e->beside, &e->scene, e->shown.version, &f->render_scene, &f->beside, error))
        return false;
    triple_buffer_publish(e->buffer);
    return true;
}

EngineFrame *engine_frame(Engine *e) {
    if (!triple_buffer_acquire(e->buffer)) return NULL;
    EngineFrame *f = &e->frames[triple_buffer_reading(e->buffer)];
    SandError error;
    if (!triple_buffer_fetch(e->buffer, &f->render_scene.buffer, &error)) {
        tell(e, error.text);
        if (!render_scene_read_store(&f->render_scene, &error)) render_scene_clear(&f->render_scene);
    }
    snprintf(f->transfer, sizeof f->transfer, "%s", triple_buffer_transfer(e->buffer));
    return f;
}

void engine_drawn(Engine *e) { triple_buffer_drawn(e->buffer); }

// --- the second run -------------------------------------------------------------------------------------------

// Starts a second run with this solver from the state of the first. What it cannot do must not stop the first.
static void part(Engine *e, const SandSolveDef *solve) {
    SandError why;
    BesideDef def = {.scene = &e->scene,
                     .first = e->sim,
                     .log = &e->timeline.log,
                     .done = e->timeline.done,
                     .simulation = e->def.simulation,
                     .history_bytes = e->def.history_bytes,
                     .tell = tell,
                     .user = e};
    def.simulation.solve = *solve;
    if (!beside_start(&e->beside, &def, &why)) tell(e, why.text);
}

// After the first run began somewhere else.
static void part_anew(Engine *e) {
    if (!e->beside.sim) return;
    SandSolveDef solve = e->beside.timeline.solve;
    part(e, &solve);
    show_scene(e, AFTER_REPLAY);
}

static void end_beside(Engine *e, const SandError *why) {
    char sentence[SAND_SENTENCE];
    snprintf(sentence, sizeof sentence, "%.200s; the second run ends here", why->text);
    tell(e, sentence);
    beside_free(&e->beside);
    show_scene(e, AFTER_REPLAY);
}

// Begins, changes or ends the second run.
static bool ask_beside(Engine *e, const Act *act, SandError *error) {
    bool ok = true;
    if (act->number == 0)
        beside_free(&e->beside);
    else if (e->beside.sim)
        ok = beside_solve(&e->beside, &act->solve, &e->scene, &e->timeline, error);
    else
        part(e, &act->solve);
    bool as_asked = ok && (e->beside.sim != NULL) == (act->number != 0);
    show_scene(e, as_asked ? AFTER_ACT : AFTER_REPLAY); // else the panel is reset to what is in use
    return ok;
}

// --- scenes -----------------------------------------------------------------------------------------------

static void restart_clock(Engine *e) {
    e->clock_wall = e->factor_wall = sand_seconds();
    e->clock_time = e->factor_time = sand_simulation_world(e->sim)->time;
}

// Keeps the current backend for a new simulation; where that fails, the CPU takes over and a message says why.
static void choose_backend(Engine *e, SandSimulation *sim, SandSolveDef *solve) {
    SandError why;
    char sentence[SAND_SENTENCE];
    if (!act_apply(&(Act){.kind = ACT_BACKEND, .number = e->timeline.backend}, NULL, sim, solve, &why)) {
        snprintf(sentence, sizeof sentence, "%.220s; the CPU goes on", why.text);
        tell(e, sentence);
    }
}

// Builds an opened scene and replaces the simulation. On failure the old one goes on. `gravity` NULL: as the scene says.
static bool start_scene(Engine *e, SandScene *scene, const SandSolveDef *solve, const SandVec3 *gravity, SandError *error) {
    if (!sand_scene_build(scene, error)) return false;
    SandSimulationDef def = e->def.simulation;
    def.solve = *solve;
    def.backend = NULL;
    if (gravity) scene->world.gravity = *gravity;
    SandSimulation *sim = sand_simulation_create(&scene->world, &def, error);
    if (!sim) return false;
    choose_backend(e, sim, &def.solve);
    sand_simulation_free(e->sim);
    e->sim = sim;
    sand_simulation_on_message(sim, tell, e);
    sand_simulation_want_curve(sim, e->curve);
    e->steps_due = 0;
    restart_clock(e);
    return timeline_begin(&e->timeline, sim, &def.solve, error);
}

// Restarts the scene with the current settings; a take that is being replayed restarts with its own.
static bool restart_scene(Engine *e, bool own_gravity, SandError *error) {
    Timeline *t = &e->timeline;
    SandSolveDef solve = t->take ? t->first_solve : t->solve;
    SandVec3 gravity = t->take ? t->first_gravity : sand_simulation_world(e->sim)->gravity;
    if (t->take) t->backend = t->first_backend;
    if (!start_scene(e, &e->scene, &solve, own_gravity ? NULL : &gravity, error)) return false;
    part_anew(e);
    show_scene(e, NEW_SCENE);
    return true;
}

// Takes ownership of `scene` and publishes it.
static void replace_scene(Engine *e, SandScene *scene, const char *name) {
    sand_scene_free(&e->scene);
    e->scene = *scene;
    if (name != e->scene_name) snprintf(e->scene_name, sizeof e->scene_name, "%s", name);
    show_scene(e, NEW_SCENE);
}

// The solver definition for a scene that is opened while another runs: the same scene keeps the current one, another scene
// gets its own with the options of the command line applied.
static SandSolveDef solve_of(Engine *e, const SandScene *scene, bool again) {
    SandSolveDef solve = again ? e->timeline.solve : scene->solve;
    SandError why;
    char sentence[SAND_SENTENCE];
    if (again || !e->def.choose_solve || e->def.choose_solve(e->def.asked, scene, &solve, &why)) return solve;
    snprintf(sentence, sizeof sentence, "%.160s; %.60s has its own settings", why.text, scene->name);
    tell(e, sentence);
    return scene->solve;
}

// Opens and starts a scene with this many bodies, 0: as it says. On failure the old one goes on.
static bool open_scene(Engine *e, const char *name, int bodies, SandError *error) {
    SandScene scene;
    SandSceneOptions options = e->def.options;
    options.bodies = bodies;
    if (!sand_scene_open(&scene, name, &options, error)) return false;
    const Take *take = e->timeline.take;
    bool first = !e->sim, again = !first && !strcmp(name, e->scene_name);
    SandVec3 gravity = again ? sand_simulation_world(e->sim)->gravity : v3_make(0, 0, 0);
    SandSolveDef solve = first && e->def.own_solve ? e->def.simulation.solve : solve_of(e, &scene, again);
    e->timeline.take = NULL;
    if (!start_scene(e, &scene, &solve, again ? &gravity : NULL, error)) {
        e->timeline.take = take;
        sand_scene_free(&scene);
        return false;
    }
    replace_scene(e, &scene, name);
    part_anew(e);
    return true;
}

// Opens another scene. The body count asked for at the start is an upper bound for every scene that can be that small.
static bool change_scene(Engine *e, const char *name, int bodies, SandError *error) {
    int most = e->def.options.bodies;
    if (!strcmp(name, e->scene.name)) name = e->scene_name; // a scene file may be outside the scenes folder
    if (bodies == 0 && most > 0) {
        SandScene scene;
        SandSceneOptions options = e->def.options;
        options.bodies = 0;
        if (!sand_scene_open(&scene, name, &options, error)) return false;
        bool smaller = scene.bodies > most;
        sand_scene_free(&scene);
        if (smaller && open_scene(e, name, most, error)) return true;
    }
    return open_scene(e, name, bodies, error);
}

// --- requests -------------------------------------------------------------------------------------------------

// At the last step of a take: pauses, and compares the state with the hash in the take.
static void end_replay(Engine *e) {
    SandError error;
    const Take *take = e->timeline.take;
    const SandWorld *world = sand_simulation_world(e->sim);
    if (!take || take->steps == 0 || world->step_index != take->steps) return;
    e->playing = false;
    if (sand_simulation_fetch(e->sim, &error) && take_check(take, world, &error))
        tell(e, "The take ends here. From now on the run is yours.");
    else
        tell(e, error.text);
}

// Runs the shadow solver on the problem of the coming step.
static bool solve_shadow(Engine *e, SandError *error) {
    if (!e->shadow_cpu) e->shadow_cpu = sand_cpu_create(e->def.simulation.threads, e->def.simulation.precision, error);
    e->shadow_solution.want_curve = true;
    return e->shadow_cpu && sand_simulation_build(e->sim, error) &&
           sand_cpu_solve(e->shadow_cpu, sand_simulation_problem(e->sim), &e->shadow_solve, &e->shadow_solution, error);
}

// Takes one step, first applying the logged acts that belong before it when the run goes over known steps again.
static bool take_step(Engine *e, bool with_shadow, SandError *error) {
    Timeline *t = &e->timeline;
    int done = t->done;
    if (!timeline_replay(t, &e->scene, e->sim, error)) return false;
    if (t->done > done) show_scene(e, AFTER_REPLAY);
    if (with_shadow && !solve_shadow(e, error)) return false;
    SandError why;
    if (e->beside.sim && !beside_replay(&e->beside, &e->scene, e->sim, &why)) end_beside(e, &why);
    if (e->def.before_step) e->def.before_step();
    if (!sand_simulation_step(e->sim, error)) return false;
    if (e->beside.sim && !beside_follow(&e->beside, &e->scene, e->sim, &why)) end_beside(e, &why);
    if (timeline_lost_device(t, e->sim)) show_scene(e, AFTER_REPLAY);
    if (sand_simulation_world(e->sim)->step_index > t->newest) end_replay(e);
    return timeline_note(t, e->sim, error);
}

// Goes back to a keyframe at or before a past step, the second run too, which waits until the first has come to its own.
// `both`: false where the second run has none, because it parted later.
static bool go_back(Engine *e, uint64_t step, bool *both, SandError *error) {
    SandError none;
    *both = e->beside.sim && beside_go_back(&e->beside, step, &e->scene, &none);
    uint64_t from = *both ? sand_simulation_world(e->beside.sim)->step_index : step;
    if (from < history_oldest(&e->timeline.history)) {
        *both = false;
        from = step;
    }
    return timeline_go_back(&e->timeline, from, &e->scene, e->sim, error);
}

static bool seek(Engine *e, uint64_t step, SandError *error) {
    bool both = true;
    if (step < sand_simulation_world(e->sim)->step_index) {
        if (!go_back(e, step, &both, error)) return false;
        show_scene(e, AFTER_REPLAY);
    }
    while (sand_simulation_world(e->sim)->step_index < step && !e->quit)
        if (!take_step(e, false, error)) return false;
    if (both || !e->beside.sim) return true;
    char sentence[SAND_SENTENCE];
    snprintf(sentence, sizeof sentence, "The second run parted after step %llu; now it begins here.",
             (unsigned long long)step);
    tell(e, sentence);
    part_anew(e);
    return true;
}

// Starts a race on the problem of the last step, the one on the screen; at the start, and after a seek, on that of the next
// step. The scene keeps its threads; the race has one CPU thread, or the backend that the scene is on.
static bool start_race(Engine *e, const Act *act, SandError *error) {
    SandRaceDef def = sand_default_race();
    const SandProblem *problem = sand_simulation_problem(e->sim);
    if (!sand_simulation_fetch_contacts(e->sim, error)) return false;
    if (!problem->contact_count && !sand_simulation_build(e->sim, error)) return false;
    if (!problem->contact_count) return sand_fail(error, "this step has no contacts to race on");
    def.solve = act->solve;
    def.own_params = true;
    def.cold = act->number != 0;
    def.backend = sand_simulation_backend(e->sim);
    return sand_race_parse(&def, act->text, error) &&
           race_job_start(&e->race, problem, &def, sand_simulation_world(e->sim)->step_index, error);
}

// Finds where a ball that is aimed along a ray can start.
static bool aim(Engine *e, const Act *act, Act *ball, SandError *error) {
    double speed = v3_length(act->direction);
    AimDef def = {.from = act->vector,
                  .direction = v3_unit_or(act->direction, v3_make(0, 0, -1)),
                  .lower = e->scene.view_lower,
                  .upper = e->scene.view_upper,
                  .radius = act->number,
                  .least = 0.2 * act->number,
                  .speed = speed};
    Throw found;
    if (!sand_simulation_fetch(e->sim, error) || !aim_throw(sand_simulation_world(e->sim), &def, &found, error))
        return false;
    *ball = (Act){.kind = ACT_THROW, .vector = found.start, .direction = found.velocity, .number = found.radius};
    return true;
}

// Both runs get the act, but for a solver, which is that of the first.
static bool change_motion(Engine *e, const Act *act, SandError *error) {
    Act first = *act;
    SandError why;
    if (first.beside && e->beside.sim && !beside_translate(&first, e->beside.sim, e->sim, error)) return false;
    first.beside = false;
    bool ok = timeline_act(&e->timeline, &first, &e->scene, e->sim, error);
    if (ok && e->beside.sim && !beside_act(&e->beside, &first, &e->scene, e->sim, &why)) end_beside(e, &why);
    show_scene(e, ok ? AFTER_ACT : AFTER_REPLAY); // resets the panel to what is in use
    return ok;
}

static bool obey(Engine *e, const Act *act, SandError *error) {
    Act ball;
    if (act->kind == ACT_AIM) {
        if (aim(e, act, &ball, error)) return obey(e, &ball, error);
        tell(e, error->text); // a refused throw is no reason to pause
        return true;
    }
    if (act_changes_motion(act->kind)) return change_motion(e, act, error);
    switch (act->kind) {
    case ACT_PLAY:
        e->playing = act->number != 0;
        e->steps_due = 0;
        restart_clock(e);
        return true;
    case ACT_STEP:
        e->playing = false;
        e->steps_due += (int64_t)act->number;
        return true;
    case ACT_SEEK:
        e->playing = false;
        e->steps_due = 0;
        return seek(e, act->number > 0 ? (uint64_t)act->number : 0, error);
    case ACT_RESET: return restart_scene(e, false, error);
    case ACT_SCENE: return change_scene(e, act->text, (int)act->number, error);
    case ACT_KNOB: {
        int knob = sand_scene_knob(&e->scene, act->text);
        if (knob < 0) return sand_fail(error, "the scene has no knob '%s'", act->text);
        e->timeline.take = NULL;
        return sand_scene_set_knob(&e->scene, knob, act->number, error) &&
               restart_scene(e, e->scene.knobs[knob].kind == SAND_KNOB_TILT, error);
    }
    case ACT_SHADOW:
        e->shadow = act->number != 0;
        e->shadow_solve = act->solve;
        return true;
    case ACT_SPEED:
        e->speed = act->number;
        restart_clock(e);
        return true;
    case ACT_COLOR: e->color = (RenderColor)act->number; return true;
    case ACT_RANGE: e->limits = (RenderRange){(RenderRangeMode)act->number, act->vector.x, act->vector.y}; return true;
    case ACT_CHAINS: e->chains = act->number != 0; return true;
    case ACT_RACE: return start_race(e, act, error);
    case ACT_RACE_CANCEL: sand_race_cancel(&e->race.race); return true;
    case ACT_CURVE:
        e->curve = act->number != 0;
        sand_simulation_want_curve(e->sim, e->curve);
        return true;
    case ACT_BESIDE: return ask_beside(e, act, error);
    case ACT_PICK: e->picked = act->body; return true;
    default: return true;
    }
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
    tell(e, saved ? sentence : error.text);
    pthread_mutex_lock(&e->lock);
    e->save_path[0] = '\0';
    pthread_mutex_unlock(&e->lock);
}

// --- the thread -------------------------------------------------------------------------------------------

// Waits for a request, at most this long; returns at once where one is already there. The caller holds the lock.
static void wait_for_request(Engine *e, double seconds) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    double until = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + seconds;
    t.tv_sec = (time_t)until;
    t.tv_nsec = (long)(1e9 * (until - (double)t.tv_sec));
    if (e->queued == 0 && !*e->save_path && !e->quit) pthread_cond_timedwait(&e->wake, &e->lock, &t);
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

static void complain(Engine *e, const SandError *error) {
    tell(e, error->text);
    e->playing = false;
    e->steps_due = 0;
}

// Lowers the priority of this thread, so that the window draws smoothly where cores are few. The worker threads of the
// simulation are created by this thread and inherit its priority.
static void lower_priority(void) {
    enum { NICE = 10 };
    setpriority(PRIO_PROCESS, 0, NICE); // on Linux this thread alone; where it is refused both share the cores evenly
}

static void *engine_main(void *argument) {
    Engine *e = argument;
    SandError error;
    lower_priority();
    if (!publish(e, &error)) complain(e, &error);
    while (!e->quit) {
        // Take the requests between two steps.
        Act acts[QUEUE];
        pthread_mutex_lock(&e->lock);
        bool active = e->playing || e->steps_due > 0;
        double wait = !active ? 1 : e->steps_due > 0 ? 0 : due_in(e);
        if (wait > 0) wait_for_request(e, wait);
        int count = e->queued;
        memcpy(acts, e->queue, (size_t)count * sizeof *acts);
        e->queued = 0;
        bool save = *e->save_path;
        pthread_mutex_unlock(&e->lock);
        for (int i = 0; i < count; i++)
            if (!obey(e, &acts[i], &error)) complain(e, &error);
        if (save) save_take(e);

        active = e->steps_due > 0 || (e->playing && due_in(e) <= 0);
        if (active) {
            if (e->steps_due > 0) e->steps_due--;
            if (!take_step(e, e->shadow, &error)) complain(e, &error);
            measure_factor(e);
        }
        if ((active || count) && !publish(e, &error)) complain(e, &error);
    }
    if (*e->save_path) save_take(e);
    return NULL;
}

bool engine_ask(Engine *e, const Act *act) {
    pthread_mutex_lock(&e->lock);
    // Consecutive drags collapse into the newest one.
    bool follows = act->kind == ACT_DRAG && e->queued && e->queue[e->queued - 1].kind == ACT_DRAG;
    if (follows) e->queued--;
    bool accepted = e->queued < QUEUE;
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
    if (ready && def->opened) {
        SandScene scene = *def->opened;
        *def->opened = (SandScene){0};
        ready = start_scene(e, &scene, def->own_solve ? &def->simulation.solve : &scene.solve,
                            def->own_gravity ? &def->gravity : NULL, error);
        if (ready)
            replace_scene(e, &scene, def->scene);
        else
            sand_scene_free(&scene);
    } else if (ready) {
        ready = open_scene(e, def->scene, def->options.bodies, error);
    }
    if (!ready) return engine_free(e), NULL;
    if (def->beside) ask_beside(e, &(Act){.number = 1, .solve = *def->beside}, error);
    e->started = pthread_create(&e->thread, NULL, engine_main, e) == 0;
    if (!e->started) return sand_fail(error, "the simulation's thread could not be started"), engine_free(e), NULL;
    return e;
}

void engine_stop(Engine *e) {
    pthread_mutex_lock(&e->lock);
    e->quit = true;
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
    race_job_free(&e->race);
    sand_cpu_free(e->shadow_cpu);
    sand_solution_free(&e->shadow_solution);
    timeline_free(&e->timeline);
    for (int i = 0; i < TRIPLE_BUFFER_SLOTS; i++) {
        render_scene_free(&e->frames[i].render_scene);
        render_scene_free(&e->frames[i].beside.render_scene);
        sand_free(e->frames[i].curve);
        sand_free(e->frames[i].shadow);
    }
    triple_buffer_free(e->buffer);
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->wake);
    free(e);
}

RaceJob *engine_race(Engine *engine) { return &engine->race; }
