// SPDX-License-Identifier: MIT
// Framing a box, camera motion and the projection matrices. Depth is reversed: 1 at the near plane, 0 at infinity.
#include "app/render/camera.h"
#include "sim/core/suggestion.h"

#include <stdlib.h>
#include <string.h>

#include <cglm/cglm.h>

static const double DEGREE = 3.14159265358979323846 / 180;
static const double MARGIN = 1.08; // free border around what is framed, as a factor

typedef struct Preset {
    const char *name;
    double around, above; // degrees; at `around` 0 the camera looks along +y
    bool orthographic;
} Preset;

// `above` of the first depends on the shape of the box: flat things are seen from higher up.
static const Preset presets[] = {
    {"default", -24, 0, false}, {"front", 0, 6, false},    {"side", 90, 6, false},   {"back", 180, 6, false},
    {"top", 0, 89, false},      {"low", -24, 3, false},    {"high", -35, 45, false}, {"plan", 0, 89.9, true},
    {"elevation", 0, 0, true},  {"corner", -45, 30, true},
};
enum { PRESETS = sizeof presets / sizeof *presets };

const char *const camera_preset_names[] = {"default", "front", "side",      "back",   "top", "low",
                                           "high",    "plan",  "elevation", "corner", NULL};

void camera_axes(const Camera *camera, SandVec3 *right, SandVec3 *up, SandVec3 *forward) {
    *forward = v3_unit_or(v3_sub(camera->target, camera->eye), v3_make(0, 1, 0));
    // The up vector; looking straight down it is north (+y).
    SandVec3 pole = fabs(forward->z) > 0.99999 ? v3_make(0, 1, 0) : v3_make(0, 0, 1);
    *right = v3_unit_or(v3_cross(*forward, pole), v3_make(1, 0, 0));
    *up = v3_cross(*right, *forward);
}

void camera_ray(const Camera *camera, double aspect, double x, double y, SandVec3 *from, SandVec3 *along) {
    SandVec3 right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    double half = camera->orthographic ? 0.5 * camera->height : tan(0.5 * camera->angle);
    SandVec3 across = v3_madd(v3_scale(x * aspect * half + camera->shift_x, right), y * half + camera->shift_y, up);
    *along = camera->orthographic ? forward : v3_add(forward, across);
    *from = v3_madd(camera->orthographic ? v3_add(camera->eye, across) : camera->eye, camera->near, *along);
}

static void widen(double range[2], double low, double high) {
    if (low < range[0]) range[0] = low;
    if (high > range[1]) range[1] = high;
}

// Sets the near and far planes for a scene of this size.
static void set_reach(Camera *camera, double size) {
    double distance = v3_length(v3_sub(camera->target, camera->eye));
    camera->near = camera->orthographic ? 0.01 * size : fmax(1e-3 * size, 0.02 * distance);
    camera->far = distance + 20 * size;
}

// Moves the camera along its view, and sideways, until the box just fits with a margin.
static void fit(Camera *camera, SandVec3 direction, SandVec3 lower, SandVec3 upper, double aspect) {
    SandVec3 right, up, forward, middle = v3_scale(0.5, v3_add(lower, upper));
    double size = v3_length(v3_sub(upper, lower));
    camera->target = middle;
    camera->eye = v3_madd(middle, -size, direction);
    camera_axes(camera, &right, &up, &forward);

    // Each side of the frustum is a plane through the eye, touched by the corner of the box that is furthest along its
    // normal.
    double tan_y = tan(0.5 * camera->angle), tan_x = tan_y * aspect;
    double wide[2] = {INFINITY, -INFINITY}, tall[2] = {INFINITY, -INFINITY}, half_x = 0, half_y = 0, reach = 0;
    for (int k = 0; k < 8; k++) {
        SandVec3 p =
            v3_sub(v3_make(k & 1 ? upper.x : lower.x, k & 2 ? upper.y : lower.y, k & 4 ? upper.z : lower.z), middle);
        double x = v3_dot(p, right), y = v3_dot(p, up), z = v3_dot(p, forward);
        widen(wide, x + tan_x * z, x - tan_x * z);
        widen(tall, y + tan_y * z, y - tan_y * z);
        half_x = fmax(half_x, fabs(x));
        half_y = fmax(half_y, fabs(y));
        reach = fmax(reach, fabs(z));
    }
    double distance = fmax((wide[1] - wide[0]) / (2 * tan_x), (tall[1] - tall[0]) / (2 * tan_y)) * MARGIN;
    double shift_y = camera->orthographic ? 0 : 0.5 * (tall[0] + tall[1]);
    double shift_x = camera->orthographic ? 0 : 0.5 * (wide[0] + wide[1]);
    SandVec3 shift = v3_add(v3_scale(shift_x, right), v3_scale(shift_y, up));
    if (camera->orthographic) distance = 2 * reach + size;
    camera->target = v3_add(middle, shift);
    camera->eye = v3_madd(camera->target, -distance, forward);
    camera->height = 2 * fmax(half_y, half_x / aspect) * MARGIN;
    set_reach(camera, size);
}

