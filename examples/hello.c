// SPDX-License-Identifier: MIT
// A sphere falls on a plane and comes to rest: the smallest program that uses the library, without a scene file.
//   cc hello.c $(pkg-config --cflags --libs sandglass) -o hello
#include <sandglass/simulation.h>
#include <stdio.h>

static int fail(const SandError *error) { return fprintf(stderr, "hello: %s\n", error->text), 1; }

int main(void) {
    SandError error;
    SandWorld world;
    SandShape sphere;
    SandBoundary ground;

    // A world of one material: glass, 2500 kg/m^3, friction 0.3.
    const SandMaterial glass = {.name = "glass", .density = 2500, .mu = 0.3};
    sand_world_init(&world);
    if (sand_world_add_material(&world, &glass, &error) < 0) return fail(&error);

    // The plane z = 0, with its normal upwards.
    if (!sand_boundary_plane(&ground, v3_make(0, 0, 0), v3_make(0, 0, 1), &error)) return fail(&error);
    if (sand_world_add_boundary(&world, &ground, &error) < 0) return fail(&error);

    // A sphere of radius 0.1 m, one meter up.
    if (!sand_shape_sphere(&sphere, &error) || sand_world_add_shape(&world, &sphere, &error) < 0) return fail(&error);
    SandBodyDef body = sand_default_body();
    body.scale = 0.1;
    body.pose.position = v3_make(0, 0, 1);
    if (sand_world_add_body(&world, &body, &error) < 0) return fail(&error);

    // One second in steps of the world's default length. The simulation owns the world from here on.
    SandSimulationDef def = sand_default_simulation();
    SandSimulation *sim = sand_simulation_create(&world, &def, &error);
    if (!sim) return fail(&error);
    while (sand_simulation_world(sim)->time < 1)
        if (!sand_simulation_step(sim, &error)) return fail(&error);
    printf("sandglass %s: after %.2f s the sphere is at z = %.4f m\n", sand_version(), sand_simulation_world(sim)->time,
           sand_simulation_world(sim)->position[0].z);
    sand_simulation_free(sim);
    return 0;
}
