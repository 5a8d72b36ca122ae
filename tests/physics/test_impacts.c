// SPDX-License-Identifier: MIT
// Impacts of bodies that touch: no step gains energy, whatever the shapes, the restitution and the friction, and momentum is
// kept; what the cradle gives; and what a dense gas loses.
#include "tests/lab/convex_lab.h"

#include "sim/geometry/convex_distance.inl"

// --- random clusters ------------------------------------------------------------------------------------------

static Convex placed(const SandWorld *w, int body) {
    const SandShape *shape = &w->shapes[w->shape[body]];
    if (shape->kind == SAND_SPHERE) return convex_sphere(&lab_origin, w->position[body], w->scale[body]);
    return convex_make(shape, w->scale[body], w->rotation[body], w->position[body]);
}

// The least gap of a body to those before it.
static double gap_of(const SandWorld *w, int body) {
    Convex c = placed(w, body);
    double least = INFINITY;
    for (int k = 0; k < body; k++) {
        Convex other = placed(w, k);
        ConvexGap gap;
        convex_distance(&other, &c, 10, &gap);
        least = fmin(least, gap.distance - c.radius - other.radius);
    }
    return least;
}

// Moves a body along a line towards the others until it touches the first of them.
static void bring_to_touch(SandWorld *w, int body, SandVec3 from, SandVec3 way) {
    double apart = 0, within = 2;
    for (int k = 0; k < 100 && within - apart > 0; k++) {
        double middle = 0.5 * (apart + within);
        w->position[body] = v3_madd(from, middle, way);
        if (gap_of(w, body) > 0)
            apart = middle;
        else
            within = middle;
    }
    w->position[body] = v3_madd(from, apart, way);
}

// The shapes that clusters are made of: shape 0 is the sphere.
static void add_shapes(SandWorld *w) {
    SandShape shape;
    for (int k = 0; k < 4; k++) {
        if (k == 0)
            assert_true(sand_shape_box(&shape, lab_vector(0.04, 0.12), NULL));
        else
            lab_hull_of(&shape, 4 + (int)lab_uniform(0, 10), lab_vector(0.05, 0.12));
        assert_true(sand_world_add_shape(w, &shape, NULL) > 0);
    }
}

// A cluster of bodies that touch, some of which move. Without gravity, so that contacts alone change the energy.
static SandWorld cluster(void) {
    double mu = sand_random_unit(&lab_dice) < 0.3 ? 0 : lab_uniform(0, 1);
    SandWorld w = lab_world(mu);
    double e = sand_random_unit(&lab_dice) < 0.3 ? 1 : lab_uniform(0, 1);
    w.gravity = v3_make(0, 0, 0);
    w.step = lab_uniform(0.001, 0.01);
    lab_set_laws(&w, 0, e, 0);
    add_shapes(&w);
    int kinds = (int)lab_uniform(0, 3), count = 2 + (int)lab_uniform(0, 1 + (sand_random_unit(&lab_dice) < 0.3 ? 28 : 6));
    for (int i = 0; i < count; i++) {
        SandBodyDef def = sand_default_body();
        def.shape = kinds == 0 ? 0 : kinds == 1 ? 1 + (int)lab_uniform(0, 4) : (int)lab_uniform(0, 5);
        def.scale = def.shape ? lab_uniform(0.7, 1) : lab_uniform(0.04, 0.1);
        def.pose.rotation =
            q_unit((SandQuat){lab_uniform(-1, 1), lab_uniform(-1, 1), lab_uniform(-1, 1), lab_uniform(-1, 1)});
        if (i == 0 || sand_random_unit(&lab_dice) < 0.3) {
            def.velocity = lab_point(2);
            def.spin = lab_point(sand_random_unit(&lab_dice) < 0.5 ? 0 : 10);
        }
        int body = sand_world_add_body(&w, &def, NULL);
        SandVec3 way = lab_direction();
        if (i > 0) bring_to_touch(&w, body, v3_madd(w.position[(int)lab_uniform(0, i)], -1, way), way);
    }
    return w;
}

