// SPDX-License-Identifier: MIT
// Cards: how text is broken into lines, and where the card around it goes.
#include "app/ui/card.h"

#include <math.h>
#include <string.h>

#include "app/ui/cimgui.h"

static const ImU32 INK = 0xfff1ece9u, CARD = 0xd8181410u;
static const float LINE = 1.3f, PADDING = 0.6f; // in units of the font size

static float width_of(const char *from, const char *to) {
    ImVec2 size;
    igCalcTextSize(&size, from, to, false, -1);
    return size.x;
}

float card_text_width(const char *text) { return width_of(text, NULL); }

// The end of the first line of a text: as many words as fit into this width, at least one.
static const char *line_end(const char *text, float width) {
    const char *end = text + strcspn(text, " ");
    while (*end) {
        const char *next = end + 1 + strcspn(end + 1, " ");
        if (width_of(text, next) > width) break;
        end = next;
    }
    return end;
}

int card_lines(ImDrawList *list, const char *text, float x, float y, float width, ImU32 color, float *widest) {
    int count = 0;
    *widest = 0;
    while (*text) {
        const char *end = line_end(text, width);
        if (list)
            ImDrawList_AddText_Vec2(list, (ImVec2){x, roundf(y + LINE * (float)count * igGetFontSize())}, color, text, end);
        *widest = fmaxf(*widest, width_of(text, end));
        text = end + strspn(end, " ");
        count++;
    }
    return count;
}

// The size of a card for an area of this width.
static ImVec2 measure(double area_width, const char *text, float *inner) {
    float em = igGetFontSize(), widest;
    *inner = (float)area_width - 2 * PADDING * em;
    int lines = card_lines(NULL, text, 0, 0, *inner, 0, &widest);
    return (ImVec2){widest + 2 * PADDING * em, (LINE * (float)lines + 0.4f) * em};
}

double card_height(double width, const char *text) {
    float inner;
    return measure(width, text, &inner).y;
}

static Box draw(ImDrawList *list, Box area, double top, ImVec2 size, float inner, const char *text) {
    float em = igGetFontSize(), x = roundf((float)(0.5 * (area.left + area.right)) - 0.5f * size.x), y = roundf((float)top),
          widest;
    ImDrawList_AddRectFilled(list, (ImVec2){x, y}, (ImVec2){x + size.x, y + size.y}, CARD, 0.4f * em, 0);
    card_lines(list, text, roundf(x + PADDING * em), y + 0.35f * em, inner, INK, &widest);
    return (Box){x, y, x + size.x, y + size.y};
}

Box card_draw_up(Box area, const char *text, bool on_top) {
    float inner;
    ImVec2 size = measure(area.right - area.left, text, &inner);
    return draw(on_top ? igGetForegroundDrawList_Nil() : igGetBackgroundDrawList_Nil(), area, area.bottom - size.y, size,
                inner, text);
}

Box card_draw_down(Box area, const char *text) {
    float inner;
    ImVec2 size = measure(area.right - area.left, text, &inner);
    return draw(igGetBackgroundDrawList_Nil(), area, area.top, size, inner, text);
}
