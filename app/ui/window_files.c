// SPDX-License-Identifier: MIT
// The files of the window: scenes, takes and contact problems that it opens; pictures, takes and films that it saves.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/io/free_path.h"
#include "app/ui/window_parts.h"
#include "sim/core/clock.h"

// --- pictures ---------------------------------------------------------------------------------------------

static bool panel_takes_picture(void *user, SandError *error) {
    (void)error;
    ((Window *)user)->picture_due = true;
    return true;
}

// Draws the frame again, at the resolution of the window and with its overlays and marks but without the panel, and lets a
// thread write it; a message says when it is done.
static bool take_picture(Window *w, double ui_scale, SandError *error) {
    char stem[SAND_NAME + 16], path[2 * SAND_SENTENCE];
    snprintf(stem, sizeof stem, "sandglass-%s", w->scene.name);
    Interface *over = window_recording_interface(&w->recording, error);
    SplitDef def = window_split(w, w->width);
    RendererDef best = w->look; // whatever the window can afford
    best.quality = QUALITY_HIGH;
    if (def.scenes[1]) def.area = split_area(0, w->width, w->height); // without the panel the halves are wider
    if (!over || !free_path(path, sizeof path, w->panel->recording.folder, stem, "png", error) ||
        !split_draw(w->split, w->renderer, &def, &w->camera, &best, w->width, w->height, error))
        return false;
    OverlayView view = panel_overlay(w->frame, &w->scene, def.area);
    interface_begin(over, w->width, w->height, ui_scale, 1);
    panel_draw_marks(w->panel, w->frame, &w->camera, def.area, w->width, w->height);
    overlay_draw(&w->panel->overlay, &view, 0, 0, w->width, w->height);
    interface_end(over, split_overdraw(w->split, w->renderer));

    unsigned char *pixels = malloc(3 * (size_t)w->width * (size_t)w->height);
    if (!pixels) return sand_fail(error, "out of memory for a picture of the window");
    glBindFramebuffer(GL_READ_FRAMEBUFFER, split_framebuffer(w->split, w->renderer));
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, w->width, w->height, GL_RGB, GL_UNSIGNED_BYTE, pixels);
    return snapshot_begin(w->snapshot, path, w->width, w->height, pixels, error);
}

void window_save_picture(Window *w, double ui_scale) {
    char sentence[3 * SAND_SENTENCE];
    SandError error;
    if (snapshot_done(w->snapshot, sentence, sizeof sentence)) panel_say(w->panel, sentence);
    if (!w->picture_due || !w->frame) return;
    w->picture_due = false;
    if (!take_picture(w, ui_scale, &error)) panel_say(w->panel, error.text);
    frame_pacing_excuse(&w->pacing);
}

// --- opening ------------------------------------------------------------------------------------------------

static bool panel_opens(void *user, const char *path, const Act *race, SandError *error) {
    return engine_open(((Window *)user)->engine, path, race, error);
}

static void panel_cancels(void *user) { engine_cancel(((Window *)user)->engine); }

void window_on_drop(GLFWwindow *glfw, int count, const char **paths) {
    Window *w = glfwGetWindowUserPointer(glfw);
    if (count > 0) panel_open(w->panel, paths[0]);
}

void window_note_opening(Window *w) {
    if (w->openings == w->scene.openings) return;
    w->openings = w->scene.openings;
    if (take_is(w->scene.opened)) { // a scene, or a problem that is raced, leaves the keys alone
        engine_views(w->engine, &w->path);
        w->follow = true;
    }
    char folder[RECENT_PATH], whole[2 * RECENT_PATH];
    bool relative = w->scene.opened[0] != '/' && getcwd(folder, sizeof folder);
    snprintf(whole, sizeof whole, "%s%s%s", relative ? folder : "", relative ? "/" : "", w->scene.opened);
    recent_files_add(&w->panel->recent, whole);
}

