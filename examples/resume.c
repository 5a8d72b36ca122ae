// SPDX-License-Identifier: MIT
// A run that is kept and goes on elsewhere: a heap of balls falls for a while, its state is saved to memory and to a file,
// and two other simulations go on from there with the same bits.
//     cc resume.c $(pkg-config --cflags --libs sandglass) -o resume
#include <sandglass/sandglass.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static SandError error;

static void stop(void) {
    fprintf(stderr, "resume: %s\n", error.text);
    exit(1);
}

// Two hundred balls above the ground.
static SandSimulation *make_heap(void) {
    SandWorld world;
    SandShape sphere;
    SandBoundary ground;
    SandSimulationDef def = sand_default_simulation();
    const SandMaterial glass = {.name = "glass", .density = 2500, .mu = 0.3};
    sand_world_init(&world);
    if (sand_world_add_material(&world, &glass, &error) < 0 || !sand_shape_sphere(&sphere, &error) ||
        sand_world_add_shape(&world, &sphere, &error) < 0 ||
        !sand_boundary_plane(&ground, v3_make(0, 0, 0), v3_make(0, 0, 1), &error) ||
        sand_world_add_boundary(&world, &ground, &error) < 0)
        stop();
    for (int i = 0; i < 200; i++) {
        SandBodyDef ball = sand_default_body();
        ball.scale = 0.05;
        ball.pose.position = v3_make(0.11 * (i % 5) + 0.001 * i, 0.11 * (i / 5 % 5), 0.1 + 0.11 * (i / 25));
        if (sand_world_add_body(&world, &ball, &error) < 0) stop();
    }
    SandSimulation *sim = sand_simulation_create(&world, &def, &error);
    if (!sim) stop();
    return sim;
}

static uint64_t take_steps(SandSimulation *sim, int steps) {
    for (int i = 0; i < steps; i++)
        if (!sand_simulation_step(sim, &error)) stop();
    if (!sand_simulation_fetch(sim, &error)) stop();
    return sand_world_hash(sand_simulation_world(sim));
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "heap.state";
    SandSimulation *first = make_heap(), *second = make_heap(), *third = make_heap();
    void *state;
    size_t size;
    take_steps(first, 100);
    if (!sand_simulation_save(first, &state, &size, &error) || !sand_simulation_save_file(first, path, &error)) stop();
    if (!sand_simulation_restore(second, state, size, &error) || !sand_simulation_restore_file(third, path, &error)) stop();
    uint64_t a = take_steps(first, 50), b = take_steps(second, 50), c = take_steps(third, 50);
    printf("a state of %zu bytes\n", size);
    printf("never interrupted   %016" PRIx64 "\nfrom memory         %016" PRIx64 "\nfrom %-14s %016" PRIx64 "\n", a, b, path,
           c);
    sand_free(state);
    sand_simulation_free(first);
    sand_simulation_free(second);
    sand_simulation_free(third);
    return a == b && a == c ? 0 : 1;
}
