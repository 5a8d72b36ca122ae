// Takes drawn frames off the GPU and writes them: PNG files by worker threads, and a film through ffmpeg.
// Frames are read back through a ring of pixel buffers, so that drawing does not wait for reading.
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
    int workers;         // threads that encode PNG; 0: one for each core
} RecorderDef;

typedef struct Recorder Recorder;

void recorder_frame_path(char *path, size_t capacity, const char *folder, int64_t number); // of a PNG frame

// Makes the folder where it is missing. NULL with a sentence.
Recorder *recorder_open(const RecorderDef *def, SandError *error);
// Takes the picture in this framebuffer as the next frame. False when nothing can be written any more. A film that
// fails while PNG files still go well is ended, and recorder_complaint says why.
bool recorder_add(Recorder *recorder, unsigned framebuffer, SandError *error);
// Input on the last frames, and lets a thread wait until all are written: for who must not wait. The context is current.
void recorder_end(Recorder *recorder);
bool recorder_ended(const Recorder *recorder); // all is written, and recorder_close will not wait
// Waits until every frame taken is written, and frees. False, with the first fault, when one was not.
bool recorder_close(Recorder *recorder, SandError *error);
const char *recorder_complaint(const Recorder *recorder); // "" when all is well
