// SPDX-License-Identifier: MIT
// A film taken in the window, in lock step with simulated time: the engine takes the next step only when the film has all
// frames of the current one.
#pragma once
#include "app/ui/panel/panel.h"
#include "app/io/recorder.h"

typedef struct WindowRecording {
    Engine *engine;         // that takes the steps
    PanelRecording *wanted; // settings, and progress for the panel
    const OverlayDef *overlay;
    Interface *interface; // draws the overlays; created with the first film
    Split *split;         // of the film; likewise
    Recorder *recorder;   // NULL: not recording
    Recorder *ending;     // the previous one, until all its frames are written
    FilmDef film;
    char path[2 * SAND_SENTENCE];
    double start;   // s, simulated time of the first frame
    int64_t frames; // of the film that ends
    int64_t asked;  // step after which the next was requested, -1: none
    bool was_playing;
} WindowRecording;

// Starts at the time of this frame, NULL: at 0, under the first free name with this stem in the folder. False with a
// sentence.
bool window_recording_start(WindowRecording *recording, const EngineFrame *frame, const char *stem, SandError *error);
// Films the next time that this frame covers, or asks for a step when it covers no more. One picture per call, so that the
// window stays responsive. False, with a sentence, when the film had to end.
bool window_recording_frame(WindowRecording *recording, Renderer *renderer, EngineFrame *frame, const EngineScene *scene,
                            const Camera *camera, const RendererDef *look, SandError *error);
// Ends the film without waiting for the last frames to be written.
void window_recording_stop(WindowRecording *recording);
// Whether a film has just been written; then a sentence says where, and how long it is, or what went wrong.
bool window_recording_ended(WindowRecording *recording, char *sentence, size_t size);
// The interface that draws over pictures and films: created with the first of them. NULL with a sentence on failure.
Interface *window_recording_interface(WindowRecording *recording, SandError *error);
// Waits until all is written; errors go to standard error.
void window_recording_close(WindowRecording *recording);
