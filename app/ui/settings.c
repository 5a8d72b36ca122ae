// SPDX-License-Identifier: MIT
// The settings file: `key value` lines, written whole and read with errors that name the line.
#include "app/ui/settings.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH = 4096 };

Settings settings_default(void) { return (Settings){.first_start = true, .quality = -1, .ask_on_close = true}; }

static bool config_folder(char *folder, size_t capacity) {
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int used = config && *config ? snprintf(folder, capacity, "%s", config)
               : home && *home   ? snprintf(folder, capacity, "%s/.config", home)
                                 : -1;
    return used > 0 && (size_t)used < capacity;
}

bool settings_path(char *path, size_t capacity) {
    char folder[PATH];
    if (!config_folder(folder, sizeof folder)) return false;
    int used = snprintf(path, capacity, "%s/sandglass/settings", folder);
    return used > 0 && (size_t)used < capacity;
}

// The keys of the file, each an integer with limits.
typedef struct Key {
    const char *name;
    int least, most;
} Key;
enum { KEY_FIRST_START, KEY_HIDDEN, KEY_QUALITY, KEY_ASK_ON_CLOSE, KEY_FOLDED, KEY_COUNT };
static const Key keys[KEY_COUNT] = {
    {"first-start", 0, 1}, {"hidden", 0, 1}, {"quality", -1, 2}, {"ask-on-close", 0, 1}, {"folded", 0, 3}};

// `bookmark NUMBER` with eye, target, and angle (rad) or, for a view without perspective, height (m); the other is 0.
static bool read_bookmark(Settings *s, const char *line, const char *path, int number, SandError *error) {
    int slot, used = 0;
    double v[8];
    bool ok = sscanf(line, "%*s %d %lf %lf %lf %lf %lf %lf %lf %lf %n", &slot, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5],
                     &v[6], &v[7], &used) == 9 &&
              !line[used] && slot >= 1 && slot <= BOOKMARKS;
    for (int i = 0; ok && i < 8; i++) ok = isfinite(v[i]) && fabs(v[i]) < 1e12;
    CameraView view = {.eye = {v[0], v[1], v[2]}, .target = {v[3], v[4], v[5]}, .angle = v[6], .height = v[7]};
    if (!ok || !((view.angle > 0 && view.angle < 3) != (view.height > 0)) || !(v3_length(v3_sub(view.eye, view.target)) > 0))
        return sand_fail(error, "%s:%d: bookmark: expected a number from 1 to %d and a view", path, number, BOOKMARKS);
    view.orthographic = view.height > 0;
    if (view.orthographic) view.angle = 0.5; // for when it is switched to perspective
    s->bookmarks.kept[slot - 1] = true;
    s->bookmarks.views[slot - 1] = view;
    return true;
}

void recent_files_add(RecentFiles *recent, const char *path) {
    int at = 0;
    if (strlen(path) >= RECENT_PATH || strchr(path, '\n')) return; // the file has a path a line
    while (at < recent->count && strcmp(recent->paths[at], path)) at++;
    if (at == recent->count && recent->count < RECENT_FILES) recent->count++;
    if (at == RECENT_FILES) at--;
    memmove(recent->paths[1], recent->paths[0], (size_t)at * RECENT_PATH);
    snprintf(recent->paths[0], RECENT_PATH, "%s", path);
}

// `recent PATH`, the last one first.
static bool read_recent(Settings *s, const char *line, const char *path, int number, SandError *error) {
    const char *begin = line + strspn(line, " \t") + strlen("recent");
    begin += strspn(begin, " \t");
    size_t length = strcspn(begin, "\n");
    RecentFiles *recent = &s->recent;
    if (length == 0 || length >= RECENT_PATH || recent->count == RECENT_FILES)
        return sand_fail(error, "%s:%d: recent: expected a path, and at most %d of them", path, number, RECENT_FILES);
    snprintf(recent->paths[recent->count++], RECENT_PATH, "%.*s", (int)length, begin);
    return true;
}

