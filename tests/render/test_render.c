// SPDX-License-Identifier: MIT
// Pictures, drawn off-screen by Mesa's software renderer.
//   test_picture            all tests
//   test_picture window     the same pixels in a window, which needs a display
//   test_picture fps        how fast it draws, for a person to read
#include "tests/lab/window/picture_lab.h"

#include <time.h>

// --- one ball against its analytic projection ---------------------------------------------------------------

enum { WIDE = 640, HIGH = 360 };
static const double NEAR_PLANE = 0.5;

typedef struct Edges {
    bool any;
    double low, high; // in pixels
} Edges;

// Whether the line of sight at a point of the picture meets the ball (at c in the view) beyond the near plane.
static bool covered(SandVec3 c, double r, double half_width, double half_height, bool orthographic, double px, double py) {
    double x = (2 * px / WIDE - 1) * half_width, y = (2 * py / HIGH - 1) * half_height;
    SandVec3 start = orthographic ? v3_make(x, y, 0) : v3_make(0, 0, 0);
    SandVec3 way = orthographic ? v3_make(0, 0, -1) : v3_make(x, y, -1); // one meter deep, so lengths along it are depths
    SandVec3 to = v3_sub(c, start);
    double k = v3_dot(way, way), along = v3_dot(to, way), disc = along * along - k * (v3_dot(to, to) - r * r);
    return disc > 0 && (along + sqrt(disc)) / k > NEAR_PLANE;
}

// Where the silhouette crosses a row of pixels, to 1/64 of a pixel.
static Edges row_edges(SandVec3 c, double r, double half_width, double half_height, bool orthographic, double pixel_y) {
    Edges e = {0};
    for (int i = 0; i < 64 * WIDE; i++) {
        double x = (i + 0.5) / 64;
        if (!covered(c, r, half_width, half_height, orthographic, x, pixel_y)) continue;
        if (!e.any) {
            e.any = true;
            e.low = x;
        }
        e.high = x;
    }
    return e;
}

// The first place, from this side, where the coverage reaches one half.
static double measured_edge(const unsigned char *row, int from, int step) {
    double before = 0;
    for (int x = from; x >= 0 && x < WIDE; x += step) {
        double now = row[4 * x + 3] / 255.0;
        if (now >= 0.5) {
            double back = now > before ? (now - 0.5) / (now - before) : 0;
            return x + 0.5 - step * back;
        }
        before = now;
    }
    return -1;
}

static RenderScene one_ball(SandVec3 center, double radius) {
    static SandInstance sphere;
    sphere = (SandInstance){
        {(float)center.x, (float)center.y, (float)center.z}, (float)radius, {0, 0, 0, 1}, {0}, 0, {0}, 0, {0}, 0};
    RenderScene p = {.version = 0, .grain = radius, .lower = {-10, -10, -10}, .upper = {10, 10, 10}, .floor = -10};
    p.spheres = (RenderList){&sphere, 1};
    return p;
}

