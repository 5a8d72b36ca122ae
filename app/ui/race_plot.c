// SPDX-License-Identifier: MIT
// Copies the curves of a race into plots.
#include "app/ui/race_plot.h"

#include <math.h>

#include "sim/core/array.h"

// References (interior point, Newton) end many decades below the methods that are compared, and may start far above them;
// the axis ends two decades below the best and one above the worst of those.
static void fit_axis(Plot *plot, const RaceCurves *curves, const int *racers) {
    double least = INFINITY, most = 0;
    for (int c = 0; c < plot->curve_count; c++) {
        if (sand_solver_table[curves->racers[racers[c]].solver].assembled) continue;
        for (int k = 0; k < plot->curves[c].count; k++) {
            double y = plot->curves[c].y[k];
            if (!(y > 0) || !isfinite(y)) continue;
            least = fmin(least, y);
            most = fmax(most, y);
        }
    }
    plot->y.least = isfinite(least) ? 0.01 * least : 0;
    plot->y.most = 10 * most;
}

bool race_plots_make(RacePlots *p, const RaceCurves *curves, uint32_t hidden, SandError *error) {
    static const PlotAxis iterations = {"iteration", "", .logarithmic = true, .tight = true};
    static const PlotAxis seconds = {"time", "s", .logarithmic = true, .tight = true};
    static const PlotAxis residual = {"residual", "m/s", .plain = true, .logarithmic = true};
    static const PlotAxis above = {"objective above the least", "J", .plain = true, .logarithmic = true};
    static const struct {
        const char *name, *title;
        const PlotAxis *x, *y;
    } kinds[RACE_PLOTS] = {{"race_residual_iterations", "Residual against iterations", &iterations, &residual},
                           {"race_residual_time", "Residual against time", &seconds, &residual},
                           {"race_objective_iterations", "Objective against iterations", &iterations, &above},
                           {"race_objective_time", "Objective against time", &seconds, &above}};
    size_t points = 0;
    for (int i = 0; i < curves->count; i++) points += (size_t)curves->racers[i].count;
    if (!SAND_RESERVE(p->numbers, 4 * points + 1, "curves of a race", error)) return false;
    p->count = isnan(curves->reference) ? 2 : RACE_PLOTS; // the objective plots come last
    for (int k = 0; k < RACE_PLOTS; k++)
        p->plots[k] = (Plot){.name = kinds[k].name,
                             .title = kinds[k].title,
                             .x = *kinds[k].x,
                             .y = *kinds[k].y,
                             .without_legend = k > 0, // the first has the legend of all
                             .nothing = "nothing yet"};
    int racers[PLOT_MAX_CURVES];
    double *x = p->numbers.data, *t = x + points, *e = t + points, *q = e + points;
    for (int i = 0; i < curves->count; i++) {
        const Racer *racer = &curves->racers[i];
        if (!racer->count || hidden >> i & 1) continue;
        for (int k = 0; k < racer->count; k++) {
            x[k] = racer->curve[k].iteration;
            t[k] = racer->curve[k].seconds;
            e[k] = racer->curve[k].residual;
            q[k] = racer->curve[k].objective - curves->reference;
        }
        racers[p->plots[0].curve_count] = i;
        for (int k = 0; k < RACE_PLOTS; k++)
            p->plots[k].curves[p->plots[k].curve_count++] = (PlotCurve){.name = sand_solver_table[racer->solver].name,
                                                                        .x = k % 2 ? t : x,
                                                                        .y = k / 2 ? q : e,
                                                                        .count = racer->count,
                                                                        .style = racer->solver + 1};
        x += racer->count;
        t += racer->count;
        e += racer->count;
        q += racer->count;
    }
    for (int k = 0; k < RACE_PLOTS; k++) fit_axis(&p->plots[k], curves, racers);
    return true;
}

void race_plots_free(RacePlots *plots) {
    SAND_FREE_ARRAYS(&plots->numbers);
    *plots = (RacePlots){0};
}

bool race_first_below(const Racer *racer, double residual, double *seconds, int *iterations) {
    for (int k = 0; k < racer->count; k++) {
        if (!(racer->curve[k].residual <= residual)) continue;
        *seconds = racer->curve[k].seconds;
        *iterations = racer->curve[k].iteration;
        return true;
    }
    return false;
}
