// SPDX-License-Identifier: MIT
// The left column: scene, solver, gravity, picture, camera, recording.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/ui/cimgui.h"
#include "app/ui/panel/citation.h"
#include "app/ui/panel/controls.h"
#include "app/io/open_folder.h"
#include "app/engine/backends.h"
#include "app/ui/panel/panel_parts.h"

static const ImU32 FAINT = 0xffbaada4u;

static void faint_text(const char *text) {
    igPushStyleColor_U32(ImGuiCol_Text, FAINT);
    igPushTextWrapPos(0);
    igTextUnformatted(text, NULL);
    igPopTextWrapPos();
    igPopStyleColor(1);
}

// The idea of a solver, in a block as high as the longest of all ideas needs, so that nothing moves when the solver changes.
static void draw_idea(const char *idea) {
    ImVec2 free, size;
    float top = igGetCursorPosY(), most = 0;
    igGetContentRegionAvail(&free);
    for (int i = 0; i < sand_solver_count(); i++) {
        igCalcTextSize(&size, sand_solver_table[i].idea, NULL, false, free.x);
        most = fmaxf(most, size.y);
    }
    faint_text(idea);
    igSetCursorPosY(top + most + 0.33f * igGetFontSize());
}

// --- scene --------------------------------------------------------------------------------------------------

void panel_value_text(char *text, size_t size, double value, const char *unit) {
    int digits = value != 0 ? (int)fmax(0, fmin(9, 2 - floor(log10(fabs(value)) + 1e-9))) : 0;
    snprintf(text, size, "%.*f %.16s", digits, value, unit);
}

static void draw_knob(Panel *panel, const char *scene, const SandKnob *knob, int index) {
    // Logarithmic over several decades. The number of digits follows the size of the value.
    bool ratio = knob->least > 0 && knob->most / knob->least >= 100;
    char format[48], more[SAND_SENTENCE + SAND_NAME + 64], call[2 * SAND_NAME + 64];
    int digits = knob->most > 0 ? (int)fmax(0, 3 - floor(log10(fmax(fabs(knob->least), knob->most)))) : 2;
    const char *unit = !strcmp(knob->unit, "1") ? "" : !strcmp(knob->unit, "%") ? "%%" : knob->unit; // part of a format
    if (ratio)
        panel_value_text(format, sizeof format, panel->knobs[index], unit);
    else
        snprintf(format, sizeof format, "%%.%df %.16s", digits < 6 ? digits : 6, unit);
    snprintf(more, sizeof more, "%s: %s%s%s%s", knob->name, knob->about, unit[0] ? " (" : "", unit, unit[0] ? ")" : "");
    snprintf(call, sizeof call, "sandglass %s --set %s=%.4g", scene, knob->name, panel->knobs[index]);
    control_call(call);
    control_slider(CONTROL_KNOB, knob->name, &panel->knobs[index], knob->least, knob->most, format, ratio, more);
    if (igIsItemDeactivatedAfterEdit()) {
        Act act = {.kind = ACT_KNOB, .number = panel->knobs[index]};
        snprintf(act.text, sizeof act.text, "%s", knob->name);
        panel_ask(panel, act);
    }
}

static void open_scene(Panel *panel, const char *name, int bodies) {
    Act act = {.kind = ACT_SCENE, .number = bodies};
    snprintf(act.text, sizeof act.text, "%s", name);
    panel_ask(panel, act);
}

static void draw_scene(Panel *panel, const PanelView *view) {
    const EngineScene *scene = view->scene;
    if (control_begin_choice(CONTROL_SCENE, NULL, scene->name, scene->about)) {
        for (int i = 0; i < panel->scene_count; i++) {
            const SandSceneEntry *entry = &panel->scenes[i];
            if (control_entry(CONTROL_SCENE, entry->name, !strcmp(entry->name, scene->name), true))
                open_scene(panel, entry->name, 0);
            panel_tip(entry->about);
        }
        if (panel->recent.count) igSeparator();
        for (int i = 0; i < panel->recent.count; i++) {
            const char *path = panel->recent.paths[i], *slash = strrchr(path, '/');
            igPushID_Int(i); // two files may have one name
            if (control_entry(CONTROL_SCENE, slash ? slash + 1 : path, false, true)) panel_open(panel, path);
            igPopID();
            panel_tip(path);
        }
        igEndCombo();
    }
    faint_text(scene->about);
    if (panel->bodies == 0 && view->frame) panel->bodies = view->frame->bodies;
    igBeginDisabled(scene->bodies == 0);
    control_integer(CONTROL_BODIES, NULL, &panel->bodies, 1, 1000000, true,
                    scene->bodies == 0 ? "This scene has a fixed number of bodies." : NULL);
    if (igIsItemDeactivatedAfterEdit()) open_scene(panel, scene->name, panel->bodies);
    igEndDisabled();
    bool settled = scene->settled;
    if (control_check(CONTROL_START, &settled)) panel_ask(panel, (Act){.kind = ACT_START, .number = settled});
    for (int k = 0; k < scene->knob_count; k++) draw_knob(panel, scene->name, &scene->knobs[k], k);
}