void window_watch_file(Window *w) {
    const double INTERVAL = 0.5; // s
    struct stat now;
    bool other = strcmp(w->watched, w->scene.file) != 0;
    if (!other && (!*w->watched || sand_seconds() < w->next_look)) return;
    w->next_look = sand_seconds() + INTERVAL;
    if (other) snprintf(w->watched, sizeof w->watched, "%s", w->scene.file);
    if (!*w->watched || stat(w->watched, &now) != 0) return; // an editor may be writing it
    bool changed = now.st_mtim.tv_sec != w->changed.tv_sec || now.st_mtim.tv_nsec != w->changed.tv_nsec;
    w->changed = now.st_mtim;
    if (other || !changed) return;
    panel_say(w->panel, "The scene file changed, and is opened again.");
    panel_open(w->panel, w->watched);
}

// --- takes ------------------------------------------------------------------------------------------------

// Saves the run so far; without camera keys the film has the current view.
bool window_save_take(Window *w, const char *path, SandError *error) {
    CameraPath views = w->path;
    if (!views.count && w->frame) {
        CameraKey key = {.view = camera_view(&w->camera, w->frame->render_scene.origin)};
        camera_path_add(&views, &key, error);
    }
    if (w->frame) w->saved_acts = w->frame->acts;
    return engine_save(w->engine, path, &views, error);
}

static bool panel_saves_take(void *user, SandError *error) {
    Window *w = user;
    char stem[SAND_NAME + 16], path[2 * SAND_SENTENCE];
    snprintf(stem, sizeof stem, "sandglass-%s", w->scene.name);
    return free_path(path, sizeof path, ".", stem, "take", error) && window_save_take(w, path + 2, error);
}

void window_save_new_take(Window *w) {
    SandError error;
    if (!panel_saves_take(w, &error)) panel_say(w->panel, error.text);
}

bool window_is_unsaved(const Window *w) { return w->frame && !w->def->take && w->frame->acts > w->saved_acts; }

static bool panel_adds_key(void *user, SandError *error) {
    Window *w = user;
    if (!w->frame) return true;
    CameraKey key = {.time = w->shown, .view = camera_view(&w->camera, w->frame->render_scene.origin)};
    if (!camera_path_add(&w->path, &key, error)) return false;
    char text[64];
    snprintf(text, sizeof text, "Camera key %d, at %.2f s", w->path.count, key.time);
    panel_say(w->panel, text);
    return true;
}

void window_add_camera_key(Window *w) {
    SandError error;
    if (!panel_adds_key(w, &error)) panel_say(w->panel, error.text);
}

static bool same_view(const Camera *a, const Camera *b) {
    return v3_length(v3_sub(a->eye, b->eye)) == 0 && v3_length(v3_sub(a->target, b->target)) == 0 && a->height == b->height;
}

void window_follow_path(Window *w) {
    if (w->has_followed && !same_view(&w->camera, &w->followed)) w->follow = false;
    if (!w->follow || !w->path.count) return;
    const RenderScene *scene = &w->frame->render_scene;
    CameraView view = camera_path_at(&w->path, w->shown);
    camera_set(&w->camera, &view, scene->origin, scene->lower, scene->upper);
    w->followed = w->camera;
    w->has_followed = true;
}

// --- films ------------------------------------------------------------------------------------------------

static bool panel_records(void *user, bool start, SandError *error) {
    Window *w = user;
    if (start) return window_recording_start(&w->recording, w->frame, w->scene.name, error);
    window_recording_stop(&w->recording);
    return true;
}

void window_film(Window *w) {
    SandError error;
    char text[3 * SAND_SENTENCE];
    if (w->frame && w->recording.recorder) {
        if (!window_recording_frame(&w->recording, w->renderer, w->frame, &w->scene, &w->camera, &w->look, &error))
            panel_say(w->panel, error.text);
        frame_pacing_excuse(&w->pacing);
    }
    if (window_recording_ended(&w->recording, text, sizeof text)) panel_say(w->panel, text);
}

void window_set_up_files(Window *w) {
    w->panel->record = panel_records;
    w->panel->screenshot = panel_takes_picture;
    w->panel->save_take = panel_saves_take;
    w->panel->add_key = panel_adds_key;
    w->panel->open = panel_opens;
    w->panel->cancel = panel_cancels;
}
