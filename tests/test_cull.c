// Balls that nothing can see are not drawn, and nobody sees the difference: pictures with culling and without are the same
// to the pixel, from outside, from close by and from within, while the sand moves and the camera too.
#include "picture_lab.h"

#include "../app/cull.h"

enum { WIDTH = 320, HEIGHT = 240, BODIES = 9000 };

// Draws with culling and without, and counts the quads of both.
typedef struct Pair {
    Renderer *renderers[2];
    GLuint quads[2];
} Pair;

static void compare(Pair *pair, const Picture *picture, const Camera *camera, RendererQuality quality, const char *where) {
    unsigned char *pixels[2];
    for (int k = 0; k < 2; k++) {
        GLuint query, triangles;
        SandError error = {""};
        RendererDef def = renderer_default();
        def.quality = quality, def.no_culling = k == 1;
        glGenQueries(1, &query);
        glBeginQuery(GL_PRIMITIVES_GENERATED, query);
        if (!renderer_draw(pair->renderers[k], picture, camera, &def, WIDTH, HEIGHT, &error)) fail_msg("%s", error.text);
        glEndQuery(GL_PRIMITIVES_GENERATED);
        glGetQueryObjectuiv(query, GL_QUERY_RESULT, &triangles);
        glDeleteQueries(1, &query);
        pair->quads[k] = triangles / 2;
        renderer = pair->renderers[k];
        pixels[k] = read_back(WIDTH, HEIGHT);
        no_errors();
    }
    int different = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) different += memcmp(pixels[0] + 4 * i, pixels[1] + 4 * i, 4) != 0;
    print_message("%s, %s: %d pixels differ; %u quads instead of %u\n", where, renderer_quality_names[quality], different,
                  pair->quads[0], pair->quads[1]);
    assert_int_equal(different, 0);
    free(pixels[0]), free(pixels[1]);
}

typedef struct Scene {
    Renderer *before;
    Pair pair;
    SandSimulation *sim;
    const SandWorld *world;
    Picture picture;
} Scene;

static void open_scene(Scene *s, const char *name, int bodies, SandVec3 lower, SandVec3 upper) {
    SandError error = {""};
    *s = (Scene){.before = renderer, .pair = {{renderer_create(&error), renderer_create(&error)}, {0}}};
    s->sim = lab_scene(name, bodies, 2, SAND_FLOAT);
    s->world = sand_simulation_world(s->sim);
    assert_true(picture_init(&s->picture, s->world, lower, upper, &error));
}

static void close_scene(Scene *s) {
    picture_free(&s->picture);
    sand_simulation_free(s->sim);
    renderer_free(s->pair.renderers[0]), renderer_free(s->pair.renderers[1]);
    renderer = s->before;
}

// Two steps on, seen as a whole from here.
static Camera go_on(Scene *s, PictureColor color, const char *view) {
    SandError error = {""};
    Camera camera;
    Picture *p = &s->picture;
    lab_run(s->sim, 2);
    assert_true(picture_take(p, s->world, s->sim, s->world->time - 0.3 * s->world->step, color, &error));
    assert_true(p->balls.count >= CULL_LEAST);
    camera_frame(&camera, view, p->lower, p->upper, (double)WIDTH / HEIGHT);
    return camera;
}

// To this part of the way from a body.
static void approach(const Scene *s, Camera *camera, int body, double part) {
    camera->target = v3_sub(s->world->position[body], s->picture.origin);
    camera->eye = v3_add(camera->target, v3_scale(part, v3_sub(camera->eye, camera->target)));
}

static void what_is_hidden_is_not_missed(void **state) {
    (void)state;
    Scene s;
    open_scene(&s, "cylinder", BODIES, v3_make(-1, -1, 0), v3_make(1, 1, 2));
    for (int k = 0; k < 4; k++) {
        static const char *const views[] = {"default", "top", "plan", "low"};
        Camera camera = go_on(&s, k == 2 ? PICTURE_SPEED : PICTURE_BODY, views[k]);
        compare(&s.pair, &s.picture, &camera, (RendererQuality)(k % QUALITY_COUNT), views[k]);
        if (k == 3) assert_true(2 * s.pair.quads[0] < s.pair.quads[1]);
        // Nearer, among them, and back: what was seen before was something else.
        approach(&s, &camera, BODIES / 2, 0.02);
        compare(&s.pair, &s.picture, &camera, QUALITY_MEDIUM, "within");
    }
    close_scene(&s);
}

// Where colours mean something the balls of clumps are among them, each at its place in its body.
static void clumps_are_where_they_are(void **state) {
    (void)state;
    Scene s;
    open_scene(&s, "rubble", 2500, v3_make(-3, -3, 0), v3_make(3, 3, 4));
    for (int k = 0; k < 4; k++) {
        Camera camera = go_on(&s, PICTURE_SPEED, k % 2 ? "top" : "default");
        approach(&s, &camera, 2500 / 4 * k, 0.1);
        compare(&s.pair, &s.picture, &camera, QUALITY_LOW, "clumps");
    }
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_hidden_is_not_missed),
                                       cmocka_unit_test(clumps_are_where_they_are)};
    return cmocka_run_group_tests(tests, open_off_screen, close_context);
}
