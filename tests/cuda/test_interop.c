// SPDX-License-Identifier: MIT
// Pictures of bodies that are on the GPU: its instances have the same bits as those of the host, drawing by interop, through
// a staging copy and from the host gives the same pixels, and interop downloads no body to the host. Skipped where there is
// no CUDA device; the drawing, where OpenGL does not run on it.
#include "sim/step/checkpoint.h"
#include "tests/lab/cuda_lab.h"
#include "tests/lab/window/engine_lab.h"
#include "tests/lab/lab.h"

#include <glad/gl.h>

#include "app/render/context.h"
#include "app/render/renderer.h"
#include "app/engine/triple_buffer.h"
#include "sim/world/render_instance.inl"
#include "sim/core/array.h"
#include "sim/core/clock.h"

static const SandBackend *cuda;

static SandSimulation *open_sim(const char *scene, int bodies, int steps) {
    SandError error = {""};
    SandSimulation *sim = lab_scene(scene, bodies, 2, SAND_FLOAT);
    if (!sand_simulation_move(sim, cuda, &error)) fail_msg("%s", error.text);
    lab_run(sim, steps);
    return sim;
}

static void init_scene(RenderScene *scene, const SandWorld *w) {
    SandError error = {""};
    if (!render_scene_init(scene, w, v3_make(-2, -2, -2), v3_make(2, 2, 2), &error)) fail_msg("%s", error.text);
}

static void update_scene(RenderScene *scene, SandSimulation *sim, RenderColor color) {
    SandError error = {""};
    const SandWorld *w = sand_simulation_world(sim);
    if (!render_scene_update(scene, w, sim, w->time - 0.4 * w->step, color, &error)) fail_msg("%s", error.text);
}

// --- instances ----------------------------------------------------------------------------------------------

static void compare_instances(const char *scene, int bodies, int steps) {
    SandError error = {""};
    SandSimulation *sim = open_sim(scene, bodies, steps);
    InstanceStore store = {.takes_slots = true};
    RenderScene on_gpu, on_cpu;
    init_scene(&on_gpu, sand_simulation_world(sim)), init_scene(&on_cpu, sand_simulation_world(sim));
    on_gpu.store = &store;
    for (int color = COLOR_BY_BODY; color <= COLOR_BY_SPEED; color++) {
        uint64_t before = sand_bytes_downloaded();
        lab_step(sim);
        update_scene(&on_gpu, sim, (RenderColor)color);
        assert_true(store.away);
        assert_int_equal(sand_bytes_downloaded(), before);
        if (!render_scene_read_store(&on_gpu, &error)) fail_msg("%s", error.text);
        update_scene(&on_cpu, sim, (RenderColor)color);
        size_t count = sand_instance_total(on_cpu.counts);
        assert_int_equal(store.bytes, count * sizeof(SandInstance));
        const SandInstance *a = on_cpu.spheres.items, *b = on_gpu.spheres.items;
        for (size_t k = 0; k < count; k++)
            if (memcmp(&a[k], &b[k], sizeof *a))
                fail_msg("%s: instance %zu differs, of body %u", scene, k, a[k].tag & 0xfffffff);
        printf("%-10s %-6s %zu instances are the same\n", scene, render_color_names[color], count);
    }
    render_scene_close_slot(&store);
    render_scene_free(&on_gpu), render_scene_free(&on_cpu);
    sand_simulation_free(sim);
}

static void instances_are_those_of_the_host(void **state) {
    (void)state;
    compare_instances("hourglass", 3000, 100);
    compare_instances("clumps", 150, 100); // clumps on a mesh
    compare_instances("heavy", 0, 60);     // a cylinder
    compare_instances("incline", 0, 20);   // a box
}

