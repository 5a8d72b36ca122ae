// SPDX-License-Identifier: MIT
// Acting on a world on the GPU, against the CPU and mechanics by hand: forces from the host and from arrays of the device,
// motors and boundaries that are told anew. Skipped where there is no CUDA device.
#include "tests/lab/cuda_lab.h"
#include "tests/lab/mixer.h"
#include "sandglass/checkpoint.h"

static const SandBackend *cuda;

static void to_cuda(SandSimulation *sim) {
    SandError error;
    if (!sand_simulation_move(sim, cuda, &error)) fail_msg("%s", error.text);
}

static SandSimulation *make(SandWorld *world, int iterations) {
    SandSimulationDef def = sand_default_simulation();
    def.threads = 2;
    def.solve.iterations = iterations;
    return lab_simulation(world, &def);
}

// Forces that differ from body to body.
static void fill(SandVec3 *force, int count, int n) {
    for (int i = 0; i < count; i++) force[i] = v3_make(30 * sin(i + 0.1 * n), 30 * cos(0.7 * i), 10 * sin(0.2 * n));
}

// On every second body of the pile.
static void push(SandSimulation *sim, int n, const SandVec3 *at) {
    enum { PUSHED = LAB_PILE / 2 };
    SandVec3 force[PUSHED];
    int body[PUSHED];
    SandError error;
    fill(force, PUSHED, n);
    for (int i = 0; i < PUSHED; i++) body[i] = 2 * i;
    SandForces forces = {.count = PUSHED, .body = body, .force = force, .torque = force, .at = at};
    if (!sand_simulation_apply_force(sim, &forces, &error)) fail_msg("%s", error.text);
}

// A step of a pile in which many rest: contacts and free velocities have the bits of the CPU, with forces at points of the
// world as well, the same are solved, and impulses agree.
static void test_pushed_step(void **state) {
    (void)state;
    SandError error;
    for (int k = 0; k < 2; k++) {
        SandWorld worlds[2] = {lab_pile(0.001), lab_pile(0.001)};
        SandSimulation *on_cpu = make(&worlds[0], 50), *on_gpu = make(&worlds[1], 50);
        SandVec3 at[LAB_PILE] = {{0, 0, 0}};
        lab_run(on_cpu, 500), lab_run(on_gpu, 500);
        to_cuda(on_gpu);
        push(on_cpu, k, k ? at : NULL), push(on_gpu, k, k ? at : NULL);
        lab_step(on_cpu), lab_step(on_gpu);
        if (!sand_simulation_fetch_contacts(on_gpu, &error)) fail_msg("%s", error.text);
        const SandProblem *p = sand_simulation_problem(on_cpu), *q = sand_simulation_problem(on_gpu);
        assert_int_equal(p->contact_count, q->contact_count);
        for (int i = 0; i < p->dynamic_count; i++)
            assert_memory_equal(&p->bodies[i].velocity, &q->bodies[i].velocity, 2 * sizeof(SandVec3));
        assert_int_equal(sand_simulation_counters(on_cpu)->solved_contacts,
                         sand_simulation_counters(on_gpu)->solved_contacts);
        assert_true(relative_difference(sand_simulation_solution(on_cpu), sand_simulation_solution(on_gpu),
                                        p->contact_count) < 2e-2);
        sand_simulation_free(on_cpu), sand_simulation_free(on_gpu);
    }
}

enum { APART = 4 }; // m, between bodies that move by up to 2

static SandWorld weightless(int count) {
    SandWorld world = lab_world(0.5);
    world.gravity = v3_make(0, 0, 0);
    for (int i = 0; i < count; i++) lab_body(&world, 0, 0.1, v3_make(APART * i, 0, 0));
    return world;
}

// Free bodies under constant forces move by h^2 n (n + 1) / 2 f / m, to the precision of float. An array of the device does
// the same as one of the host, to the bit: here it is that of the velocities of bodies of another simulation.
static void test_forces_of_the_device(void **state) {
    (void)state;
    enum { BODIES = 300, STEPS = 100 };
    SandError error;
    SandVec3 force[BODIES];
    SandDeviceArrays arrays;
    SandWorld worlds[3] = {weightless(BODIES), weightless(BODIES), weightless(BODIES)};
    fill(force, BODIES, 3);
    for (int i = 0; i < BODIES; i++) worlds[2].velocity[i] = force[i];
    SandSimulation *by_host = make(&worlds[0], 10), *by_device = make(&worlds[1], 10), *source = make(&worlds[2], 10);
    to_cuda(by_host), to_cuda(by_device), to_cuda(source);
    assert_true(sand_simulation_device_arrays(source, &arrays, &error));
    for (int n = 0; n < STEPS; n++) {
        SandForces forces = {.count = BODIES, .force = force, .torque = force};
        assert_true(sand_simulation_apply_force(by_host, &forces, &error));
        assert_true(sand_simulation_apply_device_force(by_device, arrays.velocity, arrays.velocity, &error));
        lab_step(by_host), lab_step(by_device);
    }
    lab_step(by_host), lab_step(by_device); // without
    assert_true(sand_simulation_fetch(by_host, &error) && sand_simulation_fetch(by_device, &error));
    const SandWorld *a = sand_simulation_world(by_host), *b = sand_simulation_world(by_device);
    assert_true(sand_world_hash(a) == sand_world_hash(b));
    double each = a->step * a->step / a->mass[0], steps = 0.5 * STEPS * (STEPS + 1) + STEPS;
    for (int i = 0; i < BODIES; i++) {
        SandVec3 moved = v3_sub(a->position[i], v3_make(APART * i, 0, 0));
        NEAR(v3_length(v3_sub(moved, v3_scale(each * steps, force[i]))), 0, 1e-5);
    }
    assert_true(sand_simulation_apply_device_force(by_device, arrays.velocity, NULL, &error));
    SandForces forces = {.count = BODIES, .force = force};
    assert_false(sand_simulation_apply_force(by_device, &forces, &error)); // both at once
    assert_true(sand_simulation_apply_device_force(by_device, NULL, NULL, &error));
    assert_true(sand_simulation_apply_force(by_device, &forces, &error));
    assert_false(sand_simulation_apply_device_force(by_device, arrays.velocity, NULL, &error));
    sand_simulation_free(by_host), sand_simulation_free(by_device), sand_simulation_free(source);
}