// Looks along +y; the ball is given in the view's frame: right, up, and backwards.
static void check_ball(SandVec3 c, double r, bool orthographic, int least_rows) {
    Camera camera = {.eye = {0, 0, 0},
                     .target = {0, 1, 0},
                     .orthographic = orthographic,
                     .angle = 1.6,
                     .height = 4,
                     .near = 0.5,
                     .far = 50};
    RenderScene p = one_ball(v3_make(c.x, -c.z, c.y), r);
    RendererDef def = renderer_default();
    def.transparent = true;
    draw(&p, &camera, &def, WIDE, HIGH);
    unsigned char *pixels = read_back(WIDE, HIGH);
    double half_height = orthographic ? 2 : tan(0.8), half_width = half_height * WIDE / HIGH;

    // The silhouette, within half a pixel; in fact it is far better.
    int rows = 0;
    double worst = 0;
    for (int y = 2; y < HIGH - 2; y++) {
        Edges e = row_edges(c, r, half_width, half_height, orthographic, HIGH - y - 0.5);
        if (!e.any || e.high - e.low < 6) continue;
        const unsigned char *row = pixels + (size_t)y * WIDE * 4;
        // Across the edge, not along the row: where the edge is level, a small distance is a long way along a row.
        Edges above = row_edges(c, r, half_width, half_height, orthographic, HIGH - y);
        if (!above.any) continue;
        double lean_low = hypot(1, 2 * (above.low - e.low)), lean_high = hypot(1, 2 * (above.high - e.high));
        if (e.low > 1 && e.low < WIDE - 4) {
            worst = fmax(worst, fabs(measured_edge(row, 0, 1) - e.low) / lean_low);
            rows++;
        }
        if (e.high < WIDE - 1 && e.high > 4)
            worst = fmax(worst, fabs(measured_edge(row, WIDE - 1, -1) - e.high) / lean_high), rows++;
    }
    if (rows < least_rows) fail_msg("only %d edges were seen", rows);
    print_message("largest distance from the analytic silhouette: %.3f pixels\n", worst);
    if (worst > 0.5) fail_msg("the silhouette is off by %.3f pixels", worst);

    // The depth, at every pixel that has one.
    float *depth = malloc(WIDE * HIGH * sizeof *depth);
    renderer_read_depth(renderer, 0, 0, WIDE, HIGH, depth);
    int seen = 0;
    for (int y = 0; y < HIGH; y++)
        for (int x = 0; x < WIDE; x++) {
            double d = depth[y * WIDE + x];
            if (d <= 0) continue;
            double at_x = (2 * (x + 0.5) / WIDE - 1) * half_width, at_y = (2 * (y + 0.5) / HIGH - 1) * half_height;
            SandVec3 start = orthographic ? v3_make(at_x, at_y, 0) : v3_make(0, 0, 0);
            SandVec3 way = v3_unit_or(orthographic ? v3_make(0, 0, -1) : v3_make(at_x, at_y, -1), v3_make(0, 0, -1));
            SandVec3 to = v3_sub(c, start);
            double along = v3_dot(to, way), inside = r * r - v3_dot(to, to) + along * along;
            assert_true(inside > 0);
            double z = -(along - sqrt(inside)) * way.z;
            if (z < 0.5) z = 0.5; // cut by the near plane
            double got = orthographic ? 50 - d * 49.5 : 0.5 / d;
            // Grazing rays magnify rounding: a ray's angle is known to some 1e-6 of a pixel.
            NEAR(got, z, 2e-5 * (1 + z) * (1 + r / sqrt(inside)));
            seen++;
        }
    assert_true(seen > 20);
    free(depth);
    free(pixels);
}

static void test_ball_in_the_middle(void **state) { (void)state, check_ball(v3_make(0.1, 0.05, -5), 1, false, 100); }
static void test_ball_at_the_edge_of_a_wide_view(void **state) {
    (void)state;
    check_ball(v3_make(5.5, 2.5, -4), 0.8, false, 60);
    check_ball(v3_make(-6, -2.8, -4), 0.5, false, 30);
}
static void test_ball_across_the_near_plane(void **state) {
    (void)state;
    check_ball(v3_make(0.15, 0.1, -0.6), 0.3, false, 60);
    check_ball(v3_make(0.5, 0.0, -0.55), 0.25, false, 40);
}
static void test_ball_in_an_orthographic_view(void **state) {
    (void)state;
    check_ball(v3_make(1.5, -0.7, -7), 0.9, true, 100);
    check_ball(v3_make(-3.2, 1.2, -0.6), 0.4, true, 60); // and cut by the near plane
}

// A ball around the eye fills the picture, and one behind it shows nothing.
static void test_ball_around_and_behind_the_eye(void **state) {
    (void)state;
    Camera camera = {.target = {0, 1, 0}, .angle = 1.6, .near = 0.5, .far = 50};
    RendererDef def = renderer_default();
    def.transparent = true;
    for (int behind = 0; behind < 2; behind++) {
        RenderScene p = one_ball(v3_make(0, behind ? -3 : 0, 0), 2);
        draw(&p, &camera, &def, WIDE, HIGH);
        unsigned char *pixels = read_back(WIDE, HIGH);
        for (int i = 0; i < WIDE * HIGH; i++) assert_int_equal(pixels[4 * i + 3], behind ? 0 : 255);
        free(pixels);
    }
}

// --- the instant of a frame ---------------------------------------------------------------------------------

