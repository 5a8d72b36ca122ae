// SPDX-License-Identifier: MIT
// Which bodies a picture may show (app/render/visible.h), against rays through every sample; and the tiles of a shadow map.
#include "tests/lab/lab.h"

#include "app/render/depth_tiles.h"
#include "app/render/visible.h"

enum { WIDTH = 96, HEIGHT = 72, BALLS = 1500 };

typedef struct Pile {
    SandInstance balls[BALLS];
    Camera camera;
    FrameUniforms frame;
    int samples;
    float nearest[WIDTH * HEIGHT]; // of each pixel: the depth that no sample of it is behind
    bool shown[BALLS];             // the nearest of some sample
    DepthPyramid pyramid;
} Pile;

static SandVec3 center_of(const SandInstance *it) { return v3_make(it->center[0], it->center[1], it->center[2]); }

// Balls in a cube, so many that most are hidden.
static void fill(Pile *pile) {
    SandRandom random = sand_random(7);
    for (int k = 0; k < BALLS; k++) {
        SandInstance *it = &pile->balls[k];
        *it = (SandInstance){.radius = (float)(0.09 + 0.06 * sand_random_unit(&random))};
        for (int a = 0; a < 3; a++) it->center[a] = (float)(2 * sand_random_unit(&random) - 1);
    }
}

// The depth that a ray through a point of the picture finds of a ball, 0: none. The picture reaches from -1 to 1.
static double cast(const Pile *pile, double x, double y, const SandInstance *it) {
    const Camera *c = &pile->camera;
    SandVec3 right, up, forward, start = c->eye, direction;
    double half = c->orthographic ? 0.5 * c->height : tan(0.5 * c->angle);
    camera_axes(c, &right, &up, &forward);
    SandVec3 aside = v3_add(v3_scale(x * half * WIDTH / HEIGHT, right), v3_scale(y * half, up));
    if (c->orthographic) start = v3_add(start, aside);
    direction = c->orthographic ? forward : v3_add(forward, aside);
    SandVec3 from = v3_sub(start, center_of(it));
    double a = v3_dot(direction, direction), b = v3_dot(direction, from),
           d = b * b - a * (v3_dot(from, from) - it->radius * it->radius);
    if (d < 0) return 0;
    double along = (-b - sqrt(d)) / a; // in units of the distance from the eye
    return c->orthographic ? (c->far - along) / (c->far - c->near) : c->near / along;
}

static double cast_all(Pile *pile, double x, double y) {
    double nearest = 0;
    int owner = -1;
    for (int k = 0; k < BALLS; k++) {
        double depth = cast(pile, x, y, &pile->balls[k]);
        if (depth > nearest) {
            nearest = depth;
            owner = k;
        }
    }
    if (owner >= 0) pile->shown[owner] = true;
    return nearest;
}

static void draw(Pile *pile) {
    int side = pile->samples, width = WIDTH * side, height = HEIGHT * side;
    for (int k = 0; k < WIDTH * HEIGHT; k++) pile->nearest[k] = 1;
    memset(pile->shown, 0, sizeof pile->shown);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float *pixel = &pile->nearest[y / side * WIDTH + x / side];
            *pixel = fminf(*pixel, (float)cast_all(pile, (2 * x + 1.0) / width - 1, (2 * y + 1.0) / height - 1));
        }
}

static void look(Pile *pile, const char *view, int samples) {
    SandError error = {""};
    RendererDef def = renderer_default();
    RenderScene scene = {.lower = v3_make(-1, -1, -1), .upper = v3_make(1, 1, 1), .grain = 0.05};
    def.samples = pile->samples = samples;
    if (!camera_parse(&pile->camera, view, NULL, scene.origin, scene.lower, scene.upper, (double)WIDTH / HEIGHT, &error))
        fail_msg("%s", error.text);
    pile->frame = frame_uniforms(&scene, &pile->camera, &def, WIDTH * samples, HEIGHT * samples);
    draw(pile);
    if (!depth_pyramid_make(&pile->pyramid, pile->nearest, WIDTH, HEIGHT, &error)) fail_msg("%s", error.text);
}