// --- solver -------------------------------------------------------------------------------------------------

// One widget for each descriptor. True when a value changed.
static bool draw_params(ControlId id, SandSolveDef *solve) {
    const SandSolver *solver = &sand_solver_table[solve->solver];
    bool changed = false;
    for (int i = 0; i < sand_param_count(solver); i++) {
        const SandParam *param = &solver->params[i];
        double *value = &solve->params[i];
        char more[256];
        snprintf(more, sizeof more, "%s: %s", param->name, param->text);
        int whole = (int)*value;
        switch (param->kind) {
        case SAND_PARAM_INTEGER:
            changed |=
                control_integer(id, param->name, &whole, (int)param->least, (int)param->most, param->most > 1000, more);
            *value = whole;
            break;
        case SAND_PARAM_CHOICE:
            changed |= control_choice(id, param->name, &whole, param->choices, (int)param->most + 1, more);
            *value = whole;
            break;
        case SAND_PARAM_REAL: {
            // A range over decades gets a logarithmic slider; from 0 it starts at a millionth.
            bool ratio = param->least > 0 ? param->most / param->least >= 1000
                                          : param->value > 0 && param->most / param->value >= 1000;
            changed |=
                control_slider(id, param->name, value, param->least, param->most, ratio ? "%.2e" : "%.3f", ratio, more);
            break;
        }
        }
    }
    return changed;
}

static void solver_text(const SandSolver *solver, char *text, size_t size) {
    snprintf(text, size, "%s\nIdea: %s.\nWeakness: %s.\nPaper: %s", solver->name, solver->idea, solver->weakness,
             solver->paper);
}

// A list of solvers, enabled where they support the friction of this definition on the backend of this scene (NULL: on the
// CPU); `may_be_none`: with an entry for none. True when another was chosen; -1: none.
static bool choose_solver(ControlId id, int now, const SandSolveDef *like, const EngineScene *scene, bool may_be_none,
                          int *chosen) {
    char text[640];
    bool changed = false;
    if (now >= 0)
        solver_text(&sand_solver_table[now], text, sizeof text);
    else
        snprintf(text, sizeof text, "none");
    if (!control_begin_choice(id, NULL, now < 0 ? "none" : sand_solver_table[now].name, text)) return false;
    if (may_be_none && control_entry(id, "none", now < 0, true)) {
        *chosen = -1;
        changed = true;
    }
    for (int i = 0; i < sand_solver_count(); i++) {
        const SandSolver *solver = &sand_solver_table[i];
        SandSolveDef other = *like;
        sand_solve_choose(&other, i); // with parameters of its own
        bool fits = scene ? panel_solver_fits(&other, scene) : sand_solve_check(&other, NULL);
        if (control_entry(id, solver->name, i == now, fits)) {
            *chosen = i;
            changed = true;
        }
        solver_text(solver, text, sizeof text);
        panel_tip(text);
    }
    igEndCombo();
    return changed;
}

// Of a budget: its limit is in milliseconds, or the solve ends before that at an accuracy.
enum { BY_TIME = 1, BY_ACCURACY = 2 };

static void choose_budget(Panel *panel, int kind) {
    SandSolveDef *solve = &panel->solve;
    panel->by_time = kind & BY_TIME;
    solve->budget_ms = panel->by_time ? 5 : 0;
    solve->iterations = panel->by_time ? 1000000 : kind & BY_ACCURACY ? 500 : 50;
    solve->accuracy = 0;
    if (kind & BY_ACCURACY) {
        solve->accuracy = 99;
        solve->tolerance = 0;
        solve->relative = false;
    }
    panel->solve_due = true;
}