// A ball in free fall, in steps of 0.01 s, shown 60 times a second. Positions of the scheme are z_n = -g h^2 n (n + 1) / 2
// at the steps and straight between them: that is what frame k must show, and not the nearest step.
static void test_free_fall_at_frame_times(void **state) {
    (void)state;
    const double h = 0.01, fps = 60, half = 8;
    SandWorld world = lab_world(0);
    lab_body(&world, 0, 0.5, v3_make(0, 0, 0));
    world.step = h;
    world.lower = v3_make(-100, -100, -100);
    world.upper = v3_make(100, 100, 100);
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    RenderScene p;
    SandError error = {""};
    assert_true(render_scene_init(&p, w, v3_make(-8, -8, -8), v3_make(8, 8, 8), &error));
    Camera camera = {
        .eye = {0, -30, 0}, .target = {0, 0, 0}, .orthographic = true, .height = 2 * half, .near = 1, .far = 100};
    RendererDef def = renderer_default();
    def.transparent = true;
    for (int k = 0; k < 60; k++) {
        double t = k / fps;
        while (w->time < t - 1e-9 * h) lab_step(sim);
        assert_true(render_scene_update(&p, w, sim, t, COLOR_BY_BODY, &error));
        if (k % 7) continue;
        draw(&p, &camera, &def, WIDE, HIGH);
        unsigned char *pixels = read_back(WIDE, HIGH);
        double sum = 0, moment = 0;
        for (int i = 0; i < WIDE * HIGH; i++) sum += pixels[4 * i + 3], moment += pixels[4 * i + 3] * (i / WIDE + 0.5);
        double shown = half - moment / sum * 2 * half / HIGH;
        int n = (int)floor(t / h + 1e-9);
        double at = -0.5 * GRAVITY * h * h * n * (n + 1), wanted = at - (t - n * h) * GRAVITY * h * (n + 1);
        NEAR(shown, wanted, 0.5 * 2 * half / HIGH); // half a pixel
        free(pixels);
    }
    render_scene_free(&p);
    sand_simulation_free(sim);
}

// --- what is seen, and how -----------------------------------------------------------------------------------

// Bodies that have not entered, or are gone, keep their place among the instances: nothing is seen of them, nor of a shadow.
static void test_hidden_bodies_are_not_seen(void **state) {
    (void)state;
    Camera camera = {.eye = {0, 0, 0}, .target = {0, 1, 0}, .angle = 0.8, .near = 0.5, .far = 50};
    SandError error = {""};
    RenderGroup groups[2] = {{solid_part(SAND_BOX, 1), 1}, {solid_part(SAND_BOX, 1), 1}};
    RenderScene p = one_ball(v3_make(1, 6, 0), 1);
    p.groups.data = groups;
    p.part_groups = 1;
    p.group_count = 2;
    if (!solid_meshes_make(&p.meshes, NULL, 0, &error)) fail_msg("%s", error.text);
    SandInstance seen = p.spheres.items[0], hidden = seen;
    hidden.center[0] = -1;
    hidden.radius = 0;
    SandInstance spheres[] = {hidden, seen, hidden};
    for (int quality = 0; quality < QUALITY_COUNT; quality++) {
        RendererDef def = renderer_default();
        def.quality = (RendererQuality)quality;
        p.spheres = (RenderList){&seen, 1};
        p.rocks = p.parts = p.stones = (RenderList){0};
        draw(&p, &camera, &def, WIDE, HIGH);
        unsigned char *without = read_back(WIDE, HIGH);
        p.spheres = (RenderList){spheres, 3};
        p.rocks = p.parts = p.stones = (RenderList){&hidden, 1};
        draw(&p, &camera, &def, WIDE, HIGH);
        unsigned char *with = read_back(WIDE, HIGH);
        assert_memory_equal(with, without, 4 * WIDE * HIGH);
        free(with);
        free(without);
    }
    solid_meshes_free(&p.meshes);
}

// A camera where the key light is, so that the middle of a ball at (0, 6, 0) faces it.
static Camera from_the_light(void) {
    Camera camera = {.target = {0, 6, 0}, .angle = 0.6, .near = 0.5, .far = 50};
    camera.eye = v3_madd(camera.target, 6, sand_default_studio().key_direction);
    return camera;
}

// A data color that faces the key light is the legend's, to a step or two: no tone curve bends it.
static void test_data_colors_bypass_the_tone_map(void **state) {
    (void)state;
    RenderScene p = one_ball(v3_make(0, 6, 0), 1);
    p.color = COLOR_BY_SPEED;
    p.spheres.items[0].value = 1;
    Camera camera = from_the_light();
    RendererDef def = renderer_default();
    draw(&p, &camera, &def, WIDE, HIGH);
    unsigned char *pixels = read_back(WIDE, HIGH), *middle = pixels + 4 * (HIGH / 2 * WIDE + WIDE / 2);
    NEAR(middle[0], 0xfd, 3);
    NEAR(middle[1], 0xe7, 3);
    NEAR(middle[2], 0x25, 3);
    free(pixels);
}

