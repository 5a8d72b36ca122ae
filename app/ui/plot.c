// SPDX-License-Identifier: MIT
// Drawing of plots with ImGui draw lists: on the panel, over the picture, and on a sheet that is saved as PNG.
#include "app/ui/plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/ui/cimgui.h"

// The theme of a plot: on the dark panel, or on white paper. Colors are 0xaabbggrr.
typedef struct Ink {
    unsigned field, frame, grid, minor, text, faint;
    unsigned curves[PLOT_COLORS];
} Ink;

#define RGB(r, g, b) (0xff000000u | (unsigned)(b) << 16 | (unsigned)(g) << 8 | (unsigned)(r))

// The Okabe-Ito palette first, with gray for its black. The others are as far from these, and from each other, as all these
// colors can be in CIELAB. On white each has the hue that it has on dark.
static const Ink dark = {.field = RGB(13, 16, 21),
                         .frame = RGB(72, 82, 98),
                         .grid = RGB(42, 49, 60),
                         .minor = RGB(23, 28, 35),
                         .text = RGB(233, 236, 241),
                         .faint = RGB(176, 184, 196),
                         .curves = {RGB(230, 159, 0),   RGB(86, 180, 233), RGB(0, 178, 130),   RGB(204, 121, 167),
                                    RGB(240, 228, 66),  RGB(226, 98, 20),  RGB(52, 122, 226),  RGB(220, 220, 220),
                                    RGB(160, 112, 240), RGB(132, 208, 64), RGB(255, 150, 140), RGB(0, 206, 216),
                                    RGB(190, 150, 100), RGB(255, 84, 150), RGB(150, 170, 255), RGB(96, 150, 104),
                                    RGB(204, 200, 128), RGB(228, 60, 60),  RGB(128, 158, 172), RGB(218, 164, 255),
                                    RGB(252, 0, 252),   RGB(0, 252, 0),    RGB(192, 24, 168),  RGB(0, 252, 144),
                                    RGB(108, 120, 0),   RGB(132, 60, 252), RGB(0, 132, 24),    RGB(168, 240, 204),
                                    RGB(252, 0, 0),     RGB(180, 252, 0),  RGB(144, 96, 96),   RGB(156, 96, 0)}};
static const Ink paper = {.field = RGB(255, 255, 255),
                          .frame = RGB(60, 60, 60),
                          .grid = RGB(214, 214, 214),
                          .minor = RGB(240, 240, 240),
                          .text = RGB(0, 0, 0),
                          .faint = RGB(60, 60, 60),
                          .curves = {RGB(214, 140, 0),  RGB(40, 140, 206), RGB(0, 140, 102),   RGB(186, 92, 144),
                                     RGB(196, 200, 0),  RGB(200, 82, 0),   RGB(20, 84, 180),   RGB(120, 120, 120),
                                     RGB(118, 62, 206), RGB(84, 150, 20),  RGB(226, 104, 92),  RGB(0, 150, 160),
                                     RGB(140, 100, 54), RGB(220, 30, 110), RGB(96, 116, 220),  RGB(52, 104, 60),
                                     RGB(140, 132, 40), RGB(190, 20, 20),  RGB(74, 106, 122),  RGB(168, 96, 220),
                                     RGB(252, 0, 252),  RGB(0, 168, 84),   RGB(84, 0, 96),     RGB(0, 108, 24),
                                     RGB(48, 48, 0),    RGB(0, 0, 252),    RGB(132, 156, 108), RGB(12, 60, 48),
                                     RGB(108, 12, 24),  RGB(60, 84, 0),    RGB(72, 48, 48),    RGB(132, 60, 0)}};

// Alternating lengths of dash and gap, in units of text, ended by 0.
static const float dashes[PLOT_DASHES][5] = {{0}, {7, 4}, {2, 3}, {9, 3, 2, 3}, {14, 4}, {4, 2, 4}, {12, 3, 2, 3}, {1, 2}};

// The layout of one plot, in pixels.
typedef struct Field {
    ImDrawList *list;
    const Ink *ink;
    float left, top, right, bottom;
    float unit; // pixels for each unit of text
    PlotScale x, y;
} Field;

static ImVec2 at(float x, float y) { return (ImVec2){x, y}; }

static float text_width(const char *text) {
    ImVec2 size;
    igCalcTextSize(&size, text, NULL, false, -1);
    return size.x;
}

static ImVec2 place(const Field *f, double x, double y) {
    return at((float)(f->left + plot_place(&f->x, x) * (f->right - f->left)),
              (float)(f->bottom - plot_place(&f->y, y) * (f->bottom - f->top)));
}

