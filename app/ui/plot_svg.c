// SPDX-License-Identifier: MIT
// A plot as SVG, for papers: the same scales, colors and dashes as on the screen, with text that can be edited.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/ui/plot.h"

enum { TEXT = 13, LEFT = 64, RIGHT = 16, BOTTOM = 44, ROW = 18 };

typedef struct Page {
    FILE *file;
    double left, top, right, bottom; // of the plotting area
    PlotScale x, y;
} Page;

static void write_text(FILE *file, const char *text) {
    for (; *text; text++) {
        if (*text == '&')
            fputs("&amp;", file);
        else if (*text == '<')
            fputs("&lt;", file);
        else
            fputc(*text, file);
    }
}

static void put_text(const Page *page, double x, double y, const char *anchor, const char *text) {
    fprintf(page->file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    write_text(page->file, text);
    fprintf(page->file, "</text>\n");
}

static void put_line(const Page *page, double x1, double y1, double x2, double y2, const char *stroke) {
    fprintf(page->file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2, stroke);
}

// Color and dashes of a curve, as attributes.
static void put_style(const Page *page, int style) {
    unsigned c = plot_paper_color(style);
    const float *dash = plot_dashes(style);
    fprintf(page->file, "fill=\"none\" stroke=\"#%02x%02x%02x\" stroke-width=\"1.6\"", c & 255, c >> 8 & 255, c >> 16 & 255);
    for (int k = 0; k < 5 && dash[k] > 0; k++)
        fprintf(page->file, "%s%g", k ? "," : " stroke-dasharray=\"", (double)dash[k]);
    fprintf(page->file, dash[0] > 0 ? "\"" : "");
}

static void put_curve(const Page *page, const Plot *plot, int c) {
    const PlotCurve *curve = &plot->curves[c];
    bool drawing = false;
    fprintf(page->file, "<path clip-path=\"url(#area)\" ");
    put_style(page, plot_style(plot, c));
    fprintf(page->file, " d=\"");
    for (int i = 0; i < curve->count; i++) {
        double x = plot_place(&page->x, curve->x[i]), y = plot_place(&page->y, curve->y[i]);
        bool there = isfinite(x) && isfinite(y);
        if (there)
            fprintf(page->file, "%c%.2f %.2f", drawing ? 'L' : 'M', page->left + x * (page->right - page->left),
                    page->bottom - y * (page->bottom - page->top));
        drawing = there;
    }
    fprintf(page->file, "\"/>\n");
}

// A vertical stroke with a cap at each end, for every point whose bar has a length.
static void put_bars(const Page *page, const Plot *plot, int c) {
    const PlotCurve *curve = &plot->curves[c];
    unsigned color = plot_paper_color(plot_style(plot, c));
    if (!curve->bars) return;
    fprintf(page->file, "<path clip-path=\"url(#area)\" fill=\"none\" stroke=\"#%02x%02x%02x\" d=\"", color & 255,
            color >> 8 & 255, color >> 16 & 255);
    for (int i = 0; i < curve->count; i++) {
        double x = plot_place(&page->x, curve->x[i]), low = plot_place(&page->y, curve->y[i] - curve->bars[i]),
               high = plot_place(&page->y, curve->y[i] + curve->bars[i]);
        if (!(curve->bars[i] > 0) || !isfinite(x + low + high)) continue;
        fprintf(page->file, "M%.2f %.2fh8m-4 0V%.2fm-4 0h8", page->left + x * (page->right - page->left) - 4,
                page->bottom - low * (page->bottom - page->top), page->bottom - high * (page->bottom - page->top));
    }
    fprintf(page->file, "\"/>\n");
}

static void put_axes(const Page *page, const Plot *plot) {
    char text[160];
    for (int i = 0; i < page->y.tick_count; i++) {
        double y = page->bottom - plot_place(&page->y, page->y.ticks[i]) * (page->bottom - page->top);
        put_line(page, page->left, y, page->right, y, "#d6d6d6");
        put_text(page, page->left - 6, y + 0.35 * TEXT, "end", page->y.labels[i]);
    }
    for (int i = 0; i < page->x.tick_count; i++) {
        double x = page->left + plot_place(&page->x, page->x.ticks[i]) * (page->right - page->left);
        if (x < page->left - 1 || x > page->right + 1) continue;
        put_line(page, x, page->top, x, page->bottom, "#d6d6d6");
        put_text(page, x, page->bottom + 1.3 * TEXT, "middle", page->x.labels[i]);
    }
    fprintf(page->file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" stroke=\"#3c3c3c\"/>\n",
            page->left, page->top, page->right - page->left, page->bottom - page->top);
    const PlotAxis *axes[2] = {&plot->x, &plot->y};
    const PlotScale *scales[2] = {&page->x, &page->y};
    for (int k = 0; k < 2; k++) {
        snprintf(text, sizeof text, axes[k]->unit[0] ? "%s (%s%s)" : "%s", axes[k]->name, scales[k]->prefix, axes[k]->unit);
        if (k == 0)
            put_text(page, page->right, page->bottom + 2.7 * TEXT, "end", text);
        else
            put_text(page, 8, page->top - 8, "start", text);
    }
}

// Rows of samples and names, above the plotting area. Returns its height.
static double put_legend(const Page *page, const Plot *plot, double width, double top, bool measure) {
    double x = LEFT, y = top;
    for (int c = 0; c < plot->curve_count; c++) {
        double wide = 44 + 0.62 * TEXT * (double)strlen(plot->curves[c].name);
        if (x > LEFT && x + wide > width - RIGHT) {
            x = LEFT;
            y += ROW;
        }
        if (!measure) {
            fprintf(page->file, "<path d=\"M%.1f %.1fh28\" ", x, y);
            put_style(page, plot_style(plot, c));
            fprintf(page->file, "/>\n");
            put_text(page, x + 34, y + 0.35 * TEXT, "start", plot->curves[c].name);
        }
        x += wide;
    }
    return y - top + ROW;
}

bool plot_save_svg(const Plot *plot, const char *path, int width, int height, SandError *error) {
    double x[2], y[2];
    plot_range(plot, x, y);
    Page page = {.file = fopen(path, "w"), .left = LEFT, .right = width - RIGHT, .bottom = height - BOTTOM};
    if (!page.file) return sand_fail(error, "%.200s cannot be written: %s", path, strerror(errno));
    page.x = plot_scale(&plot->x, x[0], x[1], width / 60);
    page.y = plot_scale(&plot->y, y[0], y[1], height / 40);
    double legend = 2.6 * TEXT;
    page.top = legend + put_legend(&page, plot, width, legend, true) + ROW;
    fprintf(
        page.file,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
        "font-family=\"DejaVu Sans, sans-serif\" font-size=\"%d\">\n<rect width=\"100%%\" height=\"100%%\" "
        "fill=\"#fff\"/>\n<clipPath id=\"area\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/></clipPath>\n",
        width, height, width, height, TEXT, page.left, page.top, page.right - page.left, page.bottom - page.top);
    put_text(&page, 8, 1.4 * TEXT, "start", plot->title);
    put_axes(&page, plot);
    for (int c = plot->curve_count - 1; c >= 0; c--) {
        put_bars(&page, plot, c);
        put_curve(&page, plot, c);
    }
    put_legend(&page, plot, width, legend, false);
    fprintf(page.file, "</svg>\n");
    bool bad = ferror(page.file);
    if (fclose(page.file) != 0 || bad) return sand_fail(error, "%.200s cannot be written: %s", path, strerror(errno));
    return true;
}