// The upper end of either map, on a ball in the sun.
static void test_both_color_maps_are_drawn(void **state) {
    (void)state;
    static const unsigned char ends[MAP_COUNT][3] = {{0xfd, 0xe7, 0x25}, {0xfe, 0xe8, 0x38}};
    for (int map = 0; map < MAP_COUNT; map++) {
        unsigned char colors[COLORMAP_SIZE][4];
        SandError error = {""};
        if (!colormap_read((ColorMap)map, colors, &error)) fail_msg("%s", error.text);
        assert_memory_equal(colors[COLORMAP_SIZE - 1], ends[map], 3);
        RenderScene p = one_ball(v3_make(0, 6, 0), 1);
        p.color = COLOR_BY_SPEED;
        p.map = (ColorMap)map;
        p.spheres.items[0].value = 0; // the lower ends differ most
        Camera camera = from_the_light();
        RendererDef def = renderer_default();
        draw(&p, &camera, &def, WIDE, HIGH);
        unsigned char *pixels = read_back(WIDE, HIGH), *middle = pixels + 4 * (HIGH / 2 * WIDE + WIDE / 2);
        for (int c = 0; c < 3; c++) NEAR(middle[c], colors[0][c], 3);
        free(pixels);
    }
}

// In a standing column each contact carries what is above it: links from middle to middle, wider towards the foot.
static void test_force_chains(void **state) {
    (void)state;
    SandError error = {""};
    SandSimulation *sim = lab_scene("stack", 0, 1, SAND_DOUBLE);
    lab_run(sim, 40);
    const SandWorld *w = sand_simulation_world(sim);
    RenderScene p;
    assert_true(render_scene_init(&p, w, v3_make(-2, -2, 0), v3_make(2, 2, 10), &error));
    p.chains = true;
    assert_true(render_scene_update(&p, w, sim, w->time, COLOR_BY_BODY, &error));
    assert_int_equal(p.links.count, 10);
    double weight = 2500 * 4.18879020478639 * 0.125 * GRAVITY;
    for (int i = 0; i < 10; i++) {
        const RenderLink *l = &p.links.items[i];
        double lower = fmin(l->from[2], l->to[2]) + p.origin.z, above = 10 - ceil(lower - 0.01);
        NEAR(l->value * p.chain_range, above * weight, 0.02 * weight);
        assert_true(l->half_width > 0);
    }
    Camera camera;
    camera_frame(&camera, "elevation", p.lower, p.upper, (double)WIDE / HIGH);
    RendererDef def = renderer_default();
    draw(&p, &camera, &def, WIDE, HIGH);
    unsigned char *with = read_back(WIDE, HIGH);
    p.links.count = 0;
    draw(&p, &camera, &def, WIDE, HIGH);
    unsigned char *without = read_back(WIDE, HIGH);
    // Bright along the axis of the column, which is the middle of the picture, and nowhere a ball's width away.
    int brighter = 0;
    for (int y = 0; y < HIGH; y++) {
        const unsigned char *a = with + 4 * (y * WIDE + WIDE / 2), *b = without + 4 * (y * WIDE + WIDE / 2);
        brighter += a[0] > b[0] + 40;
        assert_memory_equal(a - 4 * 40, b - 4 * 40, 4);
    }
    if (brighter < HIGH / 2) fail_msg("the chain is seen on %d of %d rows", brighter, HIGH);
    free(with);
    free(without);
    render_scene_free(&p);
    sand_simulation_free(sim);
}

