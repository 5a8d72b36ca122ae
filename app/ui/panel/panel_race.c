// The race in the panel: choice of solvers, progress, and result.
#include <stdio.h>
#include <string.h>

#include "app/ui/cimgui.h"
#include "app/ui/panel/controls.h"
#include "app/ui/panel/panel_parts.h"

enum { WAIT_FRAMES = 120 }; // a request that has had no effect by then was refused

// Copies the result of a finished race: the engine may start the next at any time.
static void read_result(Panel *panel) {
    PanelRace *r = &panel->racing;
    const RaceJob *job = panel->race;
    const SandRace *race = &job->race;
    SandError error = {""};
    r->shown = race_job_serial(job);
    r->waiting = 0;
    r->count = 0;
    r->step = job->step;
    r->contacts = job->problem.contact_count;
    if (job->failed || !race_plots_make(&r->plots, race, &error)) {
        panel_say(panel, job->failed ? job->error.text : error.text);
        return;
    }
    for (int i = 0; i < race->count; i++) {
        const SandRaceEntry *entry = &race->entries[i];
        const SandSolution *s = &entry->solution;
        const char *name = sand_solver_table[entry->solver].name;
        double ms = 1e3 * s->seconds;
        if (entry->ran)
            snprintf(r->lines[r->count++], sizeof r->lines[0], ms < 100 ? "%s|%s|%d|%.3g|%.1e" : "%s|%s|%d|%.0f|%.1e", name,
                     entry->device, s->iterations, ms, s->metrics.residual);
    }
}

static void draw_table(const PanelRace *r) {
    static const char *const heads[] = {"solver", "on", "iterations", "ms", "residual (m/s)"};
    enum { COLUMNS = sizeof heads / sizeof *heads };
    if (!igBeginTable("race", COLUMNS, ImGuiTableFlags_SizingStretchProp, (ImVec2){0, 0}, 0)) return;
    igTableNextRow(0, 0);
    for (int c = 0; c < COLUMNS; c++) {
        igTableNextColumn();
        igTextUnformatted(heads[c], NULL);
    }
    for (int i = 0; i < r->count; i++) {
        igTableNextRow(0, 0);
        for (const char *from = r->lines[i]; from; from = strchr(from, '|') ? strchr(from, '|') + 1 : NULL) {
            igTableNextColumn();
            igTextUnformatted(from, from + strcspn(from, "|"));
        }
    }
    igEndTable();
}

static void draw_result(Panel *panel) {
    PanelRace *r = &panel->racing;
    if (!r->count || !panel_section(panel, "Result of the race", true)) return;
    char text[96];
    snprintf(text, sizeof text, "Step %llu, %d contacts", (unsigned long long)r->step, r->contacts);
    igTextUnformatted(text, NULL);
    for (int k = 0; k < r->plots.count; k++) panel_draw_plot(panel, &r->plots.plots[k], r->step);
    draw_table(r);
}

// The chosen solvers that support the friction model, as `a,b`.
static void list_chosen(const Panel *panel, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < sand_solver_count() && i < SAND_RACE_MOST && used < size; i++)
        if (panel->racing.chosen[i] && sand_solver_can(i, panel->solve.friction))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", sand_solver_table[i].name);
}

static void draw_start(Panel *panel) {
    PanelRace *r = &panel->racing;
    bool running = panel->race && race_job_running(panel->race);
    if (running) r->waiting = 0;
    if (r->waiting > 0) r->waiting--;
    Act act = {.kind = ACT_RACE, .number = r->cold, .solve = panel->solve};
    act.solve.iterations = r->iterations;
    act.solve.budget_ms = 0;
    act.solve.tolerance = 0;
    list_chosen(panel, act.text, sizeof act.text);

    ImVec2 available;
    igGetContentRegionAvail(&available);
    float half = 0.5f * (available.x - 0.5f * igGetFontSize());
    igBeginDisabled(running || r->waiting || !panel->race || !act.text[0]);
    if (control_button(CONTROL_RACE, NULL, half) && panel_ask(panel, act)) r->waiting = WAIT_FRAMES;
    igEndDisabled();
    igSameLine(0, 0.5f * igGetFontSize());
    igBeginDisabled(!running);
    if (control_button(CONTROL_RACE_CANCEL, NULL, half)) panel_ask(panel, (Act){.kind = ACT_RACE_CANCEL});
    igEndDisabled();
    // One line in any case, so that the layout never moves.
    char text[96] = "On the problem of the step on the screen.";
    if (running) {
        int at = sand_race_at(&panel->race->race), count = panel->race->def.count;
        snprintf(text, sizeof text, "%d of %d: %s", at < count ? at + 1 : count, count,
                 at < count ? sand_solver_table[panel->race->def.solvers[at]].name : "the reference");
    }
    igTextUnformatted(text, NULL);
}

static void draw_choice(Panel *panel) {
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
    draw_start(panel);
}

void panel_draw_race(Panel *panel, bool results) {
    if (panel->race && !race_job_running(panel->race) && race_job_serial(panel->race) != panel->racing.shown)
        read_result(panel);
    if (results)
        draw_result(panel);
    else
        draw_choice(panel);
}
