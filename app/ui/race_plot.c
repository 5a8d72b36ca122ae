// Copies the curves of a race into plots.
#include "app/ui/race_plot.h"

#include <math.h>

#include "sim/core/array.h"

bool race_plots_make(RacePlots *p, const SandRace *race, SandError *error) {
    static const PlotAxis iterations = {"iteration", "", .logarithmic = true, .tight = true};
    static const PlotAxis seconds = {"time", "s", .logarithmic = true, .tight = true};
    static const PlotAxis residual = {"residual", "m/s", .plain = true, .logarithmic = true};
    static const PlotAxis above = {"objective above the least", "J", .plain = true, .logarithmic = true};
    size_t points = 0;
    for (int i = 0; i < race->count; i++) points += (size_t)race->entries[i].solution.curve_count;
    if (!SAND_GROW(p->numbers, p->number_capacity, 4 * points + 1, "curves of a race", error)) return false;
    Plot *plots = p->plots;
    p->count = isnan(race->reference) ? 2 : RACE_PLOTS; // the objective plots come last
    plots[0] = (Plot){.name = "race_residual_iterations", .title = "Residual", .x = iterations, .y = residual};
    plots[1] = (Plot){.name = "race_residual_time", .title = "Residual", .x = seconds, .y = residual};
    plots[2] = (Plot){.name = "race_objective_iterations", .title = "Objective", .x = iterations, .y = above};
    plots[3] = (Plot){.name = "race_objective_time", .title = "Objective", .x = seconds, .y = above};

    for (int k = 1; k < RACE_PLOTS; k++) plots[k].without_legend = true; // the first has the legend of all

    double *x = p->numbers, *t = x + points, *e = t + points, *q = e + points;
    for (int i = 0; i < race->count; i++) {
        const SandRaceEntry *entry = &race->entries[i];
        int count = entry->solution.curve_count;
        for (int k = 0; k < count; k++) {
            const SandCurvePoint *c = &entry->solution.curve[k];
            x[k] = c->iteration;
            t[k] = c->seconds;
            e[k] = c->residual;
            q[k] = c->objective - race->reference;
        }
        for (int k = 0; k < RACE_PLOTS && entry->ran; k++)
            plots[k].curves[plots[k].curve_count++] = (PlotCurve){.name = sand_solver_table[entry->solver].name,
                                                                  .x = k % 2 ? t : x,
                                                                  .y = k / 2 ? q : e,
                                                                  .count = count,
                                                                  .style = entry->solver + 1};
        x += count;
        t += count;
        e += count;
        q += count;
    }
    return true;
}

void race_plots_free(RacePlots *plots) {
    sand_free(plots->numbers);
    *plots = (RacePlots){0};
}