// Number and force of the contacts of each body: summed on the device, and on the host from the contacts it reads.
static void compare_sums(const char *scene, int bodies, int steps) {
    SandError error = {""};
    SandSimulation *sim = lab_scene(scene, bodies, 2, SAND_FLOAT);
    lab_run(sim, steps);
    SandCheckpoint kept = {0};
    assert_true(sand_simulation_save_state(sim, &kept, &error));
    const SandWorld *w = sand_simulation_world(sim);
    SandSolveDef def = sand_default_solve();
    const SandDeviceDef device_def = {0};
    SandDevice *m = cuda->create(&device_def, &error);
    SandStepReport report;
    SandCollision found = {0};
    SandSolution solution = {0};
    SandHostState host = {.world = *w, .warm_start = kept.warm_start};
    bool ok = m && cuda->upload(m, &host, &error);
    do {
        ok = ok && cuda->collide(m, w, &error) && cuda->warm_start(m, &error) && cuda->build(m, &def, &error) &&
             cuda->solve(m, &def, false, false, NULL, &error) && cuda->integrate(m, &error) &&
             cuda->finish(m, &report, &error);
    } while (ok && report.again);
    ok = ok && cuda->read_contacts(m, &found, &error) && cuda->read_solution(m, &solution, &error);
    if (!ok) fail_msg("%s", error.text);

    SandSlot *slot = cuda->slot_create(&error);
    int *places = calloc((size_t)w->body_count + 1, sizeof *places);
    int *hulls = calloc((size_t)w->shape_count + 1, sizeof *hulls);
    float *sums = calloc((size_t)w->body_count + 1, sizeof *sums);
    size_t count = sand_instance_total(sand_instance_first(w, places, hulls));
    SandInstance *instances = aligned_alloc(16, count * sizeof *instances);
    for (SandShade shade = SAND_SHADE_CONTACTS; shade <= SAND_SHADE_FORCE; shade++) {
        SandInstanceDef instance_def = {.time = w->time, .grain = 1, .shade = shade, .range = 1e6};
        if (!cuda->instances(m, w, &instance_def, slot, &error) ||
            !cuda->slot_read(slot, instances, count * sizeof *instances, &error))
            fail_msg("%s", error.text);
        memset(sums, 0, (size_t)w->body_count * sizeof *sums);
        for (int i = 0; i < found.contact_count; i++) {
            float add = instance_contact_value(shade, solution.impulse[i], w->step);
            sums[found.body[found.contacts[i].index_a]] += add;
            if (found.contacts[i].b >= 0) sums[found.body[found.contacts[i].b]] += add;
        }
        double all = 0;
        for (int i = 0; i < w->body_count; i++) {
            float value = instance_place_on_map(&instance_def, sums[i]);
            if (instances[places[i]].value != value)
                fail_msg("%s: body %d has %.9g and not %.9g", scene, i, instances[places[i]].value, value);
            all += sums[i];
        }
        assert_true(all > 0);
    }
    printf("%-10s sums over %d contacts are the same\n", scene, found.contact_count);
    free(places), free(hulls), free(sums), free(instances);
    cuda->slot_free(slot);
    cuda->destroy(m);
    sand_collision_free(&found);
    sand_solution_free(&solution);
    sand_checkpoint_free(&kept);
    sand_simulation_free(sim);
}

static void sums_are_those_of_the_host(void **state) {
    (void)state;
    compare_sums("hourglass", 2000, 120);
    compare_sums("clumps", 100, 150);
    compare_sums("heavy", 0, 60); // one body of very many contacts
}

// --- drawing ------------------------------------------------------------------------------------------------

enum { WIDE = 320, HIGH = 240, BYTES = WIDE * HIGH * 4 };

typedef struct Fixture {
    Context *context;
    Renderer *renderer;
} Fixture;

// Opens OpenGL on the GPU; false where there is none.
static bool open_offscreen(Fixture *s) {
    SandError error = {""};
    ContextDef def = context_default();
    *s = (Fixture){.context = context_create(&def, &error)};
    if (!s->context || context_is_software()) {
        printf("skipped: %s\n", s->context ? context_renderer(s->context) : error.text);
        context_free(s->context);
        return false;
    }
    s->renderer = renderer_create(&error);
    if (!s->renderer) fail_msg("%s", error.text);
    return true;
}

static void close_offscreen(Fixture *s) {
    if (context_error_count(s->context)) fail_msg("OpenGL: %s", context_error(s->context));
    renderer_free(s->renderer);
    context_free(s->context);
}

