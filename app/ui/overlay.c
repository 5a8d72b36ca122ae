// SPDX-License-Identifier: MIT
// Clock, color legend and residual plot, drawn with Dear ImGui on dark cards.
#include "app/ui/overlay.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/ui/card.h"
#include "app/ui/cimgui.h"
#include "app/ui/plot.h"
#include "sim/core/suggestion.h"

static const ImU32 INK = 0xfff1ece9u, CARD = 0xd8181410u, FAINT = 0xffbaada4u, GREEN = 0xff94d06au, AMBER = 0xff34b1f2u;

bool overlay_parse(OverlayDef *def, const char *text, SandError *error) {
    *def = (OverlayDef){0};
    const struct {
        const char *name;
        bool *on;
    } parts[] = {{"clock", &def->clock}, {"legend", &def->legend}, {"residual", &def->residual}};
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ","), k = 0;
        while (k < 3 && (strlen(parts[k].name) != length || strncmp(parts[k].name, at, length) != 0)) k++;
        if (k == 3) {
            char word[SAND_NAME];
            snprintf(word, sizeof word, "%.*s", (int)length, at);
            SandSuggestion names = sand_suggestion(word);
            for (int i = 0; i < 3; i++) sand_suggestion_add(&names, parts[i].name);
            return sand_fail(error, "--overlay %.60s: expected clock, legend and residual, or some of them%s", text,
                             sand_suggestion_hint(&names));
        }
        *parts[k].on = true;
        at += length;
        if (!*at) return true;
    }
}

// The color bar with its scale.
static Box draw_legend(const RenderScene *render_scene, float left, float bottom) {
    static const PlotAxis axes[RENDER_COLOR_COUNT] = {
        [COLOR_BY_SPEED] = {.name = "speed", .unit = "m/s", .tight = true},
        [COLOR_BY_CONTACTS] = {.name = "contacts", .unit = "", .tight = true},
        [COLOR_BY_FORCE] = {.name = "contact force", .unit = "N", .tight = true},
        [COLOR_BY_RESIDUAL] = {.name = "residual", .unit = "m/s", .logarithmic = true}};
    unsigned char colors[COLORMAP_SIZE][4];
    SandError error;
    if (render_scene->color == COLOR_BY_BODY || !(render_scene->range > 0) ||
        !colormap_read(render_scene->map, colors, &error))
        return (Box){0};
    PlotAxis axis = axes[render_scene->color];
    axis.logarithmic = render_scene->logarithmic;
    PlotScale scale = plot_scale(&axis, render_scene->least, render_scene->range, 4);
    ImDrawList *list = igGetBackgroundDrawList_Nil();
    char title[64];
    float em = igGetFontSize(), high = 10 * em;
    snprintf(title, sizeof title, axis.unit[0] ? "%s (%s%s)" : "%s", axis.name, scale.prefix ? scale.prefix : "", axis.unit);
    float wide = fmaxf(card_text_width(title) + 1.2f * em, 6 * em), top = bottom - high - 2.7f * em;
    Box box = {left, top, left + wide, bottom};
    ImDrawList_AddRectFilled(list, (ImVec2){left, top}, (ImVec2){left + wide, bottom}, CARD, 0.4f * em, 0);
    ImDrawList_AddText_Vec2(list, (ImVec2){roundf(left + 0.6f * em), roundf(top + 0.4f * em)}, INK, title, NULL);
    top += 1.9f * em;
    left += 0.7f * em;
    for (int i = 0; i < COLORMAP_SIZE; i++) {
        const unsigned char *c = colors[i];
        ImU32 color = 0xff000000u | (ImU32)c[2] << 16 | (ImU32)c[1] << 8 | c[0];
        float y = top + high * (float)(COLORMAP_SIZE - 1 - i) / COLORMAP_SIZE;
        ImDrawList_AddRectFilled(list, (ImVec2){left, floorf(y)}, (ImVec2){left + em, ceilf(y + high / COLORMAP_SIZE)},
                                 color, 0, 0);
    }
    for (int i = 0; i < scale.tick_count; i++) {
        float y = roundf(top + high * (float)(1 - plot_place(&scale, scale.ticks[i])));
        ImDrawList_AddLine(list, (ImVec2){left + em, y}, (ImVec2){left + 1.3f * em, y}, INK, em / 15);
        ImDrawList_AddText_Vec2(list, (ImVec2){left + 1.6f * em, roundf(y - 0.5f * em)}, INK, scale.labels[i], NULL);
    }
    return box;
}

