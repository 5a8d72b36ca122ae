// SPDX-License-Identifier: MIT
// What the window remembers between starts, in the configuration folder of the user. Films and benchmarks never depend on
// it.
#pragma once
#include "app/render/camera_path.h"

// Scenes, takes and contact problems that were opened by their path, the last one first.
enum { RECENT_FILES = 8, RECENT_PATH = 4096 };
typedef struct RecentFiles {
    int count;
    char paths[RECENT_FILES][RECENT_PATH];
} RecentFiles;

typedef struct Settings {
    bool first_start;  // the line of useful keys was not dismissed yet
    bool hidden;       // the panel
    int folded;        // bit 0: its controls are a strip, bit 1: its figures are
    int quality;       // RendererQuality, -1: automatic
    bool ask_on_close; // before a film or a run is lost
    Bookmarks bookmarks;
    RecentFiles recent;
    char last[RECENT_PATH]; // scene, by its name or its path, that was open when the window closed; "": none
} Settings;
Settings settings_default(void);

// Puts a file first, once.
void recent_files_add(RecentFiles *recent, const char *path);

// The path: $XDG_CONFIG_HOME/sandglass/settings, or ~/.config/sandglass/settings. False where there is neither.
bool settings_path(char *path, size_t capacity);

// Reads the settings; defaults where there is no file. A malformed file gives defaults and false, with a line that names
// file, line and key.
bool settings_load(Settings *settings, SandError *error);
bool settings_save(const Settings *settings, SandError *error); // creates the folder if it is missing
