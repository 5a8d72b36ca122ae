// SPDX-License-Identifier: MIT
// The three slots between simulation and window: what is newest comes, nothing is torn, and a slot that the graphics
// driver may still read is never written.
#include "tests/lab/lab.h"

#include <pthread.h>
#include <stdatomic.h>

#include <glad/gl.h>

#include "app/render/context.h"
#include "app/render/renderer.h"
#include "app/engine/triple_buffer.h"

// A driver that is slow to read: it says itself when it is done with a slot.
typedef struct Driver {
    InstanceStore stores[TRIPLE_BUFFER_SLOTS];
    int64_t numbers[TRIPLE_BUFFER_SLOTS][64];
    bool busy[TRIPLE_BUFFER_SLOTS];
    int fetched, drawn;
} Driver;

static bool driver_fetch(void *user, int slot, unsigned *buffer, SandError *error) {
    (void)error;
    ((Driver *)user)->fetched++;
    *buffer = (unsigned)slot + 1;
    return true;
}
static void driver_drawn(void *user, int slot) { ((Driver *)user)->busy[slot] = true, ((Driver *)user)->drawn++; }
static bool driver_idle(void *user, int slot) { return !((Driver *)user)->busy[slot]; }
static const TripleBufferFunctions driver_functions = {driver_fetch, driver_drawn, driver_idle, NULL, NULL};

static TripleBuffer *open_triple_buffer(Driver *driver) {
    SandError error = {""};
    *driver = (Driver){0};
    for (int k = 0; k < TRIPLE_BUFFER_SLOTS; k++)
        driver->stores[k] = (InstanceStore){.data = driver->numbers[k], .capacity = sizeof driver->numbers[k]};
    TripleBuffer *buffer = triple_buffer_create(&driver_functions, driver->stores, driver, &error);
    assert_non_null(buffer);
    return buffer;
}

static void newest_comes(void **state) {
    (void)state;
    Driver driver;
    TripleBuffer *buffer = open_triple_buffer(&driver);
    assert_false(triple_buffer_acquire(buffer)); // nothing was published
    for (int k = 1; k <= 5; k++) {
        *(int64_t *)triple_buffer_store(buffer)->data = k;
        triple_buffer_publish(buffer);
        assert_int_not_equal(triple_buffer_writing(buffer), triple_buffer_reading(buffer));
    }
    unsigned gl_buffer;
    SandError error;
    assert_true(triple_buffer_acquire(buffer));
    assert_true(triple_buffer_fetch(buffer, &gl_buffer, &error));
    assert_int_equal(gl_buffer, triple_buffer_reading(buffer) + 1);
    assert_int_equal(driver.numbers[triple_buffer_reading(buffer)][0], 5);
    assert_false(triple_buffer_acquire(buffer)); // it has been seen
    triple_buffer_free(buffer);
}

// While the driver reads a slot, the reader keeps it, however much is published; once it is idle the newest comes.
static void a_slot_goes_back_only_when_the_driver_is_done(void **state) {
    (void)state;
    Driver driver;
    TripleBuffer *buffer = open_triple_buffer(&driver);
    triple_buffer_publish(buffer);
    assert_true(triple_buffer_acquire(buffer));
    int held = triple_buffer_reading(buffer);
    triple_buffer_drawn(buffer);
    for (int k = 0; k < 7; k++) {
        assert_int_not_equal(triple_buffer_writing(buffer), held);
        *(int64_t *)triple_buffer_store(buffer)->data = 100 + k;
        triple_buffer_publish(buffer);
        assert_false(triple_buffer_acquire(buffer));
        assert_int_equal(triple_buffer_reading(buffer), held);
    }
    driver.busy[held] = false;
    assert_true(triple_buffer_acquire(buffer));
    assert_int_equal(driver.numbers[triple_buffer_reading(buffer)][0], 106);
    triple_buffer_free(buffer);
}

// A writer and a reader at full speed: every slot that comes is whole, and never older than the last.
static atomic_bool over;
static void *write_on(void *argument) {
    TripleBuffer *buffer = argument;
    for (int64_t number = 1; !over; number++) {
        int64_t *data = triple_buffer_store(buffer)->data;
        for (int k = 0; k < 64; k++) data[k] = number;
        triple_buffer_publish(buffer);
    }
    return NULL;
}

