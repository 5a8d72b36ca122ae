// SPDX-License-Identifier: MIT
// What changes the look of a picture: the cut, force chains, color ranges, the frame and shadow of a glass, exposures.
#include "tests/lab/window/picture_lab.h"

#include "app/render/accumulator.h"
#include "sim/geometry/revolution.h"

enum { WIDE = 200, HIGH = 120, BYTES = 4 * WIDE * HIGH };

static const Camera front = {.eye = {0, -8, 1}, .target = {0, 0, 0}, .angle = 0.7, .near = 0.2, .far = 60};

static SandInstance ball_at(double x, double y, double z) {
    return (SandInstance){.center = {(float)x, (float)y, (float)z}, .radius = 0.6f, .rotation = {0, 0, 0, 1}};
}

static RenderScene scene_of(SandInstance *balls, int count) {
    return (RenderScene){.lower = {-3, -3, -1},
                         .upper = {3, 3, 2},
                         .floor = -1,
                         .grain = 0.6,
                         .chain_range = 100,
                         .spheres = {balls, count},
                         .version = UINT32_MAX - 1}; // no surfaces
}

static unsigned char *picture_of(const RenderScene *scene, const RendererDef *def) {
    draw(scene, &front, def, WIDE, HIGH);
    return read_back(WIDE, HIGH);
}

static int differences(const unsigned char *a, const unsigned char *b) {
    int count = 0;
    for (int i = 0; i < WIDE * HIGH; i++) count += memcmp(a + 4 * i, b + 4 * i, 4) != 0;
    return count;
}

// --- the cut ------------------------------------------------------------------------------------------------

// Bodies beyond the plane leave neither themselves nor a shadow, also when only the cut has changed since the last picture.
static void test_what_is_cut_leaves_nothing(void **state) {
    (void)state;
    SandInstance balls[2] = {ball_at(-1.2, 0, 0), ball_at(1.2, 0, 0)};
    for (int quality = 0; quality < QUALITY_COUNT; quality++) {
        RendererDef def = renderer_default(), cut = def;
        def.quality = cut.quality = (RendererQuality)quality;
        cut.cut = true;
        cut.cut_normal = v3_make(-2, 0, 0);
        cut.cut_offset = 1; // x < -0.5 in the world
        RenderScene both = scene_of(balls, 2), right = scene_of(balls + 1, 1);
        both.stamp = 1000 + (uint64_t)quality;
        unsigned char *wanted = picture_of(&right, &def), *whole = picture_of(&both, &def), *got = picture_of(&both, &cut);
        assert_true(differences(whole, wanted) > 100);
        assert_memory_equal(got, wanted, BYTES);
        both.stamp++;
        both.origin = v3_make(-3, 0, 0); // both are beyond it now
        unsigned char *none = picture_of(&both, &cut);
        RenderScene empty = scene_of(balls, 0);
        unsigned char *nothing = picture_of(&empty, &def);
        assert_memory_equal(none, nothing, BYTES);
        free(wanted);
        free(whole);
        free(got);
        free(none);
        free(nothing);
    }
}

// --- force chains -------------------------------------------------------------------------------------------

static RenderLink link_at(double z, double value) {
    return (RenderLink){.from = {-1, 0, (float)z}, .to = {1, 0, (float)z}, .value = (float)value, .half_width = 0.15f};
}