// What ends a solve before its budget is used up.
static void draw_goal(Panel *panel) {
    SandSolveDef *solve = &panel->solve;
    bool by_accuracy = solve->accuracy > 0;
    if (by_accuracy)
        panel->solve_due |=
            control_slider(CONTROL_ACCURACY, NULL, &solve->accuracy, 90, 99.9, "%.1f %% solved", false, NULL);
    else
        panel->solve_due |= control_slider(CONTROL_TOLERANCE, NULL, &solve->tolerance, 0, 1,
                                           solve->tolerance == 0 ? "0: use the budget"
                                           : solve->relative     ? "%.1e"
                                                                 : "%.1e m/s",
                                           true, NULL);
    igBeginDisabled(by_accuracy);
    panel->solve_due |= control_check(CONTROL_RELATIVE, &solve->relative);
    igEndDisabled();
}

static void draw_milliseconds(Panel *panel) {
    char text[48];
    panel_value_text(text, sizeof text, panel->solve.budget_ms, "ms");
    panel->solve_due |= control_slider(CONTROL_BUDGET_MS, NULL, &panel->solve.budget_ms, 0.1, 1000, text, true, NULL);
}

static void draw_budget(Panel *panel) {
    static const char *const kinds[] = {
        [0] = "iterations",
        [BY_TIME] = "milliseconds",
        [BY_ACCURACY] = "accuracy, in iterations",
        [BY_ACCURACY | BY_TIME] = "accuracy, in ms",
    };
    SandSolveDef *solve = &panel->solve;
    int kind = (panel->by_time ? BY_TIME : 0) | (solve->accuracy > 0 ? BY_ACCURACY : 0);
    if (control_choice(CONTROL_BUDGET, NULL, &kind, kinds, 4, NULL)) choose_budget(panel, kind);
    if (panel->by_time)
        draw_milliseconds(panel);
    else
        panel->solve_due |= control_integer(CONTROL_ITERATIONS, NULL, &solve->iterations, 1, 2000, true, NULL);
    draw_goal(panel);
}

// Accepts the definition if the solver supports it; else shows why not.
static void apply_friction(Panel *panel, const SandSolveDef *wanted) {
    SandError error;
    if (!sand_solve_check(wanted, &error)) {
        panel_say(panel, error.text);
        return;
    }
    panel->solve = *wanted;
    panel->solve_due = true;
}

static void draw_friction(Panel *panel) {
    SandSolveDef wanted = panel->solve;
    const SandFrictionRow *model = &sand_friction_table[wanted.friction];
    const char *names[SAND_FRICTION_COUNT], *bounds_names[SAND_BOUNDS_COUNT];
    int friction = (int)wanted.friction, bounds = (int)wanted.bounds;
    for (int i = 0; i < SAND_FRICTION_COUNT; i++) names[i] = sand_friction_table[i].name;
    for (int i = 0; i < SAND_BOUNDS_COUNT; i++) bounds_names[i] = sand_bounds_table[i].name;
    bool changed = control_choice(CONTROL_FRICTION, NULL, &friction, names, SAND_FRICTION_COUNT, model->text);
    // Shown even where the model has no bounds, so that users see what there is.
    igBeginDisabled(model->set != SAND_SET_CYLINDER);
    changed |=
        control_choice(CONTROL_BOUNDS, NULL, &bounds, bounds_names, SAND_BOUNDS_COUNT, sand_bounds_table[bounds].text);
    igEndDisabled();
    igBeginDisabled(model->section != SAND_POLYGON);
    changed |= control_integer(CONTROL_FACETS, NULL, &wanted.facets, 4, SAND_MAX_FACETS, false, NULL);
    igEndDisabled();
    wanted.friction = (SandFriction)friction;
    wanted.bounds = (SandBounds)bounds;
    wanted.facets -= wanted.facets % 2;
    if (changed) apply_friction(panel, &wanted);
}

// The backends; one that is missing or cannot run this solver says why.
static void choose_backend(Panel *panel, const EngineScene *scene) {
    if (!control_begin_choice(CONTROL_BACKEND, NULL, scene->device, scene->device)) return;
    for (Backend choice = BACKEND_CPU; choice <= BACKEND_CUDA; choice++) { // a window has one process
        const SandBackend *backend;
        SandError why;
        char label[SAND_SENTENCE + 16];
        bool can = backends_choose(choice, &panel->solve, scene->precision, &backend, &why);
        snprintf(label, sizeof label, can ? "%s" : "%s: %s", backend_names[choice], why.text);
        if (control_entry(CONTROL_BACKEND, label, choice == scene->backend, can))
            panel_ask(panel, (Act){.kind = ACT_BACKEND, .number = choice});
    }
    igEndCombo();
}

