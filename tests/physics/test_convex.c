// SPDX-License-Identifier: MIT
// Convex bodies in motion: towers stand, boxes slide and tip when they should, and a heap of stones comes to rest.
#include "tests/lab/lab.h"

static int add_box(SandWorld *world, SandVec3 half, SandVec3 position) {
    SandShape box;
    assert_true(sand_shape_box(&box, half, NULL));
    return lab_body(world, sand_world_add_shape(world, &box, NULL), 1, position);
}

// Ten unit cubes on each other, each a little turned: after two seconds nothing has moved.
static void a_tower_of_boxes_stands(void **state) {
    (void)state;
    enum { HIGH = 10 };
    SandWorld world = lab_world(0.5);
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    for (int k = 0; k < HIGH; k++) {
        int body = add_box(&world, v3_make(0.5, 0.5, 0.5), v3_make(0, 0, 0.5 + k));
        world.rotation[body] = q_exp(v3_make(0, 0, 0.3 * k));
    }
    SandSimulation *sim = lab_exact(&world);
    lab_run(sim, 200);
    const SandWorld *w = sand_simulation_world(sim);
    double moved = 0;
    for (int k = 0; k < HIGH; k++) moved = fmax(moved, v3_length(v3_sub(w->position[k], v3_make(0, 0, 0.5 + k))));
    print_message("tower: moved by %.1e m in two seconds, %d contacts\n", moved, sand_simulation_counters(sim)->contacts);
    NEAR(moved, 0, 1e-6); // ten contact patches, each solved to 1e-12
    assert_int_equal(sand_simulation_counters(sim)->contacts, 4 * HIGH);
    sand_simulation_free(sim);
}

typedef enum Ground { PLANE, BLOCK, TERRAIN, BODY } Ground;

// The ground of a slope: a plane, a solid block, a mesh, or a body so heavy that it does not move.
static void add_ground(SandWorld *world, Ground ground) {
    SandBoundary b;
    double heights[25] = {0};
    if (ground == PLANE || ground == BODY) lab_plane(world, v3_make(0, 0, ground == BODY ? -2 : 0), v3_make(0, 0, 1));
    if (ground == BLOCK) assert_true(sand_boundary_box(&b, v3_make(20, 20, 1), SAND_OUTSIDE, NULL));
    if (ground == BLOCK) b.pose.position.z = -1;
    if (ground == TERRAIN) assert_true(sand_boundary_terrain(&b, heights, 5, 5, v3_make(21, 21, 1), NULL));
    if (ground == BLOCK || ground == TERRAIN) sand_world_add_boundary(world, &b, NULL);
    if (ground == BODY) add_box(world, v3_make(20, 20, 1), v3_make(0, 0, -1));
}

// A box of this height and width 1 on a slope. Returns the simulation after a second.
static SandSimulation *box_on(Ground ground, double mu, double angle, double height) {
    SandWorld world = lab_world(mu);
    world.gravity = lab_slope(angle);
    add_ground(&world, ground);
    if (ground == BODY) { // it must not slide itself
        int ice = sand_world_add_material(&world, &(SandMaterial){.name = "glue", .density = 2500, .mu = 10}, NULL);
        world.boundaries[0].material = ice;
        lab_set_pair_friction(&world, 0, ice, 10);
    }
    add_box(&world, v3_make(0.5, 0.5, 0.5 * height), v3_make(0.3, 0.2, 0.5 * height));
    SandSimulation *sim = lab_exact(&world);
    lab_run(sim, 100);
    return sim;
}

static void a_box_on_a_slope_sticks_slides_or_tips(void **state) {
    (void)state;
    static const char *const names[] = {"plane", "block", "terrain", "body"};
    for (Ground ground = PLANE; ground <= BODY; ground++) {
        int box = ground == BODY ? 1 : 0;
        double mu = 0.4, limit = atan(mu);
        SandSimulation *sim = box_on(ground, mu, limit - 0.02, 0.5);
        const SandWorld *w = sand_simulation_world(sim);
        double stuck = w->position[box].x - 0.3;
        sand_simulation_free(sim);
        sim = box_on(ground, mu, limit + 0.05, 0.5);
        w = sand_simulation_world(sim);
        double a = GRAVITY * (sin(limit + 0.05) - mu * cos(limit + 0.05)), slid = w->velocity[box].x / a;
        sand_simulation_free(sim);
        // Twice as high as wide: it tips where the slope is steeper than 1/2.
        sim = box_on(ground, 1, atan(0.5) - 0.02, 2);
        double stands = fabs(sand_simulation_world(sim)->rotation[box].y);
        sand_simulation_free(sim);
        sim = box_on(ground, 1, atan(0.5) + 0.02, 2);
        double tips = fabs(sand_simulation_world(sim)->rotation[box].y);
        sand_simulation_free(sim);
        print_message("%s: sticks to %.1e m, slides to %.1e of the law, stands to %.1e, tips by %.2f\n", names[ground],
                      stuck, slid - 1, stands, tips);
        NEAR(stuck, 0, 1e-6);
        NEAR(slid, 1, 2e-2); // it drops by h mu |u| onto its front edge before it floats
        NEAR(stands, 0, 1e-6);
        assert_true(tips > 0.02);
    }
}

