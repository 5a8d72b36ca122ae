// SPDX-License-Identifier: MIT
// Filming in the window: which time to film next, when to ask for a step, and the end in the background.
#include "app/ui/window_recording.h"

#include "app/io/free_path.h"

#include <stdio.h>

static bool ask(WindowRecording *f, ActKind kind, double number) {
    return engine_ask(f->engine, &(Act){.kind = kind, .number = number});
}

Interface *window_recording_interface(WindowRecording *f, SandError *error) {
    if (!f->interface) f->interface = interface_create(NULL, error);
    if (f->interface && !f->split && !(f->split = split_create(error))) return NULL;
    return f->interface;
}

bool window_recording_start(WindowRecording *f, const EngineFrame *frame, const char *stem, SandError *error) {
    static const char *const endings[FORMAT_COUNT] = {"", "mp4", "webm", "gif"};
    PanelRecording *wanted = f->wanted;
    if (f->ending) return sand_fail(error, "the last film is still being written");
    if (!window_recording_interface(f, error) ||
        !free_path(f->path, sizeof f->path, wanted->folder, stem, endings[wanted->format], error))
        return false;
    f->film = (FilmDef){.path = f->path,
                        .kind = (FilmKind)(wanted->format - FORMAT_MP4),
                        .width = wanted->width,
                        .height = wanted->height,
                        .fps = wanted->fps};
    bool film = wanted->format != FORMAT_PNG;
    RecorderDef def = {
        .folder = film ? NULL : f->path, .film = film ? &f->film : NULL, .width = wanted->width, .height = wanted->height};
    f->recorder = recorder_open(&def, error);
    if (!f->recorder) return false;
    f->start = frame ? frame->time : 0;
    f->asked = -1;
    f->was_playing = frame && frame->playing;
    wanted->active = true;
    wanted->frames = 0;
    ask(f, ACT_PLAY, 0);
    return true;
}

void window_recording_stop(WindowRecording *f) {
    recorder_end(f->recorder);
    f->ending = f->recorder;
    f->recorder = NULL;
    f->frames = f->wanted->frames;
    f->wanted->active = false;
    ask(f, ACT_PLAY, f->was_playing);
}

// Draws one frame of the film with its overlays, and records it.
static bool draw(WindowRecording *f, Renderer *renderer, const EngineFrame *frame, const EngineScene *scene,
                 const Camera *camera, const RendererDef *look, SandError *error) {
    int width = f->wanted->width, height = f->wanted->height;
    RendererDef best = *look; // whatever the window can afford
    best.quality = QUALITY_HIGH;
    SplitDef def = {.scenes = {&frame->render_scene, frame->beside.on ? &frame->beside.render_scene : NULL},
                    .area = split_area(0, width, height)};
    if (!split_draw(f->split, renderer, &def, camera, &best, width, height, error)) return false;
    OverlayView over = panel_overlay(frame, scene, def.area);
    over.time = frame->render_scene.time;
    overlay_film(f->overlay, &over, f->interface, width, height, split_overdraw(f->split, renderer));
    return true;
}

bool window_recording_frame(WindowRecording *f, Renderer *renderer, EngineFrame *frame, const EngineScene *scene,
                            const Camera *camera, const RendererDef *look, SandError *error) {
    PanelRecording *wanted = f->wanted;
    RenderScene *render_scene = &frame->render_scene;
    double newest = frame->time + 1e-9, due = f->start + (double)wanted->frames / wanted->fps;
    if (due <= newest) {
        render_scene->time = due;
        render_scene->back = frame->time - due;
        frame->beside.render_scene.time = render_scene->time;
        frame->beside.render_scene.back = render_scene->back;
        if (!draw(f, renderer, frame, scene, camera, look, error) ||
            !recorder_add(f->recorder, split_framebuffer(f->split, renderer), error))
            return window_recording_stop(f), false;
        due = f->start + (double)++wanted->frames / wanted->fps;
    }
    bool asked = f->asked == (int64_t)frame->step;
    if (due > newest && !asked && ask(f, ACT_STEP, 1)) f->asked = (int64_t)frame->step;
    return true;
}

bool window_recording_ended(WindowRecording *f, char *sentence, size_t size) {
    SandError error;
    if (!f->ending || !recorder_ended(f->ending)) return false;
    char complaint[SAND_SENTENCE];
    snprintf(complaint, sizeof complaint, "%s", recorder_complaint(f->ending));
    bool written = recorder_close(f->ending, &error);
    f->ending = NULL;
    if (!written || *complaint)
        snprintf(sentence, size, "%s", written ? complaint : error.text);
    else
        snprintf(sentence, size, "Film saved as %s: %lld frames, %.1f s", f->path, (long long)f->frames,
                 (double)f->frames / f->wanted->fps);
    return true;
}

void window_recording_close(WindowRecording *f) {
    SandError error;
    Recorder *left[] = {f->recorder, f->ending};
    for (int i = 0; i < 2; i++)
        if (left[i] && !recorder_close(left[i], &error)) fprintf(stderr, "sandglass: %s\n", error.text);
    interface_free(f->interface);
    split_free(f->split);
}