static void nothing_is_torn(void **state) {
    (void)state;
    Driver driver;
    TripleBuffer *buffer = open_triple_buffer(&driver);
    pthread_t writer;
    over = false;
    assert_int_equal(pthread_create(&writer, NULL, write_on, buffer), 0);
    int64_t last = 0;
    for (int taken = 0; taken < 20000;) {
        if (!triple_buffer_acquire(buffer)) continue;
        const int64_t *data = driver.numbers[triple_buffer_reading(buffer)];
        int64_t number = data[0];
        for (int k = 0; k < 64; k++)
            if (data[k] != number) fail_msg("a slot is torn: %lld beside %lld", (long long)data[k], (long long)number);
        if (number <= last) fail_msg("%lld came after %lld", (long long)number, (long long)last);
        last = number;
        taken++;
        // The driver takes a while over one slot in three.
        if (taken % 3 == 0) {
            triple_buffer_drawn(buffer);
            driver.busy[triple_buffer_reading(buffer)] = false;
        }
    }
    over = true;
    pthread_join(writer, NULL);
    triple_buffer_free(buffer);
}

// The picture from mapped buffers is to the pixel the one from a copy; slots that are too small grow, and are used then.
static void mapped_slots_draw_the_same(void **state) {
    (void)state;
    enum { WIDE = 160, HIGH = 120, BYTES = WIDE * HIGH * 4 };
    SandError error = {""};
    ContextDef def = context_default();
    def.software = true;
    Context *context = context_create(&def, &error);
    Renderer *renderer = context ? renderer_create(&error) : NULL;
    TripleBuffer *buffer = renderer ? triple_buffer_create_gl(false, &error) : NULL;
    if (!buffer) fail_msg("%s", error.text);
    SandSimulation *sim = lab_scene("clumps", 40, 1, SAND_FLOAT); // clumps, and balls where colors mean something
    const SandWorld *w = sand_simulation_world(sim);
    static unsigned char mapped[BYTES], copied[BYTES];
    RendererDef look = renderer_default();
    RenderScene pictures[TRIPLE_BUFFER_SLOTS] = {{0}};
    for (int k = 0; k < TRIPLE_BUFFER_SLOTS; k++)
        assert_true(render_scene_init(&pictures[k], w, v3_make(-4, -4, -1), v3_make(4, 4, 6), &error));
    int direct = 0;
    for (int k = 0; k < 9; k++) {
        lab_step(sim);
        RenderScene *scene = &pictures[triple_buffer_writing(buffer)];
        scene->store = triple_buffer_store(buffer);
        scene->chains = true;
        assert_true(render_scene_update(scene, w, sim, w->time, k % 2 ? COLOR_BY_SPEED : COLOR_BY_BODY, &error));
        triple_buffer_publish(buffer);
        assert_true(triple_buffer_acquire(buffer));
        scene = &pictures[triple_buffer_reading(buffer)];
        if (!triple_buffer_fetch(buffer, &scene->buffer, &error)) fail_msg("%s", error.text);
        direct += scene->buffer != 0;
        Camera camera;
        camera_frame(&camera, "default", scene->lower, scene->upper, (double)WIDE / HIGH);
        for (int copy = 0; copy < 2; copy++) {
            if (copy) {
                scene->buffer = 0;
                scene->stamp = 0;
            }
            if (!renderer_draw(renderer, scene, &camera, &look, WIDE, HIGH, &error)) fail_msg("%s", error.text);
            triple_buffer_drawn(buffer);
            glBindFramebuffer(GL_READ_FRAMEBUFFER, renderer_framebuffer(renderer));
            glReadPixels(0, 0, WIDE, HIGH, GL_RGBA, GL_UNSIGNED_BYTE, copy ? copied : mapped);
        }
        assert_memory_equal(mapped, copied, BYTES);
    }
    assert_true(direct >= 9 - TRIPLE_BUFFER_SLOTS); // every slot was too small once
    if (context_error_count(context)) fail_msg("OpenGL: %s", context_error(context));
    for (int k = 0; k < TRIPLE_BUFFER_SLOTS; k++) render_scene_free(&pictures[k]);
    sand_simulation_free(sim);
    triple_buffer_free(buffer);
    renderer_free(renderer);
    context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newest_comes),
        cmocka_unit_test(a_slot_goes_back_only_when_the_driver_is_done),
        cmocka_unit_test(nothing_is_torn),
        cmocka_unit_test(mapped_slots_draw_the_same),
    };
    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
