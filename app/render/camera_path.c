// SPDX-License-Identifier: MIT
// Monotone cubic interpolation through camera keys.
#include "app/render/camera_path.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

bool camera_path_add(CameraPath *path, const CameraKey *key, SandError *error) {
    int at = 0;
    while (at < path->count && path->keys[at].time < key->time) at++;
    bool same = at < path->count && path->keys[at].time == key->time;
    if (!same) {
        if (path->count == CAMERA_KEYS) return sand_fail(error, "there are %d camera keys, and no more fit", CAMERA_KEYS);
        memmove(&path->keys[at + 1], &path->keys[at], (size_t)(path->count - at) * sizeof *path->keys);
        path->count++;
    }
    path->keys[at] = *key;
    return true;
}

// The interpolated quantities: the target, and the eye in spherical coordinates about it. Lengths as logarithms.
enum { TARGET_X, TARGET_Y, TARGET_Z, DISTANCE, AROUND, ABOVE, ANGLE, HEIGHT, CHANNELS };

static void split(const CameraView *view, double channels[CHANNELS]) {
    SandVec3 arm = v3_sub(view->eye, view->target);
    const double all[CHANNELS] = {view->target.x,      view->target.y,
                                  view->target.z,      log(fmax(v3_length(arm), 1e-12)),
                                  atan2(arm.y, arm.x), atan2(arm.z, hypot(arm.x, arm.y)),
                                  view->angle,         log(fmax(view->height, 1e-12))};
    memcpy(channels, all, sizeof all);
}

static CameraView put_together(const double c[CHANNELS], bool orthographic) {
    SandVec3 target = v3_make(c[TARGET_X], c[TARGET_Y], c[TARGET_Z]);
    SandVec3 out = v3_make(cos(c[AROUND]) * cos(c[ABOVE]), sin(c[AROUND]) * cos(c[ABOVE]), sin(c[ABOVE]));
    return (CameraView){.eye = v3_madd(target, exp(c[DISTANCE]), out),
                        .target = target,
                        .orthographic = orthographic,
                        .angle = c[ANGLE],
                        .height = exp(c[HEIGHT])};
}

// Slope at a key from its two secants (Fritsch and Carlson): zero where their signs differ, so that nothing overshoots.
static double slope(double before, double after, double left, double right) {
    if (!(left * right > 0)) return 0;
    double a = 2 * after + before, b = after + 2 * before;
    return (a + b) / (a / left + b / right);
}

// Cubic Hermite between keys 1 and 2 of four; the outer two give the slopes.
static double between(const double t[4], const double y[4], double time) {
    double h = t[2] - t[1], secant = (y[2] - y[1]) / h, s = (time - t[1]) / h;
    double first = t[1] > t[0] ? slope(t[1] - t[0], h, (y[1] - y[0]) / (t[1] - t[0]), secant) : 0;
    double last = t[3] > t[2] ? slope(h, t[3] - t[2], secant, (y[3] - y[2]) / (t[3] - t[2])) : 0;
    double r = 1 - s;
    return r * r * (1 + 2 * s) * y[1] + s * s * (1 + 2 * r) * y[2] + h * s * r * (r * first - s * last);
}

CameraView camera_path_at(const CameraPath *path, double time) {
    const CameraKey *keys = path->keys;
    if (time <= keys[0].time) return keys[0].view;
    if (time >= keys[path->count - 1].time) return keys[path->count - 1].view;
    int k = 0;
    while (keys[k + 1].time <= time) k++;

    double t[4], channels[4][CHANNELS], result[CHANNELS];
    for (int i = 0; i < 4; i++) {
        int key = k - 1 + i < 0 ? 0 : k - 1 + i >= path->count ? path->count - 1 : k - 1 + i;
        t[i] = keys[key].time;
        split(&keys[key].view, channels[i]);
        // The shorter way around.
        if (i > 0) channels[i][AROUND] -= 2 * PI * round((channels[i][AROUND] - channels[i - 1][AROUND]) / (2 * PI));
    }
    for (int c = 0; c < CHANNELS; c++) {
        double y[4] = {channels[0][c], channels[1][c], channels[2][c], channels[3][c]};
        result[c] = between(t, y, time);
    }
    return put_together(result, keys[k].view.orthographic);
}
