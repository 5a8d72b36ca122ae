// SPDX-License-Identifier: MIT
// The default look of pictures, and what a scene file changes about it.
#include "sim/scene/studio.h"

#include <stdio.h>

SandStudio sand_default_studio(void) {
    return (SandStudio){
        .key_direction = {-0.85, -0.32, 0.85},
        .key_color = {1, 0.86, 0.68},
        .key_strength = 1,
        .fill_color = {0.80, 0.90, 1},
        .fill_strength = 1,
        .horizon = {0.118, 0.128, 0.142},
        .zenith = {0.012, 0.015, 0.022},
        .exposure = 1,
        .floor = SAND_FLOOR_STUDIO,
        .frame = SAND_FRAME_NONE,
    };
}

// Reads a color, of which no part is negative or absurdly bright.
static bool read_color(const SandYaml *yaml, const char *place, const char *key, const double *from, SandVec3 *to,
                       SandError *error) {
    char path[64];
    if (!from) return true;
    snprintf(path, sizeof path, "%s.%s", place, key);
    for (int i = 0; i < 3; i++)
        if (!(from[i] >= 0 && from[i] <= 100))
            return sand_yaml_wrong(yaml, error, path, "expected red, green and blue from 0 to 100, got %g", from[i]);
    *to = (SandVec3){from[0], from[1], from[2]};
    return true;
}

static bool read_factor(const SandYaml *yaml, const char *place, const char *key, const double *from, double *to,
                        SandError *error) {
    if (!sand_yaml_range(yaml, error, place, key, from, 0, 100)) return false;
    if (from) *to = *from;
    return true;
}

static bool read_direction(const SandYaml *yaml, const double *from, SandVec3 *to, SandError *error) {
    if (!from) return true;
    double square = from[0] * from[0] + from[1] * from[1] + from[2] * from[2];
    if (!(square > 1e-12 && square < 1e12 && from[2] > 0))
        return sand_yaml_wrong(yaml, error, "look.key.direction",
                               "expected [x, y, z] to a light above the ground, got [%g, %g, %g]", from[0], from[1],
                               from[2]);
    *to = (SandVec3){from[0], from[1], from[2]};
    return true;
}

bool sand_studio_open(SandStudio *studio, const SandYaml *yaml, const SandLookDef *look, SandError *error) {
    *studio = sand_default_studio();
    if (!look) return true;
    const SandLampDef none = {0}, *key = look->key ? look->key : &none, *fill = look->fill ? look->fill : &none;
    const SandBackdropDef plain = {0}, *background = look->background ? look->background : &plain;
    if (look->floor) studio->floor = *look->floor;
    if (look->frame) studio->frame = *look->frame;
    return read_direction(yaml, key->direction, &studio->key_direction, error) &&
           read_color(yaml, "look.key", "color", key->color, &studio->key_color, error) &&
           read_factor(yaml, "look.key", "strength", key->strength, &studio->key_strength, error) &&
           read_color(yaml, "look.fill", "color", fill->color, &studio->fill_color, error) &&
           read_factor(yaml, "look.fill", "strength", fill->strength, &studio->fill_strength, error) &&
           read_color(yaml, "look.background", "horizon", background->horizon, &studio->horizon, error) &&
           read_color(yaml, "look.background", "zenith", background->zenith, &studio->zenith, error) &&
           read_factor(yaml, "look", "exposure", look->exposure, &studio->exposure, error);
}
