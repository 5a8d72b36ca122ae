// SPDX-License-Identifier: MIT
// The thread behind a snapshot: one state variable says who owns the pixels.
#include "app/io/snapshot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/io/png.h"

enum { IDLE, WRITING, WRITTEN };

struct Snapshot {
    pthread_t thread;
    atomic_int state; // the thread owns the other members while it is WRITING
    int width, height;
    unsigned char *pixels;
    char path[2 * SAND_SENTENCE], sentence[3 * SAND_SENTENCE];
};

Snapshot *snapshot_create(SandError *error) {
    Snapshot *s = calloc(1, sizeof *s);
    if (!s) sand_fail(error, "out of memory for pictures");
    return s;
}

static void turn_upright(unsigned char *pixels, size_t stride, int height) {
    for (int y = 0; y < height / 2; y++) {
        unsigned char *a = pixels + stride * (size_t)y, *b = pixels + stride * (size_t)(height - 1 - y);
        for (size_t i = 0; i < stride; i++) {
            unsigned char kept = a[i];
            a[i] = b[i];
            b[i] = kept;
        }
    }
}

static void *write_picture(void *argument) {
    Snapshot *s = argument;
    SandError error;
    turn_upright(s->pixels, 3 * (size_t)s->width, s->height);
    bool written = png_write(s->path, s->width, s->height, 3, s->pixels, &error);
    snprintf(s->sentence, sizeof s->sentence, written ? "Picture saved as %s" : "%s", written ? s->path : error.text);
    free(s->pixels);
    s->state = WRITTEN;
    return NULL;
}

bool snapshot_begin(Snapshot *s, const char *path, int width, int height, unsigned char *pixels, SandError *error) {
    if (s->state != IDLE) return free(pixels), sand_fail(error, "the picture before is still being written");
    snprintf(s->path, sizeof s->path, "%s", path);
    s->width = width;
    s->height = height;
    s->pixels = pixels;
    s->state = WRITING;
    if (pthread_create(&s->thread, NULL, write_picture, s) == 0) return true;
    s->state = IDLE;
    return free(pixels), sand_fail(error, "the thread that writes pictures could not be started");
}

bool snapshot_done(Snapshot *s, char *sentence, size_t size) {
    if (s->state != WRITTEN) return false;
    pthread_join(s->thread, NULL);
    snprintf(sentence, size, "%s", s->sentence);
    s->state = IDLE;
    return true;
}

void snapshot_free(Snapshot *s) {
    if (!s) return;
    if (s->state != IDLE) pthread_join(s->thread, NULL);
    free(s);
}
