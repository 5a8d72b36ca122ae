// SPDX-License-Identifier: MIT
// Sections that fold, and plots with the buttons that save them.
#include <math.h>
#include <stdio.h>

#include "app/io/free_path.h"
#include "app/ui/cimgui.h"
#include "app/ui/panel/controls.h"
#include "app/ui/panel/panel_parts.h"

bool panel_section(const Panel *panel, const char *name, bool open) {
    igSpacing();
    if (panel->unfold) igSetNextItemOpen(true, ImGuiCond_Always);
    return igCollapsingHeader_TreeNodeFlags(name, open ? ImGuiTreeNodeFlags_DefaultOpen : 0);
}

void panel_save_plot(Panel *panel, const Plot *plot, PlotFile kind, uint64_t step) {
    static const char *const endings[] = {[PLOT_CSV] = "csv", [PLOT_PNG] = "png", [PLOT_SVG] = "svg"};
    char stem[128], path[SAND_SENTENCE + 160], text[SAND_SENTENCE + 192];
    SandError error;
    float em = igGetFontSize();
    int width = (int)(56 * em), height = (int)(34 * em);
    snprintf(stem, sizeof stem, "%s_%06llu", plot->name, (unsigned long long)step);
    bool saved = free_path(path, sizeof path, panel->recording.folder, stem, endings[kind], &error);
    if (saved && kind == PLOT_CSV) saved = plot_save_csv(plot, path, &error);
    if (saved && kind == PLOT_PNG) saved = plot_save_png(plot, panel->interface, path, width, height, &error);
    if (saved && kind == PLOT_SVG) saved = plot_save_svg(plot, path, 840, 510, &error);
    snprintf(text, sizeof text, "Saved as %s", path);
    panel_say(panel, saved ? text : error.text);
}

void panel_tip(const char *text) {
    if (!*text || !igIsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
    igPushStyleVar_Float(ImGuiStyleVar_Alpha, 1);
    igBeginTooltip();
    igPushTextWrapPos(24 * igGetFontSize());
    igTextUnformatted(text, NULL);
    igPopTextWrapPos();
    igEndTooltip();
    igPopStyleVar(1);
}

void panel_draw_plot(Panel *panel, const Plot *plot, uint64_t step) {
    float em = igGetFontSize();
    igPushID_Str(plot->name);
    plot_draw(plot, roundf(6.6f * em));
    // The buttons share a row with the name of the axis.
    if (control_end(CONTROL_SAVE_CSV, igSmallButton("CSV"), NULL)) panel_save_plot(panel, plot, PLOT_CSV, step);
    igSameLine(0, -1);
    if (control_end(CONTROL_SAVE_PNG, igSmallButton("PNG"), NULL)) panel_save_plot(panel, plot, PLOT_PNG, step);
    igPopID();
}