static int most_params(void) {
    int most = 0;
    for (int i = 0; i < sand_solver_count(); i++)
        if (sand_param_count(&sand_solver_table[i]) > most) most = sand_param_count(&sand_solver_table[i]);
    return most;
}

static void skip_rows(int rows) {
    if (rows > 0) igDummy((ImVec2){1, (float)rows * igGetFrameHeightWithSpacing() - 0.33f * igGetFontSize()});
}

static void draw_solver(Panel *panel, const EngineScene *scene) {
    SandSolveDef *solve = &panel->solve;
    const SandSolver *solver = &sand_solver_table[solve->solver];
    int chosen;
    if (choose_solver(CONTROL_SOLVER, solve->solver, solve, scene, false, &chosen)) panel_choose_solver(panel, chosen);
    draw_idea(solver->idea);
    if (control_button(CONTROL_CITE, NULL, -1e-6f)) {
        char entries[4096];
        citation_collect(solver->paper, entries, sizeof entries);
        igSetClipboardText(entries);
        panel_say(panel, "The references are on the clipboard.");
    }
    draw_friction(panel);
    draw_budget(panel);
    choose_backend(panel, scene);
    // The parameters come last, in as many rows as any solver has, so that nothing moves when the solver changes.
    panel->solve_due |= draw_params(CONTROL_PARAM, solve);
    skip_rows(most_params() - sand_param_count(solver));
}

static void draw_shadow(Panel *panel) {
    int chosen;
    if (choose_solver(CONTROL_SHADOW, panel->shadowing ? panel->shadow.solver : -1, &panel->solve, NULL, true, &chosen)) {
        panel->shadowing = chosen >= 0;
        if (panel->shadowing) sand_solve_choose(&panel->shadow, chosen);
        panel->shadow_due = true;
    }
    if (!panel->shadowing) {
        faint_text("Lays the residual of a second solver over that of the first, on the same problem.");
        return;
    }
    panel->shadow_due |= draw_params(CONTROL_SHADOW_PARAM, &panel->shadow);
    // The shadow has the budget and the friction of the first solver, so that the two can be compared.
    SandSolveDef same = panel->shadow;
    same.friction = panel->solve.friction;
    same.bounds = panel->solve.bounds;
    same.facets = panel->solve.facets;
    same.iterations = panel->solve.iterations;
    same.budget_ms = panel->solve.budget_ms;
    same.tolerance = panel->solve.tolerance;
    same.relative = panel->solve.relative;
    same.accuracy = panel->solve.accuracy;
    if (same.friction != panel->shadow.friction || same.bounds != panel->shadow.bounds ||
        same.facets != panel->shadow.facets || same.iterations != panel->shadow.iterations ||
        same.budget_ms != panel->shadow.budget_ms || same.tolerance != panel->shadow.tolerance ||
        same.relative != panel->shadow.relative || same.accuracy != panel->shadow.accuracy) {
        panel->shadow = same;
        panel->shadow_due = true;
    }
}

// The second run: solver, friction and budget of its own.
static void draw_beside(Panel *panel, const EngineScene *scene) {
    SandSolveDef wanted = panel->has_beside ? panel->beside : panel->solve;
    const char *names[SAND_FRICTION_COUNT];
    int chosen, friction = (int)wanted.friction;
    SandError error;
    for (int i = 0; i < SAND_FRICTION_COUNT; i++) names[i] = sand_friction_table[i].name;
    if (choose_solver(CONTROL_BESIDE, panel->has_beside ? wanted.solver : -1, &wanted, scene, true, &chosen)) {
        panel->has_beside = chosen >= 0;
        if (chosen >= 0) sand_solve_choose(&wanted, chosen);
        panel->beside = wanted;
        panel->beside_due = true;
    }
    if (!panel->has_beside) {
        faint_text("Shows the same scene twice, solved in two ways, step by step.");
        return;
    }
    if (control_choice(CONTROL_BESIDE_FRICTION, NULL, &friction, names, SAND_FRICTION_COUNT, NULL)) {
        wanted.friction = (SandFriction)friction;
        if (sand_solve_check(&wanted, &error)) {
            panel->beside = wanted;
            panel->beside_due = true;
        } else {
            panel_say(panel, error.text);
        }
    }
    if (control_integer(CONTROL_BESIDE_ITERATIONS, NULL, &panel->beside.iterations, 1, 2000, true, NULL)) {
        panel->beside.budget_ms = 0;
        panel->beside_due = true;
    }
    panel->beside_due |= draw_params(CONTROL_BESIDE_PARAM, &panel->beside);
}

