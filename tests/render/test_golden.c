// SPDX-License-Identifier: MIT
// Golden pictures: every scene, drawn from a stored state, against a picture that a person has looked at.
//   test_golden          compares them; what is off is written as difference_SCENE.png, eight times as bright
//   test_golden renew    draws them anew (`make golden`); look at each before committing it
#include "tests/lab/window/picture_lab.h"

#include <unistd.h>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include <stb/stb_image.h>

#include "app/io/png.h"
#include "sim/core/array.h"

typedef struct Golden {
    const char *scene;
    int bodies;
    double seconds; // the stored state's time
    RenderColor color;
    const char *camera;
} Golden;

// Every scene of the scenes folder that is not like another; a test compares the two.
static const Golden goldens[] = {
    {"hourglass", 600, 1.2, COLOR_BY_BODY, "default"},   {"clumps", 150, 1.5, COLOR_BY_BODY, "default"},
    {"drum", 500, 1.5, COLOR_BY_SPEED, "default"},       {"heavy", 0, 1.2, COLOR_BY_BODY, "low"},
    {"cylinder", 500, 1, COLOR_BY_BODY, "corner"},       {"ball-drop", 1000, 0.4, COLOR_BY_BODY, "default"},
    {"heap", 400, 1.5, COLOR_BY_BODY, "high"},           {"incline", 0, 1.5, COLOR_BY_BODY, "default"},
    {"pebble-bed", 300, 2, COLOR_BY_BODY, "default"},    {"peer-s1", 300, 1, COLOR_BY_SPEED, "default"},
    {"peer-s2", 500, 0.2, COLOR_BY_SPEED, "default"},    {"stack", 0, 0.3, COLOR_BY_BODY, "default"},
    {"two-spheres", 0, 0.4, COLOR_BY_BODY, "front"},     {"wedge", 0, 0.3, COLOR_BY_BODY, "side"},
    {"wide", 3000, 0.2, COLOR_BY_SPEED, "default"},      {"hopper", 100, 0.6, COLOR_BY_SPEED, "default"},
    {"rover", 300, 0.6, COLOR_BY_BODY, "default"},       {"rubble", 150, 2.5, COLOR_BY_BODY, "default"},
    {"wrecking-ball", 0, 1.6, COLOR_BY_BODY, "default"}, {"newtons-cradle", 0, 0.3, COLOR_BY_BODY, "default"},
    {"engine", 0, 3, COLOR_BY_BODY, "default"},          {"tracked", 200, 1.5, COLOR_BY_BODY, "default"},
};
enum { GOLDENS = sizeof goldens / sizeof *goldens, WIDE = 320, HIGH = 180 };

static void golden_path(const Golden *g, const char *ending, char *path, size_t size) {
    snprintf(path, size, "%s/tests/golden/%s.%s", SAND_SOURCE_DIR, g->scene, ending);
}

// --- the stored state ---------------------------------------------------------------------------------------

// Time, then position, rotation, velocity and spin of each body, as floats.
enum { STORED = 13 };

static void store_state(const Golden *g, const char *path) {
    SandSimulation *sim = lab_scene(g->scene, g->bodies, 2, SAND_FLOAT);
    const SandWorld *w = sand_simulation_world(sim);
    if (!strcmp(g->scene, "wedge")) lab_expect(sim, "is infeasible"); // a ball pressed from both sides
    lab_run(sim, (int)(g->seconds / w->step));
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(&w->time, sizeof w->time, 1, file);
    for (int i = 0; i < w->body_count; i++) {
        SandVec3 x = w->position[i], v = w->velocity[i], s = w->spin[i];
        SandQuat q = w->rotation[i];
        float row[STORED] = {(float)x.x, (float)x.y, (float)x.z, (float)q.w, (float)q.x, (float)q.y, (float)q.z,
                             (float)v.x, (float)v.y, (float)v.z, (float)s.x, (float)s.y, (float)s.z};
        fwrite(row, sizeof row, 1, file);
    }
    assert_int_equal(fclose(file), 0);
    sand_simulation_free(sim);
}

static void read_state(const Golden *g, SandWorld *w) {
    char path[600];
    golden_path(g, "state", path, sizeof path);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s is missing; `make golden` makes it", path);
    assert_int_equal(fread(&w->time, sizeof w->time, 1, file), 1);
    for (int i = 0; i < w->body_count; i++) {
        float row[STORED];
        assert_int_equal(fread(row, sizeof row, 1, file), 1);
        w->position[i] = v3_make(row[0], row[1], row[2]);
        w->rotation[i] = (SandQuat){row[3], row[4], row[5], row[6]};
        w->velocity[i] = v3_make(row[7], row[8], row[9]);
        w->spin[i] = v3_make(row[10], row[11], row[12]);
    }
    fclose(file);
}

// --- drawing and comparing ----------------------------------------------------------------------------------

// Draws the scene as the stored state has it, between two steps.
static unsigned char *draw_golden(const Golden *g, const RendererDef *def) {
    SandError error = {""};
    SandScene scene;
    SandSceneOptions options = {.bodies = g->bodies};
    if (!sand_scene_load(&scene, g->scene, &options, &error)) fail_msg("%s", error.text);
    SandWorld *w = &scene.world;
    read_state(g, w);
    RenderScene p;
    Camera camera;
    if (!render_scene_init(&p, w, scene.view_lower, scene.view_upper, &error)) fail_msg("%s", error.text);
    if (!render_scene_dress(&p, w, &scene.studio, &error)) fail_msg("%s", error.text);
    assert_true(render_scene_update(&p, w, NULL, w->time - 0.4 * w->step, g->color, &error));
    assert_true(camera_frame(&camera, g->camera, p.lower, p.upper, (double)WIDE / HIGH));
    draw(&p, &camera, def, WIDE, HIGH);
    render_scene_free(&p);
    sand_scene_free(&scene);
    return read_back(WIDE, HIGH);
}