// A threshold, as a share or as a force, leaves out the weaker of two links; a scale makes them wider; a cut hides them.
static void test_chains_have_threshold_scale_and_cut(void **state) {
    (void)state;
    RenderLink links[2] = {link_at(0.8, 0.2), link_at(-0.4, 0.8)};
    for (int quality = 0; quality < QUALITY_COUNT; quality++) {
        RendererDef def = renderer_default();
        def.quality = (RendererQuality)quality;
        RenderScene both = scene_of(NULL, 0), strong = both, none = both;
        both.chains = strong.chains = none.chains = true;
        both.links = (RenderLinks){links, 2};
        strong.links = (RenderLinks){links + 1, 1};
        unsigned char *wanted = picture_of(&strong, &def), *empty = picture_of(&none, &def);
        int width = differences(wanted, empty);
        assert_true(width > 200);

        RendererDef share = def, force = def, wide = def, cut = def;
        share.chain_threshold = 0.5;
        force.chain_least = 50; // of 100 N
        wide.chain_scale = 2;
        cut.cut = true;
        cut.cut_normal = v3_make(0, 0, 1);
        RendererDef same[3] = {share, force, cut};
        for (int k = 0; k < 3; k++) {
            unsigned char *got = picture_of(&both, &same[k]);
            assert_memory_equal(got, wanted, BYTES);
            free(got);
        }
        unsigned char *wider = picture_of(&strong, &wide);
        assert_true(differences(wider, empty) > 1.6 * width && differences(wider, empty) < 2.6 * width);
        free(wanted);
        free(empty);
        free(wider);
    }
}

// A tube is round: brightest inside its outline, and darker towards the edge that is away from the light.
static void test_chains_are_round(void **state) {
    (void)state;
    RenderLink link = link_at(0, 0.8);
    link.half_width = 0.5f;
    RenderScene scene = scene_of(NULL, 0);
    RendererDef def = renderer_default();
    scene.chains = true;
    scene.links = (RenderLinks){&link, 1};
    unsigned char *pixels = picture_of(&scene, &def);
    int top = -1, bottom = -1, brightest = 0, where = 0;
    for (int y = 0; y < HIGH; y++) {
        const unsigned char *p = pixels + 4 * (y * WIDE + WIDE / 2);
        if (p[0] < p[2] + 60) continue; // the backdrop is not orange
        if (top < 0) top = y;
        bottom = y;
        if (p[0] + p[1] > brightest) {
            brightest = p[0] + p[1];
            where = y;
        }
    }
    assert_true(bottom - top > 10 && where > top + 1 && where < bottom - 1);
    const unsigned char *edge = pixels + 4 * ((bottom - 1) * WIDE + WIDE / 2);
    assert_true(edge[0] + edge[1] < 0.8 * brightest);
    free(pixels);
}

// --- ranges -------------------------------------------------------------------------------------------------

static void test_ranges_are_set_and_fitted(void **state) {
    (void)state;
    enum { COUNT = 200 };
    SandError error = {""};
    SandWorld world = lab_world(0);
    for (int i = 0; i < COUNT; i++) lab_body(&world, 0, 0.1, v3_make(0.5 * i, 0, 0));
    for (int i = 0; i < COUNT; i++) world.velocity[i] = v3_make(2 + 0.01 * i, 0, 0);
    RenderScene scene;
    assert_true(render_scene_init(&scene, &world, v3_make(0, -1, -1), v3_make(100, 1, 1), &error));

    scene.limits = (RenderRange){RANGE_SET, 2.5, 3.5};
    assert_true(render_scene_update(&scene, &world, NULL, world.time, COLOR_BY_SPEED, &error));
    assert_true(scene.least == 2.5 && scene.range == 3.5 && !scene.logarithmic);
    NEAR(scene.spheres.items[100].value, 0.5, 1e-6);
    NEAR(scene.spheres.items[20].value, 0, 1e-6); // below the range
    NEAR(scene.spheres.items[180].value, 1, 1e-6);

    scene.limits = (RenderRange){.mode = RANGE_FIT};
    assert_true(render_scene_update(&scene, &world, NULL, world.time, COLOR_BY_SPEED, &error));
    NEAR(scene.least, 2, 1e-6);
    NEAR(scene.range, 3.97, 1e-6); // two of two hundred are above

    scene.limits = (RenderRange){RANGE_SET, 1e-4, 1e-2};
    assert_true(render_scene_update(&scene, &world, NULL, world.time, COLOR_BY_RESIDUAL, &error));
    assert_true(scene.logarithmic && scene.least == 1e-4);
    render_scene_free(&scene);
    sand_world_free(&world);
}

