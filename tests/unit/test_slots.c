// SPDX-License-Identifier: MIT
// Drawing bodies that live on another backend: rendered from its memory, shared with OpenGL or staged through the host,
// frames match the host's to the pixel, and no more bytes than necessary are downloaded. The mock backend of this test lets
// bodies fall; its device memory is plain memory.
#include "tests/lab/mock_backend.h"
#include "tests/lab/lab.h"

#include <glad/gl.h>

#include "app/render/context.h"
#include "app/render/renderer.h"
#include "app/engine/triple_buffer.h"
#include "sim/world/render_instance.inl"
#include "sim/core/array.h"

struct SandDevice {
    SandWorld world; // settings of the host; its own arrays where they change
    int *places, *hulls;
};
struct SandSlot {
    SandInstance *data;
    size_t bytes;
};
struct SandShare {
    unsigned buffer;
};

static bool refuses;                             // to share memory with OpenGL
static int slots, shares, bodies_read, backends; // created and not freed; calls of read_bodies

static void *copy_of(const void *data, size_t bytes) {
    void *copy = malloc(bytes + 1);
    return memcpy(copy, data, bytes);
}

static void drop(SandDevice *m) {
    free(m->world.position);
    free(m->world.velocity);
    free(m->places);
    free(m->hulls);
    m->world.position = m->world.velocity = NULL;
    m->places = m->hulls = NULL;
}
static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    (void)def;
    (void)error;
    backends++;
    return calloc(1, sizeof(SandDevice));
}
static void destroy(SandDevice *m) {
    backends--;
    drop(m);
    free(m);
}

static bool upload(SandDevice *m, SandHostState *host, SandError *error) {
    const SandWorld *w = &host->world;
    (void)error;
    size_t bytes = (size_t)w->body_count * sizeof(SandVec3);
    drop(m);
    m->world = *w;
    m->world.position = copy_of(w->position, bytes);
    m->world.velocity = copy_of(w->velocity, bytes);
    m->places = malloc((size_t)w->body_count * sizeof(int) + 1);
    m->hulls = malloc((size_t)w->shape_count * sizeof(int) + 1);
    sand_instance_first(w, m->places, m->hulls);
    return true;
}

static bool integrate(SandDevice *m, SandError *error) {
    (void)error;
    SandWorld *w = &m->world;
    for (int i = 0; i < w->body_count; i++) {
        w->velocity[i] = v3_madd(w->velocity[i], w->step, w->gravity);
        w->position[i] = v3_madd(w->position[i], w->step, w->velocity[i]);
    }
    return true;
}
static bool finish(SandDevice *m, SandStepReport *report, SandError *error) {
    (void)m, (void)error;
    *report = (SandStepReport){.bodies = m->world.body_count};
    return true;
}
static bool read_bodies(SandDevice *m, SandWorld *w, int first, int count, SandError *error) {
    (void)error;
    bodies_read++;
    mock_copy_bodies(w, &m->world, first, count);
    sand_count_downloaded(2 * sizeof(SandVec3) * (size_t)count);
    return true;
}
static bool read_contacts(SandDevice *m, SandCollision *collision, SandError *error) { // none
    collision->body_count = collision->contact_count = 0;
    return sand_collision_place_boundaries(collision, &m->world, error);
}

static SandSlot *slot_create(SandError *error) { return (void)error, slots++, calloc(1, sizeof(SandSlot)); }
static void slot_free(SandSlot *slot) {
    slots--;
    free(slot->data);
    free(slot);
}
static bool instances(SandDevice *m, const SandWorld *world, const SandInstanceDef *def, SandSlot *slot, SandError *error) {
    (void)error;
    SandWorld w = *world;
    w.position = m->world.position;
    w.velocity = m->world.velocity;
    free(slot->data);
    slot->bytes = sand_instance_total(sand_instance_first(world, m->places, m->hulls)) * sizeof(SandInstance);
    slot->data = aligned_alloc(16, slot->bytes);
    for (int i = 0; i < w.body_count; i++) {
        float value = def->shade == SAND_SHADE_SPEED ? instance_speed(&w, i) : 0;
        instance_write(&w, i, def, instance_place_on_map(def, value), slot->data + m->places[i]);
    }
    return true;
}
static bool slot_read(SandSlot *slot, void *to, size_t bytes, SandError *error) {
    (void)error;
    assert_int_equal(bytes, slot->bytes);
    memcpy(to, slot->data, bytes);
    sand_count_downloaded(bytes);
    return true;
}
static SandShare *share(unsigned buffer, SandError *error) {
    if (refuses) return sand_fail(error, "it does not like to"), NULL;
    SandShare *it = malloc(sizeof *it);
    it->buffer = buffer;
    shares++;
    return it;
}
static void share_free(SandShare *it) {
    shares--;
    free(it);
}
static bool share_copy(SandShare *it, SandSlot *slot, size_t bytes, SandError *error) {
    (void)error;
    assert_int_equal(bytes, slot->bytes);
    glNamedBufferSubData(it->buffer, 0, (GLsizeiptr)bytes, slot->data);
    return true;
}

