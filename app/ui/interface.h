// SPDX-License-Identifier: MIT
// Dear ImGui as the program uses it: context, font, style and backends. Widgets go through cimgui.h. All functions need the
// GL context current on the calling thread. A window has one interface for its panel; a film taken in it has another, whose
// frames must not begin before that of the window has ended.
#pragma once
#include "sandglass/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ImDrawList;
typedef struct Interface Interface;

// `window`: the GLFWwindow that gives the input, or NULL off-screen, where interface_mouse and the like feed it. Callbacks
// installed before this call are chained. NULL with a sentence on failure.
Interface *interface_create(void *window, SandError *error);
void interface_free(Interface *interface);

// Begins a frame of this many pixels. `scale`: pixels per unit of text and widgets; `seconds`: since the last frame.
// Positions, the mouse included, are in pixels of the framebuffer.
void interface_begin(Interface *interface, int width, int height, double scale, double seconds);
// Ends the frame and draws it over this framebuffer (0: the window).
void interface_end(Interface *interface, unsigned framebuffer);

// Between these two text has the size of titles, 48/28 of the usual.
void interface_begin_title(void);
void interface_end_title(void);

bool interface_wants_mouse(const Interface *interface);    // the mouse is over the panel, or drags something of it
bool interface_wants_keyboard(const Interface *interface); // text is being typed

bool interface_close_list(Interface *interface); // closes an open list; false: there is none

// Simulated input, for tests.
void interface_mouse(Interface *interface, double x, double y, bool down);

// A separate drawing, for a plot that is saved as a picture: draw on the list, then save.
struct ImDrawList *interface_sheet(Interface *interface, int width, int height);
bool interface_sheet_save(Interface *interface, const char *path, unsigned paper, SandError *error); // paper: 0xaabbggrr

double interface_cap_height(const Interface *interface); // pixels, of capital letters at the current scale
double interface_least_contrast(void);                   // of text on any of its backgrounds, over a white picture

#ifdef __cplusplus
}
#endif
