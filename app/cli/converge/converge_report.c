// SPDX-License-Identifier: MIT
// Tables, CSV and the plot of what `converge` has measured, one moment and one run after the other.
#include "app/cli/converge/converge_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/io/json.h"
#ifdef SAND_WINDOW
#include "app/cli/converge/plot_file.h"
#endif

// --- tables -------------------------------------------------------------------------------------------------------

static void write_reference(const SandGapStudy *s) {
    printf("  start      rms residual %.3g m/s, largest %.3g\n", s->start.residual_rms, s->start.residual_max);
    printf("  reference  rms residual %.3g m/s, largest %.3g; %d products of %s on %s, %s\n", s->reference.residual_rms,
           s->reference.residual_max, s->reference_iterations, SAND_GAP_REFERENCE, s->reference_device,
           s->reference_ended ? "until it no longer fell" : "and it still fell: a longer --reference is nearer");
    printf("  gap        %.6g J in the objective, %.6g J in the velocities\n", s->start.objective - s->reference.objective,
           s->velocity_energy);
    printf("  a product  %.4g ms, an iteration of jacobi\n", 1e3 * s->product_seconds);
}

// A share of the gap; a dash where there is none.
static void write_share(double share) {
    if (isnan(share))
        printf(" %11s", "-");
    else
        printf(" %11.4g", share);
}

static void write_row(const SandGapRow *row) {
    printf("%-14s %-6s %9d %10d %10.3f %11.1f", sand_solver_table[row->solver].name, row->device, row->budget,
           row->iterations, 1e3 * row->seconds, row->equivalents);
    write_share(row->gap);
    write_share(row->velocity);
    printf(" %11.3g %11.3g\n", row->at.residual_rms, row->at.residual_max);
}

// One cost: above the last one, below the first one, or between.
static void write_cost(const SandGapRow *rows, int count, double share, SandGapCost cost) {
    const SandGapRow *first = &rows[0], *last = &rows[count - 1];
    double found = sand_gap_cost_to(rows, count, share, cost);
    bool products = cost == SAND_GAP_PRODUCTS;
    char text[32];
    if (found == 0)
        snprintf(text, sizeof text, "<%.0f", products ? first->iterations : first->equivalents);
    else if (isfinite(found))
        snprintf(text, sizeof text, "%.0f", found);
    else
        snprintf(text, sizeof text, ">%.0f", products ? last->iterations : last->equivalents);
    printf(" %12s", text);
}

static void write_costs(const SandGapRow *rows, int count) {
    static const double shares[] = {0.1, 0.01};
    printf("%-14s %-6s", sand_solver_table[rows->solver].name, rows->device);
    for (int k = 0; k < 2; k++)
        for (int cost = 0; cost < 2; cost++) write_cost(rows, count, shares[k], (SandGapCost)cost);
    putchar('\n');
}

static void write_all_costs(const SandGapStudy *s, int budgets) {
    if (!sand_gap_study_has_gap(s)) {
        printf("the start is a solution already: there is no gap\n");
        return;
    }
    printf("%-14s %-6s %12s %12s %12s %12s\n", "gap left", "", "10 %", "equivalents", "1 %", "equivalents");
    for (int i = 0; i < s->count; i += budgets)
        if (s->rows[i].ran) write_costs(&s->rows[i], budgets);
}

// A solver that ends up below the reference says that the reference is not one.
static void write_doubt(const SandGapStudy *s) {
    const SandGapRow *least = NULL;
    for (int i = 0; i < s->count; i++)
        if (s->rows[i].ran && s->rows[i].gap < (least ? least->gap : -1e-6)) least = &s->rows[i];
    if (least)
        printf("%s with %d is below the reference by %.2g of the gap: raise --reference\n",
               sand_solver_table[least->solver].name, least->budget, -least->gap);
}

