// SPDX-License-Identifier: MIT
// Text on a dark card, readable on any background, in as many lines as its place asks for. Drawn between interface_begin
// and interface_end.
#pragma once
#include <stdbool.h>

// Pixels from the upper left corner. An empty box has all zero.
typedef struct Box {
    double left, top, right, bottom;
} Box;
static inline bool box_is_empty(Box b) { return !(b.right > b.left && b.bottom > b.top); }

struct ImDrawList;

// Draws text in lines of at most this width, or only measures it where there is no list. Returns how many lines there are,
// and the width of the widest.
int card_lines(struct ImDrawList *list, const char *text, float x, float y, float width, unsigned color, float *widest);
float card_text_width(const char *text);

double card_height(double width, const char *text); // pixels, in an area of this width
// Draws a card at the bottom of an area, in its middle; returns its box. `on_top`: above all windows, which may cover it
// otherwise.
Box card_draw_up(Box area, const char *text, bool on_top);
Box card_draw_down(Box area, const char *text); // at the top of the area, in its middle