// --- scales -------------------------------------------------------------------------------------------------

static void set_scales(const Plot *plot, Field *f, float width, float height) {
    double x[2], y[2];
    plot_range(plot, x, y);
    float em = igGetFontSize();
    f->x = plot_scale(&plot->x, x[0], x[1], (int)fmaxf(2, width / (4 * em)));
    f->y = plot_scale(&plot->y, y[0], y[1], (int)fmaxf(2, height / (2.2f * em)));
}

static float widest_label(const PlotScale *scale) {
    float widest = 0;
    for (int i = 0; i < scale->tick_count; i++) widest = fmaxf(widest, text_width(scale->labels[i]));
    return widest;
}

// `residual (µm/s)`.
static void axis_text(const PlotAxis *axis, const PlotScale *scale, char *text, size_t size) {
    if (axis->unit[0])
        snprintf(text, size, "%s (%s%s)", axis->name, scale->prefix, axis->unit);
    else
        snprintf(text, size, "%s", axis->name);
}

// --- parts --------------------------------------------------------------------------------------------------

static void draw_grid(const Field *f) {
    float em = igGetFontSize(), gap = 0.3f * em;
    ImDrawList_AddRectFilled(f->list, at(f->left, f->top), at(f->right, f->bottom), f->ink->field, 0, 0);
    // Minor grid lines, where there are only a few decades.
    for (double e = f->y.low; f->y.logarithmic && f->y.high - f->y.low <= 4 && e < f->y.high; e++)
        for (int k = 2; k < 10; k++) {
            float y = roundf(f->bottom - (float)plot_place(&f->y, k * pow(10, e)) * (f->bottom - f->top));
            ImDrawList_AddLine(f->list, at(f->left, y), at(f->right, y), f->ink->minor, f->unit);
        }
    for (int i = 0; i < f->y.tick_count; i++) {
        float y = roundf(f->bottom - (float)plot_place(&f->y, f->y.ticks[i]) * (f->bottom - f->top));
        ImDrawList_AddLine(f->list, at(f->left, y), at(f->right, y), f->ink->grid, f->unit);
        ImDrawList_AddText_Vec2(f->list, at(roundf(f->left - gap - text_width(f->y.labels[i])), roundf(y - 0.5f * em)),
                                f->ink->faint, f->y.labels[i], NULL);
    }
    float free_from = -1e9f; // right end of the last number
    for (int i = 0; i < f->x.tick_count; i++) {
        float x = roundf(f->left + (float)plot_place(&f->x, f->x.ticks[i]) * (f->right - f->left));
        float half = 0.5f * text_width(f->x.labels[i]);
        ImDrawList_AddLine(f->list, at(x, f->top), at(x, f->bottom), f->ink->grid, f->unit);
        ImDrawList_AddLine(f->list, at(x, f->bottom), at(x, f->bottom + gap), f->ink->frame, f->unit);
        if (x - half < free_from) continue;
        ImDrawList_AddText_Vec2(f->list, at(roundf(x - half), roundf(f->bottom + gap)), f->ink->faint, f->x.labels[i], NULL);
        free_from = x + half + 0.5f * em;
    }
    ImDrawList_AddRect(f->list, at(f->left, f->top), at(f->right, f->bottom), f->ink->frame, 0, 0, f->unit);
}

// A stroke that carries its dash pattern from one segment to the next.
typedef struct Pen {
    ImDrawList *list;
    unsigned color;
    const float *pattern;
    float unit, width;
    int part;        // of the pattern; even parts are drawn
    float spent;     // pixels used of this part
    ImVec2 run[256]; // points of the current dash
    int count;
} Pen;

static void pen_end(Pen *pen) {
    if (pen->count > 1) ImDrawList_AddPolyline(pen->list, pen->run, pen->count, pen->color, 0, pen->width);
    pen->count = 0;
}

static void pen_put(Pen *pen, ImVec2 p) {
    if (pen->count == (int)(sizeof pen->run / sizeof *pen->run)) {
        ImVec2 last = pen->run[pen->count - 1];
        pen_end(pen);
        pen->run[pen->count++] = last;
    }
    pen->run[pen->count++] = p;
}

