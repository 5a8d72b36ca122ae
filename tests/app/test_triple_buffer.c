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
    PictureStore stores[RING_SLOTS];
    int64_t numbers[RING_SLOTS][64];
    bool busy[RING_SLOTS];
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
static const RingVerbs driver_verbs = {driver_fetch, driver_drawn, driver_idle, NULL, NULL};

static Ring *open_ring(Driver *driver) {
    SandError error = {""};
    *driver = (Driver){0};
    for (int k = 0; k < RING_SLOTS; k++)
        driver->stores[k] = (PictureStore){.data = driver->numbers[k], .capacity = sizeof driver->numbers[k]};
    Ring *ring = ring_create(&driver_verbs, driver->stores, driver, &error);
    assert_non_null(ring);
    return ring;
}

static void newest_comes(void **state) {
    (void)state;
    Driver driver;
    Ring *ring = open_ring(&driver);
    assert_false(ring_take(ring)); // nothing was stored_impulses
    for (int k = 1; k <= 5; k++) {
        *(int64_t *)ring_store(ring)->data = k;
        ring_publish(ring);
        assert_int_not_equal(ring_writing(ring), ring_reading(ring));
    }
    unsigned buffer;
    SandError error;
    assert_true(ring_take(ring));
    assert_true(ring_fetch(ring, &buffer, &error));
    assert_int_equal(buffer, ring_reading(ring) + 1);
    assert_int_equal(driver.numbers[ring_reading(ring)][0], 5);
    assert_false(ring_take(ring)); // it has been seen
    ring_free(ring);
}

// While the driver reads a slot, the reader keeps it, however much is stored_impulses; once it is idle the newest comes.
static void a_slot_goes_back_only_when_the_driver_is_done(void **state) {
    (void)state;
    Driver driver;
    Ring *ring = open_ring(&driver);
    ring_publish(ring);
    assert_true(ring_take(ring));
    int held = ring_reading(ring);
    ring_drawn(ring);
    for (int k = 0; k < 7; k++) {
        assert_int_not_equal(ring_writing(ring), held);
        *(int64_t *)ring_store(ring)->data = 100 + k;
        ring_publish(ring);
        assert_false(ring_take(ring));
        assert_int_equal(ring_reading(ring), held);
    }
    driver.busy[held] = false;
    assert_true(ring_take(ring));
    assert_int_equal(driver.numbers[ring_reading(ring)][0], 106);
    ring_free(ring);
}

// A writer and a reader at full speed: every slot that comes is whole, and never older than the last.
static atomic_bool over;
static void *write_on(void *argument) {
    Ring *ring = argument;
    for (int64_t number = 1; !over; number++) {
        int64_t *data = ring_store(ring)->data;
        for (int k = 0; k < 64; k++) data[k] = number;
        ring_publish(ring);
    }
    return NULL;
}

static void nothing_is_torn(void **state) {
    (void)state;
    Driver driver;
    Ring *ring = open_ring(&driver);
    pthread_t writer;
    over = false;
    assert_int_equal(pthread_create(&writer, NULL, write_on, ring), 0);
    int64_t last = 0;
    for (int taken = 0; taken < 20000;) {
        if (!ring_take(ring)) continue;
        const int64_t *data = driver.numbers[ring_reading(ring)];
        int64_t number = data[0];
        for (int k = 0; k < 64; k++)
            if (data[k] != number) fail_msg("a slot is torn: %lld beside %lld", (long long)data[k], (long long)number);
        if (number <= last) fail_msg("%lld came after %lld", (long long)number, (long long)last);
        last = number, taken++;
        // The driver takes a while over one slot in three.
        if (taken % 3 == 0) ring_drawn(ring), driver.busy[ring_reading(ring)] = false;
    }
    over = true;
    pthread_join(writer, NULL);
    ring_free(ring);
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
    Ring *ring = renderer ? ring_create_gl(false, &error) : NULL;
    if (!ring) fail_msg("%s", error.text);
    SandSimulation *sim = lab_scene("rubble", 40, 1, SAND_FLOAT); // rocks, and balls where colours mean something
    const SandWorld *w = sand_simulation_world(sim);
    static unsigned char mapped[BYTES], copied[BYTES];
    RendererDef look = renderer_default();
    Picture pictures[RING_SLOTS] = {{0}};
    for (int k = 0; k < RING_SLOTS; k++)
        assert_true(picture_init(&pictures[k], w, v3_make(-4, -4, -1), v3_make(4, 4, 6), &error));
    int direct = 0;
    for (int k = 0; k < 9; k++) {
        lab_step(sim);
        Picture *p = &pictures[ring_writing(ring)];
        p->store = ring_store(ring), p->chains = true;
        assert_true(picture_take(p, w, sim, w->time, k % 2 ? PICTURE_SPEED : PICTURE_BODY, &error));
        ring_publish(ring);
        assert_true(ring_take(ring));
        p = &pictures[ring_reading(ring)];
        if (!ring_fetch(ring, &p->buffer, &error)) fail_msg("%s", error.text);
        direct += p->buffer != 0;
        Camera camera;
        camera_frame(&camera, "default", p->lower, p->upper, (double)WIDE / HIGH);
        for (int copy = 0; copy < 2; copy++) {
            if (copy) p->buffer = 0, p->stamp = 0;
            if (!renderer_draw(renderer, p, &camera, &look, WIDE, HIGH, &error)) fail_msg("%s", error.text);
            ring_drawn(ring);
            glBindFramebuffer(GL_READ_FRAMEBUFFER, renderer_framebuffer(renderer));
            glReadPixels(0, 0, WIDE, HIGH, GL_RGBA, GL_UNSIGNED_BYTE, copy ? copied : mapped);
        }
        assert_memory_equal(mapped, copied, BYTES);
    }
    assert_true(direct >= 9 - RING_SLOTS); // every slot was too small once
    if (context_error_count(context)) fail_msg("OpenGL: %s", context_error(context));
    for (int k = 0; k < RING_SLOTS; k++) picture_free(&pictures[k]);
    sand_simulation_free(sim);
    ring_free(ring);
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
