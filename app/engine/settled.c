// SPDX-License-Identifier: MIT
// Settled scenes and the folder that keeps them.
#include "app/engine/settled.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FOLDER = 4096, MOST_KEPT = 64 };

static bool cache_folder(char *folder) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int used = cache && *cache ? snprintf(folder, FOLDER, "%s/sandglass", cache)
               : home && *home ? snprintf(folder, FOLDER, "%s/.cache/sandglass", home)
                               : -1;
    return used > 0 && used < FOLDER;
}

// Removes the oldest state where there are more than are kept.
static void remove_oldest(const char *folder) {
    DIR *dir = opendir(folder);
    char oldest[FOLDER + 300] = "";
    struct timespec when = {0};
    int count = 0;
    for (struct dirent *item; dir && (item = readdir(dir));) {
        char path[FOLDER + 300];
        struct stat about;
        size_t length = strlen(item->d_name);
        if (length < 8 || strcmp(item->d_name + length - 8, ".settled") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, item->d_name);
        if (stat(path, &about) != 0) continue;
        bool older = about.st_mtim.tv_sec < when.tv_sec ||
                     (about.st_mtim.tv_sec == when.tv_sec && about.st_mtim.tv_nsec < when.tv_nsec);
        if (count++ > 0 && !older) continue;
        when = about.st_mtim;
        memcpy(oldest, path, sizeof oldest);
    }
    if (dir) closedir(dir);
    if (count > MOST_KEPT) remove(oldest);
}

bool settled_build(SandScene *scene, const SettledDef *def, SandError *error) {
    if (!sand_scene_build(scene, error)) return false;
    if (!scene->settled) return true;
    char folder[FOLDER];
    bool has_folder = cache_folder(folder);
    SandSettleDef settle = {.cache = has_folder ? folder : NULL,
                            .threads = def->threads,
                            .tell = def->tell,
                            .on_message = def->on_message,
                            .user = def->user};
    bool settled = sand_scene_settle(scene, &settle, error);
    if (settled && has_folder) remove_oldest(folder);
    return settled;
}
