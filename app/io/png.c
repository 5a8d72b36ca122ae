// SPDX-License-Identifier: MIT
// PNG files by stb_image_write and stb_image. Compiled with -fno-strict-aliasing: stb reads bytes as words.
#include "app/io/png.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb/stb_image_write.h>
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#pragma GCC diagnostic ignored "-Wsign-compare"
#include <stb/stb_image.h>

typedef struct Sink {
    FILE *file;
    bool failed;
} Sink;

static void take(void *context, void *data, int size) {
    Sink *sink = context;
    if (fwrite(data, 1, (size_t)size, sink->file) != (size_t)size) sink->failed = true;
}

bool png_write(const char *path, int width, int height, int channels, const unsigned char *pixels, SandError *error) {
    char part[4200];
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        return sand_fail(error, "%.200s...: the path is too long", path);
    Sink sink = {.file = fopen(part, "wb")};
    if (!sink.file) return sand_fail(error, "%.300s: %s", path, strerror(errno));
    errno = 0;
    bool encoded = stbi_write_png_to_func(take, &sink, width, height, channels, pixels, width * channels);
    bool written = !sink.failed && fflush(sink.file) == 0;
    int why = errno;
    if (fclose(sink.file) != 0 && written) {
        written = false;
        why = errno;
    }
    if (encoded && written && rename(part, path) == 0) return true;
    if (encoded && written) why = errno;
    unlink(part);
    return sand_fail(error, "%.300s: %s", path, !encoded ? "out of memory" : strerror(why ? why : EIO));
}

unsigned char *png_read(const char *path, int *width, int *height) {
    int channels;
    return stbi_load(path, width, height, &channels, 4);
}