// Light, sky, glass, ground and chains are the same to the bit whether compute shaders light them or triangles do, at a size
// that is no multiple of anything. Either way has a renderer of its own, so that none shows what the other has drawn.
static void test_compute_shaders_light_the_same(void **state) {
    (void)state;
    enum { WIDTH = 203, HEIGHT = 117 };
    SandError error = {""};
    Renderer *before = renderer, *renderers[2];
    for (int way = 0; way < 2; way++)
        if (!(renderers[way] = renderer_create(&error))) fail_msg("%s", error.text);
    SandSimulation *sim = lab_scene("hourglass", 300, 2, SAND_FLOAT);
    const SandWorld *w = sand_simulation_world(sim);
    RenderScene p;
    Camera camera;
    lab_run(sim, 60);
    assert_true(render_scene_init(&p, w, w->lower, w->upper, &error));
    camera_frame(&camera, "default", p.lower, p.upper, (double)WIDTH / HEIGHT);
    camera.eye = v3_add(camera.target, v3_scale(0.3, v3_sub(camera.eye, camera.target)));
    for (int k = 0; k < 8 * QUALITY_COUNT; k++) {
        RendererDef def = renderer_default();
        def.quality = (RendererQuality)(k / 8);
        def.samples = k & 1 ? 2 : 1;
        def.transparent = k & 2;
        p.chains = k & 4;
        assert_true(render_scene_update(&p, w, sim, w->time, k & 4 ? COLOR_BY_SPEED : COLOR_BY_BODY, &error));
        unsigned char *pixels[2];
        for (int way = 0; way < 2; way++) {
            renderer = renderers[way];
            def.compute = way ? COMPUTE_ALWAYS : COMPUTE_NEVER;
            draw(&p, &camera, &def, WIDTH, HEIGHT);
            pixels[way] = read_back(WIDTH, HEIGHT);
        }
        int different = 0;
        for (int i = 0; i < WIDTH * HEIGHT; i++) different += memcmp(pixels[0] + 4 * i, pixels[1] + 4 * i, 4) != 0;
        if (different)
            fail_msg("%s quality, %d samples, %s, %s: %d pixels differ", renderer_quality_names[def.quality], def.samples,
                     def.transparent ? "transparent" : "opaque", p.chains ? "chains" : "no chains", different);
        free(pixels[0]);
        free(pixels[1]);
    }
    render_scene_free(&p);
    sand_simulation_free(sim);
    for (int way = 0; way < 2; way++) renderer_free(renderers[way]);
    renderer = before;
}

// Whatever the shape of the picture, and whatever part of it a panel leaves, all of the glass is seen, and fills it.
static void test_the_whole_glass_is_framed(void **state) {
    (void)state;
    static const int sizes[][2] = {{360, 640}, {500, 500}, {640, 360}, {840, 360}}; // 9:16, 1:1, 16:9, 21:9
    SandError error = {""};
    SandScene scene;
    SandSceneOptions options = {.bodies = 300};
    if (!sand_scene_load(&scene, "hourglass", &options, &error)) fail_msg("%s", error.text);
    RenderScene p;
    if (!render_scene_init(&p, &scene.world, scene.view_lower, scene.view_upper, &error)) fail_msg("%s", error.text);
    for (int k = 0; k < 8; k++) {
        double width = sizes[k / 2][0], height = sizes[k / 2][1];
        CameraArea area = {0, 0, width, height};
        if (k % 2) area = (CameraArea){0.3 * width, 0.1 * height, 0.9 * width, 0.85 * height};
        Camera camera;
        assert_true(camera_frame_within(&camera, "default", p.lower, p.upper, width, height, &area));
        // Every vertex of the glass, not only the corners of a box.
        double low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
        for (int s = 0; s < p.surface_count; s++) {
            const RenderSurface *surface = &p.surfaces.data[s];
            if (surface->look != LOOK_GLASS) continue;
            SandPose pose = sand_boundary_pose(&scene.world.boundaries[surface->boundary], 0);
            for (uint32_t i = surface->first; i < surface->first + surface->count; i++) {
                const float *v = p.vertices.data[p.indices.data[i]].position;
                SandVec3 at = v3_sub(pose_apply(pose, v3_make(v[0], v[1], v[2])), p.origin);
                double x, y;
                camera_project(&camera, at, &x, &y);
                x = 0.5 * width + x * height;
                y = 0.5 * height - y * height;
                low_x = fmin(low_x, x);
                high_x = fmax(high_x, x);
                low_y = fmin(low_y, y);
                high_y = fmax(high_y, y);
            }
        }
        assert_true(low_x >= area.left && high_x <= area.right && low_y >= area.top && high_y <= area.bottom);
        double fills = fmax((high_x - low_x) / (area.right - area.left), (high_y - low_y) / (area.bottom - area.top));
        if (fills < 0.7) fail_msg("the glass fills %.2f of the room it has", fills);
    }
    render_scene_free(&p);
    sand_scene_free(&scene);
}

