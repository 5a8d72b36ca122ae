// SPDX-License-Identifier: MIT
// The layout of the panel: columns, time bar, help, messages and overlays. panel_draw is the place to start reading.
#include "app/ui/panel/panel_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/ui/cimgui.h"
#include "app/ui/marks.h"
#include "app/ui/panel/controls.h"

// --- over the picture ---------------------------------------------------------------------------------------

static float text_width(const char *text) {
    ImVec2 size;
    igCalcTextSize(&size, text, NULL, false, -1);
    return size.x;
}

// The newest at the bottom, beside the legend and above the card of the force chains.
static void draw_messages(Panel *panel, double seconds) {
    float gap = 0.4f * igGetFontSize();
    Box area = {panel->free_left, panel->free_top, panel->free_right, panel->free_bottom};
    area = overlay_beside_legend(&panel->places, area);
    panel->message_box = (Box){0};
    for (int i = 0; i < PANEL_MESSAGES; i++) {
        PanelMessage *message = &panel->messages[i];
        message->quiet -= seconds;
        if (message->left <= 0) continue;
        message->left -= seconds;
        if (i > 0 && area.bottom - card_height(area.right - area.left, message->text) < area.top) continue; // no room
        Box box = card_draw_up(area, message->text, true);
        bool first = box_is_empty(panel->message_box);
        panel->message_box = first ? box
                                   : (Box){fmin(box.left, panel->message_box.left), box.top,
                                           fmax(box.right, panel->message_box.right), panel->message_box.bottom};
        area.bottom = box.top - gap;
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

// One line with the most useful keys, until it is dismissed; where little room is left, the key that shows all of them.
static void draw_first_start(Panel *panel) {
    float em = igGetFontSize();
    igSetNextWindowPos((ImVec2){0.5f * (float)(panel->free_left + panel->free_right), (float)panel->free_top + 0.7f * em},
                       ImGuiCond_Always, (ImVec2){0.5f, 0});
    igSetNextWindowSize((ImVec2){0, 0}, ImGuiCond_Always);
    igBegin("##first", NULL,
            ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoScrollbar);
    float wide = (float)(panel->free_right - panel->free_left) - 6 * em, used = 0;
    bool cramped = wide < 26 * em;
    for (const PanelKey *k = panel->keys; k && k->key; k++) {
        if (!k->first || (cramped && strcmp(k->key, "F1"))) continue;
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

// --- work ---------------------------------------------------------------------------------------------------

// What takes the engine long, with a way to end it.
static void draw_work(Panel *panel) {
    const double PATIENCE = panel->locked ? 10 : 0.7; // s; what is done sooner needs no bar
    const EngineWork *work = &panel->work;
    if (!*work->what || work->seconds < PATIENCE) return;
    float em = igGetFontSize(), wide = 22 * em;
    igSetNextWindowPos((ImVec2){0.5f * (float)(panel->free_left + panel->free_right), (float)panel->free_top + 0.7f * em},
                       ImGuiCond_Always, (ImVec2){0.5f, 0});
    igSetNextWindowSize((ImVec2){0, 0}, ImGuiCond_Always);
    igBegin("##work", NULL,
            ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing);
    char text[64];
    igTextUnformatted(work->what, NULL);
    bool known = work->expected > PATIENCE;
    if (known)
        snprintf(text, sizeof text, "%.0f s of about %.0f s", work->seconds, work->expected);
    else
        snprintf(text, sizeof text, "%.0f s", work->seconds);
    // Without a known end the bar runs to and fro.
    double share = known ? fmin(1, work->seconds / work->expected) : 0.5 - 0.5 * cos(work->seconds);
    igProgressBar((float)share, (ImVec2){wide, 0}, text);
    if (!panel->locked) {
        igSameLine(0, -1);
        if (control_button(CONTROL_CANCEL, NULL, 5 * em)) panel->cancel(panel->user);
    }
    panel->free_top += 0.7 * em + igGetWindowHeight();
    igEnd();
}

// --- closing ------------------------------------------------------------------------------------------------

// Asked before a film or a run is lost.
static void draw_closing(Panel *panel, int width, int height) {
    float em = igGetFontSize(), cell = 9 * em;
    igSetNextWindowPos((ImVec2){0.5f * (float)width, 0.5f * (float)height}, ImGuiCond_Always, (ImVec2){0.5f, 0.5f});
    igSetNextWindowSize((ImVec2){0, 0}, ImGuiCond_Always);
    igBegin("Close the window?", NULL,
            ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings);
    if (panel->filming) igTextUnformatted("A film is being recorded. It ends here, and is kept.", NULL);
    if (panel->unsaved) igTextUnformatted("What you did in this run is not saved as a take.", NULL);
    igSpacing();
    if (control_button(CONTROL_CLOSE_SAVE, NULL, cell)) panel->closing = CLOSING_SAVES;
    igSameLine(0, -1);
    if (control_button(CONTROL_CLOSE_NOW, NULL, cell)) panel->closing = CLOSING_NOW;
    igSameLine(0, -1);
    if (control_button(CONTROL_CLOSE_STAY, NULL, cell)) panel->closing = CLOSING_NOT;
    control_check(CONTROL_CLOSE_ASK, &panel->ask_on_close);
    igEnd();
}

// --- layout ----------------------------------------------------------------------------------------------

static void begin_column(const char *name, float x, float y, float width, float height) {
    igSetNextWindowPos((ImVec2){x, y}, ImGuiCond_Always, (ImVec2){0, 0});
    igSetNextWindowSize((ImVec2){width, height}, ImGuiCond_Always);
    igBegin(name, NULL,
            ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse |
                ImGuiWindowFlags_NoSavedSettings);
}

// The button by which a column becomes a strip and the strip a column; its arrow points where the edge goes.
static void draw_fold(Panel *panel, int column, bool to_the_right) {
    ImVec2 low, high;
    igPushID_Int(column);
    if (igSmallButton(to_the_right ? "\xc2\xbb" : "\xc2\xab")) panel->folded[column] = !panel->folded[column];
    igPopID();
    igGetItemRectMin(&low);
    igGetItemRectMax(&high);
    panel->folds[column] = (Box){low.x, low.y, high.x, high.y};
    if (panel->folded[column])
        panel_tip(column ? "The figures of the step." : "The controls.");
    else
        panel_tip("Leaves a strip of this at the edge; Tab hides both.");
    if (!panel->folded[column] && column == 0) igSameLine(0, -1); // the head shares its row
}

void panel_draw_marks(const Panel *panel, const EngineFrame *frame, const Camera *camera, SplitArea halves, int width,
                      int height) {
    if (!frame) return;
    MarksView view = {.camera = camera,
                      .meshes = &frame->render_scene.meshes,
                      .left = frame->beside.on ? halves.left : 0,
                      .origin = frame->render_scene.origin,
                      .back = frame->render_scene.back,
                      .width = frame->beside.on ? halves.half : width,
                      .height = height};
    marks_draw(&panel->picked, &view);
}

void panel_draw(Panel *panel, const EngineFrame *frame, const EngineScene *scene, Camera *camera, RendererDef *look,
                int width, int height, double seconds) {
    int wide_picture = frame && frame->beside.on && panel->halves.half ? panel->halves.half : width;
    PanelView view = {frame, scene, camera, look, (double)wide_picture / (height > 0 ? height : 1)};
    float em = igGetFontSize(), edge = roundf(0.5f * em);
    float w = (float)width, h = (float)height;
    panel_follow_scene(panel, frame, scene);
    panel_follow_race(panel);
    if (frame) {
        panel_note(panel, frame);
        panel_note_probes(panel, frame);
        panel_follow_gauge(panel, frame, seconds);
    }
    panel->free_left = panel->free_top = 0;
    panel->free_right = w;
    panel->free_bottom = h - panel->reserved;

    // In a narrow window the race takes the place of the panel.
    bool alone = panel->racing.theater && w < 88 * em;
    if (!panel->hidden && !alone) {
        // Two columns with the time bar between them; in a narrow window the figures go below the controls.
        float strip = roundf(2 * em), left = roundf(21.5f * em), right = roundf(26 * em),
              bar = roundf(2 * igGetFrameHeightWithSpacing() + 1.1f * em);
        bool narrow = w < left + right + 24 * em;
        bool raced = panel->racing.theater && w < 130 * em; // then the race has the place of the figures
        if (narrow) left = fminf(left + 2 * em, w - 2 * edge);
        if (panel->folded[0]) left = strip;
        if (panel->folded[1]) right = strip;
        begin_column("##controls", edge, edge, left, h - 2 * edge);
        draw_fold(panel, 0, panel->folded[0]);
        if (!panel->folded[0]) panel_draw_controls(panel, &view);
        bool figures = !panel->folded[narrow ? 0 : 1] && !(raced && !narrow);
        if (!figures) panel->curve_wanted = false;
        if (narrow && figures) panel_draw_figures(panel, &view);
        igEnd();
        if (!narrow && !raced) {
            begin_column("##figures", w - edge - right, edge, right, h - 2 * edge);
            draw_fold(panel, 1, !panel->folded[1]);
            if (figures) panel_draw_figures(panel, &view);
            igEnd();
        }
        panel->free_left = left + edge;
        panel->free_right = narrow || raced ? w : w - right - edge;
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
    panel->halves = split_area(panel->free_left, panel->free_right, height);
    if (panel->overlay.residual) panel->curve_wanted = true;
    if (panel->first_start && !panel->racing.theater) draw_first_start(panel); // overlays are placed below it
    draw_work(panel);
    if (frame) {
        OverlayView over = panel_overlay(frame, scene, panel->halves);
        panel->places =
            overlay_draw(&panel->overlay, &over, panel->free_left, panel->free_top, panel->free_right, panel->free_bottom);
    }
    panel_draw_marks(panel, frame, camera, panel->halves, width, height);
    if (panel->racing.theater)
        panel_draw_theater(panel, (float)panel->free_left + edge, (float)panel->free_top + edge,
                           (float)panel->free_right - edge, (float)panel->free_bottom - edge);
    if (panel->help) draw_help(panel, width, height);
    if (panel->closing == CLOSING_ASKED) draw_closing(panel, width, height);
    draw_messages(panel, seconds);
    panel_send_due(panel);
}
