// SPDX-License-Identifier: MIT
// The default look of pictures, and what a scene file changes about it.
#include "sim/scene/studio.h"

#include <stdio.h>

// What the sets have in common is that of the first. Colors are linear: an oak of 0.3 is as bright as a photograph of oak.
static const SandStudio sets[SAND_PLACE_COUNT] = {
    [SAND_PLACE_STUDIO] = {.key_direction = {-0.85, -0.32, 0.85},
                           .key_color = {1, 0.86, 0.68},
                           .key_strength = 1,
                           .fill_color = {0.80, 0.90, 1},
                           .fill_strength = 1,
                           .horizon = {0.118, 0.128, 0.142},
                           .zenith = {0.012, 0.015, 0.022},
                           .exposure = 1},
    [SAND_PLACE_TABLE] = {.key_direction = {-0.95, -0.10, 0.62},
                          .key_color = {1, 0.88, 0.70},
                          .key_strength = 1.15,
                          .fill_color = {0.85, 0.86, 0.95},
                          .fill_strength = 0.75,
                          .horizon = {0.20, 0.145, 0.10},
                          .zenith = {0.055, 0.042, 0.036},
                          .exposure = 1,
                          .ground = SAND_GROUND_PLANKS,
                          .ground_color = {0.33, 0.185, 0.085},
                          .ground_accent = {0.12, 0.055, 0.022},
                          .ground_roughness = 0.38,
                          .sky = SAND_SKY_INDOORS,
                          .clouds = 0.6,
                          .haze = 0.14},
    [SAND_PLACE_WORKSHOP] = {.key_direction = {-0.45, -0.55, 0.95},
                             .key_color = {1, 0.84, 0.62},
                             .key_strength = 1.05,
                             .fill_color = {0.78, 0.92, 1},
                             .fill_strength = 0.8,
                             .horizon = {0.075, 0.125, 0.125},
                             .zenith = {0.018, 0.034, 0.038},
                             .exposure = 1,
                             .ground = SAND_GROUND_PLANKS,
                             .ground_color = {0.27, 0.185, 0.105},
                             .ground_accent = {0.13, 0.080, 0.042},
                             .ground_roughness = 0.5,
                             .sky = SAND_SKY_INDOORS,
                             .clouds = 1,
                             .haze = 0.12},
    [SAND_PLACE_STAGE] = {.key_direction = {-0.75, -0.45, 0.90},
                          .key_color = {1, 0.93, 0.82},
                          .key_strength = 1.1,
                          .fill_color = {0.62, 0.74, 1},
                          .fill_strength = 0.55,
                          .horizon = {0.020, 0.021, 0.026},
                          .zenith = {0.004, 0.004, 0.006},
                          .exposure = 1.05,
                          .ground = SAND_GROUND_GLOSS,
                          .ground_color = {0.022, 0.022, 0.025},
                          .ground_accent = {0.030, 0.030, 0.034},
                          .ground_roughness = 0.22,
                          .sky = SAND_SKY_BOXES,
                          .haze = 0.22},
    [SAND_PLACE_LABORATORY] = {.key_direction = {-0.60, -0.50, 1},
                               .key_color = {1, 0.97, 0.92},
                               .key_strength = 0.8,
                               .fill_color = {0.90, 0.96, 1},
                               .fill_strength = 1.35,
                               .horizon = {0.50, 0.58, 0.62},
                               .zenith = {0.30, 0.37, 0.42},
                               .exposure = 0.9,
                               .ground = SAND_GROUND_TILES,
                               .ground_color = {0.60, 0.64, 0.65},
                               .ground_accent = {0.20, 0.36, 0.42},
                               .ground_roughness = 0.3,
                               .sky = SAND_SKY_BOXES,
                               .haze = 0.16},
    [SAND_PLACE_GALLERY] = {.key_direction = {-0.70, -0.60, 1.1},
                            .key_color = {1, 0.95, 0.88},
                            .key_strength = 0.85,
                            .fill_color = {0.95, 0.97, 1},
                            .fill_strength = 1.4,
                            .horizon = {0.66, 0.65, 0.63},
                            .zenith = {0.50, 0.50, 0.50},
                            .exposure = 0.95,
                            .ground = SAND_GROUND_GLOSS,
                            .ground_color = {0.62, 0.61, 0.59},
                            .ground_accent = {0.60, 0.59, 0.57},
                            .ground_roughness = 0.35,
                            .sky = SAND_SKY_BOXES,
                            .haze = 0.25},
    [SAND_PLACE_HALL] = {.key_direction = {-0.80, 0.35, 0.75},
                         .key_color = {1, 0.90, 0.74},
                         .key_strength = 1.1,
                         .fill_color = {0.88, 0.94, 1},
                         .fill_strength = 0.9,
                         .horizon = {0.20, 0.20, 0.19},
                         .zenith = {0.060, 0.064, 0.068},
                         .exposure = 1,
                         .ground = SAND_GROUND_SLABS,
                         .ground_color = {0.21, 0.205, 0.19},
                         .ground_accent = {0.10, 0.098, 0.092},
                         .ground_roughness = 0.5,
                         .sky = SAND_SKY_HALL,
                         .haze = 0.12},
    [SAND_PLACE_YARD] = {.key_direction = {-0.70, -0.62, 0.80},
                         .key_color = {1, 0.92, 0.80},
                         .key_strength = 1.05,
                         .fill_color = {0.78, 0.88, 1},
                         .fill_strength = 1.1,
                         .horizon = {0.52, 0.58, 0.64},
                         .zenith = {0.16, 0.27, 0.46},
                         .exposure = 0.9,
                         .ground = SAND_GROUND_SLABS,
                         .ground_color = {0.30, 0.29, 0.27},
                         .ground_accent = {0.15, 0.145, 0.13},
                         .ground_roughness = 0.8,
                         .sky = SAND_SKY_OPEN,
                         .clouds = 0.85,
                         .hills = 0.035,
                         .haze = 0.10},
    [SAND_PLACE_QUARRY] = {.key_direction = {-0.80, -0.35, 0.66},
                           .key_color = {1, 0.86, 0.66},
                           .key_strength = 1.15,
                           .fill_color = {0.90, 0.92, 0.95},
                           .fill_strength = 0.85,
                           .horizon = {0.62, 0.53, 0.41},
                           .zenith = {0.30, 0.36, 0.42},
                           .exposure = 0.85,
                           .ground = SAND_GROUND_SOIL,
                           .ground_color = {0.30, 0.25, 0.185},
                           .ground_accent = {0.42, 0.38, 0.32},
                           .ground_roughness = 0.9,
                           .sky = SAND_SKY_OPEN,
                           .clouds = 0.1,
                           .hills = 0.16,
                           .haze = 0.30},
    [SAND_PLACE_REGOLITH] = {.key_direction = {-0.92, 0.18, 0.36},
                             .key_color = {1, 0.80, 0.60},
                             .key_strength = 1.3,
                             .fill_color = {1, 0.80, 0.66},
                             .fill_strength = 0.62,
                             .horizon = {0.62, 0.36, 0.20},
                             .zenith = {0.26, 0.165, 0.115},
                             .exposure = 0.9,
                             .ground = SAND_GROUND_SOIL,
                             .ground_color = {0.36, 0.135, 0.058},
                             .ground_accent = {0.20, 0.085, 0.045},
                             .ground_roughness = 0.95,
                             .sky = SAND_SKY_OPEN,
                             .hills = 0.075,
                             .haze = 0.10},
    [SAND_PLACE_MOON] = {.key_direction = {-0.90, -0.12, 0.52},
                         .key_color = {1, 0.98, 0.95},
                         .key_strength = 1.35,
                         .fill_color = {0.75, 0.82, 1},
                         .fill_strength = 0.16,
                         .horizon = {0.004, 0.004, 0.006},
                         .zenith = {0.001, 0.001, 0.002},
                         .exposure = 1,
                         .ground = SAND_GROUND_SOIL,
                         .ground_color = {0.165, 0.160, 0.152},
                         .ground_accent = {0.21, 0.205, 0.195},
                         .ground_roughness = 1,
                         .sky = SAND_SKY_STARS,
                         .hills = 0.035},
    [SAND_PLACE_DESERT] = {.key_direction = {-0.72, -0.36, 0.80},
                           .key_color = {1, 0.90, 0.74},
                           .key_strength = 1.25,
                           .fill_color = {0.72, 0.86, 1},
                           .fill_strength = 0.9,
                           .horizon = {0.55, 0.60, 0.62},
                           .zenith = {0.085, 0.22, 0.50},
                           .exposure = 0.82,
                           .ground = SAND_GROUND_SOIL,
                           .ground_color = {0.52, 0.375, 0.215},
                           .ground_accent = {0.36, 0.27, 0.18},
                           .ground_roughness = 0.95,
                           .sky = SAND_SKY_OPEN,
                           .clouds = 0.25,
                           .hills = 0.06,
                           .haze = 0.07},
    [SAND_PLACE_SNOW] = {.key_direction = {-0.55, 0.35, 0.62},
                         .key_color = {1, 0.92, 0.80},
                         .key_strength = 1.1,
                         .fill_color = {0.62, 0.78, 1},
                         .fill_strength = 1.0,
                         .horizon = {0.52, 0.66, 0.80},
                         .zenith = {0.06, 0.19, 0.50},
                         .exposure = 0.8,
                         .ground = SAND_GROUND_SNOW,
                         .ground_color = {0.78, 0.82, 0.88},
                         .ground_accent = {0.70, 0.76, 0.86},
                         .ground_roughness = 0.7,
                         .sky = SAND_SKY_OPEN,
                         .clouds = 0.2,
                         .hills = 0.17,
                         .haze = 0.06},
    [SAND_PLACE_REACTOR] = {.key_direction = {-0.35, -0.45, 1},
                            .key_color = {0.55, 0.82, 1},
                            .key_strength = 0.95,
                            .fill_color = {0.25, 0.62, 1},
                            .fill_strength = 0.75,
                            .horizon = {0.006, 0.075, 0.135},
                            .zenith = {0.003, 0.012, 0.026},
                            .exposure = 1,
                            .ground = SAND_GROUND_SLABS,
                            .ground_color = {0.070, 0.085, 0.095},
                            .ground_accent = {0.020, 0.026, 0.032},
                            .ground_roughness = 0.32,
                            .sky = SAND_SKY_HALL,
                            .haze = 0.2},
};

SandStudio sand_place_studio(SandPlace set) { return sets[set]; }
SandStudio sand_default_studio(void) { return sets[SAND_PLACE_STUDIO]; }

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
    if (look->set) *studio = sand_place_studio(*look->set);
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
