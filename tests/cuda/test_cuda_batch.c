// SPDX-License-Identifier: MIT
// Batches of worlds on the GPU: a world has the bits of one alone on the GPU, whatever the batch; the same contacts as on
// the CPU; resets and masks; and what a batch there does not do is said. Skipped where there is no CUDA device. An argument
// selects tests, as cmocka_set_test_filter does.
#include "tests/lab/lab.h"
#include "tests/lab/cuda_lab.h"
#include "tests/lab/batch_lab.h"

static const SandBackend *cuda;

enum { WORLDS = 200, STEPS = 200 };

static SandBatch *make(const SandWorld *world, int count, const uint64_t *seeds, const SandBackend *backend) {
    SandSimulationDef def = sand_default_simulation();
    def.backend = backend;
    return lab_batch(world, count, seeds, def);
}

static uint64_t hash_of(SandSimulation *sim) {
    SandError error;
    if (!sand_simulation_fetch(sim, &error)) fail_msg("%s", error.text);
    return sand_world_hash(sand_simulation_world(sim));
}

static uint64_t hash_in(const SandBatch *batch, int world) { return hash_of(sand_batch_simulation(batch, world)); }

// The hash of a world that runs alone on the GPU, scattered by a seed.
static uint64_t hash_alone(const SandWorld *world, uint64_t seed, int steps) {
    SandWorld copy;
    SandSimulationDef def = sand_default_simulation();
    def.backend = cuda;
    assert_true(sand_world_copy(&copy, world, NULL));
    sand_world_scatter(&copy, seed, sand_default_batch().scatter);
    SandSimulation *sim = lab_simulation(&copy, &def);
    for (int i = 0; i < steps; i++) {
        SandError error;
        if (!sand_simulation_step(sim, &error)) fail_msg("%s", error.text);
    }
    uint64_t hash = hash_of(sim);
    sand_simulation_free(sim);
    return hash;
}

// Spheres of many sizes, some of them fast, in a silo: several levels of grids, and impacts.
static SandWorld silo(void) {
    const double profile[][2] = {{0.8, 6}, {0.8, 0.7}, {0.06, 0}};
    SandWorld world = lab_world(0.4);
    SandBoundary wall;
    assert_true(sand_boundary_revolution(&wall, profile, 3, SAND_INSIDE, NULL));
    snprintf(wall.name, sizeof wall.name, "silo");
    assert_int_equal(sand_world_add_boundary(&world, &wall, NULL), 0);
    for (int i = 0; i < 150; i++) {
        int body = lab_body(&world, 0, 0.03 + 0.012 * (i % 7),
                            v3_make(0.24 * (i % 5 - 2), 0.24 * (i / 5 % 5 - 2), 1 + 0.24 * (i / 25)));
        if (i % 11 == 0) world.velocity[body] = v3_make(0, 0, -12);
    }
    return world;
}

static void same_bits(SandWorld world) {
    uint64_t seeds[WORLDS];
    for (int k = 0; k < WORLDS; k++) seeds[k] = (uint64_t)k;
    SandBatch *batch = make(&world, WORLDS, seeds, cuda);
    lab_batch_step(batch, NULL, STEPS / 2);
    lab_batch_step(batch, NULL, STEPS / 2);
    for (int k = 0; k < WORLDS; k += 23) assert_true(hash_in(batch, k) == hash_alone(&world, seeds[k], STEPS));
    for (int k = 1; k < WORLDS; k++) assert_true(hash_in(batch, k) != hash_in(batch, 0));
    sand_batch_free(batch);
    sand_world_free(&world);
}

static void a_pile_has_the_bits_of_one_alone(void **state) {
    (void)state;
    same_bits(lab_pile(0));
}

static void a_silo_too(void **state) {
    (void)state;
    same_bits(silo());
}

