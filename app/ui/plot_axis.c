// SPDX-License-Identifier: MIT
// Axis scales: range, ticks, labels and SI prefixes, without any drawing.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/ui/plot.h"

static void widen(const PlotAxis *axis, const double *values, int count, double range[2]) {
    for (int i = 0; i < count; i++) {
        if (!isfinite(values[i]) || (axis->logarithmic && !(values[i] > 0))) continue;
        range[0] = fmin(range[0], values[i]);
        range[1] = fmax(range[1], values[i]);
    }
}

// The ends of the error bars are in view too.
static void widen_by_bars(const PlotAxis *axis, const PlotCurve *curve, double range[2]) {
    for (int i = 0; curve->bars && i < curve->count; i++) {
        const double ends[2] = {curve->y[i] - curve->bars[i], curve->y[i] + curve->bars[i]};
        widen(axis, ends, 2, range);
    }
}

void plot_range(const Plot *plot, double x[2], double y[2]) {
    x[0] = y[0] = INFINITY;
    x[1] = y[1] = -INFINITY;
    for (int c = 0; c < plot->curve_count; c++) {
        widen(&plot->x, plot->curves[c].x, plot->curves[c].count, x);
        widen(&plot->y, plot->curves[c].y, plot->curves[c].count, y);
        widen_by_bars(&plot->y, &plot->curves[c], y);
    }
    double least = plot->y.least, most = plot->y.most;
    if (least > 0 && least > y[0] && least < y[1]) y[0] = least;
    if (most > 0 && most > y[0] && most < y[1]) y[1] = most;
}

int plot_style(const Plot *plot, int curve) { return plot->curves[curve].style ? plot->curves[curve].style - 1 : curve; }

typedef struct Prefix {
    double size;
    const char *text;
} Prefix;
static const Prefix prefixes[] = {{1e9, "G"},  {1e6, "M"},  {1e3, "k"},  {1, ""},
                                  {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}, {1e-12, "p"}};
enum { PREFIXES = sizeof prefixes / sizeof *prefixes };

// The SI prefix for a number; none where there is no unit.
static const Prefix *choose_prefix(const PlotAxis *axis, double largest) {
    static const Prefix none = {1, ""};
    if (!axis->unit[0] || axis->plain || !(largest > 0)) return &none;
    for (int i = 0; i < PREFIXES; i++)
        if (largest >= 0.9999 * prefixes[i].size) return &prefixes[i];
    return &prefixes[PREFIXES - 1];
}

static void power_of_ten(int exponent, char *text, size_t size) {
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char digits[16];
    snprintf(digits, sizeof digits, "%d", exponent < 0 ? -exponent : exponent);
    size_t used = (size_t)snprintf(text, size, "10%s", exponent < 0 ? "⁻" : "");
    for (const char *d = digits; *d && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "%s", raised[*d - '0']);
}

static PlotScale log_scale(const PlotAxis *axis, double low, double high, int wanted) {
    PlotScale scale = {.logarithmic = true, .factor = 1, .prefix = ""};
    bool any = low > 0 && high > 0 && low <= high;
    double from = any ? floor(log10(low) + 1e-9) : -3, to = any ? ceil(log10(high) - 1e-9) : 0;
    if (to - from < 1) to = from + 1;
    scale.low = from;
    scale.high = to;
    int every = (int)ceil((to - from) / (wanted > 1 ? wanted : 1));
    if (every < 1) every = 1;
    for (double e = ceil(from / every) * every; e <= to + 0.5 && scale.tick_count < PLOT_MAX_TICKS; e += every) {
        scale.ticks[scale.tick_count] = pow(10, e);
        power_of_ten((int)e, scale.labels[scale.tick_count], sizeof scale.labels[0]);
        scale.tick_count++;
    }
    // A single decade gets ticks within it as well.
    for (int k = 2; k <= 5 && to - from < 1.5; k += 3) {
        char power[16];
        power_of_ten((int)from, power, sizeof power);
        snprintf(scale.labels[scale.tick_count], sizeof scale.labels[0], "%d·%s", k, power);
        scale.ticks[scale.tick_count++] = k * pow(10, from);
    }
    if (axis->tight && any && high > low) { // the ticks beyond the data go
        scale.low = log10(low);
        scale.high = log10(high);
        int kept = 0;
        for (int k = 0; k < scale.tick_count; k++) {
            if (scale.ticks[k] < 0.999 * low || scale.ticks[k] > 1.001 * high) continue;
            scale.ticks[kept] = scale.ticks[k];
            if (kept != k) memcpy(scale.labels[kept], scale.labels[k], sizeof scale.labels[0]);
            kept++;
        }
        scale.tick_count = kept;
    }
    return scale;
}

