// SPDX-License-Identifier: MIT
// The race over the picture: curves that grow while the solvers run, and who was first to a residual. The scene stands
// still behind it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/ui/card.h"
#include "app/ui/cimgui.h"
#include "app/ui/panel/controls.h"
#include "app/ui/panel/panel_parts.h"

enum { TARGETS = 3 };
static const double targets[TARGETS] = {1e-2, 1e-4, 1e-6}; // m/s
static const ImU32 FAINT = 0xffbaada4u, GREEN = 0xff94d06au, AMBER = 0xff34b1f2u;

// --- the ranking ----------------------------------------------------------------------------------------------

typedef struct Rank {
    int racer, reached;    // how many of the targets it came to
    double times[TARGETS]; // s, INFINITY: it did not
    int iterations[TARGETS];
    double residual; // m/s, the last; INFINITY: none
} Rank;

static int compare(const void *a, const void *b) {
    const Rank *p = a, *q = b;
    if (p->reached != q->reached) return q->reached - p->reached;
    int last = p->reached - 1;
    double s = last < 0 ? p->residual : p->times[last], t = last < 0 ? q->residual : q->times[last];
    return s < t ? -1 : s > t ? 1 : p->racer - q->racer;
}

// The best first: who came to the smallest target, and of those who came there first; then by residual who came to none.
static void rank_racers(const RaceCurves *curves, Rank ranks[SAND_RACE_MOST], double best[TARGETS]) {
    for (int k = 0; k < TARGETS; k++) best[k] = INFINITY;
    for (int i = 0; i < curves->count; i++) {
        const Racer *racer = &curves->racers[i];
        ranks[i] = (Rank){.racer = i, .residual = racer->count ? racer->curve[racer->count - 1].residual : INFINITY};
        for (int k = 0; k < TARGETS; k++) {
            bool reached = race_first_below(&curves->racers[i], targets[k], &ranks[i].times[k], &ranks[i].iterations[k]);
            if (!reached) ranks[i].times[k] = INFINITY;
            ranks[i].reached += reached;
            best[k] = fmin(best[k], ranks[i].times[k]);
        }
    }
    qsort(ranks, (size_t)curves->count, sizeof *ranks, compare);
}

static void colored(ImU32 color, const char *text) {
    igPushStyleColor_U32(ImGuiCol_Text, color);
    igTextUnformatted(text, NULL);
    igPopStyleColor(1);
}

static void duration(double seconds, char *text, size_t size) {
    const char *const units[] = {"s", "ms", "µs"};
    int k = seconds >= 1 ? 0 : seconds >= 1e-3 ? 1 : 2;
    snprintf(text, size, "%.3g %s", seconds * (k == 0 ? 1 : k == 1 ? 1e3 : 1e6), units[k]);
}

static void draw_racer(Panel *panel, const Rank *rank, const double *best) {
    PanelRace *r = &panel->racing;
    const Racer *racer = &r->curves.racers[rank->racer];
    const char *name = sand_solver_table[racer->solver].name;
    char text[64];
    igTableNextRow(0, 0);
    igTableNextColumn();
    bool shown = !(r->hidden >> rank->racer & 1);
    igPushStyleColor_U32(ImGuiCol_Text, racer->state == RACER_REFUSED ? FAINT : plot_color(racer->solver));
    if (control_check_as(CONTROL_RACE_CURVE, name, &shown)) r->hidden ^= 1u << rank->racer;
    igPopStyleColor(1);
    igTableNextColumn();
    if (racer->state == RACER_REFUSED) {
        colored(FAINT, "cannot");
        panel_tip(racer->refused);
    } else if (racer->state == RACER_WAITS) {
        colored(FAINT, "waits");
    } else {
        snprintf(text, sizeof text, "%d", racer->count > 0 ? racer->curve[racer->count - 1].iteration : 0);
        colored(racer->state == RACER_RUNS ? AMBER : 0xfff1ece9u, text);
        if (racer->state == RACER_DONE) panel_tip(sand_status_text(racer->status));
    }
    igTableNextColumn();
    if (racer->count > 0) {
        snprintf(text, sizeof text, "%.1e", racer->curve[racer->count - 1].residual);
        igTextUnformatted(text, NULL);
    }
    for (int k = 0; k < TARGETS; k++) {
        igTableNextColumn();
        if (!isfinite(rank->times[k])) {
            colored(FAINT, "-");
            continue;
        }
        duration(rank->times[k], text, sizeof text);
        colored(rank->times[k] <= best[k] ? GREEN : 0xfff1ece9u, text);
        snprintf(text, sizeof text, "after %d iterations", rank->iterations[k]);
        panel_tip(text);
    }
}

// No name of a solver is cut off.
static float name_width(void) {
    float widest = 0;
    for (int i = 0; i < sand_solver_count(); i++) widest = fmaxf(widest, card_text_width(sand_solver_table[i].name));
    return widest + igGetFrameHeight() + 0.6f * igGetFontSize();
}

static void draw_ranking(Panel *panel) {
    PanelRace *r = &panel->racing;
    static const char *const heads[] = {"solver", "iterations", "residual", "to 10⁻²", "to 10⁻⁴", "to 10⁻⁶"};
    enum { COLUMNS = sizeof heads / sizeof *heads };
    Rank ranks[SAND_RACE_MOST];
    double best[TARGETS];
    rank_racers(&r->curves, ranks, best);
    if (!igBeginTable("ranking", COLUMNS, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp, (ImVec2){0, 0}, 0))
        return;
    igTableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, name_width(), 0);
    for (int c = 1; c < COLUMNS; c++) igTableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, 1, 0);
    igTableNextRow(0, 0);
    for (int c = 0; c < COLUMNS; c++) {
        igTableNextColumn();
        colored(FAINT, heads[c]);
        if (c >= 3) panel_tip("The time after which the residual was first at or below this many m/s; green is the first.");
    }
    for (int i = 0; i < r->curves.count; i++) draw_racer(panel, &ranks[i], best);
    igEndTable();
}

