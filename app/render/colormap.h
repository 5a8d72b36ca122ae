// SPDX-License-Identifier: MIT
// Perceptually uniform color maps, readable by color-blind eyes and in print. The colors are in assets/NAME.txt.
#pragma once
#include "sandglass/error.h"

typedef enum ColorMap { MAP_VIRIDIS, MAP_CIVIDIS, MAP_COUNT } ColorMap;
extern const char *const colormap_names[MAP_COUNT + 1]; // ended by NULL

enum { COLORMAP_SIZE = 256 };
// sRGB and an alpha of 255, from the lowest number to the highest.
bool colormap_read(ColorMap map, unsigned char colors[COLORMAP_SIZE][4], SandError *error);