static RendererDef golden_look(void) {
    RendererDef def = renderer_default();
    def.quality = QUALITY_HIGH;
    return def;
}

// The share of pixels with a channel off by more than 8/255. Other processors round otherwise: so many may be.
static const double MOST_OFF = 0.005;
static double share_off(const unsigned char *a, const unsigned char *b, unsigned char *difference) {
    int off = 0;
    for (int i = 0; i < WIDE * HIGH; i++) {
        int most = 0;
        for (int c = 0; c < 3; c++) {
            int d = abs(a[4 * i + c] - b[4 * i + c]);
            most = d > most ? d : most;
            if (difference) difference[3 * i + c] = (unsigned char)(d * 8 > 255 ? 255 : d * 8);
        }
        off += most > 8;
    }
    return (double)off / (WIDE * HIGH);
}

static unsigned char *load_golden(const Golden *g) {
    char path[600];
    int w, h, channels;
    golden_path(g, "png", path, sizeof path);
    unsigned char *pixels = stbi_load(path, &w, &h, &channels, 4);
    if (!pixels) fail_msg("%s cannot be read; `make golden` makes it", path);
    assert_int_equal(w, WIDE);
    assert_int_equal(h, HIGH);
    return pixels;
}

static void write_difference(const Golden *g, const unsigned char *difference, double off) {
    char path[200];
    SandError error;
    snprintf(path, sizeof path, "difference_%s.png", g->scene);
    bool written = png_write(path, WIDE, HIGH, 3, difference, &error);
    print_error("%s: %.2f %% of the pixels are off; see %s\n", g->scene, 100 * off, written ? path : error.text);
}

// --- the tests ----------------------------------------------------------------------------------------------

static void test_every_scene_has_a_golden_picture(void **state) {
    (void)state;
    SandSceneEntry *scenes;
    int count;
    SandError error = {""};
    if (!sand_scenes_list(&scenes, &count, &error)) fail_msg("%s", error.text);
    for (int i = 0; i < count; i++) {
        SandScene scene;
        if (!sand_scene_open(&scene, scenes[i].name, NULL, &error)) fail_msg("%s", error.text);
        bool like_another = scene.like[0];
        sand_scene_free(&scene);
        if (like_another) continue;
        int k = 0;
        while (k < GOLDENS && strcmp(goldens[k].scene, scenes[i].name) != 0) k++;
        if (k == GOLDENS) fail_msg("the scene %s has no golden picture: give it a row in test_golden.c", scenes[i].name);
    }
    sand_free(scenes);
}

static void test_golden_pictures(void **state) {
    (void)state;
    static unsigned char difference[WIDE * HIGH * 3];
    int failures = 0;
    for (int k = 0; k < GOLDENS; k++) {
        RendererDef def = golden_look();
        unsigned char *wanted = load_golden(&goldens[k]), *got = draw_golden(&goldens[k], &def);
        double off = share_off(got, wanted, difference);
        if (off > MOST_OFF) {
            write_difference(&goldens[k], difference, off);
            failures++;
        }
        free(got);
        stbi_image_free(wanted);
    }
    assert_int_equal(failures, 0);
}

static void check_noticed(const Golden *g, const RendererDef *def, bool upside_down) {
    unsigned char *wanted = load_golden(g), *got = draw_golden(g, def), row[WIDE * 4];
    for (int y = 0; upside_down && y < HIGH / 2; y++) {
        unsigned char *upper = got + (size_t)y * sizeof row, *lower = got + (size_t)(HIGH - 1 - y) * sizeof row;
        memcpy(row, upper, sizeof row);
        memcpy(upper, lower, sizeof row);
        memcpy(lower, row, sizeof row);
    }
    assert_true(share_off(got, wanted, NULL) > MOST_OFF);
    free(got);
    stbi_image_free(wanted);
}

// The comparison must notice what commonly goes wrong.
static void test_faults_are_noticed(void **state) {
    (void)state;
    RendererDef right = golden_look(), no_shadow = right, twice = right;
    no_shadow.no_shadow = true;
    twice.double_encode = true;
    for (int k = 0; k < 2; k++) {
        check_noticed(&goldens[k], &no_shadow, false);
        check_noticed(&goldens[k], &twice, false);
        check_noticed(&goldens[k], &right, true);
    }
}

// --- renewing -----------------------------------------------------------------------------------------------

static void renew(void) {
    for (int k = 0; k < GOLDENS; k++) {
        char path[600];
        SandError error = {""};
        RendererDef def = golden_look();
        golden_path(&goldens[k], "state", path, sizeof path);
        if (access(path, R_OK) != 0) store_state(&goldens[k], path);
        unsigned char *pixels = draw_golden(&goldens[k], &def);
        golden_path(&goldens[k], "png", path, sizeof path);
        for (int i = 0; i < WIDE * HIGH; i++) memmove(pixels + 3 * i, pixels + 4 * i, 3);
        if (!png_write(path, WIDE, HIGH, 3, pixels, &error)) fprintf(stderr, "%s\n", error.text);
        printf("%s\n", path);
        free(pixels);
    }
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "renew") == 0) {
        if (open_off_screen(NULL) != 0) return 1;
        renew();
        return close_context(NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_scene_has_a_golden_picture),
        cmocka_unit_test(test_golden_pictures),
        cmocka_unit_test(test_faults_are_noticed),
    };
    return cmocka_run_group_tests_name("golden", tests, open_off_screen, close_context);
}