// --- the hourglass ------------------------------------------------------------------------------------------

typedef struct Glass {
    SandScene scene;
    RenderScene bare, framed;
} Glass;

static void open_glass(Glass *g) {
    SandError error = {""};
    SandSceneOptions options = {.bodies = 300};
    SandScene *s = &g->scene;
    if (!sand_scene_load(s, "hourglass", &options, &error)) fail_msg("%s", error.text);
    assert_true(render_scene_init(&g->bare, &s->world, s->view_lower, s->view_upper, &error));
    assert_true(render_scene_init(&g->framed, &s->world, s->view_lower, s->view_upper, &error));
    assert_true(render_scene_dress(&g->framed, &s->world, &s->studio, &error));
}

static void close_glass(Glass *g) {
    render_scene_free(&g->bare);
    render_scene_free(&g->framed);
    sand_scene_free(&g->scene);
}

// The frame is wood and brass, around the glass and never in it, moves with it, stands on the ground and is in view.
static void test_the_hourglass_has_a_frame(void **state) {
    (void)state;
    Glass g;
    open_glass(&g);
    const SandBoundary *b = &g.scene.world.boundaries[0];
    const RenderScene *scene = &g.framed;
    double radius = 0, high = 0;
    int wood = 0, brass = 0;
    for (int i = 0; i < b->profile_count; i++) {
        radius = fmax(radius, b->segments[i].rho);
        high = fmax(high, b->segments[i].z);
    }
    assert_true(scene->surface_count > g.bare.surface_count && scene->floor < g.bare.floor);
    for (int k = g.bare.surface_count; k < scene->surface_count; k++) {
        const RenderSurface *s = &scene->surfaces.data[k];
        assert_true(s->boundary == 0 && !s->in_world && s->count && s->coarse_count && s->coarse_count < s->count);
        wood += s->look == LOOK_WOOD;
        brass += s->look == LOOK_BRASS;
        for (uint32_t i = s->first; i < s->first + s->count; i++) {
            const float *p = scene->vertices.data[scene->indices.data[i]].position;
            assert_true(fabs(p[2]) > high || hypot(p[0], p[1]) > 1.02 * radius);
            assert_true(p[2] + b->pose.position.z - scene->origin.z >= scene->floor - 1e-4);
            assert_true(p[2] + b->pose.position.z - scene->origin.z <= scene->upper.z + 1e-4);
        }
    }
    assert_true(wood == 1 && brass == 1);
    close_glass(&g);
}

// An empty glass darkens some of the ground, and leaves no part of it black.
static void test_glass_casts_a_light_shadow(void **state) {
    (void)state;
    SandError error = {""};
    Glass g;
    open_glass(&g);
    RenderScene *scene = &g.bare;
    Camera camera;
    assert_true(render_scene_update(scene, &g.scene.world, NULL, 0, COLOR_BY_BODY, &error));
    render_scene_clear(scene);
    camera_frame(&camera, "default", scene->lower, scene->upper, (double)WIDE / HIGH);
    camera_zoom(&camera, 0.6); // with the ground that the shadow falls on
    for (int quality = 0; quality < QUALITY_COUNT; quality++) {
        RendererDef def = renderer_default(), without = def;
        def.quality = without.quality = (RendererQuality)quality;
        without.no_shadow = true;
        draw(scene, &camera, &def, WIDE, HIGH);
        unsigned char *with = read_back(WIDE, HIGH);
        draw(scene, &camera, &without, WIDE, HIGH);
        unsigned char *lit = read_back(WIDE, HIGH);
        int darker = 0;
        for (int i = 0; i < WIDE * HIGH; i++) {
            darker += with[4 * i] < 0.93 * lit[4 * i];
            assert_true(with[4 * i] > 0.5 * lit[4 * i]);
        }
        if (darker < 100) fail_msg("%s quality: %d pixels are darker", renderer_quality_names[quality], darker);
        free(with);
        free(lit);
    }
    close_glass(&g);
}

