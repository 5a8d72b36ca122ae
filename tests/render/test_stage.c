// SPDX-License-Identifier: MIT
// The stage of a scene: colors of materials, places, scenery that bodies carry, and cameras of its own.
#include "tests/lab/window/picture_lab.h"

enum { WIDE = 96, HIGH = 72 };

static const char head[] = "name: t\ngravity: [0, 0, 0]\nboundaries: [{name: floor, shape: plane}]\n"
                           "view: {lower: [-1, -1, 0], upper: [1, 1, 1]}\n";

typedef struct Stage {
    SandScene scene;
    RenderScene picture;
    Camera camera;
} Stage;

static void open_stage(Stage *s, const char *more) {
    char text[2000];
    SandError error = {""};
    snprintf(text, sizeof text, "%s%s", head, more);
    if (!sand_scene_load_text(&s->scene, text, strlen(text), "t.yaml", NULL, &error)) fail_msg("%s", error.text);
    SandWorld *w = &s->scene.world;
    if (!render_scene_init(&s->picture, w, s->scene.view_lower, s->scene.view_upper, &error) ||
        !render_scene_dress(&s->picture, w, &s->scene.studio, &error) ||
        !render_scene_update(&s->picture, w, NULL, 0, COLOR_BY_BODY, &error))
        fail_msg("%s", error.text);
    assert_true(camera_frame(&s->camera, "front", s->picture.lower, s->picture.upper, (double)WIDE / HIGH));
}

static void close_stage(Stage *s) {
    render_scene_free(&s->picture);
    sand_scene_free(&s->scene);
}

static unsigned char *draw_stage(const Stage *s, RendererQuality quality) {
    RendererDef def = renderer_default();
    def.quality = quality;
    draw(&s->picture, &s->camera, &def, WIDE, HIGH);
    return read_back(WIDE, HIGH);
}

// The red, green and blue of the pixel in which a point of the world is seen.
static const unsigned char *pixel_at(const Stage *s, const unsigned char *pixels, SandVec3 point) {
    double x, y;
    camera_project(&s->camera, v3_sub(point, s->picture.origin), &x, &y);
    int column = (int)(0.5 * WIDE + x * HIGH), row = (int)(0.5 * HIGH - y * HIGH);
    assert_in_range(column, 0, WIDE - 1);
    assert_in_range(row, 0, HIGH - 1);
    return pixels + 4 * (row * WIDE + column);
}

// A box, a ball, a stone and a clump of a material show its color, at every quality.
static void test_materials_have_colors(void **state) {
    (void)state;
    static const char *const shapes[] = {"shape: box, size: [0.5, 0.5, 0.5]", "shape: sphere, radius: 0.25",
                                         "shape: rock, scale: 0.4", "shape: two, scale: 0.3"};
    for (int k = 0; k < 4 * QUALITY_COUNT; k++) {
        Stage s;
        char text[600];
        snprintf(text, sizeof text,
                 "shapes:\n  - {name: rock, stone: {seed: 1}}\n"
                 "  - {name: two, spheres: [{center: [0, 0, 0.1], radius: 0.9}, {center: [0, 0, -0.1], radius: 0.9}]}\n"
                 "materials: [{name: a, look: %s, color: [0.5, 0.02, 0.02]}]\n"
                 "bodies: [{%s, position: [0, 0, 0.5]}]\n",
                 k / QUALITY_COUNT < 2 ? "paint" : "stone", shapes[k / QUALITY_COUNT]);
        open_stage(&s, text);
        unsigned char *pixels = draw_stage(&s, (RendererQuality)(k % QUALITY_COUNT));
        const unsigned char *p = pixel_at(&s, pixels, v3_make(0.04, -0.2, 0.55));
        if (!(p[0] > 60 && p[0] > 2 * p[1] && p[0] > 2 * p[2])) fail_msg("case %d: %d %d %d", k, p[0], p[1], p[2]);
        free(pixels);
        close_stage(&s);
    }
}

static void test_none_is_not_drawn(void **state) {
    (void)state;
    Stage with, without;
    open_stage(&with, "materials: [{name: a, look: none}]\nbodies: [{shape: sphere, radius: 0.4, position: [0, 0, 0.5]}]\n");
    open_stage(&without, "bodies: [{shape: sphere, radius: 0.4, position: [0, 0, 0.5], enter: 9}]\n");
    unsigned char *a = draw_stage(&with, QUALITY_HIGH), *b = draw_stage(&without, QUALITY_HIGH);
    assert_memory_equal(a, b, WIDE * HIGH * 4);
    free(a);
    free(b);
    close_stage(&with);
    close_stage(&without);
}

static double apart(const double a[3], const double b[3]) {
    return fabs(a[0] - b[0]) + fabs(a[1] - b[1]) + fabs(a[2] - b[2]);
}