// None that shows is left out, and of those that do not show most are.
static void test_visible(void **state) {
    static const char *const views[] = {"default", "elevation", "plan"};
    Pile *pile = calloc(1, sizeof *pile);
    (void)state;
    fill(pile);
    for (int k = 0; k < 6; k++) {
        int shown = 0, kept = 0;
        look(pile, views[k / 2], 1 + k % 2);
        for (int i = 0; i < BALLS; i++) {
            bool visible = instance_visible(&pile->balls[i], false, &pile->frame, pile->samples, &pile->pyramid);
            if (pile->shown[i] && !visible) fail_msg("%s: ball %d shows, and is left out", views[k / 2], i);
            shown += pile->shown[i];
            kept += visible;
        }
        print_message("%s%s, %d samples: of %d balls %d show, %d are kept\n", views[k / 2],
                      pile->camera.orthographic ? " (orthographic)" : "", pile->samples * pile->samples, BALLS, shown, kept);
        assert_true(shown > 100 && kept < BALLS * 3 / 4);
    }
    depth_pyramid_free(&pile->pyramid);
    free(pile);
}

// Before a wall, in it, just behind it and far behind it. The edges of a convex body are drawn a little in front of it, and
// the pieces of a clump may be anywhere about its center.
static void test_wall(void **state) {
    Pile *pile = calloc(1, sizeof *pile);
    SandVec3 right, up, forward;
    (void)state;
    look(pile, "front", 1);
    camera_axes(&pile->camera, &right, &up, &forward);
    double distance = v3_dot(forward, v3_scale(-1, pile->camera.eye)), wall = pile->camera.near / distance;
    for (int k = 0; k < WIDTH * HEIGHT; k++) pile->nearest[k] = (float)wall;
    SandError error = {""};
    assert_true(depth_pyramid_make(&pile->pyramid, pile->nearest, WIDTH, HEIGHT, &error));
    const struct {
        double behind; // m, from the wall to the nearest point of a ball of 0.1 m
        bool ball, convex, clump;
    } cases[] = {{-0.2, true, true, true}, {-0.01, true, true, true}, {0.01, false, true, true}, {1, false, false, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        SandVec3 at = v3_scale(cases[k].behind + 0.1, forward);
        SandInstance ball = {.center = {(float)at.x, (float)at.y, (float)at.z}, .radius = 0.1f}, hull = ball, clump = ball;
        hull.radius = 0;
        hull.offset[0] = hull.offset[1] = hull.offset[2] = 0.1f;
        clump.offset[0] = 0.05f;
        assert_int_equal(instance_visible(&ball, false, &pile->frame, 1, &pile->pyramid), cases[k].ball);
        assert_int_equal(instance_visible(&hull, true, &pile->frame, 1, &pile->pyramid), cases[k].convex);
        assert_int_equal(instance_visible(&clump, false, &pile->frame, 1, &pile->pyramid), cases[k].clump);
    }
    depth_pyramid_free(&pile->pyramid);
    free(pile);
}

// The nearer of two images, one of which came in tiles; of an empty image there are none.
static void test_tiles(void **state) {
    enum { SIDE = 5 * DEPTH_TILE };
    float(*images)[SIDE * SIDE] = calloc(3, sizeof *images);
    SandRandom random = sand_random(3);
    DepthTiles tiles = {0};
    SandError error = {""};
    (void)state;
    assert_true(depth_tiles_pack(&tiles, images[0], SIDE, &error) && tiles.count == 0);
    for (int k = 0; k < 40; k++) {
        int at = (int)(sand_random_unit(&random) * SIDE * SIDE), row = at % SIDE < SIDE / 2 ? at % SIDE : at % SIDE / 2;
        images[k % 2][(size_t)(at / SIDE) * SIDE + (size_t)row] = (float)sand_random_unit(&random);
    }
    images[0][1] = 0.5f, images[1][1] = 0.25f, images[0][2] = 0.25f, images[1][2] = 0.5f;
    for (int k = 0; k < SIDE * SIDE; k++) images[2][k] = fmaxf(images[0][k], images[1][k]);
    assert_true(depth_tiles_pack(&tiles, images[0], SIDE, &error));
    assert_true(tiles.count > 0 && tiles.count <= 15); // the right third of the image is empty
    depth_tiles_merge(tiles.items, tiles.count, images[1], SIDE);
    assert_memory_equal(images[1], images[2], sizeof *images);
    depth_tiles_free(&tiles);
    free(images);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_visible), cmocka_unit_test(test_wall),
                                       cmocka_unit_test(test_tiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
