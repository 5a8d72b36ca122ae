// SPDX-License-Identifier: MIT
// The race in the panel: choice of solvers, start, progress, and a summary of the result. The curves are in the theater.
#include <stdio.h>
#include <string.h>

#include "app/ui/cimgui.h"
#include "app/ui/panel/controls.h"
#include "app/ui/panel/panel_parts.h"

enum { WAIT_FRAMES = 120 }; // a request that has had no effect by then was refused

// Copies what is new: the engine may start the next race at any time.
void panel_follow_race(Panel *panel) {
    PanelRace *r = &panel->racing;
    SandError error;
    if (!panel->race) return;
    int begun = r->curves.begun;
    if (!race_job_copy(panel->race, &r->curves, &error)) {
        r->curves.running = false;
        if (r->made != UINT64_MAX) panel_say(panel, error.text);
        r->made = UINT64_MAX; // said once
        return;
    }
    if (r->curves.begun != begun) r->waiting = 0;
    if (r->waiting > 0) r->waiting--;
    uint64_t points = 0;
    for (int i = 0; i < r->curves.count; i++) points += (uint64_t)r->curves.racers[i].count;
    uint64_t made = (points << 24 ^ (uint64_t)r->curves.begun << 1 ^ r->curves.running) * 31 + r->hidden;
    if (made == r->made || !r->curves.begun) return;
    if (race_plots_make(&r->plots, &r->curves, r->hidden, &error))
        r->made = made;
    else
        panel_say(panel, error.text);
}

// The chosen solvers that support the friction model, as `a,b`.
static void list_chosen(const Panel *panel, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < sand_solver_count() && i < SAND_RACE_MOST && used < size; i++)
        if (panel->racing.chosen[i] && sand_solver_can(i, panel->solve.friction))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", sand_solver_table[i].name);
}

static Act race_act(const Panel *panel) {
    const PanelRace *r = &panel->racing;
    Act act = {.kind = ACT_RACE, .number = r->cold, .solve = panel->solve};
    act.solve.iterations = r->iterations;
    act.solve.budget_ms = 0;
    act.solve.tolerance = act.solve.accuracy = 0;
    list_chosen(panel, act.text, sizeof act.text);
    return act;
}

void panel_start_race(Panel *panel) {
    PanelRace *r = &panel->racing;
    Act act = race_act(panel);
    r->theater = true;
    if (r->waiting || r->curves.running || !panel->race) return;
    if (!act.text[0]) {
        panel_say(panel, "No solver is chosen for the race: see the section Race of solvers.");
        return;
    }
    // The step freezes, so that picture and race belong together.
    if (panel_ask(panel, (Act){.kind = ACT_PLAY, .number = 0}) && panel_ask(panel, act)) r->waiting = WAIT_FRAMES;
}

void panel_open(Panel *panel, const char *path) {
    PanelRace *r = &panel->racing;
    SandError error;
    Act act = race_act(panel);
    bool problem = sand_problem_is_stored(path);
    if (problem && !act.text[0])
        panel_say(panel, "No solver is chosen for the race: see the section Race of solvers.");
    else if (!panel->open(panel->user, path, &act, &error))
        panel_say(panel, error.text);
    else if (problem) {
        r->theater = true;
        r->waiting = WAIT_FRAMES;
    }
}

void panel_draw_race(Panel *panel) {
    PanelRace *r = &panel->racing;
    if (!igBeginTable("racers", 2, 0, (ImVec2){0, 0}, 0)) return;
    for (int i = 0; i < sand_solver_count() && i < SAND_RACE_MOST; i++) {
        bool can = sand_solver_can(i, panel->solve.friction), no = false; // unchecked where it cannot take part
        igTableNextColumn();
        igBeginDisabled(!can);
        control_check_as(CONTROL_RACE_SOLVER, sand_solver_table[i].name, can ? &r->chosen[i] : &no);
        igEndDisabled();
    }
    igEndTable();
    control_integer(CONTROL_RACE_ITERATIONS, NULL, &r->iterations, 10, 10000, true, NULL);
    control_check(CONTROL_RACE_COLD, &r->cold);
    bool busy = r->curves.running || r->waiting;
    igBeginDisabled(busy || !panel->race || !race_act(panel).text[0]);
    if (control_button(CONTROL_RACE, NULL, -1e-6f)) panel_start_race(panel);
    igEndDisabled();
}

void panel_draw_result(Panel *panel) {
    PanelRace *r = &panel->racing;
    if (!r->curves.begun || !panel_section(panel, "Result of the race", true)) return;
    char text[RACE_SUBJECT + 32];
    snprintf(text, sizeof text, "%s, %d contacts", r->curves.subject, r->curves.contacts);
    igTextUnformatted(text, NULL);
    if (control_button(CONTROL_RACE_SHOW, NULL, -1e-6f)) r->theater = true;
}