static const SandBackend falling =
    MOCK_BACKEND(.name = "falling", .create = create, .destroy = destroy, .upload = upload, .integrate = integrate,
                 .finish = finish, .slot_create = slot_create, .slot_free = slot_free, .instances = instances,
                 .slot_read = slot_read, .share = share, .share_free = share_free, .share_copy = share_copy,
                 .read_bodies = read_bodies, .read_contacts = read_contacts);

// --- the off-screen fixture ---------------------------------------------------------------------------------

enum { WIDE = 160, HIGH = 120, BYTES = WIDE * HIGH * 4 };

typedef struct Fixture {
    Context *context;
    Renderer *renderer;
    TripleBuffer *buffer;
    SandSimulation *sim;
    const SandWorld *world;
    RenderScene render_scene, host; // through the triple buffer, and of the host
    Camera camera;
} Fixture;

static SandSimulation *open_sim(const char *scene, int bodies) {
    SandError error = {""};
    SandSimulation *sim = lab_scene(scene, bodies, 1, SAND_FLOAT);
    if (!sand_simulation_move(sim, &falling, &error)) fail_msg("%s", error.text);
    return sim;
}

static void open_offscreen(Fixture *s, const char *scene, int bodies, bool staged) {
    SandError error = {""};
    ContextDef def = context_default();
    def.software = true;
    *s = (Fixture){.context = context_create(&def, &error)};
    s->renderer = s->context ? renderer_create(&error) : NULL;
    s->buffer = s->renderer ? triple_buffer_create_gl(staged, &error) : NULL;
    if (!s->buffer) fail_msg("%s", error.text);
    s->sim = open_sim(scene, bodies);
    s->world = sand_simulation_world(s->sim);
    assert_true(render_scene_init(&s->render_scene, s->world, v3_make(-4, -4, -1), v3_make(4, 4, 6), &error));
    assert_true(render_scene_init(&s->host, s->world, v3_make(-4, -4, -1), v3_make(4, 4, 6), &error));
    camera_frame(&s->camera, "default", s->host.lower, s->host.upper, (double)WIDE / HIGH);
}

static void close_offscreen(Fixture *s) {
    if (context_error_count(s->context)) fail_msg("OpenGL: %s", context_error(s->context));
    render_scene_free(&s->render_scene);
    render_scene_free(&s->host);
    sand_simulation_free(s->sim);
    triple_buffer_free(s->buffer);
    renderer_free(s->renderer);
    context_free(s->context);
    assert_int_equal(slots, 0);
    assert_int_equal(shares, 0);
    assert_int_equal(backends, 0);
}

static void draw(Fixture *s, const RenderScene *scene, unsigned char *pixels) {
    SandError error = {""};
    RendererDef look = renderer_default();
    if (!renderer_draw(s->renderer, scene, &s->camera, &look, WIDE, HIGH, &error)) fail_msg("%s", error.text);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, renderer_framebuffer(s->renderer));
    glReadPixels(0, 0, WIDE, HIGH, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
}

// Draws a frame through the triple buffer. Returns the bytes that were downloaded.
static uint64_t show(Fixture *s, RenderColor color, unsigned char *pixels) {
    SandError error = {""};
    RenderScene *scene = &s->render_scene;
    uint64_t before = sand_bytes_downloaded();
    scene->store = triple_buffer_store(s->buffer);
    double time = s->world->time - 0.3 * s->world->step;
    if (!render_scene_update(scene, s->world, s->sim, time, color, &error)) fail_msg("%s", error.text);
    triple_buffer_publish(s->buffer);
    assert_true(triple_buffer_acquire(s->buffer));
    if (!triple_buffer_fetch(s->buffer, &scene->buffer, &error)) fail_msg("%s", error.text);
    draw(s, scene, pixels);
    triple_buffer_drawn(s->buffer);
    return sand_bytes_downloaded() - before;
}