// The same ball in every place: no two have the same colors, neither on the ground nor in the whole picture.
static void test_places_differ(void **state) {
    (void)state;
    static const char *const places[] = {"studio", "table",  "workshop", "stage", "laboratory", "gallery", "hall",
                                         "yard",   "quarry", "regolith", "moon",  "desert",     "snow",    "reactor"};
    enum { PLACES = sizeof places / sizeof *places };
    assert_int_equal(PLACES, SAND_PLACE_COUNT);
    double mean[QUALITY_COUNT][PLACES][3];
    for (int quality = 0; quality < QUALITY_COUNT; quality++)
        for (int k = 0; k < PLACES; k++) {
            Stage s;
            char text[200];
            snprintf(text, sizeof text, "look: {set: %s}\nbodies: [{shape: sphere, radius: 0.2, position: [0, 0, 0.2]}]\n",
                     places[k]);
            open_stage(&s, text);
            unsigned char *pixels = draw_stage(&s, (RendererQuality)quality);
            for (int c = 0; c < 3; c++) {
                mean[quality][k][c] = 0;
                for (int i = 0; i < WIDE * HIGH; i++) mean[quality][k][c] += (double)pixels[4 * i + c] / (WIDE * HIGH);
            }
            free(pixels);
            close_stage(&s);
            for (int other = 0; other < k; other++)
                if (apart(mean[quality][k], mean[quality][other]) < 6)
                    fail_msg("%s and %s look alike at quality %d", places[k], places[other], quality);
        }
}

// What a body carries moves and turns with it, also back in time.
static void test_bodies_carry_scenery(void **state) {
    (void)state;
    Stage s;
    SandError error = {""};
    open_stage(&s, "bodies: [{name: a, shape: sphere, radius: 0.1, position: [0.2, 0, 0.5]}]\n"
                   "scenery: [{shape: rod, look: steel, body: a, from: [0.2, 0, 0.6], to: [0.2, 0, 0.9], radius: 0.02}]\n");
    SandWorld *w = &s.scene.world;
    w->position[0] = v3_make(-0.3, 0.1, 0.4);
    w->velocity[0] = v3_make(2, 0, 0);
    w->rotation[0] = q_exp(v3_make(0, 3.14159265358979 / 2, 0)); // z goes to x
    w->time = 0.1;
    assert_true(render_scene_update(&s.picture, w, NULL, 0.05, COLOR_BY_BODY, &error));
    const RenderSurface *surface = &s.picture.surfaces.data[s.picture.surface_count - 1];
    assert_int_equal(surface->body, 0);
    double lowest = INFINITY, farthest = -INFINITY;
    SandQuat q = {surface->rotation[3], surface->rotation[0], surface->rotation[1], surface->rotation[2]};
    for (uint32_t i = surface->first; i < surface->first + surface->count; i++) {
        const float *p = s.picture.vertices.data[s.picture.indices.data[i]].position;
        SandVec3 at = q_rotate(q, v3_make(p[0], p[1], p[2]));
        double x = at.x + surface->position[0] + s.picture.origin.x;
        lowest = fmin(lowest, x);
        farthest = fmax(farthest, x);
    }
    // The body was at x = -0.4, and the rod reaches from 0.1 to 0.4 beside it.
    assert_float_equal(lowest, -0.3, 1e-6);
    assert_float_equal(farthest, 0.0, 1e-6);
    close_stage(&s);
}

static void test_cameras_have_names(void **state) {
    (void)state;
    Stage s;
    SandError error = {""};
    open_stage(&s, "cameras: [{name: near, eye: [1, -2, 3], target: [0, 0, 0.5], angle: 40}]\n");
    const RenderScene *p = &s.picture;
    Camera camera;
    assert_true(camera_parse(&camera, "near", &p->studio, p->origin, p->lower, p->upper, 1, &error));
    SandVec3 eye = v3_add(camera.eye, p->origin), target = v3_add(camera.target, p->origin);
    assert_true(v3_length(v3_sub(eye, v3_make(1, -2, 3))) < 1e-12 && v3_length(v3_sub(target, v3_make(0, 0, 0.5))) < 1e-12);
    assert_float_equal(camera.angle, 40 * 3.14159265358979 / 180, 1e-12);
    assert_true(camera_parse(&camera, "top", &p->studio, p->origin, p->lower, p->upper, 1, &error));
    assert_false(camera_parse(&camera, "nar", &p->studio, p->origin, p->lower, p->upper, 1, &error));
    assert_non_null(strstr(error.text, "did you mean near"));
    close_stage(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_materials_have_colors), cmocka_unit_test(test_none_is_not_drawn),
        cmocka_unit_test(test_places_differ),         cmocka_unit_test(test_bodies_carry_scenery),
        cmocka_unit_test(test_cameras_have_names),
    };
    return cmocka_run_group_tests_name("stage", tests, open_off_screen, close_context);
}
