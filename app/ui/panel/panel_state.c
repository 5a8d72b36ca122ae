// SPDX-License-Identifier: MIT
// The state of the panel: messages, requests to the engine, the settings of the scene that its sliders follow, and the
// figures kept for the plots. Nothing is drawn here.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/engine/backends.h"
#include "app/ui/panel/panel_parts.h"
#include "sim/core/array.h"

static const double DEGREE = 3.14159265358979323846 / 180;
const char *const panel_format_names[FORMAT_COUNT] = {"PNG frames", "MP4", "WebM", "GIF"};

Panel *panel_create(Interface *interface, SandError *error) {
    Panel *panel = calloc(1, sizeof *panel);
    if (!panel) return sand_fail(error, "out of memory for the panel"), NULL;
    panel->interface = interface;
    panel->speed = 1;
    panel->overlay.legend = true;
    panel->picked.body = -1;
    panel->seek = -1;
    panel->recording = (PanelRecording){.folder = "frames", .fps = 60, .width = 1920, .height = 1080};
    panel->shadow = panel->beside = sand_default_solve();
    panel->racing.iterations = 200;
    for (int i = 0; i < sand_solver_count() && i < SAND_RACE_MOST; i++) panel->racing.chosen[i] = true;
    if (sand_scenes_list(&panel->scenes, &panel->scene_count, error)) return panel;
    free(panel);
    return NULL;
}

void panel_free(Panel *panel) {
    if (!panel) return;
    sand_free(panel->scenes);
    race_plots_free(&panel->racing.plots);
    race_curves_free(&panel->racing.curves);
    free(panel);
}

OverlayView panel_overlay(const EngineFrame *frame, const EngineScene *scene, SplitArea halves) {
    const BesideFrame *second = &frame->beside;
    bool solved = frame->step > 0, second_solved = frame->step > second->since;
    OverlayRun runs[2] = {{.solve = &scene->solve,
                           .residual = solved ? frame->counters.metrics.residual : NAN,
                           .overlap = solved ? frame->counters.penetration_max : NAN,
                           .energy = frame->kinetic + frame->potential},
                          {.solve = second->on ? &second->solve : NULL,
                           .residual = second_solved ? second->counters.metrics.residual : NAN,
                           .overlap = second_solved ? second->counters.penetration_max : NAN,
                           .energy = second->kinetic + second->potential}};
    return (OverlayView){.runs = {runs[0], runs[1]},
                         .area = halves,
                         .render_scene = &frame->render_scene,
                         .counters = &frame->counters,
                         .solver = sand_solver_table[scene->solve.solver].name,
                         .curve = frame->curve.data,
                         .curve_count = frame->curve_count,
                         .time = frame->time};
}

static const double SHOWN = 8; // s, for which a message is

static void show_message(Panel *panel, PanelMessage *message, const char *sentence) {
    snprintf(message->text, sizeof message->text, "%s", sentence);
    if (panel->on_message) panel->on_message(panel->user, sentence);
}

void panel_say(Panel *panel, const char *sentence) {
    memmove(&panel->messages[1], &panel->messages[0], (PANEL_MESSAGES - 1) * sizeof panel->messages[0]);
    panel->messages[0] = (PanelMessage){.left = SHOWN};
    show_message(panel, &panel->messages[0], sentence);
}

// Whether two sentences differ in their numbers alone.
static bool same_but_for_numbers(const char *a, const char *b) {
    const char *const digits = "0123456789.";
    while (*a && *b) {
        a += strspn(a, digits);
        b += strspn(b, digits);
        if (*a != *b) return false;
        if (*a) a++, b++;
    }
    return !a[strspn(a, digits)] && !b[strspn(b, digits)];
}

bool panel_hear(Panel *panel, const char *sentence) {
    enum { OFTEN = 3 };
    const double QUIET = 30; // s
    int k = 0;
    while (k < PANEL_MESSAGES && !same_but_for_numbers(panel->messages[k].text, sentence)) k++;
    PanelMessage *message = &panel->messages[k];
    if (k == PANEL_MESSAGES || (message->left <= 0 && message->quiet <= 0)) return panel_say(panel, sentence), true;
    message->quiet = QUIET;
    if (message->left <= 0) return false;
    if (++message->repeats < OFTEN) message->left = SHOWN;
    show_message(panel, message, sentence);
    return true;
}

bool panel_solver_fits(const SandSolveDef *solve, const EngineScene *scene) {
    const SandBackend *backend;
    SandError why;
    return sand_solve_check(solve, &why) && backends_choose(scene->backend, solve, scene->precision, &backend, &why);
}

void panel_choose_solver(Panel *panel, int solver) {
    sand_solve_choose(&panel->solve, solver);
    panel->solve_due = true;
}

void panel_toggle_beside(Panel *panel, const EngineScene *scene) {
    panel->has_beside = !panel->has_beside;
    panel->beside_due = true;
    if (!panel->has_beside) return;
    // The plainest method that can do what the first does: what the first is worth is seen beside it.
    panel->beside = panel->solve;
    int plain = sand_solver_find("jacobi"), other = plain == panel->solve.solver ? sand_solver_default : plain;
    SandSolveDef wanted = panel->beside;
    sand_solve_choose(&wanted, other);
    if (panel_solver_fits(&wanted, scene)) panel->beside = wanted;
    char text[160];
    snprintf(text, sizeof text, "%s runs beside %s from this step on; D ends it.",
             sand_solver_table[panel->beside.solver].name, sand_solver_table[panel->solve.solver].name);
    panel_say(panel, text);
}

