// SPDX-License-Identifier: MIT
// Shader programs from the sources that the build embeds, and the other embedded files.
#pragma once
#include "sandglass/error.h"

typedef struct Embedded {
    const char *name;
    const char *text;
} Embedded;
extern const Embedded embedded_files[]; // ended by a NULL name; made by cmake/embed.cmake

const char *embedded_find(const char *name); // NULL: there is none

// Compiles and links NAME.vert with OTHER.frag, with a `#define` for each of the words (NULL: none): a software renderer
// runs both sides of every branch, so variants are compiled apart. 0 on failure, with the first line of the driver's log.
unsigned shader_make(const char *vertex, const char *fragment, const char *words, SandError *error);
unsigned shader_make_compute(const char *name, const char *words, SandError *error); // the same of NAME.comp