// The residual of the step against the iteration, in the upper right corner, at most a third of the picture.
static void draw_residual(const OverlayView *view, float left_most, float right, float top, float bottom) {
    enum { POINTS = 2048 };
    static double x[POINTS], y[POINTS];
    char title[128];
    int count = view->curve_count < POINTS ? view->curve_count : POINTS;
    for (int i = 0; i < count; i++) {
        x[i] = view->curve[i].iteration;
        y[i] = view->curve[i].residual;
    }
    Plot plot = plot_of_residual;
    plot.curves[plot.curve_count++] = (PlotCurve){.name = view->solver, .x = x, .y = y, .count = count};

    float em = igGetFontSize();
    float wide = fminf(22 * em, fmaxf(0.34f * (right - left_most), 14 * em)), left = right - wide - 0.7f * em;
    float high = fminf(8 * em, fmaxf(0.33f * (bottom - top) - 6.5f * em, 3 * em));
    ImDrawList *list = igGetBackgroundDrawList_Nil();
    ImDrawList_AddRectFilled(list, (ImVec2){left, top}, (ImVec2){left + wide, top + high + 6.5f * em}, CARD, 0.4f * em, 0);
    snprintf(title, sizeof title, "%s: %.1e m/s after %d", view->solver, view->counters->metrics.residual,
             view->counters->iterations);
    ImDrawList_AddText_Vec2(list, (ImVec2){roundf(left + 0.7f * em), roundf(top + 0.5f * em)}, INK, title, NULL);
    plot_draw_at(&plot, list, left + 0.7f * em, top + 2.1f * em, wide - 1.2f * em, high);
}

// --- two runs side by side ----------------------------------------------------------------------------------

static const float CARD_ROWS = 4, ROW = 1.35f, NAME_WIDTH = 4.3f; // in units of the font size

// Pixels: the widest figure there is.
static float value_width(void) { return card_text_width("+999.9 mm/s") + 0.6f * igGetFontSize(); }

static void draw_text(float x, float y, ImU32 color, const char *text) {
    ImDrawList_AddText_Vec2(igGetBackgroundDrawList_Nil(), (ImVec2){roundf(x), roundf(y)}, color, text, NULL);
}

// A figure of the second run less that of the first. More overlap or residual is worse.
static void draw_difference(float x, float y, const PlotAxis *axis, double first, double second, bool judge) {
    char text[48] = "+";
    double by = second - first;
    bool small = fabs(by) <= 0.01 * fmax(fabs(first), fabs(second));
    plot_number(axis, by, text + (by > 0), sizeof text - 1);
    draw_text(x, y, small || !judge ? FAINT : by > 0 ? AMBER : GREEN, by == 0 ? "the same" : text);
}