// Steps a cluster; returns the largest relative gain of its energy in a step, and of a change of its momentum in `moved`.
static double largest_gain(SandPrecision precision, double *moved) {
    SandWorld world = cluster();
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.precision = precision;
    def.solve.iterations = 5 + (int)lab_uniform(0, 200); // solves that end early are bound as well
    SandSimulation *sim = lab_simulation(&world, &def);
    const SandWorld *w = sand_simulation_world(sim);
    lab_expect(sim, "infeasible"); // no gain there either
    double gain = 0;
    for (int k = 0; k < 10; k++) {
        double before = sand_world_kinetic_energy(w);
        SandVec3 momentum = sand_world_momentum(w);
        lab_step(sim);
        gain = fmax(gain, sand_world_kinetic_energy(w) / before - 1);
        double scale = 0;
        for (int i = 0; i < w->body_count; i++) scale += w->mass[i] * v3_length(w->velocity[i]);
        *moved = fmax(*moved, v3_length(v3_sub(sand_world_momentum(w), momentum)) / fmax(scale, 1e-300));
    }
    sand_simulation_free(sim);
    return gain;
}

static int cluster_count = 300;

static void no_step_gains_energy(SandPrecision precision, double most_gain, double most_moved) {
    double gain = 0, moved = 0;
    lab_dice = sand_random(precision == SAND_DOUBLE ? 1 : 2);
    for (int k = 0; k < cluster_count; k++) {
        double off = 0;
        double got = largest_gain(precision, &off);
        if (got > most_gain || off > most_moved) fail_msg("cluster %d: energy + %.1e, momentum %.1e", k, got, off);
        gain = fmax(gain, got);
        moved = fmax(moved, off);
    }
    print_message("%d clusters of 2 to 30 in %s: energy + %.1e at most in a step, momentum off by %.1e\n", cluster_count,
                  precision == SAND_DOUBLE ? "double" : "float", gain, moved);
}

static void no_step_gains_energy_in_double(void **state) {
    (void)state;
    no_step_gains_energy(SAND_DOUBLE, 1e-12, 1e-12);
}

// Impulses in float add to a momentum to their rounding.
static void no_step_gains_energy_in_float(void **state) {
    (void)state;
    no_step_gains_energy(SAND_FLOAT, 1e-5, 1e-5);
}

// --- a cradle, and overlaps -----------------------------------------------------------------------------------

// A row of five equal balls that touch, of which the first comes at 1 m/s from 2 cm away.
static SandSimulation *cradle(double e) {
    SandWorld world = lab_world(0);
    world.gravity = v3_make(0, 0, 0);
    world.step = 0.005;
    lab_set_laws(&world, 0, e, 0);
    for (int k = 0; k < 5; k++) lab_body(&world, 0, 0.1, v3_make(k ? 0.2 * k : -0.02, 0, 0));
    world.velocity[0].x = 1;
    return lab_exact(&world);
}

// One impact of all: v' = (1 + e) p - e v, with p = 1/5 of each in the plastic one.
static void a_cradle_that_touches_is_one_impact(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        double e = 0.5 * k;
        SandSimulation *sim = cradle(e);
        lab_run(sim, 20);
        const SandWorld *w = sand_simulation_world(sim);
        for (int i = 0; i < 5; i++) NEAR(w->velocity[i].x, (1 + e) / 5 - (i ? 0 : e), 1e-10);
        sand_simulation_free(sim);
    }
}

// Three balls in a row, of which the last already moves away: Newton's law for each contact alone would give 13 % of energy.
static void a_contact_that_parts_gives_no_energy(void **state) {
    (void)state;
    SandWorld world = lab_world(0);
    world.gravity = v3_make(0, 0, 0);
    lab_set_laws(&world, 0, 1, 0);
    const double speed[] = {3, 0, 1};
    for (int k = 0; k < 3; k++) {
        int body = lab_body(&world, 0, 0.1, v3_make(0.2 * k, 0, 0));
        world.velocity[body].x = speed[k];
    }
    SandSimulation *sim = lab_exact(&world);
    double before = sand_simulation_energy(sim).kinetic;
    lab_step(sim);
    const SandWorld *w = sand_simulation_world(sim);
    NEAR(sand_simulation_energy(sim).kinetic, before, 1e-12 * before);
    NEAR(w->velocity[0].x + w->velocity[1].x + w->velocity[2].x, 4, 1e-12);
    sand_simulation_free(sim);
}

// Balls that overlap and rest are pushed apart, and rest then.
static void overlaps_are_undone_without_energy(void **state) {
    (void)state;
    SandWorld world = lab_world(0);
    world.gravity = v3_make(0, 0, 0);
    for (int k = 0; k < 2; k++) lab_body(&world, 0, 0.1, v3_make(0.15 * k, 0, 0));
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    lab_run(sim, 100);
    assert_true(w->position[1].x - w->position[0].x > 0.2 - 1e-6);
    assert_true(sand_simulation_energy(sim).kinetic < 1e-20);
    sand_simulation_free(sim);
}

