// SPDX-License-Identifier: MIT
// Draws plots of the report on one sheet, with the plots of the program's races.
//   papers_sheet FILE.png < TEXT
// Lines of the text, fields separated by tabs: `sheet TITLE`, `plot X Y` with axes as `name;unit;log` or `name;unit;linear`,
// `curve NAME SOLVER` (a solver has its own color; any other word gets the next one), then one line `x y` per point.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/render/context.h"
#include "app/ui/plot.h"
#include "sim/core/array.h"
#include "sandglass/solver.h"

enum { MOST_PLOTS = 8, LINE = 512 };

typedef struct Sheet {
    char title[LINE];
    Plot plots[MOST_PLOTS];
    int count;
    double *numbers[MOST_PLOTS][PLOT_MAX_CURVES][2]; // x and y of a curve
    size_t capacity[MOST_PLOTS][PLOT_MAX_CURVES][2];
    char *names[MOST_PLOTS * (PLOT_MAX_CURVES + 1)]; // storage of the lines that titles and names point into
    int name_count;
} Sheet;

static PlotAxis read_axis(char *text) {
    char *rest = text, *name = strsep(&rest, ";"), *unit = rest ? strsep(&rest, ";") : "";
    return (PlotAxis){.name = name, .unit = unit, .plain = true, .logarithmic = rest && !strcmp(rest, "log")};
}

// Stores a line, for names to point into.
static char *keep(Sheet *sheet, const char *line) { return sheet->names[sheet->name_count++] = strdup(line); }

static bool read_point(Sheet *sheet, const char *line, SandError *error) {
    int p = sheet->count - 1, c = p < 0 ? -1 : sheet->plots[p].curve_count - 1;
    double x, y;
    if (c < 0 || sscanf(line, "%lf %lf", &x, &y) != 2) return sand_fail(error, "not a point of a curve: %.100s", line);
    PlotCurve *curve = &sheet->plots[p].curves[c];
    double **numbers = sheet->numbers[p][c];
    for (int k = 0; k < 2; k++)
        if (!SAND_GROW(numbers[k], sheet->capacity[p][c][k], curve->count + 1, "points", error)) return false;
    numbers[0][curve->count] = x;
    numbers[1][curve->count++] = y;
    curve->x = numbers[0];
    curve->y = numbers[1];
    return true;
}

static bool read_line(Sheet *sheet, char *line, SandError *error) {
    line[strcspn(line, "\n")] = 0;
    if (!strncmp(line, "sheet\t", 6)) {
        snprintf(sheet->title, sizeof sheet->title, "%s", line + 6);
        return true;
    }
    if (!strncmp(line, "plot\t", 5) && sheet->count < MOST_PLOTS) {
        char *rest = keep(sheet, line + 5), *x = strsep(&rest, "\t");
        if (!rest) return sand_fail(error, "a plot wants two axes: %.100s", line);
        PlotAxis along = read_axis(x), up = read_axis(rest);
        sheet->plots[sheet->count++] = (Plot){.name = up.name, .title = up.name, .x = along, .y = up};
        return true;
    }
    Plot *plot = sheet->count ? &sheet->plots[sheet->count - 1] : NULL;
    if (!strncmp(line, "curve\t", 6) && plot && plot->curve_count < PLOT_MAX_CURVES) {
        char *rest = keep(sheet, line + 6), *name = strsep(&rest, "\t");
        plot->curves[plot->curve_count++] = (PlotCurve){.name = name, .style = rest ? sand_solver_find(rest) + 1 : 0};
        return true;
    }
    return read_point(sheet, line, error);
}

static bool draw(const Sheet *sheet, const char *path, SandError *error) {
    enum { WIDTH = 1600, HEAD = 160, ROW = 470 };
    int height = HEAD + ROW * ((sheet->count + 1) / 2);
    ContextDef off_screen = context_default();
    Context *context = context_create(&off_screen, error);
    Interface *interface = context ? interface_create(NULL, error) : NULL;
    bool drawn = false;
    if (interface) {
        interface_begin(interface, WIDTH, height, 1.4, 0.01);
        drawn = plot_save_sheet(sheet->plots, sheet->count, sheet->title, interface, path, WIDTH, height, error);
        interface_end(interface, 0);
    }
    interface_free(interface);
    context_free(context);
    return drawn;
}

static void free_sheet(Sheet *sheet) {
    for (int k = 0; k < sheet->name_count; k++) free(sheet->names[k]);
    for (int p = 0; p < MOST_PLOTS; p++)
        for (int c = 0; c < PLOT_MAX_CURVES; c++) {
            sand_free(sheet->numbers[p][c][0]);
            sand_free(sheet->numbers[p][c][1]);
        }
}

int main(int argc, char **argv) {
    static Sheet sheet;
    SandError error = {""};
    char line[LINE];
    bool ok = argc == 2 || sand_fail(&error, "%s FILE.png < TEXT", argv[0]);
    while (ok && fgets(line, sizeof line, stdin)) ok = read_line(&sheet, line, &error);
    ok = ok && draw(&sheet, argv[1], &error);
    if (!ok) fprintf(stderr, "%s\n", error.text);
    free_sheet(&sheet);
    return ok ? 0 : 1;
}
