// SPDX-License-Identifier: MIT
// PNG files, written whole or not at all.
#pragma once
#include "sandglass/error.h"

// 8-bit RGB or RGBA, rows from the top down. Written beside the file and renamed when all of it is on the disk.
bool png_write(const char *path, int width, int height, int channels, const unsigned char *pixels, SandError *error);

// Reads a picture as RGBA rows from the top down, to be freed with free; NULL: it cannot be read.
unsigned char *png_read(const char *path, int *width, int *height);