static void pen_line(Pen *pen, ImVec2 a, ImVec2 b) {
    if (pen->count == 0 && pen->part % 2 == 0) pen_put(pen, a);
    if (pen->pattern[0] == 0) {
        pen_put(pen, b);
        return;
    }
    float length = hypotf(b.x - a.x, b.y - a.y), done = 0;
    while (done < length) {
        float left = pen->pattern[pen->part] * pen->unit - pen->spent;
        float step = fminf(left, length - done);
        done += step;
        pen->spent += step;
        ImVec2 p = at(a.x + (b.x - a.x) * done / length, a.y + (b.y - a.y) * done / length);
        if (pen->part % 2 == 0) pen_put(pen, p);
        if (step < left) break;
        if (pen->part % 2 == 0) pen_end(pen);
        pen->part = pen->part + 1 < 5 && pen->pattern[pen->part + 1] > 0 ? pen->part + 1 : 0;
        pen->spent = 0;
        if (pen->part % 2 == 0) pen_put(pen, p);
    }
}

static unsigned color_of(const Ink *ink, int style) { return ink->curves[style % PLOT_COLORS]; }
unsigned plot_color(int style) { return color_of(&dark, style); }
unsigned plot_paper_color(int style) { return color_of(&paper, style); }
const float *plot_dashes(int style) { return dashes[style % PLOT_DASHES]; }

static Pen pen_make(const Field *f, int style) {
    return (Pen){.list = f->list,
                 .color = color_of(f->ink, style),
                 .pattern = plot_dashes(style),
                 .unit = f->unit,
                 .width = 1.8f * f->unit};
}

// Many points in one pixel column become one stroke from their minimum to their maximum.
static void draw_curve(const Field *f, const PlotCurve *curve, int style) {
    Pen pen = pen_make(f, style);
    bool has_last = false, dense = curve->count > 3 * (f->right - f->left);
    ImVec2 last = {0, 0};
    for (int i = 0; i < curve->count; i++) {
        ImVec2 p = place(f, curve->x[i], curve->y[i]);
        if (!isfinite(p.x) || !isfinite(p.y)) {
            pen_end(&pen);
            has_last = false;
            continue;
        }
        if (dense && has_last) {
            ImVec2 least = p, most = p;
            while (i + 1 < curve->count) {
                ImVec2 q = place(f, curve->x[i + 1], curve->y[i + 1]);
                if (!(fabsf(q.x - p.x) < 1) || !isfinite(q.y)) break;
                if (q.y < least.y) least = q;
                if (q.y > most.y) most = q;
                i++;
            }
            ImVec2 first = least.x <= most.x ? least : most;
            p = least.x <= most.x ? most : least;
            pen_line(&pen, last, first);
            last = first;
        }
        if (has_last) pen_line(&pen, last, p);
        last = p;
        has_last = true;
    }
    pen_end(&pen);
    // A single point is drawn as a dot.
    if (curve->count == 1 && has_last) ImDrawList_AddCircleFilled(f->list, last, 2.5f * f->unit, pen.color, 0);
}

// A vertical stroke with a cap at each end, for every point whose bar has a length.
static void draw_bars(const Field *f, const PlotCurve *curve, int style) {
    unsigned color = color_of(f->ink, style);
    float cap = 4 * f->unit;
    for (int i = 0; curve->bars && i < curve->count; i++) {
        ImVec2 low = place(f, curve->x[i], curve->y[i] - curve->bars[i]),
               high = place(f, curve->x[i], curve->y[i] + curve->bars[i]);
        if (!(curve->bars[i] > 0) || !isfinite(low.x + low.y + high.y)) continue;
        ImDrawList_AddLine(f->list, low, high, color, f->unit);
        ImDrawList_AddLine(f->list, at(low.x - cap, low.y), at(low.x + cap, low.y), color, f->unit);
        ImDrawList_AddLine(f->list, at(high.x - cap, high.y), at(high.x + cap, high.y), color, f->unit);
    }
}

static float legend_width(const char *name) { return text_width(name) + 3.1f * igGetFontSize(); }

// The legend: a sample and the name of each curve, in rows. Returns its height; without a draw list it only measures.
static float draw_legend(const Field *f, const Plot *plot, float left, float right, float top) {
    float em = igGetFontSize(), x = left, y = top;
    for (int c = 0; c < plot->curve_count; c++) {
        float wide = legend_width(plot->curves[c].name);
        if (x > left && x + wide > right) {
            x = left;
            y += 1.25f * em;
        }
        if (f->list) {
            Pen pen = pen_make(f, plot_style(plot, c));
            pen_line(&pen, at(x, y + 0.5f * em), at(x + 1.9f * em, y + 0.5f * em));
            pen_end(&pen);
            ImDrawList_AddText_Vec2(f->list, at(roundf(x + 2.2f * em), roundf(y)), f->ink->text, plot->curves[c].name, NULL);
        }
        x += wide;
    }
    return y - top + 1.25f * em;
}