// --- the stage --------------------------------------------------------------------------------------------------

static void draw_head(Panel *panel) {
    PanelRace *r = &panel->racing;
    char text[RACE_SUBJECT + 96];
    int at = 0;
    while (at < r->curves.count && r->curves.racers[at].state != RACER_RUNS) at++;
    if (!r->curves.begun || r->waiting)
        snprintf(text, sizeof text, "The race begins.");
    else if (r->curves.running && at < r->curves.count)
        snprintf(text, sizeof text, "Race on %s, %d contacts: %s runs, %d of %d", r->curves.subject, r->curves.contacts,
                 sand_solver_table[r->curves.racers[at].solver].name, at + 1, r->curves.count);
    else
        snprintf(text, sizeof text, "Race on %s, %d contacts%s", r->curves.subject, r->curves.contacts,
                 r->curves.running ? ": the least objective is looked for" : "");
    igAlignTextToFramePadding();
    colored(AMBER, text);
    if (panel->locked) return;
    float em = igGetFontSize(), button = 5 * em;
    ImVec2 available;
    igSameLine(0, 0);
    igGetContentRegionAvail(&available);
    igSetCursorPosX(igGetCursorPosX() + fmaxf(0, available.x - 3 * button - em));
    bool running = r->curves.running || r->waiting > 0;
    igBeginDisabled(running);
    if (control_button(CONTROL_RACE_AGAIN, NULL, button)) panel_start_race(panel);
    igEndDisabled();
    igSameLine(0, 0.5f * em);
    igBeginDisabled(!running);
    if (control_button(CONTROL_RACE_CANCEL, NULL, button)) panel_ask(panel, (Act){.kind = ACT_RACE_CANCEL});
    igEndDisabled();
    igSameLine(0, 0.5f * em);
    if (control_button(CONTROL_RACE_CLOSE, NULL, button)) r->theater = false;
}

static void draw_axes(Panel *panel) {
    static const char *const quantities[] = {"residual", "objective above the least"};
    static const char *const against[] = {"iterations", "time"};
    PanelRace *r = &panel->racing;
    int what = r->objective, over = r->over_time;
    if (control_choice(CONTROL_RACE_QUANTITY, NULL, &what, quantities, r->plots.count > 2 ? 2 : 1, NULL))
        r->objective = what;
    if (control_choice(CONTROL_RACE_AGAINST, NULL, &over, against, 2, NULL)) r->over_time = over;
}

static const Plot *chosen_plot(const PanelRace *r) {
    int kind = (r->objective && r->plots.count > 2 ? 2 : 0) + r->over_time;
    return &r->plots.plots[kind];
}

static void draw_saves(Panel *panel, const Plot *plot) {
    float cell = 4.6f * igGetFontSize();
    static const ControlId ids[] = {CONTROL_RACE_PNG, CONTROL_RACE_SVG, CONTROL_RACE_CSV};
    static const PlotFile kinds[] = {PLOT_PNG, PLOT_SVG, PLOT_CSV};
    for (int k = 0; k < 3; k++) {
        if (k) igSameLine(0, -1);
        if (control_button(ids[k], NULL, cell)) panel_save_plot(panel, plot, kinds[k], panel->racing.curves.step);
    }
}

void panel_draw_theater(Panel *panel, float left, float top, float right, float bottom) {
    PanelRace *r = &panel->racing;
    float em = igGetFontSize();
    igSetNextWindowPos((ImVec2){left, top}, ImGuiCond_Always, (ImVec2){0, 0});
    igSetNextWindowSize((ImVec2){right - left, bottom - top}, ImGuiCond_Always);
    igBegin("##theater", NULL,
            ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse |
                ImGuiWindowFlags_NoSavedSettings);
    draw_head(panel);
    if (r->plots.count == 0) { // the engine has not taken the request yet
        igEnd();
        return;
    }
    char title[160];
    Plot plot = *chosen_plot(r);
    snprintf(title, sizeof title, "%s, %d contacts", r->curves.subject, r->curves.contacts);
    plot.title = title;
    // The ranking is to the right of the plot, or below it where the window is narrow: there one scrolls to its end.
    bool wide = right - left > 64 * em;
    float rows = ((float)r->curves.count + 1.5f) * igGetFrameHeightWithSpacing(),
          side = wide ? 25 * em + name_width() : right - left;
    ImVec2 available;
    igGetContentRegionAvail(&available);
    float high = wide ? available.y : fmaxf(0.6f * available.y, available.y - 0.92f * rows - 3 * em);
    if (igBeginTable("stage", wide ? 2 : 1, 0, (ImVec2){0, 0}, 0)) {
        igTableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, 1, 0);
        if (wide) igTableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, side, 0);
        igTableNextRow(0, 0);
        igTableNextColumn();
        Plot bare = plot; // the ranking is the legend
        bare.without_legend = true;
        r->plot_height = fmaxf(6 * em, high - 5.5f * em);
        plot_draw(&bare, (float)r->plot_height);
        igTableNextColumn();
        if (!panel->locked) draw_axes(panel);
        igSpacing();
        draw_ranking(panel);
        igSpacing();
        if (!panel->locked) draw_saves(panel, &plot);
        igEndTable();
    }
    igEnd();
}