// --- how fast -----------------------------------------------------------------------------------------------

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure(int bodies) {
    static const int sizes[][2] = {{640, 360}, {1280, 720}, {1920, 1080}};
    SandSimulation *sim = lab_scene("hourglass", bodies, 2, SAND_FLOAT);
    SandScene scene;
    SandSceneOptions options = {.bodies = bodies};
    SandError error = {""};
    RenderScene p;
    Camera camera;
    if (!sand_scene_load(&scene, "hourglass", &options, &error)) return;
    lab_run(sim, bodies <= 5000 ? 100 : 5);
    const SandWorld *w = sand_simulation_world(sim);
    if (!render_scene_init(&p, w, scene.view_lower, scene.view_upper, &error)) return;
    if (!render_scene_dress(&p, w, &scene.studio, &error)) return;
    for (int s = 0; s < 3; s++)
        for (int k = 0; k < 2 * QUALITY_COUNT; k++) {
            int q = k / 2;
            bool paused = k % 2;
            RendererDef def = renderer_default();
            def.quality = (RendererQuality)q;
            camera_frame(&camera, "default", p.lower, p.upper, 16.0 / 9);
            int frames = 0;
            double begin = 0;
            while (frames < 4 || (seconds_now() - begin < 1.5 && frames < 1000)) {
                if (frames == 1) begin = seconds_now(); // the first makes the targets
                if (!paused || !frames) render_scene_update(&p, w, sim, w->time, COLOR_BY_BODY, &error);
                draw(&p, &camera, &def, sizes[s][0], sizes[s][1]);
                glFinish();
                frames++;
            }
            printf("%d balls, %d x %d, %s, %s: %.1f frames a second, %s\n", p.spheres.count, sizes[s][0], sizes[s][1],
                   renderer_quality_names[q], paused ? "paused" : "moving", (frames - 1) / (seconds_now() - begin),
                   context_renderer(context));
            fflush(stdout);
        }
    render_scene_free(&p);
    sand_scene_free(&scene);
    sand_simulation_free(sim);
}

// --- the window ---------------------------------------------------------------------------------------------

// The picture in a window has the colors of the off-screen one, at the framebuffer's own size.
static void test_window_shows_the_picture(void **state) {
    (void)state;
    int width, height;
    context_poll(context, 0);
    context_size(context, &width, &height);
    assert_true(width > 0 && height > 0 && context_scale(context) > 0 && context_window(context));
    RenderScene p = one_ball(v3_make(0, 6, 0), 1);
    Camera camera = {.eye = {0, 0, 2}, .target = {0, 6, 0}, .angle = 0.6, .near = 0.5, .far = 50};
    RendererDef def = renderer_default();
    draw(&p, &camera, &def, width, height);
    unsigned char *wanted = read_back(width, height), *got = malloc((size_t)width * (size_t)height * 4);
    renderer_show(renderer, width, height);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glReadBuffer(GL_BACK);
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, got);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < 3 * width; x++)
            assert_int_equal(got[((height - 1 - y) * width + x / 3) * 4 + x % 3], wanted[(y * width + x / 3) * 4 + x % 3]);
    context_swap(context);
    assert_false(context_closing(context));
    context_close(context);
    assert_true(context_closing(context));
    no_errors();
    free(wanted);
    free(got);
}

static int open_window(void **state) {
    (void)state;
    ContextDef def = context_default();
    def.width = 320;
    def.height = 200;
    return open_context(context_create_window, &def);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "window") == 0) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_window_shows_the_picture)};
        return cmocka_run_group_tests_name("window", tests, open_window, close_context);
    }
    if (argc > 1 && strcmp(argv[1], "fps") == 0) {
        if (open_off_screen(NULL) != 0) return 1;
        measure(argc > 2 ? atoi(argv[2]) : 3000);
        return close_context(NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ball_in_the_middle),
        cmocka_unit_test(test_ball_at_the_edge_of_a_wide_view),
        cmocka_unit_test(test_ball_across_the_near_plane),
        cmocka_unit_test(test_ball_in_an_orthographic_view),
        cmocka_unit_test(test_ball_around_and_behind_the_eye),
        cmocka_unit_test(test_free_fall_at_frame_times),
        cmocka_unit_test(test_hidden_bodies_are_not_seen),
        cmocka_unit_test(test_data_colors_bypass_the_tone_map),
        cmocka_unit_test(test_both_color_maps_are_drawn),
        cmocka_unit_test(test_force_chains),
        cmocka_unit_test(test_compute_shaders_light_the_same),
        cmocka_unit_test(test_the_whole_glass_is_framed),
    };
    return cmocka_run_group_tests_name("picture", tests, open_off_screen, close_context);
}