// Everything but title and buttons.
static Field draw_field(const Plot *plot, ImDrawList *list, const Ink *ink, ImVec2 corner, float width, float height,
                        float unit) {
    float em = igGetFontSize();
    char text[96];
    Field f = {.list = list, .ink = ink, .unit = unit};
    set_scales(plot, &f, width - 4 * em, height);
    axis_text(&plot->y, &f.y, text, sizeof text);
    ImDrawList_AddText_Vec2(list, at(corner.x, roundf(corner.y)), ink->faint, text, NULL);
    float legend_left = corner.x + text_width(text) + 1.2f * em;
    float legend = 1.25f * em;
    if (plot->curve_count > 1 && !plot->without_legend) {
        // Beside the axis label where it fits, else below.
        float needed = 0;
        for (int c = 0; c < plot->curve_count; c++) needed += legend_width(plot->curves[c].name);
        if (legend_left + needed - 0.9f * em <= corner.x + width) {
            draw_legend(&f, plot, corner.x + width - needed + 0.9f * em, corner.x + width + em, corner.y);
        } else {
            legend += draw_legend(&f, plot, corner.x, corner.x + width, corner.y + legend);
        }
    }
    f.left = roundf(corner.x + widest_label(&f.y) + 0.45f * em);
    f.right = roundf(corner.x + width - 0.6f * em);
    f.top = roundf(corner.y + legend + 0.3f * em);
    f.bottom = roundf(f.top + height);

    draw_grid(&f);
    ImDrawList_PushClipRect(list, at(f.left, f.top - 1), at(f.right, f.bottom + 1), true);
    bool any = false, seen = false;
    for (int c = plot->curve_count - 1; c >= 0; c--) {
        draw_bars(&f, &plot->curves[c], plot_style(plot, c));
        draw_curve(&f, &plot->curves[c], plot_style(plot, c));
        any = any || plot->curves[c].count > 0;
        for (int i = 0; i < plot->curves[c].count && !seen; i++)
            seen = isfinite(place(&f, plot->curves[c].x[i], plot->curves[c].y[i]).y);
    }
    ImDrawList_PopClipRect(list);
    const char *instead = !any ? plot->nothing : !seen ? plot->unseen : NULL;
    if (instead) {
        float x = 0.5f * (f.left + f.right) - 0.5f * text_width(instead);
        ImDrawList_AddText_Vec2(list, at(roundf(x), roundf(0.5f * (f.top + f.bottom) - 0.5f * em)), ink->faint, instead,
                                NULL);
    }
    axis_text(&plot->x, &f.x, text, sizeof text);
    ImDrawList_AddText_Vec2(list, at(roundf(f.right - text_width(text)), roundf(f.bottom + 1.4f * em)), ink->faint, text,
                            NULL);
    return f;
}

// --- the read-out -------------------------------------------------------------------------------------------

static void draw_read_out(const Plot *plot, const Field *f) {
    ImVec2 mouse;
    char text[192], number[64], elsewhere[64];
    igGetMousePos(&mouse);
    if (mouse.x < f->left || mouse.x > f->right) return;
    PlotReading readings[PLOT_MAX_CURVES];
    double at_x;
    int count = plot_read(plot, &f->x, (mouse.x - f->left) / (f->right - f->left), readings, &at_x);
    if (count == 0) return;
    float x = place(f, at_x, 1).x;
    ImDrawList_AddLine(f->list, at(x, f->top), at(x, f->bottom), f->ink->faint, f->unit);
    igBeginTooltip();
    plot_number(&plot->x, at_x, number, sizeof number);
    snprintf(text, sizeof text, "%s %s", plot->x.name, number);
    igTextUnformatted(text, NULL);
    for (int k = 0; k < count; k++) {
        const PlotReading *r = &readings[k];
        ImVec2 p = place(f, r->x, r->y);
        unsigned color = color_of(f->ink, plot_style(plot, r->curve));
        bool inside = p.y >= f->top && p.y <= f->bottom; // else the axis cuts it off
        if (inside) ImDrawList_AddCircleFilled(f->list, p, 3.5f * f->unit, color, 0);
        plot_number(&plot->y, r->y, number, sizeof number);
        plot_number(&plot->x, r->x, elsewhere, sizeof elsewhere);
        snprintf(text, sizeof text, r->x != at_x ? "%s %s, at %s" : "%s %s", plot->curves[r->curve].name, number, elsewhere);
        igPushStyleColor_U32(ImGuiCol_Text, color);
        igTextUnformatted(text, NULL);
        igPopStyleColor(1);
    }
    igEndTooltip();
}

// --- the widget ---------------------------------------------------------------------------------------------

