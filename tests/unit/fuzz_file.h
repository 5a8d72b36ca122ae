// SPDX-License-Identifier: MIT
// A file in memory for fuzz targets of readers that take a path.
#pragma once
#define _GNU_SOURCE // memfd_create
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sandglass/error.h"

static int fuzz_descriptor = -1;

// The path of the file, one for each process.
static inline const char *fuzz_path(void) {
    static char path[64];
    if (fuzz_descriptor < 0) {
        fuzz_descriptor = memfd_create("fuzz", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_descriptor);
    }
    return path;
}

// Fills the file with these bytes.
static inline const char *fuzz_write(const uint8_t *data, size_t size) {
    const char *path = fuzz_path();
    if (ftruncate(fuzz_descriptor, 0) != 0 || pwrite(fuzz_descriptor, data, size, 0) != (ssize_t)size) abort();
    return path;
}

// What is refused is refused with one sentence that names the file.
static inline void fuzz_check_error(const char *path, const SandError *error) {
    if (!strstr(error->text, path) || strchr(error->text, '\n')) {
        fprintf(stderr, "error: '%s'\n", error->text);
        abort();
    }
}
