// SPDX-License-Identifier: MIT
// Text on a picture, in DejaVu Sans, which is embedded in the program.
#pragma once
#include "sandglass/error.h"

typedef struct Caption Caption; // the parsed font

const unsigned char *caption_font(size_t *size); // the font file, for Dear ImGui

Caption *caption_create(SandError *error);
void caption_free(Caption *caption);

double caption_size(int height);   // pixels, of the letters in a picture of this height
double caption_margin(int height); // pixels at the bottom of the picture that a caption takes

// Draws UTF-8 text, `size` pixels high, white with a soft shadow, centered at the bottom of an RGBA picture whose rows run
// from the top down.
void caption_draw(const Caption *caption, const char *text, double size, unsigned char *pixels, int width, int height);
