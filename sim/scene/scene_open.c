// SPDX-License-Identifier: MIT
// Opening scenes: finding the file, reading its settings and knobs. Building the world is in scene_build.c.
#include "sandglass/scene.h"
#include "sim/scene/packing.h"
#include "sim/core/array.h"
#include "sim/core/suggestion.h"
#include "sim/scene/scene_builder.h"
#include "sim/scene/scene_scale.h"
#include "sim/scene/scene_file.h"
#include "sim/scene/scene_cameras.h"
#include "sim/scene/studio.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- opening ----

// Copies text for display: control characters, such as line breaks, become spaces; trailing ones are dropped.
static void copy_text(char *to, size_t capacity, const char *from) {
    size_t n = 0;
    for (; from && from[n] && n < capacity - 1; n++) to[n] = (unsigned char)from[n] < 32 ? ' ' : from[n];
    while (n > 0 && to[n - 1] == ' ') n--;
    to[n] = 0;
}

// Finds the number of bodies.
static bool open_size(SandScene *scene, SandError *error) {
    const SandSceneFile *file = scene->file;
    const SandSceneDef *def = file->def;
    int wanted = scene->options.bodies;
    if (!def->size) {
        if (wanted)
            return sand_fail(error, "%.200s: --bodies: this scene has a fixed number of bodies (no key `size`)",
                             file->yaml.name);
        return true;
    }
    if (def->size->bodies < 1 || def->size->bodies > SAND_MAX_BODIES)
        return sand_yaml_wrong(&file->yaml, error, "size.bodies", "expected 1 to %d, got %u", SAND_MAX_BODIES,
                               def->size->bodies);
    if (wanted < 0 || wanted > SAND_MAX_BODIES)
        return sand_fail(error, "%.200s: --bodies: expected 1 to %d, got %d", file->yaml.name, SAND_MAX_BODIES, wanted);
    scene->bodies = wanted ? wanted : (int)def->size->bodies;
    return true;
}

// Finds whether the bodies start settled. A scene that would take long to settle, because it has more bodies than it says,
// does so only where it is asked.
static bool open_start(SandScene *scene, SandError *error) {
    const SandSceneFile *file = scene->file;
    const SandStartDef *start = file->def->start;
    bool wished = start && start->settled && *start->settled;
    bool few = !start || !start->most || scene->bodies <= (int64_t)*start->most;
    SandStart asked = scene->options.start;
    scene->settled = asked == SAND_START_SETTLED || (asked == SAND_START_AS_SCENE && wished && few);
    scene->has_plug = start && start->plug;
    return !scene->has_plug || sand_yaml_range(&file->yaml, error, "start", "plug", start->plug, -SAND_FAR, SAND_FAR);
}

static bool is_of_material(SandKnobKind kind) {
    return kind == SAND_KNOB_MU || kind == SAND_KNOB_RESTITUTION || kind == SAND_KNOB_COHESION ||
           kind == SAND_KNOB_ROLLING || kind == SAND_KNOB_SPINNING;
}

// The number of a material that a knob of this kind changes.
static double material_value(const SandMaterialDef *m, SandKnobKind kind) {
    switch (kind) {
    case SAND_KNOB_RESTITUTION: return sand_number(m->restitution, 0);
    case SAND_KNOB_COHESION: return sand_number(m->cohesion, 0);
    case SAND_KNOB_ROLLING: return sand_number(m->rolling, 0);
    case SAND_KNOB_SPINNING: return sand_number(m->spinning, 0);
    default: return sand_number(m->mu, sand_default_material().mu);
    }
}

