// SPDX-License-Identifier: MIT
// Going back and forward along a run, with the settings that checkpoints do not hold.
#include "app/engine/timeline.h"

// Steps between two checkpoints: CHECKPOINT_DISTANCE, and as many more for every CHECKPOINT_BODIES bodies. A checkpoint
// costs time in proportion to the bodies, the more so where they must be downloaded from a device.
enum { CHECKPOINT_DISTANCE = 10, CHECKPOINT_BODIES = 100000 };

bool timeline_init(Timeline *t, const Take *take, size_t history_bytes, SandError *error) {
    *t = (Timeline){.take = take};
    history_init(&t->history, CHECKPOINT_DISTANCE, history_bytes);
    return !take || acts_copy(&t->log, &take->acts, error);
}

void timeline_free(Timeline *t) {
    history_free(&t->history);
    acts_free(&t->log);
}

bool timeline_begin(Timeline *t, SandSimulation *sim, const SandSolveDef *solve, SandError *error) {
    const SandWorld *world = sand_simulation_world(sim);
    t->solve = t->first_solve = *solve;
    t->backend = t->first_backend = backends_kind(sand_simulation_backend(sim));
    t->first_gravity = world->gravity;
    t->done = 0;
    if (!t->take) t->log.count = 0;
    t->newest = 0;
    history_clear(&t->history);
    t->history.distance = CHECKPOINT_DISTANCE * (1 + world->body_count / CHECKPOINT_BODIES);
    return history_note(&t->history, sim, error);
}

void timeline_branch(Timeline *t, const SandSimulation *sim) {
    uint64_t step = sand_simulation_world(sim)->step_index;
    t->log.count = t->done;
    t->take = NULL;
    history_cut(&t->history, step);
    t->newest = step;
}

bool timeline_act(Timeline *t, const Act *act, const SandScene *scene, SandSimulation *sim, SandError *error) {
    uint64_t step = sand_simulation_world(sim)->step_index;
    timeline_branch(t, sim);
    bool ok = act_apply(act, scene, sim, &t->solve, error) && acts_add(&t->log, step, act, error);
    t->done = t->log.count;
    t->backend = backends_kind(sand_simulation_backend(sim));
    return ok;
}

bool timeline_replay(Timeline *t, const SandScene *scene, SandSimulation *sim, SandError *error) {
    int before = t->done;
    if (!acts_replay(&t->log, &t->done, scene, sim, &t->solve, error)) return false;
    if (t->done > before) t->backend = backends_kind(sand_simulation_backend(sim));
    return true;
}

bool timeline_lost_device(Timeline *t, const SandSimulation *sim) {
    Backend now = backends_kind(sand_simulation_backend(sim));
    if (now == t->backend) return false;
    uint64_t step = sand_simulation_world(sim)->step_index;
    t->backend = t->first_backend = now;
    history_cut(&t->history, step - 1);
    t->newest = step;
    return true;
}

bool timeline_note(Timeline *t, SandSimulation *sim, SandError *error) {
    uint64_t step = sand_simulation_world(sim)->step_index;
    if (step > t->newest) t->newest = step;
    return history_note(&t->history, sim, error);
}

// Marks the acts before a step as done without applying them, and restores the solver and the backend in use there: a
// checkpoint holds neither.
static bool restore_settings(Timeline *t, uint64_t step, const SandScene *scene, SandSimulation *sim, SandError *error) {
    Act device = {.kind = ACT_BACKEND, .number = t->first_backend};
    t->solve = t->first_solve;
    for (t->done = 0; t->done < t->log.count && t->log.items[t->done].step < step; t->done++) {
        const Act *act = &t->log.items[t->done].act;
        if (act->kind == ACT_SOLVE) t->solve = act->solve;
        if (act->kind == ACT_BACKEND) device = *act;
    }
    if (!sand_simulation_set_solve(sim, &t->solve, error) || !act_apply(&device, scene, sim, &t->solve, error)) return false;
    t->backend = backends_kind(sand_simulation_backend(sim));
    return true;
}

bool timeline_go_back(Timeline *t, uint64_t step, const SandScene *scene, SandSimulation *sim, SandError *error) {
    const SandCheckpoint *from = history_before(&t->history, step);
    if (!from) return sand_fail(error, "step %llu is no longer kept", (unsigned long long)step);
    return sand_simulation_restore_state(sim, from, error) && restore_settings(t, from->step_index, scene, sim, error);
}
