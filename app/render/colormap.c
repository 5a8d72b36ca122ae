// SPDX-License-Identifier: MIT
// Parses the color maps that the build embeds from assets/.
#include "app/render/colormap.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/render/shader.h"

const char *const colormap_names[MAP_COUNT + 1] = {"viridis", "cividis", NULL};

bool colormap_read(ColorMap map, unsigned char colors[COLORMAP_SIZE][4], SandError *error) {
    char file[64];
    snprintf(file, sizeof file, "%s.txt", colormap_names[map]);
    const char *at = embedded_find(file);
    if (!at) return sand_fail(error, "the color map %s is not in this build", file);
    for (int i = 0; i < COLORMAP_SIZE; i++) { // one line each, rrggbb
        char *end;
        unsigned long rgb = strtoul(at, &end, 16);
        if (end == at) return sand_fail(error, "the color map %s is too short", file);
        colors[i][0] = (unsigned char)(rgb >> 16);
        colors[i][1] = (unsigned char)(rgb >> 8);
        colors[i][2] = (unsigned char)rgb;
        colors[i][3] = 255;
        at = end;
    }
    return true;
}