bool camera_frame(Camera *camera, const char *name, SandVec3 lower, SandVec3 upper, double aspect) {
    int k = 0;
    while (k < PRESETS && strcmp(presets[k].name, name) != 0) k++;
    if (k == PRESETS) return false;
    double above = presets[k].above;
    if (k == 0) {
        double flat = 0.5 * (upper.x - lower.x + upper.y - lower.y) / fmax(upper.z - lower.z, 1e-9);
        above = flat < 0.8 ? 9 : flat < 1.3 ? 16 : 26;
    }
    double a = presets[k].around * DEGREE, e = above * DEGREE;
    *camera = (Camera){.orthographic = presets[k].orthographic, .angle = 28 * DEGREE};
    fit(camera, v3_make(-sin(a) * cos(e), cos(a) * cos(e), -sin(e)), lower, upper, aspect);
    return true;
}

void camera_project(const Camera *camera, SandVec3 point, double *x, double *y) {
    SandVec3 right, up, forward, to = v3_sub(point, camera->eye);
    camera_axes(camera, &right, &up, &forward);
    double high = camera->orthographic ? camera->height : 2 * v3_dot(to, forward) * tan(0.5 * camera->angle);
    *x = v3_dot(to, right) / high;
    *y = v3_dot(to, up) / high;
}

bool camera_frame_within(Camera *camera, const char *name, SandVec3 lower, SandVec3 upper, double width, double height,
                         const CameraArea *area) {
    double wide = area->right - area->left, high = area->bottom - area->top;
    if (!camera_frame(camera, name, lower, upper, wide / high)) return false;
    // Nearer corners move more than farther ones, so size and position are adjusted in turn a few times.
    for (int round = 0; round < 8; round++) {
        double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};
        for (int k = 0; k < 8; k++) {
            double at_x, at_y;
            camera_project(camera, v3_make(k & 1 ? upper.x : lower.x, k & 2 ? upper.y : lower.y, k & 4 ? upper.z : lower.z),
                           &at_x, &at_y);
            widen(x, at_x, at_x);
            widen(y, at_y, at_y);
        }
        double middle_x = (0.5 * (area->left + area->right) - 0.5 * width) / height;
        double middle_y = (0.5 * height - 0.5 * (area->top + area->bottom)) / height;
        camera_pan(camera, 0.5 * (x[0] + x[1]) - middle_x, 0.5 * (y[0] + y[1]) - middle_y);
        camera_zoom(camera, fmin(wide / height / (x[1] - x[0]), high / height / (y[1] - y[0])) / MARGIN);
    }
    return true;
}

int camera_find(const SandStudio *studio, const char *name) {
    for (int i = 0; studio && i < studio->camera_count; i++)
        if (!strcmp(studio->cameras[i].name, name)) return i;
    return -1;
}

bool camera_of_studio(Camera *camera, const SandStudio *studio, int number, SandVec3 origin, SandVec3 lower,
                      SandVec3 upper) {
    if (number < 0 || number >= studio->camera_count) return false;
    const SandSceneCamera *from = &studio->cameras[number];
    const CameraView view = {.eye = from->eye, .target = from->target, .angle = from->angle};
    camera_set(camera, &view, origin, lower, upper);
    return true;
}

bool camera_parse(Camera *camera, const char *text, const SandStudio *studio, SandVec3 origin, SandVec3 lower,
                  SandVec3 upper, double aspect, SandError *error) {
    int found = camera_find(studio, text);
    if (found >= 0) return camera_of_studio(camera, studio, found, origin, lower, upper);
    if (camera_frame(camera, text, lower, upper, aspect)) return true;
    double number[6];
    const char *at = text;
    for (int i = 0; i < 6; i++) {
        char *end;
        number[i] = strtod(at, &end);
        if (end == at || !isfinite(number[i]) || *end != (i < 5 ? ',' : '\0')) {
            SandSuggestion names = sand_suggestion(text);
            for (int k = 0; studio && k < studio->camera_count; k++) sand_suggestion_add(&names, studio->cameras[k].name);
            for (int k = 0; k < PRESETS; k++) sand_suggestion_add(&names, presets[k].name);
            return sand_fail(error, "camera %.60s: expected x,y,z,tx,ty,tz or a name; %s", text,
                             sand_suggestion_text(&names));
        }
        at = end + 1;
    }
    camera_frame(camera, presets[0].name, lower, upper, aspect);
    camera->eye = v3_sub(v3_make(number[0], number[1], number[2]), origin);
    camera->target = v3_sub(v3_make(number[3], number[4], number[5]), origin);
    double distance = v3_length(v3_sub(camera->target, camera->eye));
    if (!(distance > 0)) return sand_fail(error, "camera %.60s: eye and target are the same point", text);
    camera->near = fmin(camera->near, 0.02 * distance);
    return true;
}

