// Writes a picture as PNG on a thread of its own, so that the window does not wait for the compression. One at a time.
#pragma once
#include "sandglass/scene.h"

typedef struct Snapshot Snapshot;

Snapshot *snapshot_create(SandError *error);
void snapshot_free(Snapshot *snapshot); // waits for the picture that is being written

// Takes over the pixels, from malloc, 8-bit RGB with rows from the bottom up. False, with a sentence, while another is being
// written; the pixels are freed either way.
bool snapshot_begin(Snapshot *snapshot, const char *path, int width, int height, unsigned char *pixels, SandError *error);
// Whether one was finished since the last call; then `sentence` is its path, or what went wrong.
bool snapshot_done(Snapshot *snapshot, char *sentence, size_t size);