void panel_hide(Panel *panel, bool hidden) {
    panel->hidden = hidden;
    if (hidden) panel_say(panel, "The panel is hidden; Tab brings it back.");
}

bool panel_close_topmost(Panel *panel) {
    PanelRace *r = &panel->racing;
    if (panel->closing == CLOSING_ASKED)
        panel->closing = CLOSING_NOT;
    else if (panel->help)
        panel->help = false;
    else if (!r->theater)
        return false;
    else
        r->theater = false;
    return true;
}

bool panel_ask(Panel *panel, Act act) {
    if (panel->ask && panel->ask(panel->user, &act)) return true;
    panel_say(panel, "The simulation is busy with earlier requests; please try again.");
    return false;
}

// Updates the controls after the scene or its settings changed.
void panel_follow_scene(Panel *panel, const EngineFrame *frame, const EngineScene *scene) {
    if (panel->scene_version != scene->version) {
        panel->scene_version = scene->version;
        panel->point_count = 0;
        for (int k = 0; k < SAND_MAX_PROBES; k++) panel->probes[k].count = 0;
        panel->bodies = frame ? frame->bodies : 0;
        for (int k = 0; k < scene->knob_count; k++) panel->knobs[k] = scene->knobs[k].value;
    }
    if (panel->settings_version == scene->settings) return;
    panel->settings_version = scene->settings;
    panel->solve = scene->solve;
    panel->by_time = scene->solve.budget_ms > 0;
    panel->has_beside = scene->has_beside;
    if (scene->has_beside) panel->beside = scene->beside;
    panel->solve_due = panel->gravity_due = panel->beside_due = false;
    SandVec3 g = scene->gravity;
    panel->gravity = v3_length(g);
    panel->tilt = panel->gravity > 0 ? acos(fmax(-1, fmin(1, -g.z / panel->gravity))) / DEGREE : 0;
    panel->towards = hypot(g.x, g.y) > 1e-9 ? atan2(g.y, g.x) / DEGREE : 0;
}

// Sliders change faster than steps are taken, so a change is kept until the engine accepts it.
void panel_send_due(Panel *panel) {
    double tilt = panel->tilt * DEGREE, towards = panel->towards * DEGREE, g = panel->gravity;
    Act acts[] = {
        {.kind = ACT_SOLVE, .solve = panel->solve},
        {.kind = ACT_SHADOW, .solve = panel->shadow, .number = panel->shadowing},
        {.kind = ACT_BESIDE, .solve = panel->beside, .number = panel->has_beside},
        {.kind = ACT_GRAVITY, .vector = v3_make(g * sin(tilt) * cos(towards), g * sin(tilt) * sin(towards), -g * cos(tilt))},
        {.kind = ACT_SPEED, .number = panel->speed}};
    bool *due[] = {&panel->solve_due, &panel->shadow_due, &panel->beside_due, &panel->gravity_due, &panel->speed_due};
    for (int i = 0; i < 5; i++)
        if (*due[i] && panel->ask && panel->ask(panel->user, &acts[i])) *due[i] = false;
    if (panel->curve_wanted != panel->curve_asked && panel->ask &&
        panel->ask(panel->user, &(Act){.kind = ACT_CURVE, .number = panel->curve_wanted}))
        panel->curve_asked = panel->curve_wanted;
}

// The first step of a run shows at once.
void panel_follow_gauge(Panel *panel, const EngineFrame *frame, double seconds) {
    const double SETTLING = 0.25; // s in which most of a change is followed
    double share = panel->gauge_step == 0 ? 1 : 1 - exp(-seconds / SETTLING);
    panel->gauge += share * (frame->counters.solved - panel->gauge);
    panel->gauge_step = frame->step;
}

// --- figures for the plots -----------------------------------------------------------------------------

// Drops the older half when it is full.
static void drop_older_half(Panel *panel) {
    if (panel->point_count < HISTORY_POINTS) return;
    int half = HISTORY_POINTS / 2;
    for (int s = 0; s < SERIES_COUNT; s++) memmove(panel->series[s], panel->series[s] + half, (size_t)half * sizeof(double));
    memmove(panel->steps, panel->steps + half, (size_t)half * sizeof(uint64_t));
    panel->point_count = half;
}

void panel_note(Panel *panel, const EngineFrame *frame) {
    // After a seek, drop the figures beyond this step.
    while (panel->point_count > 0 && panel->steps[panel->point_count - 1] > frame->step) panel->point_count--;
    if (panel->point_count > 0 && panel->steps[panel->point_count - 1] == frame->step) return;
    drop_older_half(panel);
    const SandProfile *p = &frame->profile;
    const SandCounters *c = &frame->counters;
    const double values[SERIES_COUNT] = {
        [SERIES_TIME] = frame->time,
        [SERIES_RESIDUAL] = c->metrics.residual,
        [SERIES_KINETIC] = frame->kinetic,
        [SERIES_POTENTIAL] = frame->potential,
        [SERIES_COLLIDE] = 1e-3 * p->collide, // s
        [SERIES_WARM_START] = 1e-3 * p->warm_start,
        [SERIES_BUILD] = 1e-3 * p->build,
        [SERIES_SOLVE] = 1e-3 * p->solve,
        [SERIES_INTEGRATE] = 1e-3 * p->integrate,
        [SERIES_STEP] = 1e-3 * p->step,
        [SERIES_CONTACTS] = c->contacts,
        [SERIES_PENETRATION] = c->penetration_max,
    };
    for (int s = 0; s < SERIES_COUNT; s++) panel->series[s][panel->point_count] = values[s];
    panel->steps[panel->point_count++] = frame->step;
}
