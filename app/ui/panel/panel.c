#include "app/ui/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/ui/cimgui.h"
#include "app/ui/panel/controls.h"
#include "app/engine/backends.h"
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
    panel->shadow = sand_default_solve();
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
    free(panel);
}

OverlayView panel_overlay(const EngineFrame *frame, const EngineScene *scene) {
    return (OverlayView){.render_scene = &frame->render_scene,
                         .counters = &frame->counters,
                         .solver = sand_solver_table[scene->solve.solver].name,
                         .curve = frame->curve,
                         .curve_count = frame->curve_count,
                         .time = frame->time};
}

void panel_say(Panel *panel, const char *sentence) {
    memmove(&panel->messages[1], &panel->messages[0], (PANEL_MESSAGES - 1) * sizeof panel->messages[0]);
    snprintf(panel->messages[0].text, sizeof panel->messages[0].text, "%s", sentence);
    panel->messages[0].left = 8;
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

bool panel_ask(Panel *panel, Act act) {
    if (panel->ask && panel->ask(panel->user, &act)) return true;
    panel_say(panel, "The simulation is busy with earlier requests; please try again.");
    return false;
}

bool panel_section(const Panel *panel, const char *name, bool open) {
    igSpacing();
    if (panel->unfold) igSetNextItemOpen(true, ImGuiCond_Always);
    return igCollapsingHeader_TreeNodeFlags(name, open ? ImGuiTreeNodeFlags_DefaultOpen : 0);
}

// Takes over what the scene says after it changed.
static void follow_scene(Panel *panel, const EngineFrame *frame, const EngineScene *scene) {
    if (panel->scene_version != scene->version) {
        panel->scene_version = scene->version;
        panel->point_count = 0;
        panel->bodies = frame ? frame->bodies : 0;
        for (int k = 0; k < scene->knob_count; k++) panel->knobs[k] = scene->knobs[k].value;
    }
    if (panel->settings_version == scene->settings) return;
    panel->settings_version = scene->settings;
    panel->solve = scene->solve;
    panel->by_time = scene->solve.budget_ms > 0;
    panel->solve_due = panel->gravity_due = false;
    SandVec3 g = scene->gravity;
    panel->gravity = v3_length(g);
    panel->tilt = panel->gravity > 0 ? acos(fmax(-1, fmin(1, -g.z / panel->gravity))) / DEGREE : 0;
    panel->towards = hypot(g.x, g.y) > 1e-9 ? atan2(g.y, g.x) / DEGREE : 0;
}

// Sliders change faster than steps are taken, so what they say is kept until the engine takes it.
static void send_due(Panel *panel) {
    double tilt = panel->tilt * DEGREE, towards = panel->towards * DEGREE, g = panel->gravity;
    Act acts[] = {
        {.kind = ACT_SOLVE, .solve = panel->solve},
        {.kind = ACT_SHADOW, .solve = panel->shadow, .number = panel->shadowing},
        {.kind = ACT_GRAVITY, .vector = v3_make(g * sin(tilt) * cos(towards), g * sin(tilt) * sin(towards), -g * cos(tilt))},
        {.kind = ACT_SPEED, .number = panel->speed}};
    bool *due[] = {&panel->solve_due, &panel->shadow_due, &panel->gravity_due, &panel->speed_due};
    for (int i = 0; i < 4; i++)
        if (*due[i] && panel->ask && panel->ask(panel->user, &acts[i])) *due[i] = false;
    if (panel->curve_wanted != panel->curve_asked && panel->ask &&
        panel->ask(panel->user, &(Act){.kind = ACT_CURVE, .number = panel->curve_wanted}))
        panel->curve_asked = panel->curve_wanted;
}

// --- over the picture ---------------------------------------------------------------------------------------

static float text_width(const char *text) {
    ImVec2 size;
    igCalcTextSize(&size, text, NULL, false, -1);
    return size.x;
}

static void draw_messages(Panel *panel, double seconds) {
    float em = igGetFontSize(), y = (float)panel->free_bottom - 2.3f * em;
    for (int i = 0; i < PANEL_MESSAGES; i++) {
        if (panel->messages[i].left <= 0) continue;
        panel->messages[i].left -= seconds;
        overlay_card(0.5f * (float)(panel->free_left + panel->free_right), y, panel->messages[i].text);
        y -= 2.1f * em;
    }
}

// --- help ---------------------------------------------------------------------------------------------------

static void draw_help(Panel *panel, int width, int height) {
    float em = igGetFontSize();
    igSetNextWindowPos((ImVec2){0.5f * (float)width, 0.5f * (float)height}, ImGuiCond_Always, (ImVec2){0.5f, 0.5f});
    igSetNextWindowSize((ImVec2){0, 0}, ImGuiCond_Always);
    if (igBegin("Keys", &panel->help,
                ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings)) {
        if (igBeginTable("keys", 2, ImGuiTableFlags_RowBg, (ImVec2){35 * em, 0}, 0)) {
            igTableSetupColumn("key", ImGuiTableColumnFlags_WidthFixed, 7 * em, 0);
            igTableSetupColumn("what", ImGuiTableColumnFlags_WidthStretch, 1, 0);
            for (const PanelKey *k = panel->keys; k && k->key; k++) {
                igTableNextRow(0, 0);
                igTableNextColumn();
                igPushStyleColor_U32(ImGuiCol_Text, 0xff34b1f2u);
                igTextUnformatted(k->key, NULL);
                igPopStyleColor(1);
                igTableNextColumn();
                igTextUnformatted(k->text, NULL);
            }
            igEndTable();
        }
        igSpacing();
        if (igButton("Close", (ImVec2){35 * em, 0})) panel->help = false;
    }
    igEnd();
}

// One line with the keys that matter most, until it is sent away.
static void draw_first_start(Panel *panel) {
    float em = igGetFontSize();
    igSetNextWindowPos((ImVec2){0.5f * (float)(panel->free_left + panel->free_right), (float)panel->free_top + 0.7f * em},
                       ImGuiCond_Always, (ImVec2){0.5f, 0});
    igSetNextWindowSize((ImVec2){0, 0}, ImGuiCond_Always);
    igBegin("##first", NULL,
            ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoScrollbar);
    float wide = (float)(panel->free_right - panel->free_left) - 6 * em, used = 0;
    for (const PanelKey *k = panel->keys; k && k->key; k++) {
        if (!k->first) continue;
        float needed = text_width(k->key) + text_width(k->text) + 1.8f * em;
        if (used > 0 && used + needed < wide)
            igSameLine(0, 1.4f * em);
        else
            used = 0;
        used += needed;
        igPushStyleColor_U32(ImGuiCol_Text, 0xff34b1f2u);
        igTextUnformatted(k->key, NULL);
        igPopStyleColor(1);
        igSameLine(0, 0.4f * em);
        igTextUnformatted(k->text, NULL);
    }
    igSameLine(0, 1.2f * em);
    if (igSmallButton("Got it")) panel->first_start = false;
    panel->free_top += 0.7 * em + igGetWindowHeight();
    igEnd();
}

// --- all of it ----------------------------------------------------------------------------------------------

static void begin_column(const char *name, float x, float y, float width, float height) {
    igSetNextWindowPos((ImVec2){x, y}, ImGuiCond_Always, (ImVec2){0, 0});
    igSetNextWindowSize((ImVec2){width, height}, ImGuiCond_Always);
    igBegin(name, NULL,
            ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse |
                ImGuiWindowFlags_NoSavedSettings);
}

void panel_draw(Panel *panel, const EngineFrame *frame, const EngineScene *scene, Camera *camera, RendererDef *look,
                int width, int height, double seconds) {
    PanelView view = {frame, scene, camera, look, (double)width / (height > 0 ? height : 1)};
    float em = igGetFontSize(), edge = roundf(0.5f * em);
    float w = (float)width, h = (float)height;
    follow_scene(panel, frame, scene);
    if (frame) panel_note(panel, frame);
    panel->free_left = panel->free_top = 0, panel->free_right = w, panel->free_bottom = h;

    if (!panel->hidden) {
        // Two columns and the bar of time between them; in a narrow window the figures go below the controls.
        float left = roundf(21.5f * em), right = roundf(26 * em),
              bar = roundf(2 * igGetFrameHeightWithSpacing() + 1.1f * em);
        bool narrow = w < left + right + 24 * em;
        if (narrow) left = fminf(left + 2 * em, w - 2 * edge);
        begin_column("##controls", edge, edge, left, h - 2 * edge);
        panel_draw_controls(panel, &view);
        if (narrow) panel_draw_figures(panel, &view);
        igEnd();
        if (!narrow) {
            begin_column("##figures", w - edge - right, edge, right, h - 2 * edge);
            panel_draw_figures(panel, &view);
            igEnd();
        }
        panel->free_left = left + edge, panel->free_right = narrow ? w : w - right - edge;
        panel->free_bottom = h - bar - edge;
        float free = (float)(panel->free_right - panel->free_left) - 2 * edge, wide = fminf(free, 52 * em);
        if (wide > 14 * em) {
            begin_column("##time", (float)panel->free_left + edge + roundf(0.5f * (free - wide)), h - edge - bar, wide, bar);
            panel_draw_transport(panel, &view);
            igEnd();
        }
    } else {
        panel->curve_wanted = false;
    }
    if (panel->overlay.residual) panel->curve_wanted = true;
    if (panel->first_start) draw_first_start(panel); // what lies over the picture comes below it
    if (frame) {
        OverlayView over = panel_overlay(frame, scene);
        overlay_draw(&panel->overlay, &over, panel->free_left, panel->free_top, panel->free_right, panel->free_bottom);
    }
    if (panel->help) draw_help(panel, width, height);
    draw_messages(panel, seconds);
    send_due(panel);
}
