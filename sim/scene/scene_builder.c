// SPDX-License-Identifier: MIT
// What the stages of building a world share: errors that name file, line and key, checks of numbers, and looking things up
// by name.
#include "sim/scene/scene_builder.h"

#include "sim/core/suggestion.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool sand_build_wrong(SandBuilder *b, const char *key, const char *format, ...) {
    char path[160], sentence[400];
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    snprintf(path, sizeof path, "%s%s%s", b->path, *b->path && *key ? "." : "", key);
    return sand_yaml_wrong(&b->file->yaml, b->error, path, "%s", sentence);
}

bool sand_build_range(SandBuilder *b, const char *key, const double *value, double least, double most) {
    return sand_yaml_range(&b->file->yaml, b->error, b->path, key, value, least, most);
}

bool sand_build_range3(SandBuilder *b, const char *key, const double *value, double most) {
    for (int i = 0; value && i < 3; i++)
        if (!sand_build_range(b, key, &value[i], -most, most)) return false;
    return true;
}

bool sand_build_color(SandBuilder *b, const char *key, const double *color) {
    for (int i = 0; color && i < 3; i++)
        if (!sand_build_range(b, key, &color[i], 0, 1)) return false;
    return true;
}

const double *sand_build_knob_value(const SandBuilder *b, SandKnobKind kind, int target) {
    for (int i = 0; i < b->scene->knob_count; i++) {
        const SandKnob *knob = &b->scene->knobs[i];
        if (knob->changed && knob->kind == kind && knob->target == target) return &knob->value;
    }
    return NULL;
}

bool sand_build_path(SandBuilder *b, const char *file, char path[SAND_PATH], SandError *reason) {
    const char *slash = strrchr(b->file->yaml.name, '/');
    int folder = slash && file[0] != '/' ? (int)(slash - b->file->yaml.name) + 1 : 0;
    if (b->scene->options.no_files) return sand_fail(reason, "files may not be opened here");
    if ((size_t)folder + strlen(file) >= SAND_PATH) return sand_fail(reason, "the path is too long");
    snprintf(path, SAND_PATH, "%.*s%s", folder, b->file->yaml.name, file);
    return true;
}

bool sand_build_rotation(SandBuilder *b, const SandTurnDef *turn, SandQuat *rotation) {
    *rotation = q_identity();
    if (!turn) return true;
    if (!sand_build_range3(b, "rotation.axis", turn->axis, SAND_FAR) ||
        !sand_build_range(b, "rotation.angle", &turn->angle, -36000, 36000))
        return false;
    SandVec3 axis = sand_vector(turn->axis);
    if (v3_length(axis) < 1e-9) return sand_build_wrong(b, "rotation.axis", "expected an axis, got one of length 0");
    *rotation = q_unit(q_exp(v3_scale(turn->angle * SAND_DEGREE / v3_length(axis), axis)));
    return true;
}

int sand_build_material(SandBuilder *b, const char *name, const char *key) {
    if (!name) return 0;
    SandSuggestion names = sand_suggestion(name);
    for (int i = 0; i < b->world->material_count; i++) {
        if (strcmp(b->world->materials[i].name, name) == 0) return i;
        sand_suggestion_add(&names, b->world->materials[i].name);
    }
    sand_build_wrong(b, key, "unknown material '%s'; %s", name, sand_suggestion_text(&names));
    return -1;
}

int sand_build_find_body(SandBuilder *b, const char *name, const char *key, const char *purpose) {
    SandSuggestion names = sand_suggestion(name);
    for (uint32_t i = 0; i < b->def->bodies_count; i++) {
        const char *known = b->def->bodies[i].name;
        if (known && strcmp(known, name) == 0) return (int)i;
        if (known) sand_suggestion_add(&names, known);
    }
    sand_build_wrong(b, key, "there is no body '%s' to %s; %s", name, purpose, sand_suggestion_text(&names));
    return -2;
}
