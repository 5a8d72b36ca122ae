// SPDX-License-Identifier: MIT
// The window of the program: engine, renderer and panel together, until it is closed.
#pragma once
#include "app/engine/engine.h"
#include "app/engine/playlist.h"
#include "app/render/renderer.h"
#include "app/ui/overlay.h"
#include "app/ui/start_screen.h"

// The window as a test sees it from outside.
typedef struct WindowState {
    char scene[64];
    int left, top; // pixels, where its picture begins on the screen
    uint64_t step;
    bool playing;
    int bodies, lost; // lost: bodies that left the world so far
    int picked;       // body, -1: none
    int clicks;       // on the picture, handled so far
    int presses;      // of keys, so far
    int color, solver;
    bool help, theater, closing, hidden;
    bool racing;      // a race runs
    double eye[3];    // of the camera
    bool held;        // a body is dragged
    int turned;       // how often the glass was turned over because it was empty
    bool start;       // the start screen is shown
    bool unsaved;     // a person did something that no take has
    int beside;       // solver of the second run, -1: there is none
    double wheels[2]; // rad/s, of the first wheel on the left and the last on the right of a vehicle; 0: there is none
} WindowState;

// Whether the window starts with its panel.
typedef enum PanelStart { PANEL_AS_LEFT, PANEL_ON, PANEL_OFF } PanelStart;

typedef struct WindowDef {
    EngineDef engine;
    const char *camera; // a preset or coordinates; NULL: frame the whole scene
    RenderColor color;
    ColorMap map;
    bool chains;
    RendererDef look;   // chains, cut and exposure; `quality` below decides its quality
    RenderRange limits; // of the color map
    int width, height;  // in screen units, 0: default
    double ui_scale;    // pixels per unit of text and widgets, 0: content scale of the display
    int quality;        // RendererQuality, -1: automatic
    OverlayDef overlay;
    double speed;               // simulated seconds per second
    PanelStart panel;           // what a person does with it is remembered, the option is not
    bool follow;                // the camera moves with the body that the scene names
    const char *take;           // save the run here when the window closes; NULL: no
    Show *show;                 // a playlist that the window goes through until a person takes over; NULL: none
    bool fullscreen;            // with a playlist
    bool kiosk;                 // with a playlist: a visitor may throw balls and no more, and cannot close the window
    bool turns;                 // the glass is turned over when it is empty, until a person does something
    double give_back;           // s without a touch, after which the playlist goes on
    bool unfold;                // open every section of the panel, for tests
    const char *notice;         // first message; NULL or empty: none
    const SandSolveDef *shadow; // shadow solver; NULL: none
    const char *subject;        // what is opened, for the first picture; NULL: nothing is said
    // Called with what was chosen on the start screen, which comes first then: it changes the def, or sets `*leave` where
    // the window is to close for something else. NULL: there is no start screen.
    bool (*choose)(void *user, const StartChoice *choice, bool *leave, SandError *error);
    // Called on another thread once the window shows its first picture, before the engine starts: finds what the def still
    // lacks. NULL: it lacks nothing.
    bool (*prepare)(void *user, SandError *error);
    // Asked before every frame, on the thread of window_run: true closes the window. NULL: only the user closes it.
    bool (*should_close)(void *user);
    void (*on_message)(void *user, const char *sentence); // hears every message that the panel shows; NULL: nobody does
    void *user;                                           // passed to all four
    WindowState *state;                                   // written before every frame, for tests; NULL: not
} WindowDef;
WindowDef window_default(void);

typedef struct WindowReport {
    int64_t frames;
    double seconds;
    double rate;          // frames a second, without the first few
    double stall;         // s, longest time between frames, without the first few
    int errors;           // reported by the graphics driver
    double first_picture; // s, sand_seconds() of the first picture, whatever it shows
    double first_motion;  // s, sand_seconds() of the first picture with moving bodies; 0: never
} WindowReport;

bool window_run(const WindowDef *def, WindowReport *report, SandError *error);
