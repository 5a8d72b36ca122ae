// What the window remembers from one start to the next, in the user's own configuration folder. Nothing else reads it:
// films and benchmarks never depend on it.
#pragma once
#include "app/render/camera_path.h"

typedef struct Settings {
    bool first_start; // the line of useful keys has not been sent away yet
    bool hidden;      // the panel
    int quality;      // RendererQuality, -1: as fits the machine
    Bookmarks bookmarks;
} Settings;
Settings settings_default(void);

// Where they are kept: $XDG_CONFIG_HOME/sandglass/settings, else in .config of the home folder. False where there is
// neither.
bool settings_path(char *path, size_t capacity);

// Reads them; defaults where there is no file. A file that cannot be understood gives defaults and false, with one line
// that names file, line and key.
bool settings_load(Settings *settings, SandError *error);
bool settings_save(const Settings *settings, SandError *error); // makes the folder where it is missing
