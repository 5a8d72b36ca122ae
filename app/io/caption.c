// SPDX-License-Identifier: MIT
// Text rendering into an RGBA picture, by stb_truetype and the embedded DejaVu Sans.
#include "app/io/caption.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include <stb/stb_truetype.h>

// The font file, embedded by the assembler.
__asm__(".section .rodata\n"
        ".balign 16\n"
        "sand_font:\n"
        ".incbin \"" SAND_FONT "\"\n"
        "sand_font_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const unsigned char sand_font[] __attribute__((visibility("hidden")));
extern const unsigned char sand_font_end[] __attribute__((visibility("hidden")));

const unsigned char *caption_font(size_t *size) {
    *size = (size_t)(sand_font_end - sand_font);
    return sand_font;
}

struct Caption {
    stbtt_fontinfo font;
};

Caption *caption_create(SandError *error) {
    Caption *caption = calloc(1, sizeof *caption);
    if (!caption) return sand_fail(error, "out of memory for the font"), NULL;
    if (stbtt_InitFont(&caption->font, sand_font, 0)) return caption;
    free(caption);
    return sand_fail(error, "the font in this build cannot be read"), NULL;
}

void caption_free(Caption *caption) { free(caption); }

// Decodes the next UTF-8 character; invalid bytes are taken one at a time.
static int next_character(const char **text) {
    const unsigned char *t = (const unsigned char *)*text;
    int length = t[0] < 0x80 ? 1 : t[0] >> 5 == 6 ? 2 : t[0] >> 4 == 14 ? 3 : t[0] >> 3 == 30 ? 4 : 1;
    int code = length == 1 ? t[0] : t[0] & (0x7f >> length);
    for (int i = 1; i < length; i++) {
        if (t[i] >> 6 != 2) {
            ++*text;
            return t[0];
        }
        code = code << 6 | (t[i] & 0x3f);
    }
    *text += length;
    return code;
}

static void blend(unsigned char *pixel, int value, int alpha) {
    for (int c = 0; c < 3; c++) pixel[c] = (unsigned char)((pixel[c] * (255 - alpha) + value * alpha + 127) / 255);
    pixel[3] = (unsigned char)(pixel[3] + (255 - pixel[3]) * alpha / 255);
}

// Lays out the text: draws it with this value where `pixels` is not NULL, and returns its width.
static double walk(const Caption *caption, const char *text, double size, double x, double baseline, int value,
                   double strength, unsigned char *pixels, int width, int height) {
    float scale = stbtt_ScaleForPixelHeight(&caption->font, (float)size);
    double start = x;
    while (*text) {
        int code = next_character(&text), advance, bearing;
        stbtt_GetCodepointHMetrics(&caption->font, code, &advance, &bearing);
        if (pixels) {
            int w, h, left, top;
            float part = (float)(x - floor(x));
            unsigned char *glyph =
                stbtt_GetCodepointBitmapSubpixel(&caption->font, scale, scale, part, 0, code, &w, &h, &left, &top);
            for (int j = 0; glyph && j < h; j++)
                for (int i = 0; i < w; i++) {
                    int px = (int)floor(x) + left + i, py = (int)floor(baseline) + top + j;
                    if (px < 0 || py < 0 || px >= width || py >= height) continue;
                    blend(pixels + 4 * ((size_t)py * (size_t)width + (size_t)px), value, (int)(strength * glyph[j * w + i]));
                }
            stbtt_FreeBitmap(glyph, NULL);
        }
        x += advance * scale;
    }
    return x - start;
}

double caption_size(int height) { return fmax(14, 0.042 * height); }
double caption_margin(int height) { return 2.2 * caption_size(height); }

void caption_draw(const Caption *caption, const char *text, double size, unsigned char *pixels, int width, int height) {
    double wide = walk(caption, text, size, 0, 0, 0, 0, NULL, 0, 0);
    double fit = 0.94 * width;
    if (wide > fit) {
        size *= fit / wide;
        wide = fit;
    }
    double x = 0.5 * (width - wide), y = height - 1.1 * size;
    double off = fmax(1, size / 18);
    for (int k = 0; k < 8; k++)
        walk(caption, text, size, x + off * cos(k * 0.785398), y + off * sin(k * 0.785398), 12, 0.35, pixels, width, height);
    walk(caption, text, size, x, y, 255, 1, pixels, width, height);
}