// The pile with a paddle: the motor turns it as it is told, as on the CPU, and a run that is taken up from a state on its
// way has the bits of one that was not.
static void test_mixer(void **state) {
    (void)state;
    SandError error;
    SandSimulation *sims[3];
    for (int k = 0; k < 3; k++) {
        SandWorld world = lab_mixer();
        sims[k] = make(&world, 60);
        if (k) to_cuda(sims[k]);
        for (int n = 0; n < 80; n++) {
            void *bytes = NULL;
            size_t size;
            lab_tell(sims[k], n);
            push(sims[k], n, NULL);
            if (k == 2 && n == 45) {
                assert_true(sand_simulation_save(sims[k], &bytes, &size, &error));
                lab_step(sims[k]);
                if (!sand_simulation_restore(sims[k], bytes, size, &error)) fail_msg("%s", error.text);
                sand_free(bytes);
                push(sims[k], n, NULL);
            }
            lab_step(sims[k]);
        }
        assert_true(sand_simulation_fetch(sims[k], &error) && (!k || sand_simulation_backend(sims[k]) == cuda));
    }
    SandJointState turned[2];
    for (int k = 0; k < 2; k++) assert_true(sand_simulation_read_joint(sims[k], 0, &turned[k], &error));
    printf("mixer: at %.4f rad on the CPU and %.4f on the GPU, at %.3f and %.3f rad/s\n", turned[0].position,
           turned[1].position, turned[0].speed, turned[1].speed);
    NEAR(turned[1].position, turned[0].position,
         0.3); // the pile is chaotic: 60 to 1000 iterations on a CPU end 0.21 rad apart
    assert_true(sand_world_hash(sand_simulation_world(sims[1])) == sand_world_hash(sand_simulation_world(sims[2])));
    for (int k = 0; k < 3; k++) sand_simulation_free(sims[k]);
}

// A box on a conveyor is dragged by mu g up to its speed; a ball on a plate that shakes with twice g comes off it.
static void test_boundaries(void **state) {
    (void)state;
    SandError error;
    SandWorld world = lab_world(0.4);
    world.step = 1e-3;
    int belt = lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    world.boundaries[belt].moves = true;
    world.boundaries[belt].motion.surface = v3_make(2, 0, 0);
    lab_box(&world, v3_make(0.2, 0.2, 0.05), v3_make(0, 0, 0.05));
    lab_body(&world, 0, 0.1, v3_make(-2, 0, 0.1));
    SandSimulation *sim = make(&world, 200);
    const SandWorld *w = sand_simulation_world(sim);
    to_cuda(sim);
    lab_run(sim, 200);
    assert_true(sand_simulation_fetch(sim, &error));
    NEAR(w->velocity[0].x, 0.2 * 0.4 * GRAVITY, 0.02);
    lab_run(sim, 800);
    assert_true(sand_simulation_fetch(sim, &error));
    NEAR(w->velocity[0].x, 2, 1e-3);
    sand_world_set_motion(sand_simulation_change(sim), belt, &(SandMotion){.amplitude = {0, 0, 0.01}, .frequency = 7.05});
    double highest = 0;
    for (int n = 0; n < 300; n++) {
        lab_step(sim);
        assert_true(sand_simulation_fetch(sim, &error));
        SandVec3 at = sand_boundary_pose(&w->boundaries[belt], w->time).position;
        highest = fmax(highest, w->position[1].z - 0.1 - at.z);
    }
    assert_true(highest > 1e-3);
    sand_simulation_free(sim);
}

int main(int count, char **arguments) {
    cuda = cuda_or_skip();
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pushed_step), cmocka_unit_test(test_forces_of_the_device),
                                       cmocka_unit_test(test_mixer), cmocka_unit_test(test_boundaries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