static void draw_gravity(Panel *panel) {
    panel->gravity_due |= control_slider(CONTROL_GRAVITY, NULL, &panel->gravity, 0, 25, "%.2f m/s\xc2\xb2", false, NULL);
    panel->gravity_due |= control_slider(CONTROL_TILT, NULL, &panel->tilt, 0, 180, "%.1f\xc2\xb0", false, NULL);
    panel->gravity_due |= control_slider(CONTROL_TOWARDS, NULL, &panel->towards, -180, 180, "%.0f\xc2\xb0", false, NULL);
}

// --- picture ------------------------------------------------------------------------------------------------

static void choose_range(Panel *panel, const PanelView *view) {
    static const char *const names[] = {"of the scene", "fitted", "held"};
    int mode = (int)panel->limits.mode;
    if (!control_choice(CONTROL_RANGE, NULL, &mode, names, 3, NULL)) return;
    panel->limits.mode = (RenderRangeMode)mode;
    if (mode == RANGE_SET && view->frame) { // as it is now
        panel->limits.low = view->frame->render_scene.least;
        panel->limits.high = view->frame->render_scene.range;
    }
    panel_ask(panel, (Act){.kind = ACT_RANGE, .number = mode, .vector = {panel->limits.low, panel->limits.high, 0}});
}

// The plane faces the camera and moves through the scene; it stays where it is when the camera moves on.
static void set_cut(Panel *panel, const PanelView *view) {
    if (!view->frame) return;
    const RenderScene *scene = &view->frame->render_scene;
    SandVec3 right, up, forward, low = v3_add(scene->lower, scene->origin), high = v3_add(scene->upper, scene->origin);
    camera_axes(view->camera, &right, &up, &forward);
    SandVec3 normal = v3_unit_or(v3_make(-forward.x, -forward.y, 0), v3_make(0, -1, 0));
    double front = -INFINITY, back = INFINITY; // of the corners of the view, along the normal
    for (int k = 0; k < 8; k++) {
        double at = v3_dot(normal, v3_make(k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z));
        front = fmax(front, at);
        back = fmin(back, at);
    }
    view->look->cut = panel->cut > 0;
    view->look->cut_normal = normal;
    view->look->cut_offset = front + panel->cut * (back - front);
}

static void draw_picture(Panel *panel, const PanelView *view) {
    int color = (int)panel->color, quality = (int)view->look->quality, samples = view->look->samples - 1;
    static const char *const sample_names[] = {"1", "4", "9", "16"};
    if (control_choice(CONTROL_COLOR, NULL, &color, render_color_names, RENDER_COLOR_COUNT, NULL)) {
        panel->color = (RenderColor)color;
        panel_ask(panel, (Act){.kind = ACT_COLOR, .number = color});
    }
    int map = (int)panel->map;
    if (control_choice(CONTROL_COLORMAP, NULL, &map, colormap_names, MAP_COUNT, NULL)) panel->map = (ColorMap)map;
    choose_range(panel, view);
    control_row("");
    if (control_check(CONTROL_CHAINS, &panel->chains)) panel_ask(panel, (Act){.kind = ACT_CHAINS, .number = panel->chains});
    control_slider(CONTROL_CHAIN_THRESHOLD, NULL, &view->look->chain_threshold, 0, 1, "%.2f", false, NULL);
    control_slider(CONTROL_CHAIN_SCALE, NULL, &view->look->chain_scale, 0.1, 10, "%.2f", true, NULL);
    if (control_slider(CONTROL_CUT, NULL, &panel->cut, 0, 1, "%.2f", false, NULL)) set_cut(panel, view);
    control_slider(CONTROL_EXPOSURE, NULL, &view->look->exposure, 0.1, 10, "%.2f", true, NULL);
    if (control_choice(CONTROL_QUALITY, NULL, &quality, renderer_quality_names, QUALITY_COUNT, NULL))
        view->look->quality = (RendererQuality)quality;
    if (samples < 0 || samples > 3) samples = 0;
    if (control_choice(CONTROL_SAMPLES, NULL, &samples, sample_names, 4, NULL)) view->look->samples = samples + 1;
    control_row("Overlay");
    control_check(CONTROL_CLOCK, &panel->overlay.clock);
    igSameLine(0, -1);
    control_check(CONTROL_LEGEND, &panel->overlay.legend);
    control_row("");
    control_check(CONTROL_RESIDUAL, &panel->overlay.residual);
}

