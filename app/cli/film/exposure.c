// SPDX-License-Identifier: MIT
// Options of lens and shutter, and the camera and instant of each picture of an exposure.
#include "app/cli/film/exposure.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

static const double TURN = 6.28318530717958647692, GOLDEN = 0.61803398874989484820;

static bool read_focus(Exposure *e, const OptionValue *value, SandError *error) {
    char rest;
    SandVec3 *p = &e->point;
    if (!value->given) return true;
    e->has_point = sscanf(value->text, "%lf,%lf,%lf%c", &p->x, &p->y, &p->z, &rest) == 3 && isfinite(p->x + p->y + p->z);
    e->has_distance =
        !e->has_point && sscanf(value->text, "%lf%c", &e->distance, &rest) == 1 && e->distance > 0 && isfinite(e->distance);
    return e->has_point || e->has_distance ||
           sand_fail(error, "--focus %.60s: expected a distance in meters, or a point X,Y,Z", value->text);
}

bool exposure_plan(Exposure *e, const Options *options, SandError *error) {
    const OptionValue *values = options->values, *lens = &values[OPTION_APERTURE], *shutter = &values[OPTION_SHUTTER];
    *e = (Exposure){.count = 1};
    if (lens->given) e->aperture = lens->real;
    if (shutter->given) e->shutter = shutter->real;
    if (lens->given || shutter->given) e->count = (int)values[OPTION_SUBFRAMES].integer;
    if (values[OPTION_FOCUS].given && !lens->given) return sand_fail(error, "--focus is of no use without --aperture");
    if (values[OPTION_SUBFRAMES].given && e->count == 1)
        return sand_fail(error, "--subframes is of no use without --aperture or --shutter");
    return read_focus(e, &values[OPTION_FOCUS], error);
}

double exposure_time(const Exposure *e, int k, double time, double fps) {
    double before = e->shutter / fps * (1 - (k + 0.5) / e->count);
    return fmax(0, time - before);
}

// Distance along the view that is in focus.
static double focus_of(const Exposure *e, SandVec3 origin, const Camera *camera) {
    SandVec3 right, up, forward, at = e->has_point ? v3_sub(e->point, origin) : camera->target;
    camera_axes(camera, &right, &up, &forward);
    return e->has_distance ? e->distance : v3_dot(v3_sub(at, camera->eye), forward);
}

// A step that visits each of `count` points once, far from the one before.
static int stride(int count) {
    int step = (int)lround(GOLDEN * count);
    for (;; step++) {
        int a = count, b = step;
        while (b) {
            int rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) return step; // no common divisor
    }
}

bool exposure_place(const Exposure *e, int k, SandVec3 origin, int height, Camera *camera, SandError *error) {
    SandVec3 right, up, forward;
    if (e->count == 1) return true;
    // A place within the pixel, by a sequence that fills it evenly.
    double half = camera->orthographic ? 0.5 * camera->height : tan(0.5 * camera->angle), unused;
    camera->shift_x = (modf(0.5 + 0.7548776662466927 * k, &unused) - 0.5) * 2 * half / height;
    camera->shift_y = (modf(0.5 + 0.5698402909980532 * k, &unused) - 0.5) * 2 * half / height;
    if (!(e->aperture > 0)) return true;
    if (camera->orthographic) return sand_fail(error, "--aperture: an orthographic view has no lens");
    double focus = focus_of(e, origin, camera);
    if (!(focus > camera->near)) return sand_fail(error, "--focus: the point in focus is behind the camera");
    // A spiral of points over the lens, in an order that does not follow time.
    int point = (int)((int64_t)k * stride(e->count) % e->count);
    double radius = 0.5 * e->aperture * sqrt((point + 0.5) / e->count), angle = TURN * GOLDEN * point;
    double x = radius * cos(angle), y = radius * sin(angle);
    camera_axes(camera, &right, &up, &forward);
    SandVec3 by = v3_add(v3_scale(x * focus, right), v3_scale(y * focus, up));
    camera->eye = v3_add(camera->eye, by);
    camera->target = v3_add(camera->target, by);
    camera->shift_x -= x;
    camera->shift_y -= y;
    return true;
}