// Stages before the solve give the same bits on both; solves differ by rounding.
static void contacts_are_those_of_the_cpu(SandWorld world) {
    const uint64_t seeds[3] = {4, 5, 6};
    SandBatch *here = make(&world, 3, seeds, cuda), *there = make(&world, 3, seeds, NULL);
    lab_batch_step(here, NULL, 1);
    lab_batch_step(there, NULL, 1);
    for (int k = 0; k < 3; k++) {
        SandSimulation *a = sand_batch_simulation(here, k), *b = sand_batch_simulation(there, k);
        const SandCounters *c = sand_simulation_counters(a), *d = sand_simulation_counters(b);
        assert_true(sand_simulation_fetch(a, NULL));
        assert_int_equal(c->contacts, d->contacts);
        assert_true(c->penetration_max == d->penetration_max && c->penetration_walls == d->penetration_walls);
        for (int i = 0; i < world.body_count; i++) // solves to 50 iterations part by less than 1e-4 m/s in the first step
            NEAR(v3_length(v3_sub(sand_simulation_world(a)->position[i], sand_simulation_world(b)->position[i])), 0,
                 1e-4 * world.step);
    }
    sand_batch_free(here);
    sand_batch_free(there);
    sand_world_free(&world);
}

static void a_batch_finds_the_contacts_of_the_cpu(void **state) {
    (void)state;
    SandWorld touching = lab_pile(0);
    for (int i = 0; i < touching.body_count; i++) touching.position[i].z -= 0.115; // the lowest are on the ground
    contacts_are_those_of_the_cpu(touching);
    contacts_are_those_of_the_cpu(silo());
}

static void worlds_begin_anew(void **state) {
    (void)state;
    const uint64_t seeds[5] = {1, 2, 3, 4, 5}, others[5] = {9, 9, 9, 9, 9};
    bool mask[5] = {true, false, true, false, true};
    SandWorld world = lab_pile(0);
    SandBatch *batch = make(&world, 5, seeds, cuda);
    SandError error;
    uint64_t first[5], kept;
    lab_batch_step(batch, NULL, 80);
    for (int k = 0; k < 5; k++) first[k] = hash_in(batch, k);
    assert_true(sand_batch_reset(batch, mask, NULL, &error));
    lab_batch_step(batch, mask, 80);
    for (int k = 0; k < 5; k++) assert_true(hash_in(batch, k) == first[k]);
    assert_true(sand_batch_reset(batch, mask, others, &error));
    lab_batch_step(batch, mask, 80);
    for (int k = 0; k < 5; k++) assert_true(hash_in(batch, k) == (mask[k] ? hash_alone(&world, 9, 80) : first[k]));
    assert_true(sand_batch_keep_start(batch, NULL, &error)); // with the impulses of the last step
    lab_batch_step(batch, NULL, 20);
    kept = hash_in(batch, 3);
    assert_true(sand_batch_reset(batch, NULL, NULL, &error));
    lab_batch_step(batch, NULL, 20);
    assert_true(hash_in(batch, 3) == kept);
    sand_batch_free(batch);
    sand_world_free(&world);
}

static void what_is_refused_is_named(void **state) {
    (void)state;
    SandWorld world = lab_pile(0.05);
    SandBatchDef def = sand_default_batch();
    SandError error;
    def.count = 2;
    def.simulation.backend = cuda;
    assert_null(sand_batch_create(&world, &def, &error));
    assert_non_null(strstr(error.text, "bodies that sleep"));
    world.sleep_speed = 0;
    SandBatch *batch = make(&world, 2, NULL, cuda);
    int body = 0;
    SandVec3 force[2] = {{0, 0, 1}, {0, 0, 1}};
    assert_true(sand_batch_apply_force(batch, NULL, &body, 1, force, NULL, &error));
    assert_false(sand_batch_step(batch, NULL, 1, &error));
    assert_non_null(
        strstr(error.text, "world 0: a batch on CUDA has worlds of spheres and boundaries, and this one has forces"));
    assert_false(sand_simulation_step(sand_batch_simulation(batch, 0), &error));
    assert_non_null(strstr(error.text, "stepped with its batch"));
    sand_batch_free(batch);
    sand_world_free(&world);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_finds_the_contacts_of_the_cpu),
        cmocka_unit_test(a_pile_has_the_bits_of_one_alone),
        cmocka_unit_test(a_silo_too),
        cmocka_unit_test(worlds_begin_anew),
        cmocka_unit_test(what_is_refused_is_named),
    };
    cuda = cuda_or_skip();
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
