// Clock, color legend and residual plot, drawn with Dear ImGui on dark cards.
#include "app/ui/overlay.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/ui/cimgui.h"
#include "app/ui/plot.h"
#include "sim/core/suggestion.h"

static const ImU32 INK = 0xfff1ece9u, CARD = 0xd8181410u;

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

static float text_width(const char *text) {
    ImVec2 size;
    igCalcTextSize(&size, text, NULL, false, -1);
    return size.x;
}

void overlay_card(double middle, double top, const char *text) {
    float em = igGetFontSize(), wide = text_width(text) + 1.2f * em, x = roundf((float)middle - 0.5f * wide),
          y = roundf((float)top);
    ImDrawList *list = igGetBackgroundDrawList_Nil();
    ImDrawList_AddRectFilled(list, (ImVec2){x, y}, (ImVec2){x + wide, y + 1.7f * em}, CARD, 0.4f * em, 0);
    ImDrawList_AddText_Vec2(list, (ImVec2){roundf(x + 0.6f * em), roundf(y + 0.35f * em)}, INK, text, NULL);
}

// The color bar with its scale.
static void draw_legend(const RenderScene *render_scene, float left, float bottom) {
    static const PlotAxis axes[RENDER_COLOR_COUNT] = {
        [COLOR_BY_SPEED] = {.name = "speed", .unit = "m/s", .tight = true},
        [COLOR_BY_CONTACTS] = {.name = "contacts", .unit = "", .tight = true},
        [COLOR_BY_FORCE] = {.name = "contact force", .unit = "N", .tight = true},
        [COLOR_BY_RESIDUAL] = {.name = "residual", .unit = "m/s", .logarithmic = true}};
    unsigned char colors[COLORMAP_SIZE][4];
    SandError error;
    if (render_scene->color == COLOR_BY_BODY || !(render_scene->range > 0) ||
        !colormap_read(render_scene->map, colors, &error))
        return;
    PlotAxis axis = axes[render_scene->color];
    axis.logarithmic = render_scene->logarithmic;
    PlotScale scale = plot_scale(&axis, render_scene->least, render_scene->range, 4);
    ImDrawList *list = igGetBackgroundDrawList_Nil();
    char title[64];
    float em = igGetFontSize(), high = 10 * em;
    snprintf(title, sizeof title, axis.unit[0] ? "%s (%s%s)" : "%s", axis.name, scale.prefix ? scale.prefix : "", axis.unit);
    float wide = fmaxf(text_width(title) + 1.2f * em, 6 * em), top = bottom - high - 2.7f * em;
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
    plot.curves[plot.curve_count++] = (PlotCurve){view->solver, x, y, count, 0};

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

void overlay_draw(const OverlayDef *def, const OverlayView *view, double left, double top, double right, double bottom) {
    float em = igGetFontSize();
    char text[96];
    top += 0.7 * em;
    if (def->clock) {
        snprintf(text, sizeof text, "%.2f s", view->time);
        overlay_card(0.5 * (left + right), top, text);
    }
    if (def->residual) draw_residual(view, (float)left, (float)right, (float)top, (float)bottom);
    if (def->legend && view->render_scene->chains) {
        char force[48];
        plot_number(&(PlotAxis){.unit = "N"}, view->render_scene->chain_range, force, sizeof force);
        snprintf(text, sizeof text, "the widest force chain carries %s", force);
        overlay_card(0.5 * (left + right), bottom - 2.4 * em, text);
    }
    if (def->legend) draw_legend(view->render_scene, (float)left + 0.7f * em, (float)bottom - 0.7f * em);
}

void overlay_film(const OverlayDef *def, const OverlayView *view, Interface *interface, int width, int height,
                  unsigned framebuffer) {
    interface_begin(interface, width, height, fmax(1, height / 720.0), 1);
    overlay_draw(def, view, 0, 0, width, height);
    interface_end(interface, framebuffer);
}