// Finds what a knob changes, and its present value.
static bool open_knob(SandScene *scene, int index, SandError *error) {
    const SandSceneFile *file = scene->file;
    const SandSceneDef *def = file->def;
    const SandKnobDef *from = &def->knobs[index];
    SandKnob *knob = &scene->knobs[index];
    char path[64];
    snprintf(path, sizeof path, "knobs[%d]", index);
    *knob = (SandKnob){.least = from->least, .most = from->most, .kind = from->kind, .target = -1};
    copy_text(knob->name, sizeof knob->name, from->name);
    copy_text(knob->about, sizeof knob->about, from->about);
    copy_text(knob->unit, sizeof knob->unit, from->unit);
    for (int i = 0; i < index; i++)
        if (strcmp(scene->knobs[i].name, knob->name) == 0)
            return sand_yaml_wrong(&file->yaml, error, path, "there are two knobs called '%s'", knob->name);

    const char *of = from->of ? from->of : "";
    SandSuggestion names = sand_suggestion(of);
#define FIND(list) \
    for (uint32_t i = 0; i < def->list##_count; i++) { \
        if (!def->list[i].name) continue; \
        if (strcmp(def->list[i].name, of) == 0) knob->target = (int)i; \
        sand_suggestion_add(&names, def->list[i].name); \
    }
    if (from->kind == SAND_KNOB_MASS) {
        FIND(bodies)
        if (knob->target >= 0) {
            if (!def->bodies[knob->target].mass)
                return sand_yaml_wrong(&file->yaml, error, path, "body '%s' has no mass", of);
            knob->value = *def->bodies[knob->target].mass;
        }
    } else if (is_of_material(from->kind)) {
        FIND(materials)
        if (knob->target >= 0) knob->value = material_value(&def->materials[knob->target], from->kind);
    } else if (from->kind != SAND_KNOB_TILT) {
        FIND(boundaries)
        const SandBoundaryDef *boundary = knob->target >= 0 ? &def->boundaries[knob->target] : NULL;
        if (boundary && from->kind == SAND_KNOB_RATE) {
            if (!boundary->motion || !boundary->motion->rate)
                return sand_yaml_wrong(&file->yaml, error, path, "boundary '%s' has no motion with a rate", of);
            knob->value = *boundary->motion->rate;
        }
        if (boundary && from->kind == SAND_KNOB_NARROWEST) {
            sand_scene_scale_neck(scene, knob, from);
            if (!(knob->value > 0))
                return sand_yaml_wrong(&file->yaml, error, path, "boundary '%s' has no radius that could be narrowest", of);
        }
    }
#undef FIND
    if (from->kind == SAND_KNOB_TILT && from->of) {
        snprintf(path, sizeof path, "knobs[%d].of", index);
        return sand_yaml_wrong(&file->yaml, error, path, "a tilt is of gravity and takes no `of`");
    }
    if (from->kind != SAND_KNOB_TILT && knob->target < 0) {
        snprintf(path, sizeof path, "knobs[%d].of", index);
        return sand_yaml_wrong(&file->yaml, error, path, "unknown '%s'; %s", of, sand_suggestion_text(&names));
    }
    double floor = from->kind == SAND_KNOB_RATE || from->kind == SAND_KNOB_TILT ? -1e6 : 0;
    if (!(knob->least >= floor && knob->least <= knob->value && knob->value <= knob->most && knob->most <= 1e12))
        return sand_yaml_wrong(&file->yaml, error, path, "expected least <= value <= most, got %g, %g and %g", knob->least,
                               knob->value, knob->most);
    return true;
}

// Reads everything but the world: names, solver, size and knobs.
static bool open_all(SandScene *scene, SandError *error) {
    const SandSceneFile *file = scene->file;
    const SandSceneDef *def = file->def;
    copy_text(scene->name, sizeof scene->name, def->name);
    copy_text(scene->about, sizeof scene->about, def->about);
    if (!sand_yaml_range(&file->yaml, error, "", "seconds", def->seconds, 0, 1e9)) return false;
    scene->seconds = def->seconds ? *def->seconds : 10;
    scene->solve = sand_default_solve();
    scene->seed = scene->options.has_seed ? scene->options.seed : def->seed ? *def->seed : 0;
    if (!open_size(scene, error) || !open_start(scene, error)) return false;
    sand_scene_set_scale(scene, sand_scene_natural_scale(scene));
    if (!sand_studio_open(&scene->studio, &file->yaml, def->look, error) || !sand_scene_read_cameras(scene, error) ||
        !sand_solver_file_apply(&file->yaml, "", def->solver, def->friction, &scene->solve, error))
        return false;
    for (uint32_t i = 0; i < def->knobs_count; i++) {
        if (!open_knob(scene, (int)i, error)) return false;
        scene->knob_count++;
    }
    return true;
}

// A scene that is like another takes the rest from that file; its own size acts as if asked for by options.bodies.
static bool become_like(SandScene *scene, SandError *error) {
    SandSceneFile *file = scene->file;
    if (!file->def->like) return true;
    if (scene->options.no_files) return sand_yaml_wrong(&file->yaml, error, "like", "no files are opened");
    if (!sand_scene_file_become_like(file, error)) return false;
    copy_text(scene->like, sizeof scene->like, file->base->def->name);
    if (!scene->options.bodies) scene->options.bodies = file->bodies;
    return true;
}

bool sand_scene_open_text(SandScene *scene, const char *text, size_t size, const char *file_name,
                          const SandSceneOptions *options, SandError *error) {
    *scene = (SandScene){.scale = 1};
    if (options) scene->options = *options;
    if (!sand_scene_file_read(&scene->file, text, size, file_name, error)) return false;
    if (become_like(scene, error) && open_all(scene, error)) return true;
    sand_scene_free(scene);
    return false;
}

static bool ends_in_yaml(const char *name) {
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".yaml") == 0;
}

bool sand_scene_open(SandScene *scene, const char *name_or_path, const SandSceneOptions *options, SandError *error) {
    *scene = (SandScene){.scale = 1};
    char path[4096];
    bool is_path = strchr(name_or_path, '/') || ends_in_yaml(name_or_path);
    int length = is_path ? snprintf(path, sizeof path, "%s", name_or_path)
                         : snprintf(path, sizeof path, "%s/%s.yaml", sand_scenes_folder(), name_or_path);
    if (length < 0 || (size_t)length >= sizeof path) return sand_fail(error, "%.60s...: the name is too long", name_or_path);
    if (!is_path && access(path, F_OK) != 0) {
        SandSuggestion names = sand_suggestion(name_or_path);
        SandSceneEntry *entries;
        int count;
        if (!sand_scenes_list(&entries, &count, error)) return false;
        for (int i = 0; i < count; i++) sand_suggestion_add(&names, entries[i].name);
        sand_free(entries);
        return sand_fail(error, "%.60s: no scene of that name; %s", name_or_path, sand_suggestion_text(&names));
    }
    char *text;
    size_t size = 0;
    if (!sand_yaml_text(path, "scene", &text, &size, error)) return false;
    bool ok = sand_scene_open_text(scene, text, size, path, options, error);
    free(text);
    return ok;
}