// --- camera -------------------------------------------------------------------------------------------------

// Buttons of equal width, as many to a row as fit.
static void next_in_row(int index, int columns) {
    if (index % columns) igSameLine(0, -1);
}

static float cell_width(int columns) {
    ImVec2 available;
    igGetContentRegionAvail(&available);
    return floorf((available.x - (float)(columns - 1) * 0.47f * igGetFontSize()) / (float)columns);
}

// The view as an option of the command line.
static void copy_view(Panel *panel, const Camera *camera, SandVec3 origin) {
    char text[256];
    SandVec3 e = v3_add(camera->eye, origin), t = v3_add(camera->target, origin);
    snprintf(text, sizeof text, "--camera %.6g,%.6g,%.6g,%.6g,%.6g,%.6g", e.x, e.y, e.z, t.x, t.y, t.z);
    igSetClipboardText(text);
    panel_say(panel, "The view is on the clipboard.");
}

static void draw_camera(Panel *panel, const PanelView *view) {
    float cell = cell_width(3);
    for (int i = 0; camera_preset_names[i]; i++) {
        next_in_row(i, 3);
        if (!control_button(CONTROL_VIEW, camera_preset_names[i], cell) || !view->frame) continue;
        camera_frame(view->camera, camera_preset_names[i], view->frame->render_scene.lower, view->frame->render_scene.upper,
                     view->aspect);
        camera_shift(view->camera, panel->followed);
    }
    if (!view->frame) return;
    igBeginDisabled(!view->scene->follows);
    control_check(CONTROL_FOLLOW, &panel->follow);
    igEndDisabled();
    const RenderScene *render_scene = &view->frame->render_scene;
    Bookmarks *marks = &panel->bookmarks;
    int free = 0, last = BOOKMARKS - 1;
    while (free < BOOKMARKS && marks->kept[free]) free++;
    while (last >= 0 && !marks->kept[last]) last--;
    igBeginDisabled(free == BOOKMARKS);
    if (control_button(CONTROL_BOOKMARK_ADD, NULL, cell)) {
        marks->kept[free] = true;
        marks->views[free] = camera_view(view->camera, render_scene->origin);
    }
    igEndDisabled();
    igSameLine(0, -1);
    igBeginDisabled(last < 0);
    if (control_button(CONTROL_BOOKMARK_REMOVE, NULL, cell)) marks->kept[last] = false;
    igEndDisabled();
    igSameLine(0, -1);
    if (control_button(CONTROL_CAMERA_COPY, NULL, cell)) copy_view(panel, view->camera, render_scene->origin);
    cell = cell_width(BOOKMARKS);
    for (int i = 0; i < BOOKMARKS; i++) {
        char label[16];
        snprintf(label, sizeof label, "%d", i + 1);
        next_in_row(i, BOOKMARKS);
        igPushStyleVar_Vec2(ImGuiStyleVar_FramePadding, (ImVec2){0, 0.2f * igGetFontSize()});
        igBeginDisabled(!marks->kept[i]);
        if (control_button(CONTROL_BOOKMARK, label, cell))
            camera_set(view->camera, &marks->views[i], render_scene->origin, render_scene->lower, render_scene->upper);
        igEndDisabled();
        igPopStyleVar(1);
    }
}

// --- takes --------------------------------------------------------------------------------------------------

static void draw_take(Panel *panel) {
    float cell = cell_width(2);
    SandError error = {""};
    char label[32];
    snprintf(label, sizeof label, panel->camera_keys ? "%s (%d)" : "%s", control_table[CONTROL_CAMERA_KEY].label,
             panel->camera_keys);
    igBeginDisabled(!panel->save_take);
    if (control_button(CONTROL_TAKE, NULL, cell) && !panel->save_take(panel->user, &error)) panel_say(panel, error.text);
    igEndDisabled();
    igSameLine(0, -1);
    igBeginDisabled(!panel->add_key);
    if (control_button(CONTROL_CAMERA_KEY, label, cell) && !panel->add_key(panel->user, &error))
        panel_say(panel, error.text);
    igEndDisabled();
}

