// SPDX-License-Identifier: MIT
// The second run: how it parts from the first, follows it, and goes back with it.
#include "app/engine/beside.h"

#include <stdio.h>

#include "sim/step/checkpoint.h"

static uint64_t step_of(const SandSimulation *sim) { return sand_simulation_world(sim)->step_index; }

void beside_free(Beside *b) {
    sand_simulation_free(b->sim);
    timeline_free(&b->timeline);
    *b = (Beside){0};
}

// --- parting ------------------------------------------------------------------------------------------------

// Bodies that were thrown into the first run: a checkpoint has the state of bodies, not the bodies themselves.
static bool add_thrown(Beside *b, const BesideDef *def, SandError *error) {
    SandSolveDef unused = def->simulation.solve;
    for (int i = 0; i < def->done; i++) {
        const Act *act = &def->log->items[i].act;
        if (act->kind == ACT_THROW && !act_apply(act, def->scene, b->sim, &unused, error)) return false;
    }
    return true;
}

static bool copy_state(Beside *b, const BesideDef *def, SandError *error) {
    SandCheckpoint state = {0};
    bool copied = add_thrown(b, def, error) && sand_simulation_save_state(def->first, &state, error) &&
                  sand_simulation_restore_state(b->sim, &state, error);
    sand_checkpoint_free(&state);
    return copied;
}

static void choose_backend(Beside *b, const BesideDef *def) {
    SandError why;
    SandSolveDef solve = def->simulation.solve;
    char sentence[SAND_SENTENCE];
    Act act = {.kind = ACT_BACKEND, .number = backends_kind(sand_simulation_backend(def->first))};
    if (act_apply(&act, def->scene, b->sim, &solve, &why)) return;
    snprintf(sentence, sizeof sentence, "%.200s; the CPU takes the steps of the second run", why.text);
    if (b->tell) b->tell(b->user, sentence);
}

// The acts of the first run that are still to come, where it is a replay or has gone back.
static bool copy_acts_ahead(Beside *b, const ActLog *log, int done, SandError *error) {
    for (int i = done; i < log->count; i++) {
        const LoggedAct *logged = &log->items[i];
        if (logged->act.kind != ACT_SOLVE && !acts_add(&b->timeline.log, logged->step, &logged->act, error)) return false;
    }
    return true;
}

static bool part(Beside *b, const BesideDef *def, SandError *error) {
    SandSimulationDef simulation = def->simulation;
    simulation.backend = NULL;
    b->tell = def->tell;
    b->user = def->user;
    b->since = step_of(def->first);
    if (!sand_solve_check(&simulation.solve, error) || !timeline_init(&b->timeline, NULL, def->history_bytes, error) ||
        !sand_scene_build(def->scene, error) || !(b->sim = sand_simulation_create(&def->scene->world, &simulation, error)) ||
        !copy_state(b, def, error))
        return false;
    choose_backend(b, def);
    sand_simulation_on_message(b->sim, b->tell, b->user);
    return timeline_begin(&b->timeline, b->sim, &simulation.solve, error) && copy_acts_ahead(b, def->log, def->done, error);
}

bool beside_start(Beside *b, const BesideDef *def, SandError *error) {
    Beside next = {0};
    bool parted = part(&next, def, error);
    beside_free(b);
    if (parted)
        *b = next;
    else
        beside_free(&next);
    return parted;
}

// --- acts ---------------------------------------------------------------------------------------------------

bool beside_translate(Act *act, SandSimulation *from, SandSimulation *to, SandError *error) {
    if (act->kind != ACT_GRAB) return true;
    if (!sand_simulation_fetch(from, error) || !sand_simulation_fetch(to, error)) return false;
    const SandWorld *a = sand_simulation_world(from), *b = sand_simulation_world(to);
    int body = act->body;
    if (body < 0 || body >= a->body_count || body >= b->body_count) return true; // act_apply says what is wrong
    SandVec3 arm = q_unrotate(a->rotation[body], v3_sub(act->vector, a->position[body]));
    act->vector = v3_add(b->position[body], q_rotate(b->rotation[body], arm));
    return true;
}

bool beside_act(Beside *b, const Act *act, const SandScene *scene, SandSimulation *first, SandError *error) {
    Act own = *act;
    ActLog *log = &b->timeline.log;
    if (act->kind == ACT_SOLVE) return timeline_branch(&b->timeline, b->sim), true;
    if (!beside_translate(&own, first, b->sim, error) || !timeline_act(&b->timeline, &own, scene, b->sim, error))
        return false;
    log->items[log->count - 1].act = *act;
    return true;
}

bool beside_solve(Beside *b, const SandSolveDef *solve, const SandScene *scene, const Timeline *first, SandError *error) {
    Act act = {.kind = ACT_SOLVE, .solve = *solve};
    bool changed = timeline_act(&b->timeline, &act, scene, b->sim, error);
    SandError memory;
    return copy_acts_ahead(b, &first->log, first->done, changed ? error : &memory) && changed;
}

bool beside_replay(Beside *b, const SandScene *scene, SandSimulation *first, SandError *error) {
    Timeline *t = &b->timeline;
    uint64_t step = step_of(b->sim);
    if (step != step_of(first)) return true; // one of them still has to come here
    while (t->done < t->log.count && t->log.items[t->done].step <= step) {
        Act own = t->log.items[t->done++].act;
        if (!beside_translate(&own, first, b->sim, error) || !act_apply(&own, scene, b->sim, &t->solve, error)) return false;
    }
    t->backend = backends_kind(sand_simulation_backend(b->sim));
    return true;
}

// --- steps --------------------------------------------------------------------------------------------------

bool beside_follow(Beside *b, const SandScene *scene, SandSimulation *first, SandError *error) {
    Timeline *t = &b->timeline;
    while (step_of(b->sim) < step_of(first)) {
        if (!timeline_replay(t, scene, b->sim, error) || !sand_simulation_step(b->sim, error)) return false;
        timeline_lost_device(t, b->sim); // the CPU has gone on, perhaps from an earlier step
        if (t->history.budget > 0 && !timeline_note(t, b->sim, error)) return false;
    }
    return true;
}

bool beside_go_back(Beside *b, uint64_t step, const SandScene *scene, SandError *error) {
    return timeline_go_back(&b->timeline, step, scene, b->sim, error);
}

// --- in a frame ---------------------------------------------------------------------------------------------

void beside_match(RenderScene *second, const RenderScene *first) {
    second->chains = first->chains;
    second->map = first->map;
    second->limits = first->limits;
    if (first->limits.mode == RANGE_FIT) second->limits = (RenderRange){RANGE_SET, first->least, first->range};
}

bool beside_show(Beside *b, const SandScene *scene, unsigned scene_version, const RenderScene *like, BesideFrame *f,
                 SandError *error) {
    f->on = b->sim != NULL;
    if (!f->on) return true;
    const SandWorld *world = sand_simulation_world(b->sim);
    SandEnergy energy = sand_simulation_energy(b->sim);
    f->solve = b->timeline.solve;
    f->since = b->since;
    f->counters = *sand_simulation_counters(b->sim);
    f->kinetic = energy.kinetic;
    f->potential = energy.potential;
    if (f->scene_version != scene_version) {
        render_scene_free(&f->render_scene);
        if (!render_scene_init(&f->render_scene, world, scene->view_lower, scene->view_upper, error) ||
            !render_scene_dress(&f->render_scene, world, &scene->studio, error))
            return false;
        f->scene_version = scene_version;
    }
    beside_match(&f->render_scene, like);
    return render_scene_update(&f->render_scene, world, b->sim, world->time, like->color, error);
}
