// SPDX-License-Identifier: MIT
// A backend that fails in the middle of a run: the CPU takes over, from the same state when the bodies can still be read,
// else from the last state the host has. The mock backend of this test steps a simulation of its own.
#include "tests/lab/mock_backend.h"
#include "tests/lab/lab.h"

struct SandDevice {
    SandSimulation *inner;
};

static int steps_left;  // until the backend fails
static bool unreadable; // the bodies, once it has failed
static char reported[SAND_SENTENCE * 4];

static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    return (void)def, (void)error, calloc(1, sizeof(SandDevice));
}
static void destroy(SandDevice *m) {
    sand_simulation_free(m->inner);
    free(m);
}

// Bodies fall along z, so that their state is easy to predict.
static bool upload(SandDevice *m, SandHostState *host, SandError *error) {
    const SandWorld *w = &host->world;
    SandWorld world = lab_world(0.3);
    world.step = w->step;
    world.gravity = w->gravity;
    for (int i = 0; i < w->body_count; i++) {
        lab_body(&world, 0, 0.1, w->position[i]);
        world.velocity[i] = w->velocity[i];
    }
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    sand_simulation_free(m->inner);
    m->inner = sand_simulation_create(&world, &def, error);
    return m->inner != NULL;
}
static bool collide(SandDevice *m, const SandWorld *w, SandError *error) {
    (void)m, (void)w;
    return steps_left-- > 0 || sand_fail(error, "the device broke");
}
static bool integrate(SandDevice *m, SandError *error) { return sand_simulation_step(m->inner, error); }
static bool finish(SandDevice *m, SandStepReport *report, SandError *error) {
    (void)error;
    *report = (SandStepReport){.bodies = sand_simulation_world(m->inner)->body_count};
    return true;
}
static bool read_bodies(SandDevice *m, SandWorld *w, int first, int count, SandError *error) {
    if (unreadable && steps_left < 0) return sand_fail(error, "and cannot be read");
    mock_copy_bodies(w, sand_simulation_world(m->inner), first, count);
    return true;
}

static const SandBackend failing =
    MOCK_BACKEND(.name = "failing", .create = create, .destroy = destroy, .upload = upload, .collide = collide,
                 .integrate = integrate, .finish = finish, .read_bodies = read_bodies);

static void hear(void *user, const char *sentence) {
    (void)user;
    snprintf(reported, sizeof reported, "%s", sentence);
}

static SandSimulation *falling(const SandBackend *backend) {
    SandWorld world = lab_world(0.3);
    for (int i = 0; i < 3; i++) lab_body(&world, 0, 0.1, v3_make(i, 0, 100));
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.backend = backend;
    SandSimulation *sim = lab_simulation(&world, &def);
    sand_simulation_on_message(sim, hear, NULL);
    return sim;
}

// One body is read where the device has it; the host's copy of it stays with those of the others.
static void read_one(SandSimulation *sim, int body) {
    SandBodyState state;
    SandError error;
    double height = sand_simulation_world(sim)->position[body].z;
    assert_true(sand_simulation_read_body(sim, body, &state, &error));
    assert_true(state.position.z < height);
    assert_true(sand_simulation_world(sim)->position[body].z == height);
}

// Runs ten steps; the backend fails in the sixth, and the bodies are fetched after the third, one alone after the fifth. At
// the end the simulation is where one on the CPU is after `steps`.
static void run_and_compare(bool lost, uint64_t steps, const char *sentence) {
    SandSimulation *plain = falling(NULL), *sim;
    steps_left = 5;
    unreadable = lost;
    reported[0] = '\0';
    sim = falling(&failing);
    lab_run(sim, 3);
    SandError error;
    assert_true(sand_simulation_fetch(sim, &error));
    lab_run(sim, 2);
    read_one(sim, 1);
    lab_run(sim, 5);
    lab_run(plain, (int)steps);
    const SandWorld *a = sand_simulation_world(sim), *b = sand_simulation_world(plain);
    assert_true(sand_simulation_backend(sim)->on_host);
    assert_non_null(strstr(reported, sentence));
    assert_int_equal(a->step_index, steps);
    assert_true(a->time == b->time);
    for (int i = 0; i < a->body_count; i++) assert_true(v3_length(v3_sub(a->position[i], b->position[i])) == 0);
    sand_simulation_free(sim);
    sand_simulation_free(plain);
}

static void nothing_is_lost_where_bodies_can_be_read(void **state) {
    (void)state;
    run_and_compare(false, 10, "the device broke; the CPU goes on from t = 0.050 s");
}

static void time_goes_back_to_what_the_host_has(void **state) {
    (void)state;
    // Steps 4 and 5 are lost: five more follow the third.
    run_and_compare(true, 8, "the device broke; the CPU goes on from t = 0.030 s");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_lost_where_bodies_can_be_read),
                                       cmocka_unit_test(time_goes_back_to_what_the_host_has)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