void camera_set(Camera *camera, const CameraView *view, SandVec3 origin, SandVec3 lower, SandVec3 upper) {
    *camera = (Camera){.eye = v3_sub(view->eye, origin),
                       .target = v3_sub(view->target, origin),
                       .orthographic = view->orthographic,
                       .angle = view->angle,
                       .height = view->height};
    set_reach(camera, v3_length(v3_sub(upper, lower)));
}

CameraView camera_view(const Camera *camera, SandVec3 origin) {
    return (CameraView){.eye = v3_add(camera->eye, origin),
                        .target = v3_add(camera->target, origin),
                        .orthographic = camera->orthographic,
                        .angle = camera->angle,
                        .height = camera->height};
}

void camera_orbit(Camera *camera, double around, double above) {
    SandVec3 arm = v3_sub(camera->eye, camera->target);
    double distance = v3_length(arm), flat = hypot(arm.x, arm.y);
    double a = atan2(arm.y, arm.x) + around, e = atan2(arm.z, flat) + above;
    e = fmax(-89 * DEGREE, fmin(89 * DEGREE, e));
    camera->eye = v3_madd(camera->target, distance, v3_make(cos(a) * cos(e), sin(a) * cos(e), sin(e)));
}

void camera_pan(Camera *camera, double right_by, double up_by) {
    SandVec3 right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    double distance = v3_length(v3_sub(camera->target, camera->eye));
    double height = camera->orthographic ? camera->height : 2 * distance * tan(0.5 * camera->angle);
    SandVec3 by = v3_add(v3_scale(right_by * height, right), v3_scale(up_by * height, up));
    camera->eye = v3_add(camera->eye, by);
    camera->target = v3_add(camera->target, by);
}

void camera_shift(Camera *camera, SandVec3 by) {
    camera->eye = v3_add(camera->eye, by);
    camera->target = v3_add(camera->target, by);
}

void camera_zoom(Camera *camera, double factor) {
    camera->eye = v3_madd(camera->target, 1 / factor, v3_sub(camera->eye, camera->target));
    camera->height /= factor;
    if (!camera->orthographic) camera->near /= factor;
}

static SandVec3 turned(SandVec3 p, SandVec3 middle, double angle) {
    double x = p.x - middle.x, y = p.y - middle.y, c = cos(angle), s = sin(angle);
    return v3_make(middle.x + c * x - s * y, middle.y + s * x + c * y, p.z);
}

void camera_turn(Camera *camera, SandVec3 middle, double angle) {
    camera->eye = turned(camera->eye, middle, angle);
    camera->target = turned(camera->target, middle, angle);
}

void camera_look(Camera *camera, double right, double up) {
    // Looking around is orbiting with eye and target exchanged.
    SandVec3 eye = camera->eye;
    camera->eye = camera->target;
    camera->target = eye;
    camera_orbit(camera, -right, up);
    camera->target = camera->eye;
    camera->eye = eye;
}

void camera_fly(Camera *camera, SandVec3 by) {
    SandVec3 right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    SandVec3 move = v3_madd(v3_madd(v3_scale(by.x, right), by.y, up), by.z, forward);
    camera->eye = v3_add(camera->eye, move);
    camera->target = v3_add(camera->target, move);
}

void camera_matrices(const Camera *camera, double aspect, float view[16], float projection[16]) {
    SandVec3 right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    SandVec3 rows[3] = {right, up, v3_neg(forward)};
    mat4 v = GLM_MAT4_IDENTITY_INIT, p = GLM_MAT4_ZERO_INIT;
    for (int i = 0; i < 3; i++) {
        v[0][i] = (float)rows[i].x;
        v[1][i] = (float)rows[i].y;
        v[2][i] = (float)rows[i].z;
        v[3][i] = (float)-v3_dot(rows[i], camera->eye);
    }
    if (camera->orthographic) {
        double depth = camera->far - camera->near;
        p[0][0] = (float)(2 / (camera->height * aspect));
        p[1][1] = (float)(2 / camera->height);
        p[3][0] = (float)(-2 * camera->shift_x / (camera->height * aspect));
        p[3][1] = (float)(-2 * camera->shift_y / camera->height);
        p[2][2] = (float)(1 / depth);
        p[3][2] = (float)(camera->far / depth);
        p[3][3] = 1;
    } else {
        double f = 1 / tan(0.5 * camera->angle);
        p[0][0] = (float)(f / aspect);
        p[1][1] = (float)f;
        p[2][0] = (float)(f / aspect * camera->shift_x);
        p[2][1] = (float)(f * camera->shift_y);
        p[3][2] = (float)camera->near;
        p[2][3] = -1;
    }
    memcpy(view, v, sizeof v);
    memcpy(projection, p, sizeof p);
}