// ---- knobs ----

int sand_scene_knob(const SandScene *scene, const char *name) {
    for (int i = 0; i < scene->knob_count; i++)
        if (strcmp(scene->knobs[i].name, name) == 0) return i;
    return -1;
}

bool sand_scene_set_knob(SandScene *scene, int index, double value, SandError *error) {
    if (index < 0 || index >= scene->knob_count) return sand_fail(error, "there is no knob %d", index);
    SandKnob *knob = &scene->knobs[index];
    if (!(value >= knob->least && value <= knob->most))
        return sand_fail(error, "%s: expected %g to %g%s%s, got %g", knob->name, knob->least, knob->most,
                         *knob->unit ? " " : "", knob->unit, value);
    knob->value = value;
    knob->changed = true;
    return true;
}

// ---- all in one ----

bool sand_scene_load(SandScene *scene, const char *name_or_path, const SandSceneOptions *options, SandError *error) {
    if (!sand_scene_open(scene, name_or_path, options, error)) return false;
    if (sand_scene_build(scene, error)) return true;
    sand_scene_free(scene);
    return false;
}

bool sand_scene_load_text(SandScene *scene, const char *text, size_t size, const char *file_name,
                          const SandSceneOptions *options, SandError *error) {
    if (!sand_scene_open_text(scene, text, size, file_name, options, error)) return false;
    if (sand_scene_build(scene, error)) return true;
    sand_scene_free(scene);
    return false;
}

void sand_scene_free(SandScene *scene) {
    sand_world_free(&scene->world);
    sand_scene_file_free(scene->file);
    *scene = (SandScene){.scale = 1};
}

// ---- the folder ----

static char used_folder[4096]; // by sand_scenes_use; empty: none

bool sand_scenes_use(const char *folder, SandError *error) {
    if (folder && strlen(folder) >= sizeof used_folder)
        return sand_fail(error, "%.60s...: the path of the scenes is too long", folder);
    snprintf(used_folder, sizeof used_folder, "%s", folder ? folder : "");
    return true;
}

const char *sand_scenes_folder(void) {
    static char folder[4096 + 32];
    const char *chosen = getenv("SANDGLASS_SCENES");
    if ((!chosen || !*chosen) && *used_folder) chosen = used_folder;
    if (chosen && *chosen) {
        snprintf(folder, sizeof folder, "%s", chosen);
        return folder;
    }
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        program[length] = 0;
        for (int up = 0; up < 3; up++) {
            char *slash = strrchr(program, '/');
            if (!slash) break;
            *slash = 0;
            static const char *const places[] = {"scenes", "share/sandglass/scenes"}; // of the sources, and installed
            for (int place = 0; place < 2; place++) {
                snprintf(folder, sizeof folder, "%s/%s", program, places[place]);
                if (access(folder, R_OK | X_OK) == 0) return folder;
            }
        }
    }
#ifdef SAND_SCENES_DIR
    return SAND_SCENES_DIR;
#else
    return "scenes";
#endif
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const SandSceneEntry *)a)->name, ((const SandSceneEntry *)b)->name);
}

bool sand_scenes_list(SandSceneEntry **entries, int *count, SandError *error) {
    *entries = NULL;
    *count = 0;
    size_t capacity = 0;
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", sand_scenes_folder());
    DIR *dir = opendir(folder);
    if (!dir) return sand_fail(error, "%.300s: %s: the scenes should be here", folder, strerror(errno));
    for (struct dirent *item; (item = readdir(dir));) {
        size_t length = strlen(item->d_name);
        if (item->d_name[0] == '.' || !ends_in_yaml(item->d_name) || length - 5 >= SAND_NAME) continue;
        if (!SAND_GROW(*entries, capacity, *count + 1, "list of scenes", error)) {
            closedir(dir);
            sand_free(*entries);
            *entries = NULL;
            return false;
        }
        SandSceneEntry *entry = &(*entries)[(*count)++];
        memcpy(entry->name, item->d_name, length - 5);
        entry->name[length - 5] = 0;
    }
    closedir(dir);
    if (*count) qsort(*entries, (size_t)*count, sizeof **entries, by_name);
    for (int i = 0; i < *count; i++) {
        SandScene scene;
        SandError reason;
        char path[4096 + SAND_NAME + 8];
        snprintf(path, sizeof path, "%s/%s.yaml", folder, (*entries)[i].name);
        bool ok = sand_scene_open(&scene, path, NULL, &reason);
        copy_text((*entries)[i].about, SAND_SENTENCE, ok ? scene.about : reason.text);
        if (ok) sand_scene_free(&scene);
    }
    return true;
}