// Solver and budget, and what came of them; `other` is the run to compare with, NULL: none.
static void draw_run(const OverlayRun *run, const OverlayRun *other, float left, float top, float most) {
    static const PlotAxis axes[3] = {{.unit = "m/s"}, {.unit = "m"}, {.unit = "J"}};
    static const char *const names[3] = {"residual", "overlap", "energy"};
    const double values[3] = {run->residual, run->overlap, run->energy};
    const SandSolver *solver = &sand_solver_table[run->solve->solver];
    float em = igGetFontSize();
    char text[96];
    int used = snprintf(text, sizeof text, "%s, ", solver->name);
    if (run->solve->accuracy > 0)
        used += snprintf(text + used, sizeof text - (size_t)used, "%g %% in ", run->solve->accuracy);
    used += run->solve->budget_ms > 0 ? snprintf(text + used, sizeof text - (size_t)used, "%g ms", run->solve->budget_ms)
                                      : snprintf(text + used, sizeof text - (size_t)used, "%d iteration%s",
                                                 run->solve->iterations, run->solve->iterations == 1 ? "" : "s");
    if (!other || run->solve->friction != other->solve->friction)
        snprintf(text + used, sizeof text - (size_t)used, ", %s", sand_friction_table[run->solve->friction].name);

    float value = value_width(), figures = (NAME_WIDTH + 0.6f) * em + value;
    bool differences = other && most > figures + value;
    float wide = fmaxf(figures + (differences ? value : 0), card_text_width(text) + 1.2f * em);
    ImDrawList_AddRectFilled(igGetBackgroundDrawList_Nil(), (ImVec2){left, top},
                             (ImVec2){left + fminf(wide, most), top + (CARD_ROWS * ROW + 0.5f) * em}, CARD, 0.4f * em, 0);
    left += 0.6f * em;
    top += 0.35f * em;
    draw_text(left, top, plot_color(run->solve->solver), text);
    for (int k = 0; k < 3; k++) {
        top += ROW * em;
        if (isnan(values[k]))
            snprintf(text, sizeof text, "-");
        else
            plot_number(&axes[k], values[k], text, sizeof text);
        draw_text(left, top, FAINT, names[k]);
        draw_text(left + NAME_WIDTH * em, top, INK, text);
        const double others[3] = {differences ? other->residual : 0, differences ? other->overlap : 0,
                                  differences ? other->energy : 0};
        if (differences && !isnan(values[k] - others[k]))
            draw_difference(left + NAME_WIDTH * em + value, top, &axes[k], others[k], values[k], k < 2);
    }
}

// Returns how much of the height the cards take.
static double draw_runs(const OverlayView *view, double top) {
    float em = igGetFontSize();
    for (int side = 0; side < 2; side++)
        draw_run(&view->runs[side], side ? &view->runs[0] : NULL, (float)split_left(&view->area, side) + 0.7f * em,
                 (float)top, (float)view->area.half - 1.4f * em);
    return (CARD_ROWS * ROW + 1.2f) * em;
}

Box overlay_beside_legend(const OverlayPlaces *places, Box area) {
    float em = igGetFontSize();
    Box free = {area.left + 0.7 * em, area.top, area.right - 0.7 * em, area.bottom - 0.7 * em};
    if (!box_is_empty(places->legend)) {
        double left = places->legend.right + 0.5 * em;
        if (free.right - left > 14 * em)
            free.left = left;
        else
            free.bottom = places->legend.top - 0.4 * em;
    }
    if (!box_is_empty(places->chains)) free.bottom = fmin(free.bottom, places->chains.top - 0.4 * em);
    return free;
}

OverlayPlaces overlay_draw(const OverlayDef *def, const OverlayView *view, double left, double top, double right,
                           double bottom) {
    float em = igGetFontSize();
    char text[96];
    OverlayPlaces places = {0};
    bottom -= view->below;
    top += 0.7 * em;
    if (def->clock) {
        snprintf(text, sizeof text, "%.2f s", view->time);
        card_draw_down((Box){left, top, right, bottom}, text);
    }
    if (view->runs[1].solve) {
        if (def->clock) top += 2.2 * em; // the clock is over the divider
        top += draw_runs(view, top);
    }
    if (def->residual) draw_residual(view, (float)left, (float)right, (float)top, (float)bottom);
    if (def->legend) places.legend = draw_legend(view->render_scene, (float)left + 0.7f * em, (float)bottom - 0.7f * em);
    if (def->legend && view->render_scene->chains) {
        char force[48];
        plot_number(&(PlotAxis){.unit = "N"}, view->render_scene->chain_range, force, sizeof force);
        snprintf(text, sizeof text, "the widest force chain carries %s", force);
        places.chains = card_draw_up(overlay_beside_legend(&places, (Box){left, top, right, bottom}), text, false);
    }
    return places;
}

void overlay_film(const OverlayDef *def, const OverlayView *view, Interface *interface, int width, int height,
                  unsigned framebuffer) {
    interface_begin(interface, width, height, fmax(1, height / 720.0), 1);
    overlay_draw(def, view, 0, 0, width, height);
    interface_end(interface, framebuffer);
}