// --- recording ----------------------------------------------------------------------------------------------

static void draw_recording(Panel *panel) {
    static const struct Size {
        const char *name;
        int width, height;
    } sizes[] = {{"1280 x 720", 1280, 720},   {"1920 x 1080", 1920, 1080}, {"2560 x 1440", 2560, 1440},
                 {"3840 x 2160", 3840, 2160}, {"1080 x 1080", 1080, 1080}, {"1080 x 1920", 1080, 1920}};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    PanelRecording *r = &panel->recording;
    const char *names[SIZES];
    int format = (int)r->format, size = 1;
    for (int i = 0; i < SIZES; i++) {
        names[i] = sizes[i].name;
        if (sizes[i].width == r->width && sizes[i].height == r->height) size = i;
    }
    SandError error = {""};
    igBeginDisabled(r->active);
    control_text(CONTROL_FOLDER, r->folder, (int)sizeof r->folder);
    if (control_choice(CONTROL_FORMAT, NULL, &format, panel_format_names, FORMAT_COUNT, NULL))
        r->format = (PanelFormat)format;
    if (control_choice(CONTROL_SIZE, NULL, &size, names, SIZES, NULL)) {
        r->width = sizes[size].width;
        r->height = sizes[size].height;
    }
    control_integer(CONTROL_FPS, NULL, &r->fps, 1, 120, false, NULL);
    igEndDisabled();
    if (control_button(CONTROL_OPEN_FOLDER, NULL, -1e-6f)) {
        char text[2 * SAND_SENTENCE];
        if (!open_folder(r->folder, &error))
            snprintf(text, sizeof text, "%s", error.text);
        else
            snprintf(text, sizeof text, "The file manager shows %s.", r->folder);
        panel_say(panel, text);
    }
    float cell = cell_width(2);
    char label[48]; // the button itself shows the length of the film, so that the layout never moves
    snprintf(label, sizeof label, r->active ? "Stop (%.2f s)###record" : "Record###record", (double)r->frames / r->fps);
    igBeginDisabled(!panel->record);
    if (control_button(CONTROL_RECORD, label, cell) && !panel->record(panel->user, !r->active, &error))
        panel_say(panel, error.text);
    igEndDisabled();
    igSameLine(0, -1);
    igBeginDisabled(!panel->screenshot);
    if (control_button(CONTROL_SCREENSHOT, NULL, cell) && !panel->screenshot(panel->user, &error))
        panel_say(panel, error.text);
    igEndDisabled();
}

// --- all ----------------------------------------------------------------------------------------------------

static void draw_head(Panel *panel) {
    ImVec2 available;
    float em = igGetFontSize(), button = 3.6f * em;
    igAlignTextToFramePadding();
    igTextUnformatted("Sandglass", NULL);
    igSameLine(0, 0);
    igGetContentRegionAvail(&available);
    igSetCursorPosX(igGetCursorPosX() + available.x - 2 * button - 0.47f * em);
    if (control_button(CONTROL_HELP, NULL, button)) panel->help = !panel->help;
    igSameLine(0, 0.47f * em);
    if (control_button(CONTROL_HIDE, NULL, button)) panel_hide(panel, true);
}

void panel_draw_controls(Panel *panel, const PanelView *view) {
    draw_head(panel);
    if (panel_section(panel, "Scene", true)) draw_scene(panel, view);
    if (panel_section(panel, "Solver", true)) draw_solver(panel, view->scene);
    if (panel_section(panel, "Second solver", false)) draw_shadow(panel);
    if (panel_section(panel, "Side by side", false)) draw_beside(panel, view->scene);
    if (panel_section(panel, "Race of solvers", false)) panel_draw_race(panel);
    if (panel_section(panel, "Picture", true)) draw_picture(panel, view);
    if (panel_section(panel, "Gravity", false)) draw_gravity(panel);
    if (panel_section(panel, "Camera", false)) draw_camera(panel, view);
    if (panel_section(panel, "Take", false)) draw_take(panel);
    if (panel_section(panel, "Recording", false)) draw_recording(panel);
}
