// SPDX-License-Identifier: MIT
// The requests of a person, carried out between two steps, and the step itself.
#include "app/engine/engine_parts.h"

#include "app/engine/aim.h"

#include <stdio.h>

// At the last step of a take: pauses, and compares the state with the hash in the take.
static void end_replay(Engine *e) {
    SandError error;
    const Take *take = e->timeline.take;
    const SandWorld *world = sand_simulation_world(e->sim);
    if (!take || take->steps == 0 || world->step_index != take->steps) return;
    e->playing = false;
    if (sand_simulation_fetch(e->sim, &error) && take_check(take, world, &error))
        engine_tell(e, "The take ends here. From now on the run is yours.");
    else
        engine_tell(e, error.text);
}

// Runs the shadow solver on the problem of the coming step.
static bool solve_shadow(Engine *e, SandError *error) {
    if (!e->shadow_cpu) e->shadow_cpu = sand_cpu_create(e->def.simulation.threads, e->def.simulation.precision, error);
    e->shadow_solution.want_curve = true;
    return e->shadow_cpu && sand_simulation_build(e->sim, error) &&
           sand_cpu_solve(e->shadow_cpu, sand_simulation_problem(e->sim), &e->shadow_solve, &e->shadow_solution, error);
}

bool engine_take_step(Engine *e, bool with_shadow, SandError *error) {
    Timeline *t = &e->timeline;
    int done = t->done;
    if (!timeline_replay(t, &e->scene, e->sim, error)) return false;
    if (t->done > done) engine_show_scene(e, AFTER_REPLAY);
    if (with_shadow && !solve_shadow(e, error)) return false;
    SandError why;
    if (e->beside.sim && !beside_replay(&e->beside, &e->scene, e->sim, &why)) engine_end_beside(e, &why);
    if (e->def.before_step) e->def.before_step();
    bool began = engine_begin_work(e, 1e-3 * sand_simulation_profile(e->sim)->step, "Step %llu of %s",
                                   (unsigned long long)sand_simulation_world(e->sim)->step_index + 1, e->scene.name);
    bool stepped = sand_simulation_step(e->sim, error);
    engine_end_work(e, began);
    if (!stepped) return false;
    if (e->beside.sim && !beside_follow(&e->beside, &e->scene, e->sim, &why)) engine_end_beside(e, &why);
    if (timeline_lost_device(t, e->sim)) engine_show_scene(e, AFTER_REPLAY);
    if (sand_simulation_world(e->sim)->step_index > t->newest) end_replay(e);
    return timeline_note(t, e->sim, error);
}

// Goes back to a checkpoint at or before a past step, the second run too, which waits until the first has come to its own.
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
        engine_show_scene(e, AFTER_REPLAY);
    }
    bool began = engine_begin_work(e, 0, "Going to step %llu of %s", (unsigned long long)step, e->scene.name), ok = true;
    while (ok && sand_simulation_world(e->sim)->step_index < step && !e->quit) ok = engine_take_step(e, false, error);
    engine_end_work(e, began);
    if (!ok) return false;
    if (both || !e->beside.sim) return true;
    char sentence[SAND_SENTENCE];
    snprintf(sentence, sizeof sentence, "The second run parted after step %llu; now it begins here.",
             (unsigned long long)step);
    engine_tell(e, sentence);
    engine_part_anew(e);
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
    uint64_t step = sand_simulation_world(e->sim)->step_index;
    char subject[RACE_SUBJECT];
    snprintf(subject, sizeof subject, "%s, step %llu", e->scene.name, (unsigned long long)step);
    return sand_race_parse(&def, act->text, error) && race_job_start(&e->race, problem, &def, subject, step, error);
}

// Both runs get the act, but for a solver, which is that of the first.
static bool change_motion(Engine *e, const Act *act, SandError *error) {
    Act first = *act;
    SandError why;
    if (first.beside && e->beside.sim && !beside_translate(&first, e->beside.sim, e->sim, error)) return false;
    first.beside = false;
    bool ok = timeline_act(&e->timeline, &first, &e->scene, e->sim, error);
    if (ok && e->beside.sim && !beside_act(&e->beside, &first, &e->scene, e->sim, &why)) engine_end_beside(e, &why);
    engine_show_scene(e, ok ? AFTER_ACT : AFTER_REPLAY); // resets the panel to what is in use
    return ok;
}

bool engine_obey(Engine *e, const Act *act, SandError *error) {
    Act ball;
    if (act->kind == ACT_AIM) {
        if (sand_simulation_fetch(e->sim, error) && aim_act(act, &e->scene, sand_simulation_world(e->sim), &ball, error))
            return engine_obey(e, &ball, error);
        engine_tell(e, error->text); // a refused throw is no reason to pause
        return true;
    }
    if (act_changes_motion(act->kind)) return change_motion(e, act, error);
    switch (act->kind) {
    case ACT_PLAY:
    case ACT_TOGGLE:
        e->playing = act->kind == ACT_TOGGLE ? !e->playing : act->number != 0;
        e->steps_due = 0;
        engine_restart_clock(e);
        return true;
    case ACT_STEP:
        e->playing = false;
        e->steps_due += (int64_t)act->number;
        return true;
    case ACT_BACK:
    case ACT_SEEK: {
        double from = (double)sand_simulation_world(e->sim)->step_index + (double)e->steps_due;
        double to = act->kind == ACT_BACK ? from - act->number : act->number;
        e->playing = false;
        e->steps_due = 0;
        return seek(e, to > 0 ? (uint64_t)to : 0, error);
    }
    case ACT_RESET: return engine_restart_scene(e, false, error);
    case ACT_SCENE: return engine_change_scene(e, act->text, (int)act->number, error);
    case ACT_START:
        e->scene.settled = act->number != 0;
        e->scene.options.start = e->scene.settled ? SAND_START_SETTLED : SAND_START_LATTICE;
        e->timeline.take = NULL;
        return engine_restart_scene(e, false, error);
    case ACT_KNOB: {
        int knob = sand_scene_knob(&e->scene, act->text);
        if (knob < 0) return sand_fail(error, "the scene has no knob '%s'", act->text);
        e->timeline.take = NULL;
        return sand_scene_set_knob(&e->scene, knob, act->number, error) &&
               engine_restart_scene(e, e->scene.knobs[knob].kind == SAND_KNOB_TILT, error);
    }
    case ACT_SHADOW:
        e->shadow = act->number != 0;
        e->shadow_solve = act->solve;
        return true;
    case ACT_SPEED:
        e->speed = act->number;
        engine_restart_clock(e);
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
    case ACT_BESIDE: return engine_ask_beside(e, act, error);
    case ACT_PROBE: engine_add_probe(e, act->text); return true;
    case ACT_PICK: e->picked = act->body; return true;
    default: return true;
    }
}
