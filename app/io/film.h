// SPDX-License-Identifier: MIT
// A film: raw frames through a pipe into ffmpeg, which runs in its own process group, so that Ctrl-C does not reach it.
#pragma once
#include "sandglass/error.h"

typedef enum FilmKind { FILM_MP4, FILM_WEBM, FILM_GIF } FilmKind;

typedef struct FilmDef {
    const char *path;
    FilmKind kind;
    int width, height;
    double fps;
    bool alpha; // WebM and GIF only
} FilmDef;

typedef struct Film Film;

// Whether the format takes this size, rate and alpha; film_open looks as well.
bool film_check(const FilmDef *def, SandError *error);
// NULL with a sentence: a size that the format refuses, no ffmpeg, a file that cannot be written.
Film *film_open(const FilmDef *def, SandError *error);
// One RGBA frame, rows from the top down.
bool film_write(Film *film, const unsigned char *pixels, SandError *error);
// Ends the film, waits for ffmpeg and frees it. What was written so far plays.
bool film_close(Film *film, SandError *error);
