// SPDX-License-Identifier: MIT
// What the engine tells the window: frames, the scene, messages.
#include "app/engine/engine_parts.h"

#include "sim/core/array.h"
#include "sim/core/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void engine_tell(void *user, const char *sentence) {
    Engine *e = user;
    pthread_mutex_lock(&e->lock);
    if (e->message_count == ENGINE_MESSAGES) { // drop the oldest
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

static void describe_backend(const Engine *e, char *text, size_t size) {
    const SandSimulationDef *def = &e->def.simulation;
    const char *device = sand_simulation_device_name(e->sim), *real = def->precision == SAND_FLOAT ? "float" : "double";
    if (e->timeline.backend == BACKEND_CPU)
        snprintf(text, size, "%s, %d thread%s, %s", device, def->threads, def->threads == 1 ? "" : "s", real);
    else
        snprintf(text, size, "%s, %s", device, real);
}

void engine_show_scene(Engine *e, Reason reason) {
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
    s->settled = e->scene.settled;
    s->knob_count = e->scene.knob_count;
    memcpy(s->knobs, e->scene.knobs, sizeof s->knobs);
    s->drivable = e->scene.vehicle.wheel_count > 0;
    s->follows = e->scene.follow >= 0;
    s->turns = e->scene.studio.frame != SAND_FRAME_NONE; // what stands in a frame is a glass with two ends
    const SandWorld *world = sand_simulation_world(e->sim);
    s->fastest_wheels = e->scene.vehicle.speed;
    s->solve = e->timeline.solve;
    s->has_beside = e->beside.sim;
    if (s->has_beside) s->beside = e->beside.timeline.solve;
    s->gravity = world->gravity;
    s->precision = e->def.simulation.precision;
    s->backend = e->timeline.backend;
    describe_backend(e, s->device, sizeof s->device);
    s->view_lower = e->scene.view_lower;
    s->view_upper = e->scene.view_upper;
    pthread_mutex_unlock(&e->lock);
}

void engine_views(Engine *e, CameraPath *views) {
    pthread_mutex_lock(&e->lock);
    *views = e->views;
    pthread_mutex_unlock(&e->lock);
}

void engine_scene(Engine *e, EngineScene *scene) {
    pthread_mutex_lock(&e->lock);
    *scene = e->shown;
    pthread_mutex_unlock(&e->lock);
}

static bool copy_curve(const SandSolution *s, EngineCurve *curve, int *count, SandError *error) {
    *count = 0;
    if (!SAND_RESERVE(*curve, s->curve_count, "residual curve", error)) return false;
    for (int i = 0; i < s->curve_count; i++) curve->data[i] = s->curve[i];
    *count = s->curve_count;
    return true;
}

// Where the body that the camera follows is now.
static bool publish_follow(Engine *e, EngineFrame *f, SandError *error) {
    SandBodyState body;
    f->follow_moved = f->follow_velocity = v3_make(0, 0, 0);
    if (e->scene.follow < 0) return true;
    if (!sand_simulation_read_body(e->sim, e->scene.follow, &body, error)) return false;
    f->follow_moved = v3_sub(body.position, e->scene.follow_from);
    f->follow_velocity = body.velocity;
    return true;
}

bool engine_publish(Engine *e, SandError *error) {
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
    bool contacts = e->picked >= 0 || e->scene.vehicle.wheel_count;
    if (contacts && (!sand_simulation_fetch(e->sim, error) || !sand_simulation_fetch_contacts(e->sim, error))) return false;
    f->picked = picked_body_read(e->sim, e->picked);
    wheels_read(&e->scene.vehicle, e->sim, &f->wheels);
    probe_readings_read(world, &f->probes);
    if (!publish_follow(e, f, error)) return false;
    f->curve_count = f->shadow_count = 0;
    if (e->curve && !copy_curve(sand_simulation_solution(e->sim), &f->curve, &f->curve_count, error)) return false;
    if (e->shadow && !copy_curve(&e->shadow_solution, &f->shadow, &f->shadow_count, error)) return false;
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
        engine_tell(e, error.text);
        if (!render_scene_read_store(&f->render_scene, &error)) render_scene_clear(&f->render_scene);
    }
    snprintf(f->transfer, sizeof f->transfer, "%s", triple_buffer_transfer(e->buffer));
    return f;
}

void engine_drawn(Engine *e) { triple_buffer_drawn(e->buffer); }

// --- work -------------------------------------------------------------------------------------------------------

bool engine_begin_work(Engine *e, double expected, const char *format, ...) {
    if (*e->work.what) return false; // written by this thread alone
    char what[SAND_SENTENCE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&e->lock);
    e->work = (EngineWork){.seconds = sand_seconds(), .expected = expected};
    memcpy(e->work.what, what, sizeof what);
    pthread_mutex_unlock(&e->lock);
    return true;
}

void engine_work_done(Engine *e, double share) {
    const double ENOUGH = 0.02; // before that the guess means nothing
    pthread_mutex_lock(&e->lock);
    if (share > ENOUGH) e->work.expected = (sand_seconds() - e->work.seconds) / share;
    pthread_mutex_unlock(&e->lock);
}

void engine_end_work(Engine *e, bool began) {
    if (!began) return;
    pthread_mutex_lock(&e->lock);
    e->work.what[0] = '\0';
    __atomic_store_n(&e->stop, e->quit, __ATOMIC_RELAXED); // the window that closes stops what follows too
    pthread_mutex_unlock(&e->lock);
}

bool engine_canceled(const Engine *e) { return __atomic_load_n(&e->stop, __ATOMIC_RELAXED) != 0; }

void engine_work(Engine *e, EngineWork *work) {
    pthread_mutex_lock(&e->lock);
    *work = e->work;
    pthread_mutex_unlock(&e->lock);
    work->seconds = sand_seconds() - work->seconds;
}

void engine_cancel(Engine *e) {
    pthread_mutex_lock(&e->lock);
    if (*e->work.what) __atomic_store_n(&e->stop, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&e->lock);
}