static void compare_ways(bool staged, const char *transfer, bool brings) {
    static unsigned char ours[BYTES], theirs[BYTES], last[BYTES];
    SandError error = {""};
    Fixture s;
    open_offscreen(&s, "clumps", 40, staged);
    for (int k = 0; k < 8; k++) {
        lab_step(s.sim);
        RenderColor color = k % 2 ? COLOR_BY_SPEED : COLOR_BY_BODY;
        bodies_read = 0;
        uint64_t downloaded = show(&s, color, ours);
        assert_int_equal(downloaded, brings ? sand_instance_total(s.render_scene.counts) * sizeof(SandInstance) : 0);
        assert_int_equal(bodies_read, 0);
        assert_string_equal(triple_buffer_transfer(s.buffer), transfer);
        if (k > 0) assert_int_equal(sand_simulation_profile(s.sim)->downloaded > 0, true); // by the host's frame before
        if (!render_scene_update(&s.host, s.world, s.sim, s.render_scene.time, color, &error)) fail_msg("%s", error.text);
        assert_int_equal(bodies_read, 1);
        draw(&s, &s.host, theirs);
        assert_memory_equal(ours, theirs, BYTES);
        if (k > 1) assert_true(memcmp(ours, last, BYTES) != 0); // the bodies do fall
        memcpy(last, ours, BYTES);
    }
    close_offscreen(&s);
}

static void shared_with_opengl(void **state) {
    (void)state;
    refuses = false;
    compare_ways(false, "interop", false);
}

static void staged_where_it_is_refused(void **state) {
    (void)state;
    refuses = true;
    compare_ways(false, "staged: it does not like to", true);
}

static void staged_where_it_is_asked_for(void **state) {
    (void)state;
    refuses = false;
    compare_ways(true, "staged: as was asked", true);
}

// The run moves to the CPU and back, a body is picked, force chains are drawn: each frame is the right one.
static void the_backend_may_change(void **state) {
    (void)state;
    static unsigned char ours[BYTES], theirs[BYTES];
    SandError error = {""};
    Fixture s;
    refuses = false;
    open_offscreen(&s, "clumps", 40, false);
    for (int k = 0; k < 12; k++) {
        bool away = k % 4 < 2;
        if (!sand_simulation_move(s.sim, away ? &falling : NULL, &error)) fail_msg("%s", error.text);
        lab_step(s.sim);
        s.render_scene.chains = k % 4 == 1; // drawn from the host's contacts
        show(&s, COLOR_BY_BODY, ours);
        assert_string_equal(triple_buffer_transfer(s.buffer), k % 4 == 0 ? "interop" : "host");
        s.host.chains = s.render_scene.chains;
        assert_true(render_scene_update(&s.host, s.world, s.sim, s.render_scene.time, COLOR_BY_BODY, &error));
        draw(&s, &s.host, theirs);
        assert_memory_equal(ours, theirs, BYTES);
        // What a pick finds is the same, wherever instances were written.
        if (k % 4 == 0) assert_null(s.render_scene.rocks.items);
        assert_true(render_scene_read_store(&s.render_scene, &error));
        assert_int_equal(s.render_scene.rocks.count, s.host.rocks.count);
        assert_memory_equal(s.render_scene.rocks.items, s.host.rocks.items,
                            (size_t)s.host.rocks.count * sizeof(SandInstance));
    }
    close_offscreen(&s);
}

// A change on the host is visible in the next frame.
static void changes_are_given(void **state) {
    (void)state;
    SandError error = {""};
    SandSimulation *sim = open_sim("two-spheres", 0);
    lab_step(sim);
    SandWorld *w = sand_simulation_change_bodies(sim, &error);
    w->position[1].x = 0.25;
    SandSlot *slot = slot_create(&error);
    SandInstanceDef def = {.time = w->time, .grain = 1, .range = 1};
    assert_true(sand_simulation_instances(sim, &def, slot, &error));
    assert_true(slot->data[1].center[0] == 0.25f && slot->data[1].radius > 0);
    assert_int_equal(slot->data[1].tag >> 28, SAND_LOOK_SAND);
    def.look[w->material[1]] = SAND_LOOK_BRASS; // its material decides
    assert_true(sand_simulation_instances(sim, &def, slot, &error));
    assert_int_equal(slot->data[1].tag, 1 | (uint32_t)SAND_LOOK_BRASS << 28);
    def.time = -1; // before any body has entered
    assert_true(sand_simulation_instances(sim, &def, slot, &error));
    assert_true(slot->data[1].radius == 0);
    slot_free(slot);
    sand_simulation_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_with_opengl),
        cmocka_unit_test(staged_where_it_is_refused),
        cmocka_unit_test(staged_where_it_is_asked_for),
        cmocka_unit_test(the_backend_may_change),
        cmocka_unit_test(changes_are_given),
    };
    return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