const Plot plot_of_residual = {.name = "residual_of_step",
                               .title = "Residual of one step against iteration",
                               .x = {.name = "iteration", .unit = "", .tight = true, .least_range = 4},
                               .y = {.name = "residual", .unit = "m/s", .logarithmic = true},
                               .nothing = "no contacts in this step",
                               .unseen = "the residual is 0"};

void plot_draw_at(const Plot *plot, ImDrawList *list, float x, float y, float width, float height) {
    draw_field(plot, list, &dark, at(x, y), width, height, igGetFontSize() / 15);
}

void plot_draw(const Plot *plot, float height) {
    ImVec2 corner, area;
    float em = igGetFontSize(), unit = em / 15;
    igGetCursorScreenPos(&corner);
    igGetContentRegionAvail(&area);
    Field f = draw_field(plot, igGetWindowDrawList(), &dark, corner, area.x, height, unit);
    // The next widget may share the row of the horizontal axis label.
    igInvisibleButton(plot->name, at(area.x, f.bottom + 1.2f * em - corner.y), 0);
    ImVec2 mouse;
    igGetMousePos(&mouse);
    if (igIsItemHovered(0) && mouse.y >= f.top && mouse.y <= f.bottom) draw_read_out(plot, &f);
}

// --- files --------------------------------------------------------------------------------------------------

// A name with a comma is in quotes.
static void put_name(FILE *file, const char *name) {
    const char *quote = strchr(name, ',') ? "\"" : "";
    fprintf(file, "%s%s%s", quote, name, quote);
}

bool plot_save_csv(const Plot *plot, const char *path, SandError *error) {
    FILE *file = fopen(path, "w");
    if (!file) return sand_fail(error, "%.200s cannot be written: %s", path, strerror(errno));
    bool x_unit = plot->x.unit[0], y_unit = plot->y.unit[0];
    bool bars = plot->curve_count && plot->curves[0].bars;
    fprintf(file, "curve,%s%s%s%s,%s%s%s%s%s\n", plot->x.name, x_unit ? " (" : "", plot->x.unit, x_unit ? ")" : "",
            plot->y.name, y_unit ? " (" : "", plot->y.unit, y_unit ? ")" : "", bars ? ",bar" : "");
    for (int c = 0; c < plot->curve_count; c++) {
        const PlotCurve *curve = &plot->curves[c];
        for (int i = 0; i < curve->count; i++) {
            put_name(file, curve->name);
            fprintf(file, ",%.17g,%.17g", curve->x[i], curve->y[i]);
            if (bars) fprintf(file, ",%.17g", curve->bars ? curve->bars[i] : 0);
            fputc('\n', file);
        }
    }
    bool bad = ferror(file);
    if (fclose(file) != 0 || bad) return sand_fail(error, "%.200s cannot be written: %s", path, strerror(errno));
    return true;
}

bool plot_save_png(const Plot *plot, Interface *interface, const char *path, int width, int height, SandError *error) {
    float em = igGetFontSize(), margin = em;
    ImDrawList *list = interface_sheet(interface, width, height);
    ImDrawList_AddText_Vec2(list, at(margin, margin), paper.text, plot->title, NULL);
    // Height that remains after title, legend (at most two rows) and tick labels.
    float field = (float)height - 2 * margin - 7.2f * em;
    draw_field(plot, list, &paper, at(margin, margin + 1.6f * em), (float)width - 2 * margin, field, em / 15);
    return interface_sheet_save(interface, path, paper.field, error);
}

bool plot_save_sheet(const Plot *plots, int count, const char *title, Interface *interface, const char *path, int width,
                     int height, SandError *error) {
    float em = igGetFontSize(), margin = em, gap = 2 * em, unit = em / 15;
    ImDrawList *list = interface_sheet(interface, width, height);
    ImDrawList_AddText_Vec2(list, at(margin, margin), paper.text, title, NULL);

    // One legend for all plots, since a curve looks the same in each.
    Field sheet = {.list = list, .ink = &paper, .unit = unit};
    float top = margin + 1.8f * em;
    top += draw_legend(&sheet, &plots[0], margin, (float)width - margin, top) + 0.4f * em;
    int rows = (count + 1) / 2;
    float wide = 0.5f * ((float)width - 2 * margin - gap), high = ((float)height - top - margin) / (float)rows;
    for (int k = 0; k < count; k++) {
        Plot bare = plots[k];
        bare.without_legend = true;
        ImVec2 corner = at(margin + (float)(k % 2) * (wide + gap), top + (float)(k / 2) * high);
        draw_field(&bare, list, &paper, corner, wide, high - 4.6f * em, unit);
    }
    return interface_sheet_save(interface, path, paper.field, error);
}