// The smallest 1, 2 or 5 times a power of ten that is at least this.
static double round_step(double step) {
    double ten = pow(10, floor(log10(step)));
    double times = step / ten;
    return ten * (times <= 1.0001 ? 1 : times <= 2.0001 ? 2 : times <= 5.0001 ? 5 : 10);
}

PlotScale plot_scale(const PlotAxis *axis, double low, double high, int wanted) {
    if (axis->logarithmic) return log_scale(axis, low, high, wanted);
    if (!(low <= high)) {
        low = 0;
        high = 1;
    }
    if (axis->from_zero) {
        low = fmin(low, 0);
        high = fmax(high, 0);
    }
    double least = fmax(axis->least_range, 1e-9 * fmax(fabs(low), fabs(high)));
    if (!(least > 0)) least = 1;
    if (high - low < least) {
        if (axis->from_zero && low == 0) {
            high = least;
        } else {
            low = 0.5 * (low + high - least);
            high = low + least;
        }
    }
    double step = round_step((high - low) / (wanted > 1 ? wanted : 1));
    PlotScale scale = {.low = low, .high = high};
    if (!axis->tight) {
        scale.low = floor(low / step + 1e-9) * step;
        scale.high = ceil(high / step - 1e-9) * step;
    }
    const Prefix *prefix = choose_prefix(axis, fmax(fabs(scale.low), fabs(scale.high)));
    scale.factor = 1 / prefix->size;
    scale.prefix = prefix->text;
    int digits = (int)fmax(0, -floor(log10(step * scale.factor) + 1e-9));
    for (double k = ceil(scale.low / step - 1e-6); k * step <= scale.high + 1e-6 * step && scale.tick_count < PLOT_MAX_TICKS;
         k++) {
        double shown = k == 0 ? 0 : k * step * scale.factor; // no negative zero
        scale.ticks[scale.tick_count] = k * step;
        char *label = scale.labels[scale.tick_count];
        if (fabs(shown) >= 1e6 || digits > 6)
            snprintf(label, sizeof scale.labels[0], "%.4g", shown);
        else
            snprintf(label, sizeof scale.labels[0], "%.*f", digits, shown);
        scale.tick_count++;
    }
    return scale;
}

double plot_place(const PlotScale *scale, double value) {
    if (!isfinite(value) || (scale->logarithmic && !(value > 0))) return NAN;
    double v = scale->logarithmic ? log10(value) : value;
    return (v - scale->low) / (scale->high - scale->low);
}

void plot_number(const PlotAxis *axis, double value, char *text, size_t size) {
    if (!axis->unit[0]) {
        snprintf(text, size, "%.6g", value);
        return;
    }
    const Prefix *prefix = choose_prefix(axis, fabs(value));
    snprintf(text, size, "%.4g %s%s", value / prefix->size, prefix->text, axis->unit);
}

// The point of a curve that is nearest to a place along the axis, -1: none.
static int nearest(const Plot *plot, const PlotScale *scale, const PlotCurve *curve, double at) {
    int best = -1;
    double distance = INFINITY;
    for (int i = 0; i < curve->count; i++) {
        double away = fabs(plot_place(scale, curve->x[i]) - at);
        bool shown = isfinite(curve->y[i]) && (!plot->y.logarithmic || curve->y[i] > 0);
        if (!shown || !(away < distance)) continue;
        distance = away;
        best = i;
    }
    return best;
}

int plot_read(const Plot *plot, const PlotScale *scale, double at, PlotReading readings[PLOT_MAX_CURVES], double *x) {
    double distance = INFINITY;
    for (int c = 0; c < plot->curve_count; c++) {
        int i = nearest(plot, scale, &plot->curves[c], at);
        double away = i < 0 ? INFINITY : fabs(plot_place(scale, plot->curves[c].x[i]) - at);
        if (!(away < distance)) continue;
        distance = away;
        *x = plot->curves[c].x[i];
    }
    int count = 0;
    for (int c = 0; c < plot->curve_count && isfinite(distance); c++) {
        const PlotCurve *curve = &plot->curves[c];
        int i = nearest(plot, scale, curve, plot_place(scale, *x));
        if (i >= 0) readings[count++] = (PlotReading){c, curve->x[i], curve->y[i]};
    }
    return count;
}
