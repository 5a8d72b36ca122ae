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

// Where a reader goes by how the name ends: a link to the file, which is removed at the end.
#ifdef FUZZ_ENDING
static char fuzz_folder[] = "/tmp/fuzz-XXXXXX", fuzz_link[64];
static inline void fuzz_unlink(void) { unlink(fuzz_link), rmdir(fuzz_folder); }
static inline const char *fuzz_named(const char *path) {
    if (!mkdtemp(fuzz_folder)) abort();
    snprintf(fuzz_link, sizeof fuzz_link, "%s/fuzz.%s", fuzz_folder, FUZZ_ENDING);
    if (symlink(path, fuzz_link) != 0 || atexit(fuzz_unlink) != 0) abort();
    return fuzz_link;
}
#else
static inline const char *fuzz_named(const char *path) { return path; }
#endif

// The path of the file, one for each process.
static inline const char *fuzz_path(void) {
    static const char *name;
    static char path[64];
    if (fuzz_descriptor < 0) {
        fuzz_descriptor = memfd_create("fuzz", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_descriptor);
        name = fuzz_named(path);
    }
    return name;
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
