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

static void what_is_hidden_is_not_missed(void **state) {
    (void)state;
    SandError error = {""};
    Renderer *before = renderer;
    Pair pair = {{renderer_create(&error), renderer_create(&error)}, {0}};
    SandSimulation *sim = lab_scene("cylinder", BODIES, 2, SAND_FLOAT);
    const SandWorld *w = sand_simulation_world(sim);
    Picture p = {0};
    assert_true(picture_init(&p, w, v3_make(-1, -1, 0), v3_make(1, 1, 2), &error));
    for (int k = 0; k < 4; k++) {
        static const char *const views[] = {"default", "top", "plan", "low"};
        lab_run(sim, 2);
        assert_true(picture_take(&p, w, sim, w->time - 0.3 * w->step, k == 2 ? PICTURE_SPEED : PICTURE_BODY, &error));
        assert_true(p.balls.count >= CULL_LEAST);
        Camera camera;
        camera_frame(&camera, views[k], p.lower, p.upper, (double)WIDTH / HEIGHT);
        compare(&pair, &p, &camera, (RendererQuality)(k % QUALITY_COUNT), views[k]);
        if (k == 3) assert_true(2 * pair.quads[0] < pair.quads[1]);
        // Nearer, among them, and back: what was seen before was something else.
        SandVec3 middle = v3_sub(w->position[BODIES / 2], p.origin);
        camera.target = middle, camera.eye = v3_add(middle, v3_scale(0.02, v3_sub(camera.eye, middle)));
        compare(&pair, &p, &camera, QUALITY_MEDIUM, "within");
    }
    picture_free(&p);
    sand_simulation_free(sim);
    renderer_free(pair.renderers[0]), renderer_free(pair.renderers[1]);
    renderer = before;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_hidden_is_not_missed)};
    return cmocka_run_group_tests(tests, open_off_screen, close_context);
}