static void draw(Fixture *s, const RenderScene *scene, unsigned char *pixels) {
    SandError error = {""};
    RendererDef look = renderer_default();
    Camera camera;
    camera_frame(&camera, "default", scene->lower, scene->upper, (double)WIDE / HIGH);
    if (!renderer_draw(s->renderer, scene, &camera, &look, WIDE, HIGH, &error)) fail_msg("%s", error.text);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, renderer_framebuffer(s->renderer));
    glReadPixels(0, 0, WIDE, HIGH, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
}

// Sends a picture through a triple buffer and draws it. One thread is writer and reader, as in `record`.
static void show(Fixture *s, TripleBuffer *buffer, RenderScene *scene, SandSimulation *sim, RenderColor color,
                 unsigned char *pixels) {
    SandError error = {""};
    scene->store = triple_buffer_store(buffer);
    update_scene(scene, sim, color);
    triple_buffer_publish(buffer);
    while (!triple_buffer_acquire(buffer)) {}
    if (!triple_buffer_fetch(buffer, &scene->buffer, &error)) fail_msg("%s", error.text);
    draw(s, scene, pixels);
    triple_buffer_drawn(buffer);
}

static void compare_pixels(Fixture *s, const char *scene, int bodies) {
    static unsigned char pixels[3][BYTES];
    SandError error = {""};
    SandSimulation *sim = open_sim(scene, bodies, 60);
    TripleBuffer *interop = triple_buffer_create_gl(false, &error), *staged = triple_buffer_create_gl(true, &error);
    if (!interop || !staged) fail_msg("%s", error.text);
    RenderScene pictures[3];
    for (int k = 0; k < 3; k++) init_scene(&pictures[k], sand_simulation_world(sim));
    for (int k = 0; k < 12; k++) {
        RenderColor color = k % 2 ? COLOR_BY_SPEED : COLOR_BY_BODY;
        lab_step(sim);
        uint64_t before = sand_bytes_downloaded();
        show(s, interop, &pictures[0], sim, color, pixels[0]);
        if (strcmp(triple_buffer_transfer(interop), "interop") != 0) fail_msg("%s", triple_buffer_transfer(interop));
        assert_int_equal(sand_bytes_downloaded(), before);
        show(s, staged, &pictures[1], sim, color, pixels[1]);
        assert_true(sand_bytes_downloaded() > before);
        update_scene(&pictures[2], sim, color);
        draw(s, &pictures[2], pixels[2]);
        assert_memory_equal(pixels[0], pixels[2], BYTES);
        assert_memory_equal(pixels[1], pixels[2], BYTES);
    }
    printf("%-10s 12 pictures are the same by interop, staged and from the host\n", scene);
    for (int k = 0; k < 3; k++) render_scene_free(&pictures[k]);
    sand_simulation_free(sim);
    triple_buffer_free(interop), triple_buffer_free(staged);
}

static void pixels_are_those_of_the_host(void **state) {
    (void)state;
    Fixture s;
    if (!open_offscreen(&s)) skip();
    compare_pixels(&s, "hourglass", 2000);
    compare_pixels(&s, "clumps", 100);
    compare_pixels(&s, "heavy", 0);
    close_offscreen(&s);
}

// The hourglass in an engine on the GPU, whose pictures come to this thread.
static Engine *start_engine(int bodies, int iterations, double budget_ms) {
    SandError error = {""};
    EngineDef def = engine_default();
    def.options.bodies = bodies;
    def.simulation.threads = 2;
    def.simulation.backend = cuda;
    def.own_solve = true;
    def.simulation.solve.iterations = iterations;
    def.simulation.solve.budget_ms = budget_ms;
    def.buffer = triple_buffer_create_gl(false, &error);
    Engine *engine = def.buffer ? engine_create(&def, &error) : NULL;
    if (!engine) fail_msg("%s", error.text);
    return engine;
}

