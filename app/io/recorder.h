// SPDX-License-Identifier: MIT
// Reads drawn frames back from the GPU and writes them: PNG files by worker threads, and a film through ffmpeg. Frames come
// back through a ring of pixel buffers, so that drawing does not wait for the read-back.
#pragma once
#include "app/io/caption.h"
#include "app/io/film.h"

typedef struct RecorderDef {
    const char *folder;  // for PNG files frame_00000.png, frame_00001.png, ...; NULL: none
    const FilmDef *film; // NULL: none
    int width, height;
    bool alpha;
    const char *caption; // NULL: none
    int64_t first;       // number of the first frame
    int workers;         // threads that encode PNG; 0: one per core
} RecorderDef;

typedef struct Recorder Recorder;

void recorder_frame_path(char *path, size_t capacity, const char *folder, int64_t number); // of a PNG frame

// Creates the folder if it is missing. NULL with a sentence on failure.
Recorder *recorder_open(const RecorderDef *def, SandError *error);
// Adds the picture in this framebuffer as the next frame. False when nothing can be written any more. A film that fails
// while PNG files can still be written is ended, and recorder_complaint says why.
bool recorder_add(Recorder *recorder, unsigned framebuffer, SandError *error);
// Passes the last frames on and lets a thread wait until all are written, for a caller that must not wait. Needs the context
// current.
void recorder_end(Recorder *recorder);
bool recorder_ended(const Recorder *recorder); // everything is written, and recorder_close will not wait
// Waits until every frame is written, and frees. False, with the first error, when one was not.
bool recorder_close(Recorder *recorder, SandError *error);
const char *recorder_complaint(const Recorder *recorder); // why the film ended early; ""
