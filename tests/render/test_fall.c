// SPDX-License-Identifier: MIT
// Frame k of a film of a free fall shows the ball where it is at k / 60 s: the program films it, and the ball is
// found in the pictures.
//
// The scheme moves by h v' with v' = v + h g, so after n steps a ball at rest has fallen g h^2 n (n + 1) / 2, and between
// two steps it is on the straight line between them. That is what is meant by its position at a time, and what the frames
// must show within half a pixel. It lies g h t / 2 below g t^2 / 2: with h = 0.5 ms and after the 0.4 s filmed here, 1 mm. A
// pixel is 3.1 mm, so that is a third of a pixel, and the frames show g t^2 / 2 within half a pixel as well. The nearest
// step in place of the instant would be up to 2 mm off, and the frame before it 65 mm.
#include "sandglass/math.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>

static const char *program;

enum { FRAMES = 25, WIDTH = 240, HEIGHT = 480 };
static const double STEP = 0.0005, GRAVITY = 9.81, RADIUS = 0.1, START = 1.2, AWAY = 3;

// How far the scheme has fallen at a time.
static double fallen(double time) {
    double steps = time / STEP, n = floor(steps + 1e-9), part = steps - n;
    double here = GRAVITY * STEP * STEP * n * (n + 1) / 2;
    return here + part * GRAVITY * STEP * STEP * (n + 1);
}

// The middle of the ball's picture, in rows from the top. The camera is level with height `level`: the ball is seen under an
// angle a above or below, its edges at a - b and a + b with sin b = radius / distance.
static double seen_at(double height, double level) {
    double rise = height - level, distance = hypot(rise, AWAY), a = atan2(rise, AWAY), b = asin(RADIUS / distance);
    double half = tan(0.5 * 28 * 3.14159265358979323846 / 180); // the camera's angle is 28 degrees
    return 0.5 * HEIGHT * (1 - 0.5 * (tan(a + b) + tan(a - b)) / half);
}

// The middle of what is not transparent.
static double found_at(const char *path) {
    int width = 0, height = 0, channels = 0;
    unsigned char *pixels = stbi_load(path, &width, &height, &channels, 4);
    if (!pixels) fail_msg("%s: %s", path, stbi_failure_reason());
    assert_true(width == WIDTH && height == HEIGHT && channels == 4);
    double sum = 0, moment = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double alpha = pixels[4 * (y * width + x) + 3];
            sum += alpha;
            moment += alpha * (y + 0.5);
        }
    stbi_image_free(pixels);
    assert_true(sum > 255 * 1000); // a ball of some thousand pixels
    return moment / sum;
}

static void frames_show_the_instant(void **state) {
    (void)state;
    char folder[] = "/tmp/sandglass-fall-XXXXXX", path[256], command[1024];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/fall.yaml", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "name: fall\nstep: %g\ngravity: [0, 0, %g]\nworld: {lower: [-9, -9, -9], upper: [9, 9, 9]}\n"
            "view: {lower: [-1, -1, 0], upper: [1, 1, 2]}\n"
            "bodies:\n  - {shape: sphere, radius: %g, position: [0, 0, %g]}\n",
            STEP, -GRAVITY, RADIUS, START);
    fclose(file);
    double level = 0.8;
    snprintf(command, sizeof command,
             "%s record %s --out %s/frames --frames %d --fps 60 --size %dx%d --samples 1 --quality low --alpha "
             "--camera 0,-%g,%g,0,0,%g 2>%s/err || { cat %s/err; false; }",
             program, path, folder, FRAMES, WIDTH, HEIGHT, AWAY, level, level, folder, folder);
    assert_int_equal(system(command), 0);

    double worst = 0, worst_free = 0;
    for (int k = 0; k < FRAMES; k++) {
        snprintf(path, sizeof path, "%s/frames/frame_%05d.png", folder, k);
        double time = k / 60.0, row = found_at(path);
        worst = fmax(worst, fabs(row - seen_at(START - fallen(time), level)));
        worst_free = fmax(worst_free, fabs(row - seen_at(START - GRAVITY * time * time / 2, level)));
    }
    printf("furthest off the scheme: %.3f pixels; off g t^2 / 2: %.3f pixels\n", worst, worst_free);
    assert_true(worst < 0.2); // half a pixel is asked for; the state of the nearest step is 0.37 off
    assert_true(worst_free < 0.5);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(int argc, char **argv) {
    if (argc < 2) return printf("test_fall PROGRAM\n"), 2;
    program = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_show_the_instant)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