// The engine beside a render thread, as in the window: nothing is downloaded but the checkpoints for going back in time, one
// in ten steps; and frames arrive in order.
static void the_window_downloads_checkpoints_alone(void **state) {
    (void)state;
    static unsigned char pixels[BYTES];
    Fixture s;
    if (!open_offscreen(&s)) skip();
    Engine *engine = start_engine(2000, 50, 0);
    int plain = 0;
    uint64_t last = 0;
    for (double end = sand_seconds() + ENGINE_LIMIT; (last < 120 || plain <= 20) && sand_seconds() < end;) {
        EngineFrame *frame = engine_frame(engine);
        hear_messages(engine);
        if (!frame) continue;
        draw(&s, &frame->render_scene, pixels);
        engine_drawn(engine);
        assert_string_equal(frame->transfer, "interop");
        assert_true(frame->step >= last);
        last = frame->step;
        if (frame->step % 10 == 1 || frame->step == 0) continue; // a checkpoint was saved before this step
        assert_int_equal(frame->profile.downloaded, 0);
        plain++;
    }
    printf("%d frames of the window downloaded nothing\n", plain);
    assert_true(last >= 120 && plain > 20);
    close_engine(engine);
    close_offscreen(&s);
}

// An engine whose sand is dense, with a first picture of it: that makes the programs of all others.
static EngineFrame *draw_first(Fixture *s, Engine *engine, uint64_t step, unsigned char *pixels) {
    EngineFrame *frame = NULL;
    for (double end = sand_seconds() + ENGINE_LIMIT; !(frame && frame->step >= step) && sand_seconds() < end;) {
        EngineFrame *next = engine_frame(engine);
        hear_messages(engine);
        if (next) frame = next;
    }
    assert_true(frame && frame->step >= step);
    draw(s, &frame->render_scene, pixels);
    engine_drawn(engine);
    return frame;
}

// A solve of two seconds on the GPU that also draws: the thread that draws goes on, since the solve comes in short slices. A
// thread that had to wait would draw one picture a step.
static void drawing_goes_on_beside_a_long_solve(void **state) {
    (void)state;
    static unsigned char pixels[BYTES];
    Fixture s;
    if (!open_offscreen(&s)) skip();
    Engine *engine = start_engine(20000, 1000000, 2000);
    EngineFrame *frame = draw_first(&s, engine, 2, pixels);
    int in_step = 0, most = 0; // pictures while one step is taken
    for (double end = sand_seconds() + ENGINE_LIMIT; most < 4 && sand_seconds() < end; in_step++) {
        EngineFrame *next = engine_frame(engine);
        hear_messages(engine);
        if (next) {
            frame = next;
            in_step = 0;
        }
        draw(&s, &frame->render_scene, pixels);
        engine_drawn(engine);
        if (in_step > most) most = in_step;
    }
    assert_true(most >= 4);
    close_engine(engine);
    close_offscreen(&s);
}

// `test_interop bench`: frames a second beside solves of more than half a second. The goal is 30 or more.
static void measure_drawing_beside_a_long_solve(void **state) {
    (void)state;
    static unsigned char pixels[BYTES];
    Fixture s;
    if (!open_offscreen(&s)) skip();
    Engine *engine = start_engine(100000, 9000, 0);
    EngineFrame *frame = draw_first(&s, engine, 30, pixels);
    double solve = 0, longest = 0;
    int drawn = 0;
    double begin = sand_seconds(), last = begin;
    for (; sand_seconds() < begin + 4; drawn++) {
        EngineFrame *next = engine_frame(engine);
        if (next) {
            frame = next;
            solve = fmax(solve, frame->profile.solve);
        }
        draw(&s, &frame->render_scene, pixels);
        engine_drawn(engine);
        longest = fmax(longest, sand_seconds() - last);
        last = sand_seconds();
    }
    printf("%.1f frames a second (goal: 30) beside solves of up to %.0f ms; the longest frame took %.0f ms\n",
           drawn / (sand_seconds() - begin), solve, 1e3 * longest);
    close_engine(engine);
    close_offscreen(&s);
}

int main(int count, char **arguments) {
    cuda = cuda_or_skip();
    const struct CMUnitTest bench[] = {cmocka_unit_test(measure_drawing_beside_a_long_solve)};
    if (count > 1 && !strcmp(arguments[1], "bench")) return cmocka_run_group_tests_name("interop, bench", bench, NULL, NULL);
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances_are_those_of_the_host), cmocka_unit_test(sums_are_those_of_the_host),
        cmocka_unit_test(pixels_are_those_of_the_host), cmocka_unit_test(the_window_downloads_checkpoints_alone),
        cmocka_unit_test(drawing_goes_on_beside_a_long_solve)};
    return cmocka_run_group_tests_name("interop", tests, NULL, NULL);
}
