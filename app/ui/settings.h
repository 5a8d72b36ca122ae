// What the window remembers between starts, in the configuration folder of the user. Films and benchmarks never depend on
// it.
#pragma once
#include "app/render/camera_path.h"

typedef struct Settings {
    bool first_start;  // the line of useful keys was not dismissed yet
    bool hidden;       // the panel
    int quality;       // RendererQuality, -1: automatic
    bool ask_on_close; // before a film or a run is lost
    Bookmarks bookmarks;
} Settings;
Settings settings_default(void);

// The path: $XDG_CONFIG_HOME/sandglass/settings, or ~/.config/sandglass/settings. False where there is neither.
bool settings_path(char *path, size_t capacity);

// Reads the settings; defaults where there is no file. A malformed file gives defaults and false, with a line that names
// file, line and key.
bool settings_load(Settings *settings, SandError *error);
bool settings_save(const Settings *settings, SandError *error); // creates the folder if it is missing