// --- exposures ----------------------------------------------------------------------------------------------

// The mean of equal pictures is that picture, and of a black and a white one it is gray in linear light.
static void test_mean_of_pictures(void **state) {
    (void)state;
    SandError error = {""};
    SandInstance ball = ball_at(0, 0, 0);
    RenderScene scene = scene_of(&ball, 1);
    Accumulator *accumulator = accumulator_create(WIDE, HIGH, &error);
    if (!accumulator) fail_msg("%s", error.text);
    for (int k = 0; k < 2; k++) {
        RendererDef def = renderer_default();
        def.transparent = k;
        unsigned char *wanted = picture_of(&scene, &def);
        accumulator_clear(accumulator);
        for (int i = 0; i < 3; i++) accumulator_add(accumulator, renderer_texture(renderer));
        accumulator_finish(accumulator, renderer_overdraw(renderer));
        no_errors();
        unsigned char *got = read_back(WIDE, HIGH);
        for (int i = 0; i < BYTES; i++)
            if (wanted[i | 3]) NEAR(got[i], wanted[i], 1);
        free(wanted);
        free(got);
    }
    static const float shades[2][4] = {{0, 0, 0, 1}, {1, 1, 1, 1}};
    accumulator_clear(accumulator);
    for (int k = 0; k < 2; k++) {
        glClearNamedFramebufferfv(renderer_overdraw(renderer), GL_COLOR, 0, shades[k]);
        accumulator_add(accumulator, renderer_texture(renderer));
    }
    accumulator_finish(accumulator, renderer_overdraw(renderer));
    unsigned char *gray = read_back(WIDE, HIGH);
    for (int i = 0; i < BYTES; i++) NEAR(gray[i], i % 4 == 3 ? 255 : 188, 1); // sRGB of one half
    free(gray);
    accumulator_free(accumulator);
}

// A shifted picture plane moves the picture by as many pixels, in both projections, and changes nothing else.
static void test_shift_moves_the_picture(void **state) {
    (void)state;
    enum { BY = 7 };
    SandInstance ball = ball_at(0.3, 0, 0);
    RenderScene scene = scene_of(&ball, 1);
    for (int k = 0; k < 2; k++) {
        Camera camera = front, moved;
        camera.orthographic = k;
        camera.height = 5;
        moved = camera;
        moved.shift_x = -BY * (k ? camera.height : 2 * tan(0.5 * camera.angle)) / HIGH;
        RendererDef def = renderer_default();
        def.transparent = true;
        draw(&scene, &camera, &def, WIDE, HIGH);
        unsigned char *a = read_back(WIDE, HIGH);
        draw(&scene, &moved, &def, WIDE, HIGH);
        unsigned char *b = read_back(WIDE, HIGH);
        for (int y = 0; y < HIGH; y++)
            for (int x = 0; x + BY < WIDE; x++) NEAR(b[4 * (y * WIDE + x + BY) + 3], a[4 * (y * WIDE + x) + 3], 6);
        free(a);
        free(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_cut_leaves_nothing), cmocka_unit_test(test_chains_have_threshold_scale_and_cut),
        cmocka_unit_test(test_chains_are_round),           cmocka_unit_test(test_ranges_are_set_and_fitted),
        cmocka_unit_test(test_the_hourglass_has_a_frame),  cmocka_unit_test(test_glass_casts_a_light_shadow),
        cmocka_unit_test(test_mean_of_pictures),           cmocka_unit_test(test_shift_moves_the_picture),
    };
    return cmocka_run_group_tests_name("look", tests, open_off_screen, close_context);
}
