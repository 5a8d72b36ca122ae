// Dear ImGui as the program uses it: its context, font, style and backends. What is drawn with it goes through cimgui.h.
// All functions want the GL context current on the calling thread. A window has one for its panel; a film that is taken in
// it has another, whose frames may not begin before the window's has ended.
#pragma once
#include "sandglass/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ImDrawList;
typedef struct Interface Interface;

// The GLFWwindow whose input is taken, or NULL off-screen, where interface_mouse and the like feed it. Callbacks that the
// window has before this call go on being called. NULL with a sentence on failure.
Interface *interface_create(void *window, SandError *error);
void interface_free(Interface *interface);

// Begins a frame of this many pixels. `scale` is pixels for each unit of text and widgets, `seconds` the time since the
// last. Everything after it, positions and the mouse too, is in pixels of the framebuffer.
void interface_begin(Interface *interface, int width, int height, double scale, double seconds);
// Ends it and draws it over what is in this framebuffer (0: the window).
void interface_end(Interface *interface, unsigned framebuffer);

bool interface_wants_mouse(const Interface *interface);    // the mouse is over the panel, or drags something of it
bool interface_wants_keyboard(const Interface *interface); // text is being typed

// A person's hands, for tests.
void interface_mouse(Interface *interface, double x, double y, bool down);

// A drawing of its own, apart from the frame: a plot that is saved as a picture. Draw on the list, then save.
struct ImDrawList *interface_sheet(Interface *interface, int width, int height);
bool interface_sheet_save(Interface *interface, const char *path, unsigned paper, SandError *error); // paper: 0xaabbggrr

double interface_cap_height(const Interface *interface); // pixels, of the letters as they are now
double interface_least_contrast(void);                   // of text on whatever may lie behind it, over a white picture

#ifdef __cplusplus
}
#endif
