// SPDX-License-Identifier: MIT
// Results of solvers over problems, read from and appended to a CSV file, and printed as a table, as JSON, or as the curves
// of performance profiles.
#include "app/cli/verbs/profile.h"

#include "app/io/json.h"
#include "sandglass/solver.h"
#include "sim/core/array.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef SAND_WINDOW
#include "app/cli/converge/plot_file.h"
#endif

enum { LINE = 1024, GOAL = 32 };
static const char header[] =
    "problem,contacts,friction,tolerance,relative tolerance,solver,status,solved,seconds,iterations,"
    "residual (m/s),relative residual\n";
static const char old_header[] =
    "problem,contacts,friction,tolerance (m/s),solver,status,solved,seconds,iterations,residual (m/s)\n";

void profile_free(Profile *profile) {
    sand_free(profile->rows);
    *profile = (Profile){0};
}

// The cell of what ends a solve: a number, or an accuracy with its percent sign.
static const char *goal_text(const ProfileRow *r, char text[GOAL]) {
    snprintf(text, GOAL, r->accuracy > 0 ? "%g%%" : "%g", r->accuracy > 0 ? r->accuracy : r->tolerance);
    return text;
}

static bool read_goal(const char *text, ProfileRow *r) {
    char *end;
    double number = strtod(text, &end);
    bool is_percent = *end == '%';
    r->tolerance = is_percent ? 0 : number;
    r->accuracy = is_percent ? number : 0;
    return end > text && !end[is_percent];
}

void profile_append(int descriptor, const ProfileRow *r) {
    char line[LINE], goal[GOAL];
    int used = lseek(descriptor, 0, SEEK_END) == 0 ? snprintf(line, sizeof line, "%s", header) : 0;
    used += snprintf(line + used, sizeof line - (size_t)used, "%s,%d,%s,%s,%d,%s,%s,%d,%.9g,%d,%.9g,%.9g\n", r->problem,
                     r->contacts, r->friction, goal_text(r, goal), r->is_relative, r->solver, r->status, r->solved,
                     r->seconds, r->iterations, r->residual, r->relative);
    if (write(descriptor, line, (size_t)used) != used)
        fprintf(stderr, "a result could not be written: %s\n", strerror(errno));
}

static bool read_row(const char *line, ProfileRow *r) {
    char goal[GOAL];
    int solved = 0, is_relative = 0;
    bool whole = sscanf(line, "%127[^,],%d,%23[^,],%31[^,],%d,%31[^,],%31[^,],%d,%lf,%d,%lf,%lf", r->problem, &r->contacts,
                        r->friction, goal, &is_relative, r->solver, r->status, &solved, &r->seconds, &r->iterations,
                        &r->residual, &r->relative) == 12;
    r->is_relative = is_relative != 0;
    r->solved = solved != 0 && isfinite(r->seconds);
    return whole && read_goal(goal, r);
}

static bool is_of_kind(const ProfileRow *row, ProfileKind kind) {
    return !strcmp(row->friction, kind.friction) && row->is_relative == kind.is_relative &&
           fabs(row->tolerance - kind.tolerance) <= 1e-6 * kind.tolerance &&
           fabs(row->accuracy - kind.accuracy) <= 1e-6 * kind.accuracy;
}

bool profile_load(Profile *p, const char *path, ProfileKind kind, SandError *error) {
    p->count = 0;
    FILE *file = fopen(path, "r");
    if (!file) return errno == ENOENT || sand_fail(error, "%.300s: cannot read: %s", path, strerror(errno));
    char line[LINE];
    bool ok = true;
    for (int number = 1; ok && fgets(line, sizeof line, file); number++) {
        ProfileRow row;
        if (!strcmp(line, header)) continue;
        if (!strcmp(line, old_header)) {
            ok = sand_fail(error,
                           "%.300s: does not say which tolerances are relative, as results of an older version; "
                           "remove it, or name another file with --csv",
                           path);
        } else if (!read_row(line, &row)) {
            ok = sand_fail(error, "%.300s:%d: is no result of a race", path, number);
        } else if (is_of_kind(&row, kind)) {
            ok = SAND_GROW(p->rows, p->capacity, p->count + 1, "results", error);
            if (ok) p->rows[p->count++] = row;
        }
    }
    fclose(file);
    return ok;
}