// A heap of every shape in a box: at rest after some seconds, without deep overlaps, and the same bits for any thread count.
static SandWorld heap_world(void) {
    SandWorld world = lab_world(0.5);
    SandBoundary walls;
    SandShape shape;
    int shapes[6], materials = 0;
    SandRandom dice = sand_random(5);
    (void)materials;
    assert_true(sand_boundary_box(&walls, v3_make(0.5, 0.5, 3), SAND_INSIDE, NULL));
    walls.pose.position.z = 3;
    sand_world_add_boundary(&world, &walls, NULL);
    for (int k = 0; k < 6; k++) {
        SandStoneDef def = sand_default_stone();
        def.seed = (uint64_t)k + 1;
        bool ok = k == 0   ? sand_shape_box(&shape, v3_make(1, 0.8, 0.6), NULL)
                  : k == 1 ? sand_shape_cylinder(&shape, 0.8, 1.4, NULL)
                  : k == 2 ? sand_shape_capsule(&shape, 0.6, 1, NULL)
                           : sand_shape_stone(&shape, &def, NULL);
        assert_true(ok);
        shapes[k] = sand_world_add_shape(&world, &shape, NULL);
    }
    for (int i = 0; i < 160; i++) {
        SandVec3 at = v3_make(0.24 * (i % 4) - 0.36, 0.24 * (i / 4 % 4) - 0.36, 0.15 + 0.24 * (i / 16));
        int body = lab_body(&world, i % 7 == 6 ? 0 : shapes[i % 7], i % 7 == 6 ? 0.08 : 0.07, at);
        world.rotation[body] = sand_random_rotation(&dice);
    }
    return world;
}

static uint64_t run_heap(int threads, int steps, double *fastest, double *deepest) {
    SandWorld world = heap_world();
    SandSimulationDef def = sand_default_simulation();
    def.threads = threads;
    def.solve.iterations = 100;
    SandSimulation *sim = lab_simulation(&world, &def);
    lab_run(sim, steps);
    const SandWorld *w = sand_simulation_world(sim);
    *fastest = 0;
    for (int i = 0; i < w->body_count; i++) *fastest = fmax(*fastest, v3_length(w->velocity[i]));
    *deepest = sand_simulation_counters(sim)->penetration_max;
    uint64_t hash = sand_world_hash(w);
    print_message("heap, %d threads: %d contacts, %d warm, fastest %.1e m/s, deepest %.1e m\n", threads,
                  sand_simulation_counters(sim)->contacts, sand_simulation_counters(sim)->warm_started, *fastest, *deepest);
    sand_simulation_free(sim);
    return hash;
}

static void a_heap_of_all_shapes_comes_to_rest(void **state) {
    (void)state;
    double fastest, deepest;
    run_heap(2, 300, &fastest, &deepest);
    assert_true(fastest < 0.05);
    assert_true(deepest < 2e-3); // of bodies of 0.14 m
}

static void a_heap_has_the_same_bits_with_any_number_of_threads(void **state) {
    (void)state;
    double fastest, deepest;
    uint64_t alone = run_heap(1, 60, &fastest, &deepest);
    assert_true(alone == run_heap(2, 60, &fastest, &deepest));
    assert_true(alone == run_heap(5, 60, &fastest, &deepest));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tower_of_boxes_stands),
        cmocka_unit_test(a_box_on_a_slope_sticks_slides_or_tips),
        cmocka_unit_test(a_heap_of_all_shapes_comes_to_rest),
        cmocka_unit_test(a_heap_has_the_same_bits_with_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
