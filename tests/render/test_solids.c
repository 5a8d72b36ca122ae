// SPDX-License-Identifier: MIT
// Pictures of convex bodies, drawn off-screen: silhouettes against projected corners, depths against picking, shadows.
//   test_solids              all tests
//   test_solids draw FOLDER  writes pictures of a pile, for a person to look at
#include "tests/lab/window/picture_lab.h"
#include "tests/lab/window/pile_lab.h"

#include "app/io/png.h"
#include "app/ui/input.h"
#include "app/ui/interface.h"
#include "app/ui/marks.h"

enum { WIDE = 320, HIGH = 180 };

// A picture of a world, from a preset or from where one says.
typedef struct Pictured {
    SandWorld world;
    RenderScene scene;
    Camera camera;
} Pictured;

static Pictured show(SandWorld world, SandVec3 lower, SandVec3 upper, RenderColor color, double aspect) {
    Pictured p = {.world = world};
    SandError error = {""};
    if (!render_scene_init(&p.scene, &p.world, lower, upper, &error)) fail_msg("%s", error.text);
    if (!render_scene_update(&p.scene, &p.world, NULL, world.time, color, &error)) fail_msg("%s", error.text);
    assert_true(camera_frame(&p.camera, "default", p.scene.lower, p.scene.upper, aspect));
    return p;
}

static void drop(Pictured *p) {
    render_scene_free(&p->scene);
    sand_world_free(&p->world);
}

static Pictured show_pile(RenderColor color, double aspect) {
    SandWorld world = pile_world();
    for (int i = 0; i < world.body_count; i++) world.velocity[i] = v3_make(0.02 * i, 0, 0);
    return show(world, v3_make(-0.7, -0.7, 0), v3_make(0.7, 0.7, 0.4), color, aspect);
}

// --- silhouettes --------------------------------------------------------------------------------------------

// How much of a pixel a convex body covers, by rays through side x side points of it.
static double coverage(const Pictured *p, int x, int y, int side) {
    RendererDef whole = {0};
    int inside = 0;
    for (int k = 0; k < side * side; k++) {
        double px = (x + (k % side + 0.5) / side) / WIDE, py = 1 - (y + (k / side + 0.5) / side) / HIGH;
        SandVec3 from, direction, point;
        input_ray(&p->camera, (double)WIDE / HIGH, px, py, &from, &direction);
        inside += input_pick(&p->scene, &whole, from, direction, &point) >= 0;
    }
    return (double)inside / (side * side);
}

// Draws one body and compares the opacity of every pixel with how much of it is covered. Smoothing is exact for a pixel that
// one long edge crosses along a row or column, and off where two meet, or an edge leaves it through a third side.
static void check_silhouette(SandShape *shape, bool orthographic) {
    SandWorld world = lab_world(0);
    int number = sand_world_add_shape(&world, shape, NULL), body = lab_body(&world, number, 1, v3_make(0, 0, 0));
    world.rotation[body] = q_unit((SandQuat){0.7, 0.4, -0.5, 0.2});
    Pictured p = show(world, v3_make(-2, -2, -2), v3_make(2, 2, 2), COLOR_BY_BODY, (double)WIDE / HIGH);
    if (orthographic) assert_true(camera_frame(&p.camera, "elevation", p.scene.lower, p.scene.upper, (double)WIDE / HIGH));
    assert_int_equal(p.camera.orthographic, orthographic);
    RendererDef def = renderer_default();
    def.transparent = true;
    draw(&p.scene, &p.camera, &def, WIDE, HIGH);
    unsigned char *pixels = read_back(WIDE, HIGH);
    double worst = 0, area = 0, drawn = 0, wrong = 0;
    for (int y = 0; y < HIGH; y++)
        for (int x = 0; x < WIDE; x++) {
            double got = pixels[4 * (y * WIDE + x) + 3] / 255.0, want = coverage(&p, x, y, 2);
            if (got != want || (want != 0 && want != 1)) want = coverage(&p, x, y, 16);
            worst = fmax(worst, fabs(got - want));
            wrong += fabs(got - want) > 0.25;
            area += want;
            drawn += got;
        }
    print_message("area %.1f pixels, drawn %.1f, worst pixel %.2f, %g off by a quarter\n", area, drawn, worst, wrong);
    assert_true(area > 1000);
    NEAR(drawn, area, 0.002 * area); // a twentieth of a pixel along the outline, and the facets of round bodies
    assert_true(worst < 0.6 && wrong <= 10);
    free(pixels);
    drop(&p);
}

static void silhouettes_cover_what_rays_meet(void **state) {
    (void)state;
    for (int view = 0; view < 2; view++) {
        SandShape stone, box, capsule, cylinder;
        SandStoneDef def = sand_default_stone();
        assert_true(sand_shape_stone(&stone, &def, NULL));
        assert_true(sand_shape_box(&box, v3_make(1, 0.7, 0.4), NULL));
        assert_true(sand_shape_capsule(&capsule, 0.5, 1.6, NULL));
        assert_true(sand_shape_cylinder(&cylinder, 0.8, 1.5, NULL));
        check_silhouette(&stone, view);
        check_silhouette(&box, view);
        check_silhouette(&capsule, view);
        check_silhouette(&cylinder, view);
    }
}

