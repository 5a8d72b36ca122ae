// A film taken in the window. It is in lock step with simulated time: the engine goes on only when the film has had every
// instant of the step.
#pragma once
#include "app/ui/panel/panel.h"
#include "app/io/recorder.h"

typedef struct WindowRecording {
    Engine *engine;         // that takes the steps
    PanelRecording *wanted; // as the person wants it; says how far it is
    const OverlayDef *overlay;
    Interface *interface; // that draws the overlays; made with the first film
    Recorder *recorder;   // NULL: no film is being taken
    Recorder *ending;     // the last one, until all its frames are written
    FilmDef film;
    char path[2 * SAND_SENTENCE];
    double start;  // s, simulated time of its first frame
    int64_t asked; // the step after which another was asked for, -1: none
    bool was_playing;
} WindowRecording;

// Begins with the instant of this frame, NULL: with the start. False with a sentence.
bool window_recording_start(WindowRecording *recording, const EngineFrame *frame, SandError *error);
// Films the next instant where this frame covers it, and asks for another step when it covers no more. One picture at a
// time, so that the window answers in between. False, with a sentence, when the film had to end.
bool window_recording_frame(WindowRecording *recording, Renderer *renderer, EngineFrame *frame, const EngineScene *scene,
                            const Camera *camera, const RendererDef *look, SandError *error);
// Ends it without waiting for its last frames to be written.
void window_recording_stop(WindowRecording *recording);
// Sees whether they are by now. False, with a sentence, when they could not be.
bool window_recording_see_end(WindowRecording *recording, SandError *error);
// Waits until all is written; what fails is told on standard error.
void window_recording_close(WindowRecording *recording);