void converge_write_moment(const Convergence *c, const Moment *moment, const char *scene) {
    const SandGapStudy *s = &moment->study;
    int budgets = c->def.budget_count;
    printf("%s at %g s: %d contacts between %d bodies\n", scene, moment->time, moment->contacts, moment->bodies);
    write_reference(s);
    printf("%-14s %-6s %9s %10s %10s %11s %11s %11s %11s %11s\n", "solver", "device", "budget", "iterations", "ms",
           "equivalents", "gap left", "velocity", "rms m/s", "largest");
    for (int i = 0; i < s->count; i++) {
        if (s->rows[i].ran)
            write_row(&s->rows[i]);
        else if (i % budgets == 0)
            printf("%-14s %-6s %s\n", sand_solver_table[s->rows[i].solver].name, s->rows[i].device, s->rows[i].refused);
    }
    write_all_costs(s, budgets);
    write_doubt(s);
    putchar('\n');
}

void converge_write_runs(const Convergence *c) {
    const Runs *runs = &c->runs;
    printf("runs of %g s; the first is the converged one; potential energy lost from %g s on\n", runs->seconds, runs->from);
    printf("%-14s %-6s %9s %11s %11s %11s %11s %11s %11s %9s\n", "solver", "device", "budget", "kinetic J", "its mean",
           "lost J", "overlap mm", "boundaries", "rms m/s", "step ms");
    for (int i = 0; i < runs->count; i++) {
        const RunRow *row = &runs->rows[i];
        const char *name = sand_solver_table[row->solver].name;
        if (row->ran)
            printf("%-14s %-6s %9d %11.5g %11.5g %11.6g %11.4g %11.4g %11.3g %9.3f\n", name, row->device, row->budget,
                   row->kinetic, row->kinetic_mean, row->potential_lost, 1e3 * row->overlap, 1e3 * row->overlap_boundaries,
                   row->residual, row->step_ms);
        else if (i == 0 || row[-1].solver != row->solver)
            printf("%-14s %-6s %s\n", name, row->device, row->refused);
    }
}

// --- CSV ----------------------------------------------------------------------------------------------------------

// Appends numbers after a comma each; what is not finite leaves its cell empty.
static void put_numbers(FILE *file, const double *numbers, int count) {
    for (int i = 0; i < count; i++) {
        char text[JSON_NUMBER];
        fprintf(file, ",%s", isfinite(numbers[i]) ? json_shortest(numbers[i], text) : "");
    }
}

static void put_gap(FILE *file, double time, const char *name, const SandGapRow *row) {
    char at[JSON_NUMBER];
    fprintf(file, "frozen,%s,%s,%s,%d,%d,%s", json_shortest(time, at), name, row->device, row->budget, row->iterations,
            row->ran ? sand_status_text(row->status) : "");
    const double figures[] = {row->seconds,
                              row->equivalents,
                              row->at.objective,
                              row->gap,
                              row->velocity,
                              row->at.residual_rms,
                              row->at.residual_max,
                              NAN,
                              NAN,
                              NAN,
                              NAN,
                              NAN,
                              NAN};
    put_numbers(file, figures, sizeof figures / sizeof *figures);
    fputc('\n', file);
}

static void put_moment(FILE *file, const Moment *moment) {
    const SandGapStudy *s = &moment->study;
    SandGapRow start = {.device = "cpu", .at = s->start, .gap = 1, .velocity = 1};
    SandGapRow reference = {.device = s->reference_device, .at = s->reference};
    reference.budget = reference.iterations = s->reference_iterations;
    start.seconds = start.equivalents = reference.seconds = reference.equivalents = NAN;
    put_gap(file, moment->time, "start", &start);
    put_gap(file, moment->time, "reference", &reference);
    for (int i = 0; i < s->count; i++)
        if (s->rows[i].ran) put_gap(file, moment->time, sand_solver_table[s->rows[i].solver].name, &s->rows[i]);
}

