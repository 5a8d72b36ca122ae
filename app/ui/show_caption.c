// SPDX-License-Identifier: MIT
// Title and text on a dark card in the lower left corner, and a dark picture between two scenes.
#include "app/ui/show_caption.h"

#include "app/ui/card.h"
#include "app/ui/cimgui.h"

#include <math.h>

static const ImU32 INK = 0x00f1ece9u, CARD = 0x00181410u, AMBER = 0x0034b1f2u, DARK = 0x00060504u;

static ImU32 opaque(ImU32 color, double share) { return color | (ImU32)(255 * fmax(0, fmin(1, share))) << 24; }

static void draw_caption(const Show *show, ImDrawList *list, float width, float height, double share) {
    const PlaylistScene *scene = show_scene(show);
    float em = igGetFontSize(), margin = 2 * em, inner = fminf(19 * em, width - 2 * margin - 2 * em), widest;
    int lines = card_lines(NULL, show->text, 0, 0, inner, 0, &widest), titles = *scene->title ? 1 : 0;
    if (lines + titles == 0) return;
    float wide = fmaxf(widest, card_text_width(scene->title)) + 2 * em;
    float high = (float)(1.3 * (lines + 1.25 * titles) + 1.2) * em, top = height - margin - high;
    ImDrawList_AddRectFilled(list, (ImVec2){margin, top}, (ImVec2){margin + wide, top + high}, opaque(CARD, 0.82 * share),
                             0.5f * em, 0);
    ImDrawList_AddRectFilled(list, (ImVec2){margin, top + 0.6f * em}, (ImVec2){margin + 0.2f * em, top + high - 0.6f * em},
                             opaque(AMBER, share), 0, 0);
    float y = top + 0.75f * em;
    if (titles)
        ImDrawList_AddText_Vec2(list, (ImVec2){roundf(margin + em), roundf(y)}, opaque(AMBER, share), scene->title, NULL);
    card_lines(list, show->text, roundf(margin + em), y + 1.6f * em * (float)titles, inner, opaque(INK, share), &widest);
}

void show_draw(const Show *show, double width, double height, bool wanted_caption) {
    ImDrawList *list = igGetBackgroundDrawList_Nil();
    double dark = show_darkness(show);
    if (dark > 0)
        ImDrawList_AddRectFilled(list, (ImVec2){0, 0}, (ImVec2){(float)width, (float)height}, opaque(DARK, dark), 0, 0);
    if (wanted_caption && dark < 1) draw_caption(show, list, (float)width, (float)height, 1 - dark);
}
