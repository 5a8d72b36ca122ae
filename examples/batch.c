// SPDX-License-Identifier: MIT
// Many worlds at once: in each of them a ball falls on the edge of a roof, a little beside it by the seed of its world, and
// all of them together are counted.
//   cc batch.c $(pkg-config --cflags --libs sandglass) -o batch
#include <sandglass/sandglass.h>
#include <stdio.h>

enum { WORLDS = 256 };

static int fail(const SandError *error) { return fprintf(stderr, "batch: %s\n", error->text), 1; }

// A ball above a roof, which is a box on its edge.
static bool build(SandWorld *world, SandError *error) {
    const SandMaterial glass = {.name = "glass", .density = 2500, .mu = 0.1};
    SandShape sphere;
    SandBoundary roof;
    SandBodyDef ball = sand_default_body();
    sand_world_init(world);
    ball.scale = 0.05;
    ball.pose.position = v3_make(0, 0, 1);
    if (sand_world_add_material(world, &glass, error) < 0 || !sand_shape_sphere(&sphere, error) ||
        sand_world_add_shape(world, &sphere, error) < 0 ||
        !sand_boundary_box(&roof, v3_make(0.5, 1, 0.5), SAND_OUTSIDE, error))
        return false;
    roof.pose.rotation = q_exp(v3_make(0, 0.7853981633974483, 0));
    return sand_world_add_boundary(world, &roof, error) >= 0 && sand_world_add_body(world, &ball, error) >= 0;
}

// Half a second of all worlds; counts the balls that are on the right side then.
static bool count_right(SandBatch *batch, int *right, SandError *error) {
    SandVec3 position[WORLDS];
    SandBatchBodies to = {.position = position};
    if (!sand_batch_step(batch, NULL, 50, error) || !sand_batch_read_bodies(batch, NULL, 0, &to, error)) return false;
    *right = 0;
    for (int k = 0; k < WORLDS; k++) *right += position[k].x > 0;
    return true;
}

int main(void) {
    SandError error;
    SandWorld world;
    SandBatchDef def = sand_default_batch();
    uint64_t seeds[WORLDS];
    int right;
    for (int k = 0; k < WORLDS; k++) seeds[k] = (uint64_t)k;
    def.count = WORLDS;
    def.seeds = seeds;
    def.scatter = 0.2; // of a radius: up to a centimeter
    if (!build(&world, &error)) return sand_world_free(&world), fail(&error);
    SandBatch *batch = sand_batch_create(&world, &def, &error);
    sand_world_free(&world);
    if (!batch || !count_right(batch, &right, &error)) return fail(&error);
    printf("of %d balls %d fell to the right;", WORLDS, right);
    for (int k = 0; k < WORLDS; k++) seeds[k] += WORLDS;
    if (!sand_batch_reset(batch, NULL, seeds, &error) || !count_right(batch, &right, &error)) return fail(&error);
    printf(" of %d others %d\n", WORLDS, right);
    sand_batch_free(batch);
    return 0;
}
