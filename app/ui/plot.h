// A plot of curves: axes with ticks, numbers and units, legend, log scale, read-out under the mouse; saved as CSV and PNG.
// Curves are told apart by color (Okabe-Ito, safe for color-blind eyes) and by their dashes.
#pragma once
#include "app/ui/interface.h"

enum { PLOT_MAX_CURVES = 32, PLOT_STYLES = 8 };

typedef struct PlotCurve {
    const char *name;
    const double *x, *y; // in the axes' units; what is not finite, or not above 0 on a log scale, leaves a gap
    int count;
    int style; // 0: by its place in the plot; k: color and dashes number k - 1, the same in every plot
} PlotCurve;

// A quantity along an axis. With a unit, numbers are shown with a prefix that suits them: 0.002 s as 2 ms.
typedef struct PlotAxis {
    const char *name;
    const char *unit; // "" where it is a count
    bool plain;       // no prefix all the same
    bool logarithmic;
    bool from_zero;     // zero is always in view; linear only
    bool tight;         // ends at the data, not at a tick
    double least_range; // never zoom in further than this; linear only
} PlotAxis;

typedef struct Plot {
    const char *name; // of files, and of its widgets
    const char *title;
    PlotAxis x, y;
    PlotCurve curves[PLOT_MAX_CURVES];
    int curve_count;
    bool without_legend;
    const char *nothing; // what to say where there is no data
} Plot;

// Draws it as a widget, as wide as there is room, `height` pixels for the field of the curves.
void plot_draw(const Plot *plot, float height);

// Draws it anywhere: from a corner, so wide, `height` pixels for the field of the curves.
void plot_draw_at(const Plot *plot, struct ImDrawList *list, float x, float y, float width, float height);

// How every solver is judged: the residual of a step against the iteration. Curves are to be added.
extern const Plot plot_of_residual;

bool plot_save_csv(const Plot *plot, const char *path, SandError *error);
bool plot_save_png(const Plot *plot, Interface *interface, const char *path, int width, int height,
                   SandError *error); // on white

// Several on one sheet, in two columns, below a title.
bool plot_save_sheet(const Plot *plots, int count, const char *title, Interface *interface, const char *path, int width,
                     int height, SandError *error);

// --- plot_axis.c: where the ticks are, free of any drawing ---
enum { PLOT_MAX_TICKS = 24 };

typedef struct PlotScale {
    bool logarithmic;
    double low, high; // of the quantity, or of its decimal logarithm
    double factor;    // numbers are shown multiplied by it
    const char *prefix;
    int tick_count;
    double ticks[PLOT_MAX_TICKS]; // the quantity
    char labels[PLOT_MAX_TICKS][24];
} PlotScale;

// For values from low to high (those above 0 for a log scale), about so many ticks.
PlotScale plot_scale(const PlotAxis *axis, double low, double high, int ticks);
double plot_place(const PlotScale *scale, double value);                       // 0 to 1, NAN: it has none
void plot_number(const PlotAxis *axis, double value, char *text, size_t size); // with its unit
