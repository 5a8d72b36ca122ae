// SPDX-License-Identifier: MIT
// The start screen: thumbnails of all scenes with a line each, recent files, what was open last, and the demo. It is shown
// where no scene is asked for; Esc or a click beside everything goes on with the first scene.
#pragma once
#include "app/ui/card.h"
#include "app/ui/settings.h"

typedef enum StartKind {
    START_NOTHING, // no choice yet
    START_SCENE,   // the name of a scene, or the path of a file
    START_DEMO,
    START_ON, // goes on with the default
} StartKind;

typedef struct StartChoice {
    StartKind kind;
    char name[RECENT_PATH]; // of START_SCENE
} StartChoice;

typedef struct StartScreen StartScreen;
StartScreen *start_screen_create(const Settings *settings, SandError *error); // in a GL context
void start_screen_free(StartScreen *screen);

// Draws it between interface_begin and interface_end, and returns what was chosen with the mouse.
StartChoice start_screen_draw(StartScreen *screen, int width, int height);

// Where a scene was drawn last; empty: it is not there, or out of sight. For tests.
Box start_screen_place(const StartScreen *screen, const char *scene);
int start_screen_pictures(const StartScreen *screen); // how many scenes have a thumbnail
