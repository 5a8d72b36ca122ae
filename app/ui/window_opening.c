// SPDX-License-Identifier: MIT
// What the window shows before its first scene is there: at once a title and what goes on, with a bar and a way out. What
// must be known before the engine starts is found on a thread of its own meanwhile.
#include "app/ui/window_parts.h"

#include "app/ui/card.h"
#include "app/ui/cimgui.h"

#include "sim/core/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static const ImU32 INK = 0xfff1ece9u, FAINT = 0xffbaada4u, AMBER = 0xff34b1f2u, DARK = 0xff1e1814u;

static void draw_middle(ImDrawList *list, double middle, double y, ImU32 color, const char *text) {
    ImVec2 at = {roundf((float)middle - 0.5f * card_text_width(text)), roundf((float)y)};
    ImDrawList_AddText_Vec2(list, at, color, text, NULL);
}

// What goes on, in words and with a bar that runs to and fro where no end is known. True: it is to be canceled.
static bool draw_work(const Window *w, const EngineWork *work, float top) {
    float em = igGetFontSize(), wide = fminf(26 * em, (float)w->width - 2 * em), left = 0.5f * ((float)w->width - wide);
    bool known = work->expected > 0.1;
    double share = known ? fmin(1, work->seconds / work->expected) : 0.5 - 0.5 * cos(work->seconds);
    char text[64];
    snprintf(text, sizeof text, known ? "%.0f s of about %.0f s" : "%.0f s", work->seconds, work->expected);
    draw_middle(igGetBackgroundDrawList_Nil(), 0.5 * w->width, top, INK, work->what);
    if (!(work->seconds > 0)) return false; // it cannot be watched
    igSetNextWindowPos((ImVec2){left, top + 1.6f * em}, ImGuiCond_Always, (ImVec2){0, 0});
    igSetNextWindowSize((ImVec2){wide, 0}, ImGuiCond_Always);
    igBegin("##opening", NULL,
            ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing);
    igProgressBar((float)share, (ImVec2){wide - 8 * em, 0}, text);
    igSameLine(0, -1);
    bool canceled = !w->def->kiosk && igButton("Cancel", (ImVec2){5 * em, 0});
    igEnd();
    return canceled;
}

bool window_draw_opening(Window *w, const EngineWork *work) {
    context_size(w->context, &w->width, &w->height);
    if (w->width <= 0 || w->height <= 0) return false;
    const double REFRESH = 0.2; // s, after which the interface draws anew
    interface_begin(w->interface, w->width, w->height, window_scale(w), REFRESH);
    ImDrawList *list = igGetBackgroundDrawList_Nil();
    float em = igGetFontSize(), top = roundf(0.36f * (float)w->height);
    ImDrawList_AddRectFilled(list, (ImVec2){0, 0}, (ImVec2){(float)w->width, (float)w->height}, DARK, 0, 0);
    interface_begin_title();
    draw_middle(list, 0.5 * w->width, top, AMBER, "Sandglass");
    interface_end_title();
    if (w->def->subject) draw_middle(list, 0.5 * w->width, top + 2.6f * em, FAINT, w->def->subject);
    bool canceled = *work->what && draw_work(w, work, top + 5 * em);
    interface_end(w->interface, 0);
    context_swap(w->context);
    if (!w->first_picture) w->first_picture = sand_seconds();
    return canceled;
}

void window_tell_opening(Window *w, const char *what) {
    EngineWork work = {0};
    snprintf(work.what, sizeof work.what, "%s", what);
    window_draw_opening(w, &work);
    context_poll(w->context, 0);
}

// --- on a thread of its own -----------------------------------------------------------------------------------

typedef struct Preparation {
    const WindowDef *def;
    atomic_bool done;
    bool ok;
    SandError error;
} Preparation;

static void *prepare(void *argument) {
    Preparation *p = argument;
    p->ok = p->def->prepare(p->def->user, &p->error);
    p->done = true;
    return NULL;
}

bool window_prepare(Window *w, bool *closed, SandError *error) {
    const double FRAME = 0.03; // s
    Preparation p = {.def = w->def};
    pthread_t thread;
    *closed = false;
    if (!w->def->prepare) return true;
    EngineWork work = {.what = "Measuring how many bodies this machine holds in real time"};
    if (pthread_create(&thread, NULL, prepare, &p) != 0) return w->def->prepare(w->def->user, error);
    for (double begin = sand_seconds(); !p.done;) {
        work.seconds = sand_seconds() - begin;
        *closed = window_draw_opening(w, &work) || *closed;
        context_poll(w->context, FRAME);
    }
    pthread_join(thread, NULL);
    *closed = *closed || context_closing(w->context) || (w->def->should_close && w->def->should_close(w->def->user));
    if (!p.ok) *error = p.error;
    return p.ok;
}

// --- the start screen -------------------------------------------------------------------------------------------

// What is chosen with the keyboard: Esc, Enter and Space go on.
static bool goes_on(const Window *w) {
    for (int k = 0; k < w->press_count; k++) {
        int key = w->presses[k].key;
        if (key == GLFW_KEY_ESCAPE || key == GLFW_KEY_ENTER || key == GLFW_KEY_SPACE) return true;
    }
    return false;
}

static bool should_leave(const Window *w) {
    return context_closing(w->context) || (w->def->should_close && w->def->should_close(w->def->user));
}

bool window_start(Window *w, bool *closed, SandError *error) {
    const double FRAME = 0.03, REFRESH = 0.2; // s
    Settings settings;
    SandError why;
    if (!w->def->choose) return true;
    settings_load(&settings, &why); // what is wrong with it is said when the panel is there
    StartScreen *screen = start_screen_create(&settings, error);
    if (!screen) return false;
    StartChoice choice = {.kind = START_NOTHING};
    while (choice.kind == START_NOTHING && !(*closed = should_leave(w))) {
        context_poll(w->context, FRAME);
        context_size(w->context, &w->width, &w->height);
        if (w->width <= 0 || w->height <= 0) continue;
        interface_begin(w->interface, w->width, w->height, window_scale(w), REFRESH);
        choice = start_screen_draw(screen, w->width, w->height);
        interface_end(w->interface, 0);
        context_swap(w->context);
        if (!w->first_picture) w->first_picture = sand_seconds();
        if (goes_on(w)) choice.kind = START_ON;
        w->press_count = w->event_count = 0;
        if (w->def->state) w->def->state->start = true;
    }
    start_screen_free(screen);
    w->scroll = 0;
    return *closed || w->def->choose(w->def->user, &choice, closed, error);
}
