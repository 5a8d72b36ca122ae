// The layout of the panel: columns, time bar, help, messages and overlays. panel_draw is the place to start reading.
#include "app/ui/panel/panel_parts.h"

#include <math.h>

#include "app/ui/cimgui.h"

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

// One line with the most useful keys, until it is dismissed.
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

// --- layout ----------------------------------------------------------------------------------------------

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
    panel_follow_scene(panel, frame, scene);
    if (frame) panel_note(panel, frame);
    panel->free_left = panel->free_top = 0;
    panel->free_right = w;
    panel->free_bottom = h;

    if (!panel->hidden) {
        // Two columns with the time bar between them; in a narrow window the figures go below the controls.
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
        panel->free_left = left + edge;
        panel->free_right = narrow ? w : w - right - edge;
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
    if (panel->first_start) draw_first_start(panel); // overlays are placed below it
    if (frame) {
        OverlayView over = panel_overlay(frame, scene);
        overlay_draw(&panel->overlay, &over, panel->free_left, panel->free_top, panel->free_right, panel->free_bottom);
    }
    if (panel->help) draw_help(panel, width, height);
    draw_messages(panel, seconds);
    panel_send_due(panel);
}
