// SPDX-License-Identifier: MIT
// Questions to a simulation: a ball falls between three others, and rays, nearest surfaces, overlaps, forces and events of
// contacts say what became of it.
//   cc ask.c $(pkg-config --cflags --libs sandglass) -o ask
#include <sandglass/sandglass.h>
#include <stdio.h>

enum { BALLS = 4 };

static int fail(const SandError *error) { return fprintf(stderr, "ask: %s\n", error->text), 1; }

static bool build(SandWorld *world, SandError *error) {
    const SandMaterial glass = {.name = "glass", .density = 2500, .mu = 0.3};
    const SandVec3 places[BALLS] = {{0, 0.12, 0.1}, {0.104, -0.06, 0.1}, {-0.104, -0.06, 0.1}, {0, 0, 1}};
    SandShape sphere;
    SandBoundary ground;
    sand_world_init(world);
    if (sand_world_add_material(world, &glass, error) < 0 || !sand_shape_sphere(&sphere, error) ||
        sand_world_add_shape(world, &sphere, error) < 0 ||
        !sand_boundary_plane(&ground, v3_make(0, 0, 0), v3_make(0, 0, 1), error) ||
        sand_world_add_boundary(world, &ground, error) < 0)
        return false;
    for (int i = 0; i < BALLS; i++) {
        SandBodyDef body = sand_default_body();
        body.scale = 0.1;
        body.pose.position = places[i];
        if (sand_world_add_body(world, &body, error) < 0) return false;
    }
    return true;
}

int main(void) {
    SandError error;
    SandWorld world;
    if (!build(&world, &error)) return fail(&error);
    SandSimulationDef def = sand_default_simulation();
    SandSimulation *sim = sand_simulation_create(&world, &def, &error);
    if (!sim || !sand_simulation_keep_events(sim, true, &error)) return fail(&error);
    while (sand_simulation_world(sim)->time < 2)
        if (!sand_simulation_step(sim, &error)) return fail(&error);

    // What is below a point one meter up, and what is nearest to it?
    SandVec3 eye = {0, 0, 1};
    SandRay ray = {.from = eye, .along = {0, 0, -1}, .reach = INFINITY, .passes = -1};
    SandHit below, nearest;
    if (!sand_simulation_raycast(sim, &ray, 1, &below, &error)) return fail(&error);
    if (!sand_simulation_closest(sim, &eye, 1, INFINITY, &nearest, &error)) return fail(&error);
    printf("below is body %d, boundary %d, at %.3f m; the nearest surface is %.3f m away\n", below.body, below.boundary,
           below.distance, nearest.distance);

    // Who is within 1 m of the origin?
    int bodies[BALLS];
    SandPose origin = {.rotation = q_identity()};
    int count = sand_simulation_overlap(sim, &sand_simulation_world(sim)->shapes[0], 1, origin, bodies, BALLS, &error);
    if (count < 0) return fail(&error);
    printf("%d balls are within 1 m of the origin\n", count);

    // What do the balls weigh on the ground?
    SandVec3 force[1];
    if (!sand_simulation_boundary_forces(sim, force, NULL, &error)) return fail(&error);
    printf("the ground carries %.2f N; the balls weigh %.2f N\n", -force[0].z,
           BALLS * sand_simulation_world(sim)->mass[0] * 9.81);

    // Who has touched whom?
    SandContactEvent events[BALLS * BALLS];
    int pairs = sand_simulation_contact_events(sim, events, BALLS * BALLS);
    for (int k = 0; k < pairs; k++)
        printf("%d and %d began to touch %d times, hardest at %.2f s with %.2f N s\n", events[k].a, events[k].b,
               events[k].begins, events[k].hardest, events[k].impulse);
    sand_simulation_free(sim);
    return 0;
}
