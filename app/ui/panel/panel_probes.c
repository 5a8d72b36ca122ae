// SPDX-License-Identifier: MIT
// What the probes of the scene read: a plot of each, against time, or along the cells of those that have several.
#include <math.h>
#include <stdio.h>

#include "app/ui/cimgui.h"
#include "app/ui/panel/controls.h"
#include "app/ui/panel/panel_parts.h"

// How the values of a kind are plotted.
typedef struct KindText {
    const char *title, *quantity, *unit;
    bool plain;     // no SI prefix
    bool from_zero; // zero is in view
    const char *curves[READING_CURVES];
} KindText;

static const KindText kind_texts[SAND_PROBE_KINDS] = {
    [SAND_PROBE_FLOW] = {"mass flow", "mass flow", "kg/s", true, true, {"rate"}},
    [SAND_PROBE_FORCE] = {"force", "force", "N", false, true, {"x", "y", "z"}},
    [SAND_PROBE_DENSITY] = {"solid fraction", "solid fraction", "", false, true, {"solid fraction"}},
    [SAND_PROBE_VELOCITY] = {"velocity", "velocity", "m/s", false, true, {"x", "y", "z"}},
    [SAND_PROBE_STRESS] = {"stress", "stress", "Pa", false, true, {"xx", "yy", "zz"}},
    [SAND_PROBE_COORDINATION] = {"coordination", "contacts of a body", "", false, true, {"coordination"}},
    [SAND_PROBE_SURFACE] = {"angle of the surface", "angle", "\xc2\xb0", true, false, {"angle"}},
    [SAND_PROBE_CENTER] = {"height of the center of mass", "height", "m", false, false, {"height"}},
    [SAND_PROBE_ENERGY] = {"kinetic energy", "energy", "J", false, true, {"kinetic"}},
    [SAND_PROBE_PATH] = {"path", "position", "m", false, false, {"x", "y", "z"}},
};

// --- figures for the plots --------------------------------------------------------------------------------------

static void drop_older_half(PanelProbe *p) {
    int half = PROBE_POINTS / 2;
    for (int i = 0; i < half; i++) {
        p->steps[i] = p->steps[i + half];
        p->time[i] = p->time[i + half];
        for (int c = 0; c < READING_CURVES; c++) p->values[c][i] = p->values[c][i + half];
    }
    p->count = half;
}

// Keeps what a probe of one cell read; after a step back in time, what it read later is dropped.
static void note_probe(PanelProbe *p, const ProbeReading *r, uint64_t step) {
    while (p->count > 0 && p->steps[p->count - 1] > step) p->count--;
    bool known = r->step == 0 || r->step > step || (p->count > 0 && p->steps[p->count - 1] >= r->step);
    if (known || r->points > 1) return;
    if (p->count == PROBE_POINTS) drop_older_half(p);
    p->steps[p->count] = r->step;
    p->time[p->count] = r->time;
    for (int c = 0; c < r->curves; c++) p->values[c][p->count] = r->values[c][0];
    p->count++;
}

void panel_note_probes(Panel *panel, const EngineFrame *frame) {
    for (int k = 0; k < frame->probes.count; k++) note_probe(&panel->probes[k], &frame->probes.probes[k], frame->step);
}

// --- plots ------------------------------------------------------------------------------------------------------

static void draw_probe(Panel *panel, const PanelProbe *p, const ProbeReading *r, uint64_t step) {
    const KindText *text = &kind_texts[r->kind];
    bool profile = r->points > 1;
    char title[SAND_NAME + 64];
    snprintf(title, sizeof title, "%s: %s", r->name, text->title);
    Plot plot = {.name = r->name,
                 .title = title,
                 .x = profile ? (PlotAxis){.name = "along", .unit = "m", .tight = true}
                              : (PlotAxis){.name = "time", .unit = "s", .plain = true, .tight = true, .least_range = 0.1},
                 .y = {.name = text->quantity, .unit = text->unit, .plain = text->plain, .from_zero = text->from_zero},
                 .curve_count = r->curves,
                 .without_legend = r->curves == 1,
                 .nothing = "nothing yet"};
    for (int c = 0; c < r->curves; c++)
        plot.curves[c] = (PlotCurve){.name = text->curves[c],
                                     .x = profile ? r->at : p->time,
                                     .y = profile ? r->values[c] : p->values[c],
                                     .count = profile ? r->points : p->count};
    igTextUnformatted(title, NULL);
    panel_draw_plot(panel, &plot, step);
}

// A line for one more. The engine says what is wrong with it.
static void draw_new_probe(Panel *panel) {
    control_text(CONTROL_PROBE, panel->probe_text, sizeof panel->probe_text);
    if (!control_button(CONTROL_PROBE_ADD, NULL, 0) || !*panel->probe_text) return;
    Act act = {.kind = ACT_PROBE};
    snprintf(act.text, sizeof act.text, "%s", panel->probe_text);
    panel_ask(panel, act);
}

void panel_draw_probes(Panel *panel, const EngineFrame *frame) {
    const ProbeReadings *readings = &frame->probes;
    if (!panel_section(panel, "Probes", readings->count > 0)) return;
    for (int k = 0; k < readings->count; k++) draw_probe(panel, &panel->probes[k], &readings->probes[k], frame->step);
    draw_new_probe(panel);
}