static void put_run(FILE *file, double time, const RunRow *row, bool converged) {
    char at[JSON_NUMBER];
    const double figures[] = {NAN,
                              NAN,
                              NAN,
                              NAN,
                              NAN,
                              row->residual,
                              NAN,
                              row->kinetic,
                              row->kinetic_mean,
                              row->potential_lost,
                              row->overlap,
                              row->overlap_boundaries,
                              row->step_ms};
    fprintf(file, "%s,%s,%s,%s,%d,,", converged ? "converged" : "run", json_shortest(time, at),
            sand_solver_table[row->solver].name, row->device, row->budget);
    put_numbers(file, figures, sizeof figures / sizeof *figures);
    fputc('\n', file);
}

bool converge_save_csv(const Convergence *c, const char *path, SandError *error) {
    FILE *file = fopen(path, "w");
    if (!file) return sand_fail(error, "%.200s: cannot write: %s", path, strerror(errno));
    fputs("part,time_s,solver,device,budget,iterations,status,seconds,equivalents,objective_j,gap,velocity_error,"
          "residual_rms,residual_max,kinetic_energy_j,kinetic_energy_mean_j,potential_energy_lost_j,penetration_bodies_m,"
          "penetration_boundaries_m,step_ms\n",
          file);
    for (int m = 0; m < c->moment_count; m++) put_moment(file, &c->moments[m]);
    for (int i = 0; i < c->runs.count; i++)
        if (c->runs.rows[i].ran) put_run(file, c->runs.seconds, &c->runs.rows[i], i == 0);
    bool bad = ferror(file);
    if (fclose(file) != 0 || bad) return sand_fail(error, "%.200s: cannot write: %s", path, strerror(errno));
    return true;
}

// --- plot ---------------------------------------------------------------------------------------------------------

#ifdef SAND_WINDOW
typedef struct CurveData {
    char name[48];
    double x[SAND_GAP_BUDGETS], y[SAND_GAP_BUDGETS];
} CurveData;

// With one moment a solver has the color of its row, as in a race.
static void add_curve(Plot *plot, CurveData *data, const Convergence *c, const Moment *moment, int first) {
    const SandGapRow *rows = &moment->study.rows[first];
    bool alone = c->moment_count == 1;
    const char *name = sand_solver_table[rows->solver].name;
    if (!rows->ran || plot->curve_count == PLOT_MAX_CURVES) return;
    if (alone)
        snprintf(data->name, sizeof data->name, "%s", name);
    else
        snprintf(data->name, sizeof data->name, "%s, %g s", name, moment->time);
    for (int b = 0; b < c->def.budget_count; b++) {
        data->x[b] = rows[b].iterations;
        data->y[b] = rows[b].gap;
    }
    plot->curves[plot->curve_count++] = (PlotCurve){
        .name = data->name, .x = data->x, .y = data->y, .count = c->def.budget_count, .style = alone ? rows->solver + 1 : 0};
}

bool converge_draw(const Convergence *c, const char *title, const char *path, SandError *error) {
    Plot plot = {.name = "converge",
                 .title = title,
                 .x = {"products with N", "", .logarithmic = true, .tight = true},
                 .y = {"share of the objective gap that is left", "", .logarithmic = true},
                 .nothing = "nothing solved"};
    CurveData *data = calloc(PLOT_MAX_CURVES, sizeof *data);
    if (!data) return sand_fail(error, "out of memory for a plot");
    for (int m = 0; m < c->moment_count; m++)
        for (int i = 0; i < c->moments[m].study.count && plot.curve_count < PLOT_MAX_CURVES; i += c->def.budget_count)
            add_curve(&plot, &data[plot.curve_count], c, &c->moments[m], i);
    bool ok = plot_file_save(&plot, path, error);
    free(data);
    return ok;
}
#else
bool converge_draw(const Convergence *c, const char *title, const char *path, SandError *error) {
    (void)c, (void)title, (void)path;
    return sand_fail(error, "--plot: this build has no pictures; build with -DSAND_WINDOW=ON");
}
#endif