// `last NAME`.
static bool read_last(Settings *s, const char *line, const char *path, int number, SandError *error) {
    const char *begin = line + strspn(line, " \t") + strlen("last");
    begin += strspn(begin, " \t");
    size_t length = strcspn(begin, "\n");
    if (length == 0 || length >= RECENT_PATH)
        return sand_fail(error, "%s:%d: last: expected a scene, by its name or its path", path, number);
    snprintf(s->last, sizeof s->last, "%.*s", (int)length, begin);
    return true;
}

static bool read_line(Settings *s, const char *line, const char *path, int number, SandError *error) {
    char name[64], rest[2];
    int value;
    if (sscanf(line, "%63s", name) == 1 && !strcmp(name, "bookmark")) return read_bookmark(s, line, path, number, error);
    if (sscanf(line, "%63s", name) == 1 && !strcmp(name, "recent")) return read_recent(s, line, path, number, error);
    if (sscanf(line, "%63s", name) == 1 && !strcmp(name, "last")) return read_last(s, line, path, number, error);
    if (sscanf(line, "%63s %d %1s", name, &value, rest) != 2)
        return sand_fail(error, "%s:%d: expected a key and a whole number", path, number);
    for (int k = 0; k < KEY_COUNT; k++) {
        if (strcmp(keys[k].name, name)) continue;
        if (value < keys[k].least || value > keys[k].most)
            return sand_fail(error, "%s:%d: %s: expected %d to %d", path, number, name, keys[k].least, keys[k].most);
        if (k == KEY_FIRST_START) s->first_start = value;
        if (k == KEY_HIDDEN) s->hidden = value;
        if (k == KEY_QUALITY) s->quality = value;
        if (k == KEY_ASK_ON_CLOSE) s->ask_on_close = value;
        if (k == KEY_FOLDED) s->folded = value;
        return true;
    }
    return sand_fail(error, "%s:%d: %s: there is no such key", path, number, name);
}

bool settings_load(Settings *settings, SandError *error) {
    char path[PATH], line[RECENT_PATH + 64];
    *settings = settings_default();
    if (!settings_path(path, sizeof path)) return true;
    FILE *file = fopen(path, "r");
    if (!file) return errno == ENOENT || sand_fail(error, "%s: cannot read: %s", path, strerror(errno));
    Settings read = *settings;
    bool ok = true;
    for (int number = 1; ok && fgets(line, sizeof line, file); number++)
        if (line[strspn(line, " \t\n")] && line[0] != '#') ok = read_line(&read, line, path, number, error);
    fclose(file);
    if (ok) *settings = read;
    return ok;
}

bool settings_save(const Settings *s, SandError *error) {
    char path[PATH], folder[PATH], beside[PATH + 8];
    if (!settings_path(path, sizeof path) || !config_folder(folder, sizeof folder)) return true; // no configuration folder
    mkdir(folder, 0755);
    *strrchr(strcpy(folder, path), '/') = '\0';
    mkdir(folder, 0755);
    snprintf(beside, sizeof beside, "%s.part", path);
    FILE *file = fopen(beside, "w");
    if (!file) return sand_fail(error, "%s: cannot write: %s", path, strerror(errno));
    const int values[KEY_COUNT] = {s->first_start, s->hidden, s->quality, s->ask_on_close, s->folded};
    bool ok = true;
    for (int k = 0; k < KEY_COUNT; k++) ok = fprintf(file, "%s %d\n", keys[k].name, values[k]) > 0 && ok;
    for (int i = 0; i < BOOKMARKS; i++) {
        const CameraView *v = &s->bookmarks.views[i];
        if (!s->bookmarks.kept[i]) continue;
        ok = fprintf(file, "bookmark %d %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", i + 1, v->eye.x, v->eye.y, v->eye.z,
                     v->target.x, v->target.y, v->target.z, v->orthographic ? 0 : v->angle,
                     v->orthographic ? v->height : 0) > 0 &&
             ok;
    }
    for (int i = 0; i < s->recent.count; i++) ok = fprintf(file, "recent %s\n", s->recent.paths[i]) > 0 && ok;
    if (*s->last && !strchr(s->last, '\n')) ok = fprintf(file, "last %s\n", s->last) > 0 && ok;
    ok = fclose(file) == 0 && ok;
    ok = ok && rename(beside, path) == 0;
    return ok || sand_fail(error, "%s: cannot write: %s", path, strerror(errno));
}