// --- a pile -------------------------------------------------------------------------------------------------

// In a pile of all kinds the body that a ray picks is where the depth of the picture says. Round bodies are drawn with
// facets, which lie inside of them by 1 - cos(pi / 64), and rays miss a facet's edge by as much.
static void what_is_drawn_is_picked(void **state) {
    (void)state;
    Pictured p = show_pile(COLOR_BY_BODY, (double)WIDE / HIGH);
    RendererDef def = renderer_default(), whole = {0};
    def.transparent = true;
    draw(&p.scene, &p.camera, &def, WIDE, HIGH);
    float *depth = malloc(WIDE * HIGH * sizeof *depth);
    renderer_read_depth(renderer, 0, 0, WIDE, HIGH, depth);
    SandVec3 right, up, forward;
    camera_axes(&p.camera, &right, &up, &forward);
    int seen = 0, off = 0;
    bool met[PILE_BODIES] = {false};
    for (int i = 0; i < WIDE * HIGH; i++) {
        SandVec3 from, direction, point;
        input_ray(&p.camera, (double)WIDE / HIGH, (i % WIDE + 0.5) / WIDE, (i / WIDE + 0.5) / HIGH, &from, &direction);
        int body = input_pick(&p.scene, &whole, from, direction, &point);
        if (body < 0 && depth[i] <= 0) continue;
        double want = body < 0 ? 0 : v3_dot(v3_sub(point, p.camera.eye), forward), got = p.camera.near / depth[i];
        seen++;
        off += body < 0 || depth[i] <= 0 || fabs(got - want) > 1e-3;
        if (body >= 0) met[body] = true;
    }
    int bodies = 0;
    for (int i = 0; i < PILE_BODIES; i++) bodies += met[i];
    print_message("%d of %d pixels off, %d bodies seen\n", off, seen, bodies);
    assert_true(seen > 5000 && bodies > 60);
    assert_true(off < 0.05 * seen); // on the outlines: balls are drawn where they cover a pixel whole
    free(depth);
    drop(&p);
}

static double share_of_difference(const unsigned char *a, const unsigned char *b) {
    int off = 0;
    for (int i = 0; i < WIDE * HIGH; i++) off += abs(a[4 * i] - b[4 * i]) > 20;
    return (double)off / (WIDE * HIGH);
}

// Every quality draws the bodies, their shadows, and their colors; the same picture twice, and the same by compute shaders.
static void every_quality_and_color(void **state) {
    (void)state;
    for (int quality = 0; quality < QUALITY_COUNT; quality++)
        for (int color = COLOR_BY_BODY; color <= COLOR_BY_SPEED; color++) {
            Pictured p = show_pile((RenderColor)color, (double)WIDE / HIGH);
            RendererDef def = renderer_default();
            def.quality = (RendererQuality)quality;
            draw(&p.scene, &p.camera, &def, WIDE, HIGH);
            unsigned char *first = read_back(WIDE, HIGH);
            def.no_shadow = true;
            draw(&p.scene, &p.camera, &def, WIDE, HIGH);
            unsigned char *bright = read_back(WIDE, HIGH);
            def.no_shadow = false;
            def.compute = COMPUTE_ALWAYS;
            draw(&p.scene, &p.camera, &def, WIDE, HIGH);
            unsigned char *again = read_back(WIDE, HIGH);
            assert_memory_equal(first, again, 4 * WIDE * HIGH);
            assert_true(share_of_difference(first, bright) > 0.03);
            free(first), free(bright), free(again);
            drop(&p);
        }
}

// A cut hides stones and parts beyond it, as it does balls.
static void a_cut_hides_them(void **state) {
    (void)state;
    Pictured p = show_pile(COLOR_BY_BODY, (double)WIDE / HIGH);
    RendererDef def = renderer_default();
    def.transparent = def.cut = true;
    def.cut_normal = v3_make(0, 0, 1);
    def.cut_offset = -1;
    draw(&p.scene, &p.camera, &def, WIDE, HIGH);
    unsigned char *pixels = read_back(WIDE, HIGH);
    for (int i = 0; i < WIDE * HIGH; i++) assert_int_equal(pixels[4 * i + 3], 0);
    free(pixels);
    drop(&p);
}

// --- the marks of a picked body -----------------------------------------------------------------------------

