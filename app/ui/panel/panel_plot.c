// Sections that fold, and plots with the buttons that save them.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "app/ui/cimgui.h"
#include "app/ui/panel/controls.h"
#include "app/ui/panel/panel_parts.h"

bool panel_section(const Panel *panel, const char *name, bool open) {
    igSpacing();
    if (panel->unfold) igSetNextItemOpen(true, ImGuiCond_Always);
    return igCollapsingHeader_TreeNodeFlags(name, open ? ImGuiTreeNodeFlags_DefaultOpen : 0);
}

static void save(Panel *panel, const Plot *plot, bool png, uint64_t step) {
    char path[SAND_SENTENCE + 96], text[SAND_SENTENCE + 128];
    SandError error;
    const char *folder = panel->recording.folder[0] ? panel->recording.folder : ".";
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        snprintf(text, sizeof text, "The folder %s cannot be made: %s", folder, strerror(errno));
        panel_say(panel, text);
        return;
    }
    snprintf(path, sizeof path, "%s/%s_%06llu.%s", folder, plot->name, (unsigned long long)step, png ? "png" : "csv");
    float em = igGetFontSize();
    bool saved = png ? plot_save_png(plot, panel->interface, path, (int)(56 * em), (int)(34 * em), &error)
                     : plot_save_csv(plot, path, &error);
    snprintf(text, sizeof text, "Saved as %s", path);
    panel_say(panel, saved ? text : error.text);
}

void panel_draw_plot(Panel *panel, const Plot *plot, uint64_t step) {
    float em = igGetFontSize();
    igPushID_Str(plot->name);
    plot_draw(plot, roundf(6.6f * em));
    // The buttons share a row with the name of the axis.
    if (control_end(CONTROL_SAVE_CSV, igSmallButton("CSV"), NULL)) save(panel, plot, false, step);
    igSameLine(0, -1);
    if (control_end(CONTROL_SAVE_PNG, igSmallButton("PNG"), NULL)) save(panel, plot, true, step);
    igPopID();
}
