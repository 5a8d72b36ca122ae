// SPDX-License-Identifier: MIT
// Drawing a column of a sweep's table: means and standard deviations over the seeds, a curve for every choice of what else
// varies.
#include "app/cli/sweep/sweep_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef SAND_WINDOW
#include "app/cli/sweep/csv.h"
#include "app/cli/converge/plot_file.h"
#include "sim/core/suggestion.h"

// Mean and variance of the seeds of a point (Welford 1962).
typedef struct Mean {
    int count;
    double mean, squares; // squares: of the differences from the mean, summed
} Mean;

typedef struct Curves {
    const SweepGrid *grid;
    int across;           // axis of the plot's x
    int points;           // of a curve: its values
    int count;            // of curves
    Mean *means;          // curve after curve
    double *x, *y, *bars; // likewise
    char (*names)[128];
} Curves;

static bool is_apart(const Curves *c, int axis) { return axis == c->across || !strcmp(c->grid->axes[axis].name, "seed"); }

// Which curve a run belongs to: by all that varies, except x and the seed.
static int curve_of(const Curves *c, int run) {
    int curve = 0;
    for (int k = 0; k < c->grid->axis_count; k++)
        if (!is_apart(c, k)) curve = curve * c->grid->axes[k].count + sweep_grid_index(c->grid, run, k);
    return curve;
}

static void name_curve(const Curves *c, int run, char *name, size_t size) {
    size_t used = 0;
    name[0] = '\0';
    for (int k = 0; k < c->grid->axis_count && used < size; k++)
        if (!is_apart(c, k))
            used += (size_t)snprintf(name + used, size - used, "%s%s=%s", used ? ", " : "", c->grid->axes[k].name,
                                     sweep_grid_value(c->grid, run, k));
}

static bool choose_axes(Curves *c, const SweepGrid *grid, SandError *error) {
    *c = (Curves){.grid = grid, .across = -1, .count = 1};
    for (int k = grid->axis_count - 1; k >= 0; k--)
        if (grid->axes[k].numeric && strcmp(grid->axes[k].name, "seed")) c->across = k;
    if (c->across < 0) return sand_fail(error, "--plot: nothing that varies is a number to plot against");
    c->points = grid->axes[c->across].count;
    for (int k = 0; k < grid->axis_count; k++)
        if (!is_apart(c, k)) c->count *= grid->axes[k].count;
    if (c->count <= PLOT_MAX_CURVES) return true;
    return sand_fail(error, "--plot: %d curves are more than %d, the most that a plot shows", c->count, PLOT_MAX_CURVES);
}

static bool make_curves(Curves *c, SandError *error) {
    size_t all = (size_t)c->count * (size_t)c->points;
    c->means = calloc(all, sizeof *c->means);
    c->x = calloc(3 * all, sizeof *c->x);
    c->names = calloc((size_t)c->count, sizeof *c->names);
    if (!c->means || !c->x || !c->names) return sand_fail(error, "out of memory for a plot");
    c->y = c->x + all;
    c->bars = c->y + all;
    return true;
}

static void add_run(Mean *mean, double value) {
    if (isnan(value)) return; // the run failed, or a probe took no sample
    double from = value - mean->mean;
    mean->count++;
    mean->mean += from / mean->count;
    mean->squares += from * (value - mean->mean);
}

static void add_runs(Curves *c, const SweepTable *table, int column) {
    for (int run = 0; run < c->grid->count; run++) {
        int curve = curve_of(c, run), point = sweep_grid_index(c->grid, run, c->across);
        add_run(&c->means[curve * c->points + point], sweep_table_number(table, run, column));
        if (point == 0) name_curve(c, run, c->names[curve], sizeof c->names[curve]);
    }
}

static void add_curve(const Curves *c, Plot *plot, int curve) {
    int first = curve * c->points;
    for (int i = 0; i < c->points; i++) {
        const Mean *mean = &c->means[first + i];
        c->x[first + i] = strtod(c->grid->axes[c->across].values[i], NULL);
        c->y[first + i] = mean->count ? mean->mean : NAN;
        c->bars[first + i] = mean->count > 1 ? sqrt(mean->squares / (mean->count - 1)) : 0;
    }
    plot->curves[plot->curve_count++] = (PlotCurve){
        .name = c->names[curve], .x = c->x + first, .y = c->y + first, .bars = c->bars + first, .count = c->points};
}

static bool refuse_column(const SweepTable *table, const char *column, SandError *error) {
    char name[256];
    SandSuggestion names = sand_suggestion(column);
    for (int i = 0; csv_cell(table->names, i, name, sizeof name); i++) sand_suggestion_add(&names, name);
    return sand_fail(error, "--column %.60s: the table has no such column; %s", column, sand_suggestion_text(&names));
}

bool sweep_plot_save(const SweepTable *table, const SweepGrid *grid, const char *title, const char *column, const char *path,
                     SandError *error) {
    Curves c;
    if (!table->names) return sand_fail(error, "--plot: no run has ended");
    int index = csv_find(table->names, column);
    if (index < 0) return refuse_column(table, column, error);
    if (!choose_axes(&c, grid, error)) return false;
    Plot plot = {.name = "sweep",
                 .title = title,
                 .x = {grid->axes[c.across].name, "", .tight = true},
                 .y = {column, ""},
                 .without_legend = c.count == 1,
                 .nothing = "no number in this column"};
    bool ok = make_curves(&c, error);
    if (ok) {
        add_runs(&c, table, index);
        for (int k = 0; k < c.count; k++) add_curve(&c, &plot, k);
        ok = plot_file_save(&plot, path, error);
    }
    free(c.means);
    free(c.x);
    free(c.names);
    return ok;
}
#else
bool sweep_plot_save(const SweepTable *table, const SweepGrid *grid, const char *title, const char *column, const char *path,
                     SandError *error) {
    (void)table, (void)grid, (void)title, (void)column, (void)path;
    return sand_fail(error, "--plot: this build has no pictures; build with -DSAND_WINDOW=ON");
}
#endif
