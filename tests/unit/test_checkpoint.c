// SPDX-License-Identifier: MIT
// A run restored from a checkpoint continues with the same bits.
#include "tests/lab/lab.h"
#include "sim/step/checkpoint.h"

static void back_and_forward(const char *name, int bodies) {
    SandScene scene;
    SandError error;
    SandSceneOptions options = {.bodies = bodies};
    if (!sand_scene_load(&scene, name, &options, &error)) fail_msg("%s", error.text);
    SandSimulationDef def = sand_default_simulation();
    def.threads = 2;
    def.solve = scene.solve;
    SandSimulation *sim = lab_simulation(&scene.world, &def);
    SandCheckpoint checkpoint = {0};
    for (int i = 0; i < 60; i++) assert_true(sand_simulation_step(sim, &error));
    assert_true(sand_simulation_save_state(sim, &checkpoint, &error));
    uint64_t there = sand_world_hash(sand_simulation_world(sim));
    for (int i = 0; i < 50; i++) assert_true(sand_simulation_step(sim, &error));
    uint64_t beyond = sand_world_hash(sand_simulation_world(sim));
    assert_true(beyond != there);

    assert_true(sand_simulation_restore_state(sim, &checkpoint, &error));
    assert_true(sand_world_hash(sand_simulation_world(sim)) == there);
    for (int i = 0; i < 50; i++) assert_true(sand_simulation_step(sim, &error));
    assert_true(sand_world_hash(sand_simulation_world(sim)) == beyond);
    printf("%s: %zu bytes for %d bodies\n", name, sand_checkpoint_bytes(&checkpoint), checkpoint.body_count);
    sand_checkpoint_free(&checkpoint);
    sand_simulation_free(sim);
    sand_scene_free(&scene);
}

static void hourglass(void **state) {
    (void)state;
    back_and_forward("hourglass", 800);
}

static void clumps(void **state) {
    (void)state;
    back_and_forward("clumps", 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(hourglass), cmocka_unit_test(clumps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
