// SPDX-License-Identifier: MIT
// A plot of curves: axes with ticks, numbers and units, legend, log scale, read-out under the mouse; saved as CSV, PNG and
// SVG. Curves are told apart by color (the first eight are Okabe and Ito's, safe for color-blind eyes) and by their dashes.
#pragma once
#include "app/ui/interface.h"

enum { PLOT_MAX_CURVES = 32, PLOT_COLORS = 32, PLOT_DASHES = 8 };

typedef struct PlotCurve {
    const char *name;
    const double *x, *y; // in the axes' units; what is not finite, or not above 0 on a log scale, leaves a gap
    const double *bars;  // half the length of each point's error bar, in the unit of y; NULL: there are none
    int count;
    int style; // 0: by its index in the plot; k: color and dashes k - 1, the same in every plot
} PlotCurve;

// A quantity along an axis. With a unit, numbers get an SI prefix: 0.002 s is shown as 2 ms.
typedef struct PlotAxis {
    const char *name;
    const char *unit; // "": a count
    bool plain;       // no prefix in spite of a unit
    bool logarithmic;
    bool from_zero;     // zero is always in view; linear only
    bool tight;         // ends at the data, not at a tick
    double least_range; // smallest range that is shown; linear only
    double least, most; // above 0: values below or above are cut off; logarithmic only
} PlotAxis;

typedef struct Plot {
    const char *name; // of files, and of its widgets
    const char *title;
    PlotAxis x, y;
    PlotCurve curves[PLOT_MAX_CURVES];
    int curve_count;
    bool without_legend;
    const char *nothing; // text shown without data
    const char *unseen;  // text shown where a log scale can show none of it: all is 0; NULL: none
} Plot;

// Draws the plot as a widget of the available width; `height`: pixels of the plotting area.
void plot_draw(const Plot *plot, float height);

// Draws the plot at a position, with this width; `height`: pixels of the plotting area.
void plot_draw_at(const Plot *plot, struct ImDrawList *list, float x, float y, float width, float height);

// The plot by which solvers are judged: residual of a step against the iteration. The caller adds the curves.
extern const Plot plot_of_residual;

bool plot_save_csv(const Plot *plot, const char *path, SandError *error);
bool plot_save_png(const Plot *plot, Interface *interface, const char *path, int width, int height,
                   SandError *error); // on white

// The color of a style on the dark panel, 0xaabbggrr.
unsigned plot_color(int style);

// --- plot_svg.c ---
bool plot_save_svg(const Plot *plot, const char *path, int width, int height, SandError *error); // on white
unsigned plot_paper_color(int style);                                                            // 0xaabbggrr
const float *plot_dashes(int style); // alternating lengths of dash and gap, ended by 0, at most 5

// Several on one sheet, in two columns, below a title.
bool plot_save_sheet(const Plot *plots, int count, const char *title, Interface *interface, const char *path, int width,
                     int height, SandError *error);

// --- plot_axis.c: where the ticks are, free of any drawing ---
enum { PLOT_MAX_TICKS = 24 };

typedef struct PlotScale {
    bool logarithmic;
    double low, high; // of the quantity, or of its decimal logarithm
    double factor;    // of displayed numbers
    const char *prefix;
    int tick_count;
    double ticks[PLOT_MAX_TICKS]; // the quantity
    char labels[PLOT_MAX_TICKS][24];
} PlotScale;

// The smallest and the largest value of all curves that the axes can show; without any, infinity and its opposite.
void plot_range(const Plot *plot, double x[2], double y[2]);
int plot_style(const Plot *plot, int curve); // color and dashes of a curve
// What a plot says of a place along its horizontal axis, 0 to 1: the point that is nearest there, among those of all curves,
// and the nearest of each curve, which lies elsewhere where the curve ends before. Returns how many curves have one.
typedef struct PlotReading {
    int curve;
    double x, y;
} PlotReading;
int plot_read(const Plot *plot, const PlotScale *scale, double at, PlotReading readings[PLOT_MAX_CURVES], double *x);
// The scale for values from low to high (positive ones on a log scale), with about this many ticks.
PlotScale plot_scale(const PlotAxis *axis, double low, double high, int ticks);
double plot_place(const PlotScale *scale, double value);                       // 0 to 1; NAN: not representable
void plot_number(const PlotAxis *axis, double value, char *text, size_t size); // with its unit
