// SPDX-License-Identifier: MIT
// A scene on the GPU: it runs there, its state goes on in a second simulation with the same bits, and the contacts of the
// last step are read. Where the library or the machine has no GPU it says so, and ends well.
//     cc gpu.c $(pkg-config --cflags --libs sandglass) -o gpu
#include <sandglass/sandglass.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static SandError error;

static void stop(void) {
    fprintf(stderr, "gpu: %s\n", error.text);
    exit(1);
}

// A bowl that 2,000 pebbles fall into.
static const char bowl[] =
    "name: bowl\n"
    "materials:\n"
    "  - {name: pebble, density: 2600, mu: 0.4}\n"
    "boundaries:\n"
    "  - {shape: sphere, radius: 1.5, position: [0, 0, 1.5]}\n"
    "fills:\n"
    "  - {material: pebble, radii: [0.03, 0.05], lattice: {spacing: 0.11, from: 0.4}, region: {inside: true},\n"
    "     count: 2000}\n";

static SandSimulation *open_bowl(const SandBackend *backend) {
    SandScene scene;
    SandSimulationDef def = sand_default_simulation();
    if (!sand_scene_load_text(&scene, bowl, strlen(bowl), "bowl", NULL, &error)) stop();
    def.solve = scene.solve;
    def.backend = backend;
    SandSimulation *sim = sand_simulation_create(&scene.world, &def, &error);
    if (!sim) stop();
    sand_scene_free(&scene);
    return sim;
}

static void take_steps(SandSimulation *sim, int steps) {
    for (int i = 0; i < steps; i++)
        if (!sand_simulation_step(sim, &error)) stop();
}

static uint64_t hash_of(SandSimulation *sim) {
    if (!sand_simulation_fetch(sim, &error)) stop();
    return sand_world_hash(sand_simulation_world(sim));
}

// The largest force of a contact in the last step.
static void print_contacts(SandSimulation *sim) {
    if (!sand_simulation_fetch_contacts(sim, &error)) stop();
    const SandVec3 *impulse = sand_simulation_solution(sim)->impulse;
    int contacts = sand_simulation_solved_contacts(sim);
    double largest = 0, step = sand_simulation_world(sim)->step;
    for (int i = 0; i < contacts; i++) largest = fmax(largest, v3_length(impulse[i]) / step);
    printf("%d contacts, the largest force is %.1f N\n", contacts, largest);
}

int main(void) {
    SandDeviceInfo device;
    void *state;
    size_t size;
    const SandBackend *cuda = sand_backend_find("cuda", &error);
    if (!cuda) return printf("skipped, for there is no GPU: %s\n", error.text), 0;
    if (!sand_backend_describe(cuda, &device, &error)) stop();
    printf("%s, %.0f GB\n", device.name, 1e-9 * (double)device.memory);

    SandSimulation *first = open_bowl(cuda), *second = open_bowl(cuda);
    take_steps(first, 100);
    if (!sand_simulation_save(first, &state, &size, &error) || !sand_simulation_restore(second, state, size, &error)) stop();
    take_steps(first, 50);
    take_steps(second, 50);
    uint64_t a = hash_of(first), b = hash_of(second);
    printf("never interrupted %016" PRIx64 "\nfrom its state    %016" PRIx64 "\n", a, b);
    print_contacts(second);
    sand_free(state);
    sand_simulation_free(first);
    sand_simulation_free(second);
    return a == b ? 0 : 1;
}
