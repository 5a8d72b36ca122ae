// SPDX-License-Identifier: MIT
// Balls that nothing can see are not drawn, small ones are drawn by compute shaders, and nobody sees the difference:
// pictures of all three kinds are the same to the pixel, from outside, from close by and from within, while the sand moves
// and the camera too.
#include "tests/lab/window/picture_lab.h"

#include "app/render/cull.h"

enum { WIDTH = 320, HEIGHT = 240, BODIES = 9000 };

// How balls are drawn: all of them; those that can be seen; and of these the small ones without quads, by what was seen in
// the picture before, and once more, when there is nothing new. The last two are lit by compute shaders too.
typedef enum Way { ALL, CULLED, SPLATTED, AGAIN, WAYS } Way;
static const char *const way_names[WAYS] = {"all", "culled", "splatted", "splatted again"};

// Ways have a renderer of their own, which remembers what it saw, but for the last two, which share one; and the quads of
// their last picture.
typedef struct Ways {
    Renderer *renderers[AGAIN];
    GLuint quads[WAYS];
} Ways;

static unsigned char *draw_in(Ways *ways, Way way, const RenderScene *render_scene, const Camera *camera,
                              RendererQuality quality) {
    GLuint query, triangles;
    RendererDef def = renderer_default();
    def.quality = quality;
    def.no_culling = way == ALL;
    def.compute = way >= SPLATTED ? COMPUTE_ALWAYS : COMPUTE_NEVER;
    renderer = ways->renderers[way == AGAIN ? SPLATTED : way];
    glGenQueries(1, &query);
    glBeginQuery(GL_PRIMITIVES_GENERATED, query);
    draw(render_scene, camera, &def, WIDTH, HEIGHT);
    glEndQuery(GL_PRIMITIVES_GENERATED);
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, &triangles);
    glDeleteQueries(1, &query);
    ways->quads[way] = triangles / 2;
    return read_back(WIDTH, HEIGHT);
}

static void compare(Ways *ways, const RenderScene *render_scene, const Camera *camera, RendererQuality quality,
                    const char *where) {
    unsigned char *pixels[WAYS];
    for (Way way = ALL; way < WAYS; way++) pixels[way] = draw_in(ways, way, render_scene, camera, quality);
    for (Way way = CULLED; way < WAYS; way++) {
        int different = 0;
        for (int i = 0; i < WIDTH * HEIGHT; i++) different += memcmp(pixels[way] + 4 * i, pixels[ALL] + 4 * i, 4) != 0;
        print_message("%s, %s, %s: %d pixels differ; %u quads instead of %u\n", where, renderer_quality_names[quality],
                      way_names[way], different, ways->quads[way], ways->quads[ALL]);
        assert_int_equal(different, 0);
    }
    for (Way way = ALL; way < WAYS; way++) free(pixels[way]);
}

typedef struct Scene {
    Renderer *before;
    Ways ways;
    SandSimulation *sim;
    const SandWorld *world;
    RenderScene render_scene;
} Scene;

static void open_scene(Scene *s, const char *name, int bodies, SandVec3 lower, SandVec3 upper) {
    SandError error = {""};
    *s = (Scene){.before = renderer};
    for (Way way = ALL; way < AGAIN; way++)
        if (!(s->ways.renderers[way] = renderer_create(&error))) fail_msg("%s", error.text);
    s->sim = lab_scene(name, bodies, 2, SAND_FLOAT);
    s->world = sand_simulation_world(s->sim);
    assert_true(render_scene_init(&s->render_scene, s->world, lower, upper, &error));
}

static void close_scene(Scene *s) {
    render_scene_free(&s->render_scene);
    sand_simulation_free(s->sim);
    for (Way way = ALL; way < AGAIN; way++) renderer_free(s->ways.renderers[way]);
    renderer = s->before;
}