// Draws the marks of a body over the picture that was drawn last.
static void mark(const Pictured *p, int body, int width, int height) {
    SandError error = {""};
    const SandWorld *w = &p->world;
    const SandShape *shape = &w->shapes[w->shape[body]];
    Interface *interface = interface_create(NULL, &error);
    if (!interface) fail_msg("%s", error.text);
    PickedBody picked = {.body = body,
                         .kind = shape->kind,
                         .shape = w->shape[body],
                         .radius = w->scale[body] * shape->bound,
                         .half = v3_scale(w->scale[body], shape->half),
                         .center = w->position[body],
                         .rotation = w->rotation[body]};
    MarksView view = {
        .camera = &p->camera, .meshes = &p->scene.meshes, .origin = p->scene.origin, .width = width, .height = height};
    interface_begin(interface, width, height, 1, 1.0 / 60);
    marks_draw(&picked, &view);
    interface_end(interface, renderer_overdraw(renderer));
    interface_free(interface);
}

static bool meets(const Pictured *p, double x, double y) {
    RendererDef whole = {0};
    SandVec3 from, direction, point;
    input_ray(&p->camera, (double)WIDE / HIGH, x / WIDE, 1 - y / HIGH, &from, &direction);
    return input_pick(&p->scene, &whole, from, direction, &point) >= 0;
}

// Whether the outline of a body passes within this many pixels: some points around are on it, and some are not.
static bool near_outline(const Pictured *p, double x, double y, double pixels) {
    int inside = 0;
    for (int k = 0; k < 16; k++) inside += meets(p, x + pixels * cos(PI * k / 8), y + pixels * sin(PI * k / 8));
    return inside > 0 && inside < 16;
}

// The outline of a stone or a capsule is drawn on its silhouette, all around, and nowhere else.
static void marks_follow_the_silhouette(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind += 2) {
        SandWorld world = lab_world(0);
        SandRandom dice = sand_random(3);
        int body = lab_body(&world, pile_shape(&world, &dice, kind, 5), 1, v3_make(0, 0, 0));
        world.rotation[body] = q_unit((SandQuat){0.7, 0.4, -0.5, 0.2});
        Pictured p = show(world, v3_make(-2, -2, -2), v3_make(2, 2, 2), COLOR_BY_BODY, (double)WIDE / HIGH);
        RendererDef def = renderer_default();
        draw(&p.scene, &p.camera, &def, WIDE, HIGH);
        unsigned char *before = read_back(WIDE, HIGH);
        mark(&p, body, WIDE, HIGH);
        unsigned char *after = read_back(WIDE, HIGH);
        int marked = 0, missing = 0;
        for (int i = 0; i < WIDE * HIGH; i++) {
            double x = i % WIDE + 0.5, y = i / WIDE + 0.5;
            bool differs = memcmp(before + 4 * i, after + 4 * i, 3) != 0;
            if (differs && !near_outline(&p, x, y, 5)) fail_msg("a mark at %g, %g is off the outline", x, y);
            missing += !differs && near_outline(&p, x, y, 0.4);
            marked += differs;
        }
        assert_true(marked > 300);
        assert_true(missing <= 2); // a color may happen to be that of the mark
        free(before), free(after);
        drop(&p);
    }
}

// --- for a person -------------------------------------------------------------------------------------------

static void write_picture(const char *folder, const char *name, Pictured *p, const RendererDef *def, int width, int height) {
    char path[600];
    SandError error = {""};
    draw(&p->scene, &p->camera, def, width, height);
    if (def->quality == QUALITY_MEDIUM)
        for (int body = 140; body < 144; body++) mark(p, body, width, height);
    unsigned char *pixels = read_back(width, height);
    for (int i = 0; i < width * height; i++) memmove(pixels + 3 * i, pixels + 4 * i, 3);
    snprintf(path, sizeof path, "%s/%s.png", folder, name);
    if (!png_write(path, width, height, 3, pixels, &error)) fprintf(stderr, "%s\n", error.text);
    free(pixels);
}

static void draw_for_a_person(const char *folder) {
    enum { W = 1280, H = 720 };
    RendererDef def = renderer_default();
    for (int quality = 0; quality < QUALITY_COUNT; quality++)
        for (int color = COLOR_BY_BODY; color <= COLOR_BY_SPEED; color++) {
            char name[64];
            Pictured p = show_pile((RenderColor)color, (double)W / H);
            def.quality = (RendererQuality)quality;
            snprintf(name, sizeof name, "%s-%s", renderer_quality_names[quality], render_color_names[color]);
            write_picture(folder, name, &p, &def, W, H);
            camera_zoom(&p.camera, 3.5);
            snprintf(name, sizeof name, "%s-%s-near", renderer_quality_names[quality], render_color_names[color]);
            write_picture(folder, name, &p, &def, W, H);
            drop(&p);
        }
}

int main(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[1], "draw") == 0) {
        if (open_off_screen(NULL) != 0) return 1;
        draw_for_a_person(argv[2]);
        return close_context(NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silhouettes_cover_what_rays_meet), cmocka_unit_test(what_is_drawn_is_picked),
        cmocka_unit_test(every_quality_and_color),          cmocka_unit_test(a_cut_hides_them),
        cmocka_unit_test(marks_follow_the_silhouette),
    };
    return cmocka_run_group_tests_name("solids", tests, open_off_screen, close_context);
}
