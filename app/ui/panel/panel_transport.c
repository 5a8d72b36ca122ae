// SPDX-License-Identifier: MIT
// The time bar: reset, step back, play, step, flip; position in the run, and speed.
#include <math.h>
#include <stdio.h>

#include "app/ui/cimgui.h"
#include "app/ui/panel/controls.h"
#include "app/ui/panel/panel_parts.h"

typedef enum Icon { ICON_RESET, ICON_BACK, ICON_PLAY, ICON_PAUSE, ICON_STEP, ICON_FLIP } Icon;

static const ImU32 INK = 0xfff1ece9u, AMBER = 0xff34b1f2u;

static ImVec2 at(float x, float y) { return (ImVec2){x, y}; }

// Icons are drawn, because fonts differ in which of these symbols they have.
static void draw_icon(Icon icon, ImVec2 low, ImVec2 high, ImU32 ink) {
    ImDrawList *list = igGetWindowDrawList();
    float x = roundf(0.5f * (low.x + high.x)), y = roundf(0.5f * (low.y + high.y)), r = roundf(0.27f * (high.y - low.y)),
          bar = roundf(0.35f * r);
    switch (icon) {
    case ICON_PLAY:
        ImDrawList_AddTriangleFilled(list, at(x - 0.8f * r, y - r), at(x - 0.8f * r, y + r), at(x + r, y), ink);
        break;
    case ICON_PAUSE:
        ImDrawList_AddRectFilled(list, at(x - 0.8f * r, y - r), at(x - 0.8f * r + 1.7f * bar, y + r), ink, 0, 0);
        ImDrawList_AddRectFilled(list, at(x + 0.8f * r - 1.7f * bar, y - r), at(x + 0.8f * r, y + r), ink, 0, 0);
        break;
    case ICON_STEP:
        ImDrawList_AddTriangleFilled(list, at(x - r, y - r), at(x - r, y + r), at(x + 0.5f * r, y), ink);
        ImDrawList_AddRectFilled(list, at(x + 0.6f * r, y - r), at(x + 0.6f * r + bar, y + r), ink, 0, 0);
        break;
    case ICON_BACK:
        ImDrawList_AddTriangleFilled(list, at(x + r, y - r), at(x - 0.5f * r, y), at(x + r, y + r), ink);
        ImDrawList_AddRectFilled(list, at(x - 0.6f * r - bar, y - r), at(x - 0.6f * r, y + r), ink, 0, 0);
        break;
    case ICON_RESET:
        ImDrawList_AddRectFilled(list, at(x - 1.3f * r, y - r), at(x - 1.3f * r + bar, y + r), ink, 0, 0);
        ImDrawList_AddTriangleFilled(list, at(x + 0.1f * r, y - r), at(x - 0.9f * r, y), at(x + 0.1f * r, y + r), ink);
        ImDrawList_AddTriangleFilled(list, at(x + 1.2f * r, y - r), at(x + 0.2f * r, y), at(x + 1.2f * r, y + r), ink);
        break;
    case ICON_FLIP: // an hourglass
        ImDrawList_AddTriangleFilled(list, at(x - 0.8f * r, y - 0.9f * r), at(x, y + 0.1f * r),
                                     at(x + 0.8f * r, y - 0.9f * r), ink);
        ImDrawList_AddTriangleFilled(list, at(x - 0.8f * r, y + 0.9f * r), at(x + 0.8f * r, y + 0.9f * r),
                                     at(x, y - 0.1f * r), ink);
        ImDrawList_AddRectFilled(list, at(x - r, y - 1.1f * r), at(x + r, y - 1.1f * r + 0.6f * bar), ink, 0, 0);
        ImDrawList_AddRectFilled(list, at(x - r, y + 1.1f * r - 0.6f * bar), at(x + r, y + 1.1f * r), ink, 0, 0);
        break;
    }
}

static bool icon_button(ControlId id, Icon icon, bool enabled) {
    ImVec2 low, high;
    igPushID_Int((int)id);
    igBeginDisabled(!enabled);
    bool pressed = igButton("##icon", at(1.5f * igGetFrameHeight(), 0));
    igEndDisabled();
    igPopID();
    igGetItemRectMin(&low);
    igGetItemRectMax(&high);
    draw_icon(icon, low, high, !enabled ? 0x70f1ece9u : id == CONTROL_PLAY ? AMBER : INK);
    char name[96];
    snprintf(name, sizeof name, "%s", icon == ICON_PAUSE ? "Pause" : control_table[id].label);
    control_end(id, pressed, name);
    igSameLine(0, -1);
    return pressed;
}

// A slider over all steps that can be restored; dragging it seeks.
static void draw_scrub(Panel *panel, const EngineFrame *frame) {
    int64_t least = frame ? (int64_t)frame->oldest_step : 0, most = frame ? (int64_t)frame->newest_step : 0;
    int64_t now = frame ? (int64_t)frame->step : 0, wanted = panel->seek >= 0 ? panel->seek : now;
    char text[96];
    if (most <= least) most = least + 1;
    snprintf(text, sizeof text, "step %%lld    %.3f s", frame ? frame->time : 0.0);
    igSetNextItemWidth(-1e-6f);
    bool drawn = igSliderScalar("##scrub", ImGuiDataType_S64, &wanted, &least, &most, text, ImGuiSliderFlags_AlwaysClamp);
    bool held = igIsItemActive();
    if (control_end(CONTROL_SCRUB, drawn, NULL) && frame && wanted != panel->seek && panel->ask &&
        panel->ask(panel->user, &(Act){.kind = ACT_SEEK, .number = (double)wanted}))
        panel->seek = wanted;
    if (!held) panel->seek = -1; // the slider follows the run again
}

void panel_draw_transport(Panel *panel, const PanelView *view) {
    const EngineFrame *frame = view->frame;
    bool playing = frame && frame->playing;
    draw_scrub(panel, frame);
    if (icon_button(CONTROL_RESET, ICON_RESET, true)) panel_ask(panel, (Act){.kind = ACT_RESET});
    if (icon_button(CONTROL_STEP_BACK, ICON_BACK, frame && frame->step > frame->oldest_step))
        panel_ask(panel, (Act){.kind = ACT_BACK, .number = 1});
    if (icon_button(CONTROL_PLAY, playing ? ICON_PAUSE : ICON_PLAY, true)) panel_ask(panel, (Act){.kind = ACT_TOGGLE});
    if (icon_button(CONTROL_STEP, ICON_STEP, true)) panel_ask(panel, (Act){.kind = ACT_STEP, .number = 1});
    if (icon_button(CONTROL_FLIP, ICON_FLIP, true)) panel_ask(panel, (Act){.kind = ACT_FLIP});

    float em = igGetFontSize();
    ImVec2 available;
    igGetContentRegionAvail(&available);
    if (available.x < 10 * em) return; // a narrow window; keys change the speed as well
    igSameLine(0, em);
    igAlignTextToFramePadding();
    igTextUnformatted("Speed", NULL);
    igSameLine(0, -1);
    igSetNextItemWidth(-1e-6f);
    double least = 1.0 / 64, most = 8;
    bool changed = igSliderScalar("##speed", ImGuiDataType_Double, &panel->speed, &least, &most, "%.3g \xc3\x97 real time",
                                  ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_Logarithmic);
    if (control_end(CONTROL_SPEED, changed, NULL)) panel->speed_due = true;
}
