// SPDX-License-Identifier: MIT
// Where the picture lies in the window: beside the panel, in halves where two runs are side by side, and with the whole
// scene in view.
#include "app/ui/window_parts.h"

#include <math.h>

// The panel leaves no room before its first frame.
static SplitArea halves(const Window *w) {
    return w->panel->halves.half > 1 ? w->panel->halves : split_area(0, w->width, w->height);
}

double window_aspect(const Window *w) {
    return (double)(w->frame && w->frame->beside.on ? halves(w).half : w->width) / w->height;
}

SplitDef window_split(const Window *w, int width) {
    SplitArea area = halves(w);
    double scale = (double)width / w->width; // below 1 while things move on a slow machine
    area = (SplitArea){(int)(scale * area.left), (int)(scale * area.right), (int)(scale * area.half)};
    if (area.half > (area.right - area.left - 1) / 2) area.half = (area.right - area.left - 1) / 2;
    return (SplitDef){.scenes = {&w->frame->render_scene, w->frame->beside.on ? &w->frame->beside.render_scene : NULL},
                      .area = area};
}

void window_frame_scene(Window *w) {
    if (!w->frame) return;
    const Panel *p = w->panel;
    double width = window_aspect(w) * w->height;
    CameraArea area = {p->free_left, p->free_top, p->free_right, p->free_bottom};
    if (w->frame->beside.on) area = (CameraArea){0, p->free_top, width, p->free_bottom};
    bool enough = area.right - area.left > 0.2 * width && area.bottom - area.top > 0.2 * w->height;
    if (!enough) area = (CameraArea){0, 0, width, w->height};
    camera_frame_within(&w->camera, camera_preset_names[0], w->frame->render_scene.lower, w->frame->render_scene.upper,
                        width, w->height, &area);
    const RenderScene *scene = &w->frame->render_scene;
    int own = w->frame->beside.on ? -1 : camera_find(&scene->studio, camera_preset_names[0]);
    if (camera_of_studio(&w->camera, &scene->studio, own, scene->origin, scene->lower, scene->upper)) {
        // Its middle is in the middle of what the panel leaves free.
        double half = tan(0.5 * w->camera.angle) / w->height;
        w->camera.shift_x = half * (width - area.left - area.right);
        w->camera.shift_y = half * (area.top + area.bottom - w->height);
    }
    camera_shift(&w->camera, w->panel->followed);
    w->unmoved = w->camera;
}