// --- a dense gas ----------------------------------------------------------------------------------------------

enum { GAS_SIDE = 6, GAS = GAS_SIDE * GAS_SIDE * GAS_SIDE };

// Balls of diameter 0.2 m that fill 30 % of a periodic box and fly at 1 m/s on the mean of squares, e = 1 and mu = 0.
static SandSimulation *gas(double step, uint64_t seed) {
    SandWorld world = lab_world(0);
    SandRandom random = sand_random(seed);
    double cell = cbrt(PI * 0.2 * 0.2 * 0.2 / 6 / 0.3), side = GAS_SIDE * cell;
    SandVec3 mean = {0, 0, 0};
    world.gravity = v3_make(0, 0, 0);
    world.step = step;
    world.bounce_speed = 0;
    world.lower = v3_make(0, 0, 0);
    world.upper = v3_make(side, side, side);
    for (int a = 0; a < 3; a++) world.periodic[a] = true;
    lab_set_laws(&world, 0, 1, 0);
    for (int i = 0; i < GAS; i++) {
        SandVec3 place = {0.5 + i % GAS_SIDE, 0.5 + i / GAS_SIDE % GAS_SIDE, 0.5 + i / (GAS_SIDE * GAS_SIDE)};
        int body = lab_body(&world, 0, 0.1, v3_scale(cell, place));
        world.velocity[body] =
            v3_make(sand_random_signed(&random), sand_random_signed(&random), sand_random_signed(&random));
        mean = v3_madd(mean, 1.0 / GAS, world.velocity[body]);
    }
    for (int i = 0; i < GAS; i++) world.velocity[i] = v3_sub(world.velocity[i], mean);
    return lab_exact(&world);
}

// The contacts of the last step that carry an impulse.
static int impacts_of(SandSimulation *sim) {
    SandError error = {""};
    SandProblem problem;
    SandSolution solution;
    int count = 0;
    if (!sand_simulation_fetch_contacts(sim, &error)) fail_msg("%s", error.text);
    sand_simulation_release_contacts(sim, &problem, &solution);
    for (int i = 0; i < problem.contact_count; i++) count += v3_length(solution.impulse[i]) > 1e-6;
    sand_problem_free(&problem);
    sand_solution_free(&solution);
    return count;
}

// The part of its energy that the gas loses until each ball has had this many impacts.
static double lost_energy(double step, uint64_t seed, int impacts) {
    SandSimulation *sim = gas(step, seed);
    double begin = sand_simulation_energy(sim).kinetic;
    for (int count = 0; count < impacts * GAS / 2; count += impacts_of(sim)) lab_step(sim);
    double lost = 1 - sand_simulation_energy(sim).kinetic / begin;
    sand_simulation_free(sim);
    return lost;
}

// A ball that meets two others in a step loses energy, and there are the fewer of those the shorter the step is: of first
// order. They are rare events, so that several gases are needed for a mean.
static void a_dense_gas_loses_less_with_shorter_steps(void **state) {
    (void)state;
    const double steps[] = {7e-3, 7e-3 / 4, 7e-3 / 16};
    double lost[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        for (uint64_t seed = 1; seed <= 8; seed++) lost[k] += lost_energy(steps[k], seed, 24) / 8;
        print_message("where balls move by %.2f %% of their diameter in a step %.2f %% are lost over 24 impacts\n",
                      100 * steps[k] / 0.2, 100 * lost[k]);
    }
    assert_true(lost[0] > 0.12 && lost[0] < 0.22);
    assert_true(lost[0] > 2.2 * lost[1] && lost[0] < 6 * lost[1]);
    assert_true(lost[0] > 6 * lost[2] && lost[0] < 32 * lost[2]);
}

int main(int argc, char **argv) {
    if (argc > 1) cluster_count = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_step_gains_energy_in_double),      cmocka_unit_test(no_step_gains_energy_in_float),
        cmocka_unit_test(a_cradle_that_touches_is_one_impact), cmocka_unit_test(a_contact_that_parts_gives_no_energy),
        cmocka_unit_test(overlaps_are_undone_without_energy),  cmocka_unit_test(a_dense_gas_loses_less_with_shorter_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
