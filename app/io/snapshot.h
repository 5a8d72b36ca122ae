// SPDX-License-Identifier: MIT
// Writes a picture as PNG on its own thread, so that the window does not wait for the compression. One at a time.
#pragma once
#include "sandglass/scene.h"

typedef struct Snapshot Snapshot;

Snapshot *snapshot_create(SandError *error);
void snapshot_free(Snapshot *snapshot); // waits for a pending write

// Starts writing. Takes ownership of the pixels (malloc; 8-bit RGB, bottom row first) in any case. False, with a sentence,
// while another picture is being written.
bool snapshot_begin(Snapshot *snapshot, const char *path, int width, int height, unsigned char *pixels, SandError *error);
// Whether a picture was finished since the last call; `sentence` is then its path, or the error.
bool snapshot_done(Snapshot *snapshot, char *sentence, size_t size);