// --- problems by solvers ----------------------------------------------------------------------------------------

// The results as a table, with NAN where a solver has not solved a problem.
typedef struct Grid {
    int problems, solvers;
    const char **problem, *solver[PROFILE_MOST_SOLVERS];
    double *seconds; // solvers per problem
    double *best;    // of each problem
    int *contacts;
} Grid;

static int find_name(const char *const *names, int count, const char *name) {
    for (int k = 0; k < count; k++)
        if (!strcmp(names[k], name)) return k;
    return -1;
}

static void grid_free(Grid *g) {
    free(g->problem);
    free(g->seconds);
    free(g->best);
    free(g->contacts);
}

static int compare_texts(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static bool grid_make(Grid *g, const Profile *p) {
    *g = (Grid){.problem = calloc(p->count + 1, sizeof *g->problem)};
    for (size_t k = 0; g->problem && k < p->count; k++) {
        if (find_name(g->problem, g->problems, p->rows[k].problem) < 0) g->problem[g->problems++] = p->rows[k].problem;
        if (find_name(g->solver, g->solvers, p->rows[k].solver) < 0 && g->solvers < PROFILE_MOST_SOLVERS)
            g->solver[g->solvers++] = p->rows[k].solver;
    }
    size_t cells = (size_t)g->problems * (size_t)g->solvers;
    g->seconds = malloc((cells + 1) * sizeof *g->seconds);
    g->best = malloc(((size_t)g->problems + 1) * sizeof *g->best);
    g->contacts = calloc((size_t)g->problems + 1, sizeof *g->contacts);
    if (!g->problem || !g->seconds || !g->best || !g->contacts) {
        grid_free(g);
        return false;
    }
    qsort(g->problem, (size_t)g->problems, sizeof *g->problem, compare_texts);
    qsort(g->solver, (size_t)g->solvers, sizeof *g->solver, compare_texts);
    for (size_t k = 0; k < cells; k++) g->seconds[k] = NAN;
    for (int i = 0; i < g->problems; i++) g->best[i] = INFINITY;
    for (size_t k = 0; k < p->count; k++) {
        const ProfileRow *row = &p->rows[k];
        int i = find_name(g->problem, g->problems, row->problem), s = find_name(g->solver, g->solvers, row->solver);
        if (row->contacts > g->contacts[i]) g->contacts[i] = row->contacts;
        if (s < 0 || !row->solved) continue;
        g->seconds[i * g->solvers + s] = row->seconds;
        g->best[i] = fmin(g->best[i], row->seconds);
    }
    return true;
}

static int compare_reals(const void *a, const void *b) {
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

// The times of a solver over the best of each problem that it has solved, sorted. Returns their number.
static int ratios_of(const Grid *g, int solver, double *ratios) {
    int count = 0;
    for (int i = 0; i < g->problems; i++) {
        double t = g->seconds[i * g->solvers + solver];
        if (isfinite(t)) ratios[count++] = g->best[i] > 0 ? t / g->best[i] : 1;
    }
    qsort(ratios, (size_t)count, sizeof *ratios, compare_reals);
    return count;
}

void profile_write_table(const Profile *p) {
    Grid g;
    if (!grid_make(&g, p)) return;
    double *ratios = malloc(((size_t)g.problems + 1) * sizeof *ratios);
    printf("%-34s %8s", "problem: ms, - where not solved", "contacts");
    for (int s = 0; s < g.solvers; s++) printf(" %12s", g.solver[s]);
    printf("\n");
    for (int i = 0; i < g.problems; i++) {
        printf("%-34s %8d", g.problem[i], g.contacts[i]);
        for (int s = 0; s < g.solvers; s++) {
            double t = g.seconds[i * g.solvers + s];
            if (isfinite(t))
                printf(" %12.2f", 1e3 * t);
            else
                printf(" %12s", "-");
        }
        printf("\n");
    }
    static const char *const lines[] = {"solved", "the fastest", "median of time over the best"};
    for (int line = 0; line < 3 && ratios; line++) {
        printf("%-34s %8s", lines[line], "");
        for (int s = 0; s < g.solvers; s++) {
            int count = ratios_of(&g, s, ratios), first = 0;
            while (first < count && ratios[first] <= 1) first++;
            if (line == 2 && count)
                printf(" %12.2f", ratios[count / 2]);
            else
                printf(" %12d", line == 0 ? count : line == 1 ? first : 0);
        }
        printf("\n");
    }
    free(ratios);
    grid_free(&g);
}

void profile_write_json(const Profile *p) {
    Json json = json_make(stdout);
    json_open_array(&json, NULL);
    for (size_t k = 0; k < p->count; k++) {
        const ProfileRow *row = &p->rows[k];
        json_open_object(&json, NULL);
        json_text(&json, "problem", row->problem);
        json_integer(&json, "contacts", row->contacts);
        json_text(&json, "friction", row->friction);
        json_number(&json, "tolerance", row->accuracy > 0 ? NAN : row->tolerance);
        if (row->accuracy > 0) json_number(&json, "accuracy", row->accuracy);
        json_bool(&json, "relative_tolerance", row->is_relative);
        json_text(&json, "solver", row->solver);
        json_text(&json, "status", row->status);
        json_bool(&json, "solved", row->solved);
        json_number(&json, "seconds", row->seconds);
        json_integer(&json, "iterations", row->iterations);
        json_number(&json, "residual", row->residual);
        json_number(&json, "relative", row->relative);
        json_close_object(&json);
    }
    json_close_array(&json);
}

// --- the profiles -----------------------------------------------------------------------------------------------

#ifdef SAND_WINDOW
// A curve per solver, in steps. `numbers` has room for all of them.
static void make_plot(const Grid *g, Plot *plot, double *numbers, double *ratios) {
    double right = 1.1;
    for (int s = 0; s < g->solvers; s++) {
        int count = ratios_of(g, s, ratios);
        if (count) right = fmax(right, 1.2 * ratios[count - 1]); // so that the last step is seen
    }
    for (int s = 0; s < g->solvers; s++) {
        int count = ratios_of(g, s, ratios), points = 0, row = sand_solver_find(g->solver[s]);
        double *x = numbers, *y = numbers + 2 * g->problems + 2;
        x[points] = 1;
        y[points++] = 0;
        for (int k = 0; k < count; k++)
            for (int after = 0; after < 2; after++) {
                x[points] = ratios[k];
                y[points++] = (double)(k + after) / g->problems;
            }
        x[points] = right;
        y[points++] = (double)count / g->problems;
        plot->curves[plot->curve_count++] = (PlotCurve){
            .name = g->solver[s], .x = x, .y = y, .count = points, .style = (row < 0 ? sand_solver_known + s : row) + 1};
        numbers += 4 * g->problems + 4;
    }
}

bool profile_draw(const Profile *p, const char *path, SandError *error) {
    Grid g;
    Plot plot = {.name = "profile",
                 .title = "Performance profiles",
                 .x = {"time over that of the best solver of the problem", "", .logarithmic = true, .tight = true},
                 .y = {"share of problems solved", "", .from_zero = true, .least_range = 1},
                 .nothing = "nothing solved"};
    if (!grid_make(&g, p)) return sand_fail(error, "out of memory for a plot");
    double *numbers = malloc((size_t)(g.solvers + 1) * (4 * (size_t)g.problems + 4) * sizeof *numbers);
    double *ratios = malloc(((size_t)g.problems + 1) * sizeof *ratios);
    bool ok = (numbers && ratios) || sand_fail(error, "out of memory for a plot");
    if (ok) {
        make_plot(&g, &plot, numbers, ratios);
        ok = plot_file_save(&plot, path, error);
    }
    free(numbers);
    free(ratios);
    grid_free(&g);
    return ok;
}
#else
bool profile_draw(const Profile *p, const char *path, SandError *error) {
    (void)p, (void)path;
    return sand_fail(error, "--plot: this build has no pictures; build with -DSAND_WINDOW=ON");
}
#endif