// Two steps on, seen as a whole from here.
static Camera go_on(Scene *s, RenderColor color, const char *view) {
    SandError error = {""};
    Camera camera;
    RenderScene *scene = &s->render_scene;
    lab_run(s->sim, 2);
    assert_true(render_scene_update(scene, s->world, s->sim, s->world->time - 0.3 * s->world->step, color, &error));
    assert_true(scene->spheres.count >= CULL_LEAST);
    camera_frame(&camera, view, scene->lower, scene->upper, (double)WIDTH / HEIGHT);
    return camera;
}

// To this part of the way from a body.
static void approach(const Scene *s, Camera *camera, int body, double part) {
    camera->target = v3_sub(s->world->position[body], s->render_scene.origin);
    camera->eye = v3_add(camera->target, v3_scale(part, v3_sub(camera->eye, camera->target)));
}

static void what_is_hidden_is_not_missed(void **state) {
    (void)state;
    Scene s;
    open_scene(&s, "cylinder", BODIES, v3_make(-1, -1, 0), v3_make(1, 1, 2));
    for (int k = 0; k < 4; k++) {
        static const char *const views[] = {"default", "top", "plan", "low"};
        Camera camera = go_on(&s, k == 2 ? COLOR_BY_SPEED : COLOR_BY_BODY, views[k]);
        compare(&s.ways, &s.render_scene, &camera, (RendererQuality)(k % QUALITY_COUNT), views[k]);
        if (k == 3) assert_true(2 * s.ways.quads[CULLED] < s.ways.quads[ALL]);
        // Nearer, among them, and back: what was seen before was something else.
        approach(&s, &camera, BODIES / 2, 0.02);
        compare(&s.ways, &s.render_scene, &camera, QUALITY_MEDIUM, "within");
    }
    close_scene(&s);
}

// Balls of many sizes on the screen, down to a pixel. At low quality a ball that is left to quads has exactly one quad in
// the picture.
static void small_balls_need_no_quads(void **state) {
    (void)state;
    Scene s;
    open_scene(&s, "cylinder", BODIES, v3_make(-1, -1, 0), v3_make(1, 1, 2));
    for (int k = 0; k < 6; k++) {
        static const double parts[] = {0.5, 6, 0.5, 10, 2, 3};
        char where[32];
        Camera camera = go_on(&s, k % 2 ? COLOR_BY_SPEED : COLOR_BY_BODY, k == 4 ? "plan" : "default");
        approach(&s, &camera, BODIES / 2, parts[k]);
        if (camera.orthographic) camera.height *= parts[k];
        snprintf(where, sizeof where, "%g times as far", parts[k]);
        compare(&s.ways, &s.render_scene, &camera, k == 4 ? QUALITY_MEDIUM : QUALITY_LOW, where);
        if (k == 4) continue; // edges are quads
        int others = (int)s.ways.quads[ALL] - 2 * BODIES, spheres = (int)s.ways.quads[AGAIN] - others;
        if (parts[k] < 1)
            assert_in_range(spheres, 100, BODIES / 2);
        else
            assert_true(spheres <= 0); // triangles over the whole screen are fewer too
    }
    close_scene(&s);
}

// Where colors mean something the balls of clumps are among them, each at its place in its body.
static void clumps_are_where_they_are(void **state) {
    (void)state;
    Scene s;
    open_scene(&s, "clumps", 2500, v3_make(-3, -3, 0), v3_make(3, 3, 4));
    for (int k = 0; k < 4; k++) {
        Camera camera = go_on(&s, COLOR_BY_SPEED, k % 2 ? "top" : "default");
        approach(&s, &camera, 2500 / 4 * k, 0.1);
        compare(&s.ways, &s.render_scene, &camera, QUALITY_LOW, "clumps");
    }
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_hidden_is_not_missed),
                                       cmocka_unit_test(small_balls_need_no_quads),
                                       cmocka_unit_test(clumps_are_where_they_are)};
    return cmocka_run_group_tests(tests, open_off_screen, close_context);
}
