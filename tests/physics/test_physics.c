// SPDX-License-Identifier: MIT
// Physics with known answers. Unless stated otherwise the solver runs in double to convergence, so that the model and its
// integration are measured, not the solver. A sliding contact floats at a height of h mu |u| in this model (the convex
// friction cone), which most tolerances have to allow for.
#include "tests/lab/lab.h"

// --- slopes -----------------------------------------------------------------------------------------------

// Returns the acceleration of body 0 along x from rest, on a slope. The first part is left out: there a sliding contact
// rises to its height of h mu |u|.
static double acceleration(SandSimulation *sim, int skip, int steps) {
    const SandWorld *w = sand_simulation_world(sim);
    lab_run(sim, skip);
    double v = w->velocity[0].x, t = w->time;
    lab_run(sim, steps);
    return (w->velocity[0].x - v) / (w->time - t);
}

static double sphere_acceleration(double mu, double angle, double *slip) {
    SandWorld world = lab_world(mu);
    world.gravity = lab_slope(angle);
    world.step = 1e-3;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0.1));
    SandSimulation *sim = lab_exact(&world);
    double a = acceleration(sim, 50, 300);
    const SandWorld *w = sand_simulation_world(sim);
    *slip = w->velocity[0].x - 0.1 * w->spin[0].y;
    sand_simulation_free(sim);
    return a;
}

// Tolerance: 1 %. Both laws are linear in time, which the integration follows exactly; what remains is the height of a
// sliding contact, of order h.
static void a_sphere_rolls_and_beyond_the_threshold_slides(void **state) {
    (void)state;
    double mu = 0.3, slip;
    double below = atan(0.9 * 3.5 * mu), above = atan(1.1 * 3.5 * mu);
    double rolls = 5.0 / 7 * GRAVITY * sin(below), slides = GRAVITY * (sin(above) - mu * cos(above));
    double a = sphere_acceleration(mu, below, &slip);
    print_message("rolls: %.3f %% off\n", 100 * (a / rolls - 1));
    NEAR(a, rolls, 0.01 * rolls);
    NEAR(slip, 0, 1e-6); // no more than rounding and the solver's tolerance add up to
    a = sphere_acceleration(mu, above, &slip);
    print_message("slides: %.3f %% off\n", 100 * (a / slides - 1));
    NEAR(a, slides, 0.01 * slides);
    assert_true(slip > 0.1); // the slip accelerates at 0.1 * 7/2 mu g cos(above)
}

static SandSimulation *box_on_slope(double mu, double angle) {
    SandWorld world = lab_world(mu);
    SandShape box;
    world.gravity = lab_slope(angle);
    world.step = 1e-3;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    assert_true(sand_shape_box(&box, v3_make(0.5, 0.4, 0.2), NULL));
    lab_body(&world, sand_world_add_shape(&world, &box, NULL), 1, v3_make(0, 0, 0.2));
    return lab_exact(&world);
}

static void a_box_sticks_and_beyond_the_threshold_slides(void **state) {
    (void)state;
    double mu = 0.5, below = atan(0.9 * mu), above = atan(1.1 * mu);
    SandSimulation *sim = box_on_slope(mu, below);
    lab_run(sim, 1000);
    const SandWorld *w = sand_simulation_world(sim);
    // It stays: in a second it creeps by less than a millionth of its size.
    NEAR(w->position[0].x, 0, 1e-6);
    NEAR(w->position[0].z, 0.2, 1e-6);
    sand_simulation_free(sim);

    sim = box_on_slope(mu, above);
    double slides = GRAVITY * (sin(above) - mu * cos(above)), a = acceleration(sim, 50, 500);
    print_message("box slides: %.3f %% off\n", 100 * (a / slides - 1));
    NEAR(a, slides, 0.01 * slides); // the tolerance of above
    sand_simulation_free(sim);
}

static void a_thrown_sphere_ends_rolling_at_five_sevenths(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    world.step = 1e-4;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    int sphere = lab_body(&world, 0, 0.1, v3_make(0, 0, 0.1));
    world.velocity[sphere].x = 2;
    SandSimulation *sim = lab_exact(&world);
    lab_run(sim, 4000); // it rolls after 2/7 v / (mu g) = 0.19 s
    const SandWorld *w = sand_simulation_world(sim);
    print_message("thrown: %.3f %% off\n", 100 * (w->velocity[0].x / (10.0 / 7) - 1));
    // While it slides it floats by h mu u, 6e-5 m, so the lever arm of friction is 0.03 % too long.
    NEAR(w->velocity[0].x, 10.0 / 7, 1e-3 * 10 / 7);
    NEAR(w->velocity[0].x, 0.1 * w->spin[0].y, 1e-6);
    sand_simulation_free(sim);
}

// --- stack ------------------------------------------------------------------------------------------------

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void a_stack_carries_its_weight(void **state) {
    (void)state;
    enum { BALLS = 10 };
    SandSimulation *sim = lab_scene("stack", 0, 1, SAND_FLOAT);
    lab_run(sim, 200);
    const SandWorld *w = sand_simulation_world(sim);
    const SandProblem *p = sand_simulation_problem(sim);
    const SandSolution *s = sand_simulation_solution(sim);
    assert_int_equal(p->contact_count, BALLS);
    double carried[BALLS], weight = w->mass[0] * GRAVITY * w->step;
    for (int i = 0; i < BALLS; i++) carried[i] = fabs(v3_dot(s->impulse[i], p->contacts[i].normal));
    qsort(carried, BALLS, sizeof *carried, compare_doubles);
    print_message("bottom of the stack: %.4f %% off\n", 100 * (carried[BALLS - 1] / (BALLS * weight) - 1));
    // Required: 0.1 %, with the scene's own solver in float and its iterations.
    for (int i = 0; i < BALLS; i++) NEAR(carried[i], (i + 1) * weight, 1e-3 * (i + 1) * weight);
    sand_simulation_free(sim);
}

// --- cylinders --------------------------------------------------------------------------------------------

static int cylinder_body(SandWorld *world, double radius, double height, SandVec3 position, SandQuat rotation) {
    SandShape shape;
    assert_true(sand_shape_cylinder(&shape, radius, height, NULL));
    int body = lab_body(world, sand_world_add_shape(world, &shape, NULL), 1, position);
    world->rotation[body] = rotation;
    return body;
}

static void a_standing_cylinder_stays(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    world.gravity = lab_slope(atan(0.4)); // less than mu, and far from tipping over at 2 r / height = 1
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    cylinder_body(&world, 0.5, 1, v3_make(0, 0, 0.5), q_exp(v3_make(0, 0, 0.3)));
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    SandSimulation *sim = lab_simulation(&world, &def); // as the program runs it: float, 50 iterations
    lab_run(sim, 500);
    const SandWorld *w = sand_simulation_world(sim);
    SandVec3 axis = q_rotate(w->rotation[0], v3_make(0, 0, 1));
    // Five seconds in float: rounding of an impulse is 1e-7 of the weight, and may add up to a creep.
    NEAR(w->position[0].x, 0, 1e-4);
    NEAR(w->position[0].z, 0.5, 1e-4);
    NEAR(axis.z, 1, 1e-8);
    sand_simulation_free(sim);
}

static void a_cylinder_rolls_down_at_two_thirds(void **state) {
    (void)state;
    double angle = atan(0.3);
    SandWorld world = lab_world(0.5); // it slides from tan = 3 mu on
    world.gravity = lab_slope(angle);
    world.step = 1e-3;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    cylinder_body(&world, 0.25, 1, v3_make(0, 0, 0.25), q_mul(q_exp(v3_make(0.5 * PI, 0, 0)), q_exp(v3_make(0, 0, 0.7))));
    SandSimulation *sim = lab_exact(&world);
    double rolls = 2.0 / 3 * GRAVITY * sin(angle), a = acceleration(sim, 20, 980), v = 0;
    const SandWorld *w = sand_simulation_world(sim);
    print_message("cylinder rolls: %.3f %% off, %.2e m off the plane\n", 100 * (a / rolls - 1), w->position[0].z - 0.25);
    NEAR(a, rolls, 0.01 * rolls); // as for the sphere
    v = w->velocity[0].x;
    NEAR(v, 0.25 * w->spin[0].y, 0.01 * v);
    NEAR(w->position[0].y, 0, 1e-4);       // it has rolled 0.9 m in a straight line
    NEAR(w->position[0].z, 0.25, 0.25e-3); // a turn of h w about the contact lifts the center by r (h w)^2 / 2 a step
    sand_simulation_free(sim);
}

// Between the floor and the wall of a box a rim touches both.
static void a_lying_cylinder_rests_in_a_corner(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    SandBoundary box;
    world.gravity = v3_make(3, 0, -9);
    assert_true(sand_boundary_box(&box, v3_make(2, 2, 2), SAND_INSIDE, NULL));
    sand_world_add_boundary(&world, &box, NULL);
    cylinder_body(&world, 0.25, 1, v3_make(1.6, 0, -1.7), q_exp(v3_make(0.5 * PI, 0, 0)));
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    SandSimulation *sim = lab_simulation(&world, &def);
    lab_run(sim, 300);
    const SandWorld *w = sand_simulation_world(sim);
    NEAR(w->position[0].x, 1.75, 1e-3); // as near as 50 iterations bring a body that hit the wall
    NEAR(w->position[0].z, -1.75, 1e-3);
    NEAR(v3_length(w->velocity[0]), 0, 1e-3);
    assert_int_equal(sand_simulation_counters(sim)->contacts, 4);
    sand_simulation_free(sim);
}

// --- momentum ---------------------------------------------------------------------------------------------

static void add_clumps(SandWorld *world) {
    const SandShapeSphere cobble[4] = {
        {{-0.35, -0.2, 0}, 0.6}, {{0.35, -0.2, 0.1}, 0.6}, {{0, 0.4, 0}, 0.55}, {{0.05, 0, 0.4}, 0.5}};
    const SandShapeSphere tooth[3] = {{{0, 0, -0.45}, 0.55}, {{0.2, 0.15, 0}, 0.5}, {{0, 0, 0.7}, 0.35}};
    SandShape shape;
    assert_true(sand_shape_clump(&shape, cobble, 4, NULL));
    assert_int_equal(sand_world_add_shape(world, &shape, NULL), 1);
    assert_true(sand_shape_clump(&shape, tooth, 3, NULL));
    assert_int_equal(sand_world_add_shape(world, &shape, NULL), 2);
}

// Clumps and spheres that fly towards each other, spinning.
static SandWorld swarm(void) {
    SandRandom random = sand_random(5);
    SandWorld world = lab_world(0.4);
    world.gravity = v3_make(0, 0, 0);
    world.step = 0.005;
    add_clumps(&world);
    for (int i = 0; i < 27; i++) {
        SandVec3 at = v3_make(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1);
        int body = lab_body(&world, i % 3, 0.5 * (0.8 + 0.2 * sand_random_unit(&random)), v3_scale(1.2, at));
        world.rotation[body] = sand_random_rotation(&random);
        world.velocity[body] =
            v3_add(v3_scale(-2, at), v3_make(sand_random_signed(&random), sand_random_signed(&random) + 0.5, 1));
        world.spin[body] =
            v3_make(3 * sand_random_signed(&random), 3 * sand_random_signed(&random), 3 * sand_random_signed(&random));
    }
    return world;
}

static void keeps_momentum(SandPrecision precision, double tolerance) {
    SandWorld world = swarm();
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.precision = precision;
    SandSimulation *sim = lab_simulation(&world, &def);
    const SandWorld *w = sand_simulation_world(sim);
    SandVec3 p = sand_world_momentum(w), l = sand_world_angular_momentum(w);
    double energy = sand_world_kinetic_energy(w), p_all = 0, l_all = 0, p_error = 0, l_error = 0;
    for (int i = 0; i < w->body_count; i++) {
        p_all += w->mass[i] * v3_length(w->velocity[i]);
        l_all += w->mass[i] * v3_length(w->velocity[i]) * v3_length(w->position[i]);
    }
    int contacts = 0;
    for (int i = 0; i < 200; i++) {
        lab_step(sim);
        contacts += sand_simulation_counters(sim)->contacts;
        p_error = fmax(p_error, v3_length(v3_sub(sand_world_momentum(w), p)) / p_all);
        l_error = fmax(l_error, v3_length(v3_sub(sand_world_angular_momentum(w), l)) / l_all);
    }
    print_message("momentum kept to %.1e, angular momentum to %.1e, %d contacts\n", p_error, l_error, contacts);
    assert_true(contacts > 1000 && sand_world_kinetic_energy(w) < 0.9 * energy); // they did collide
    NEAR(p_error, 0, tolerance);
    NEAR(l_error, 0, tolerance);
    sand_simulation_free(sim);
}

static void a_free_cluster_keeps_its_momentum(void **state) {
    (void)state;
    keeps_momentum(SAND_DOUBLE, 1e-10); // rounding of 200 steps with some 50 contacts: 1e-16 * 1e4, and a margin
    // In float each impulse is added to its two bodies with an error of 6e-8 of the velocity change; 1e4 of these, of random
    // sign, make 6e-6.
    keeps_momentum(SAND_FLOAT, 1e-5);
}

// Returns the largest relative change of energy, over two seconds, of a box thrown spinning about its intermediate axis.
static double tumble(double step, double *momentum_error) {
    SandWorld world = lab_world(0.5);
    SandShape box;
    world.gravity = v3_make(0, 0, 0);
    world.step = step;
    assert_true(sand_shape_box(&box, v3_make(0.5, 0.3, 0.1), NULL));
    int body = lab_body(&world, sand_world_add_shape(&world, &box, NULL), 1, v3_make(0, 0, 0));
    world.spin[body] = v3_make(0.02, 5, 0.01);
    world.rotation[body] = q_exp(v3_make(0.3, -0.2, 0.5));
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    SandVec3 l = sand_world_angular_momentum(w);
    double energy = sand_world_kinetic_energy(w), worst = 0;
    *momentum_error = 0;
    for (int i = 0; i < (int)lround(2 / step); i++) {
        lab_step(sim);
        worst = fmax(worst, fabs(sand_world_kinetic_energy(w) / energy - 1));
        *momentum_error = fmax(*momentum_error, v3_length(v3_sub(sand_world_angular_momentum(w), l)) / v3_length(l));
    }
    sand_simulation_free(sim);
    return worst;
}

static void a_tumbling_box_keeps_momentum_and_energy(void **state) {
    (void)state;
    double momentum, energy = tumble(0.002, &momentum);
    print_message("tumbling: energy to %.1e, angular momentum to %.1e\n", energy, momentum);
    // Rounding: 1e-15 a rotation, which may add up over 1,000.
    NEAR(momentum, 0, 1e-11);
    NEAR(energy, 0, 1e-11);
}

// --- energy -----------------------------------------------------------------------------------------------

static void energy_never_grows_in_a_closed_box(void **state) {
    (void)state;
    SandRandom random = sand_random(11);
    SandWorld world = lab_world(0.4);
    SandBoundary box;
    add_clumps(&world);
    world.step = 0.005;
    assert_true(sand_boundary_box(&box, v3_make(1.2, 1.2, 4), SAND_INSIDE, NULL));
    sand_world_add_boundary(&world, &box, NULL);
    for (int i = 0; i < 150; i++) {
        SandVec3 at = v3_make(i % 5 - 2, i / 5 % 5 - 2, i / 25);
        int body =
            lab_body(&world, i % 3, 0.2 * (0.7 + 0.3 * sand_random_unit(&random)), v3_madd(v3_make(0, 0, -3.5), 0.46, at));
        world.rotation[body] = sand_random_rotation(&random);
        world.velocity[body] =
            v3_make(sand_random_signed(&random), sand_random_signed(&random), sand_random_signed(&random));
    }
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    SandSimulation *sim = lab_simulation(&world, &def);
    const SandWorld *w = sand_simulation_world(sim);
    double floor = 0; // the potential energy of everything lying on the floor
    for (int i = 0; i < w->body_count; i++) floor -= 4 * GRAVITY * w->mass[i];
    double start = sand_world_kinetic_energy(w) + sand_world_potential_energy(w), range = start - floor, highest = -INFINITY,
           rise = 0, last = start;
    for (int i = 0; i < 600; i++) {
        lab_step(sim);
        double now = sand_world_kinetic_energy(w) + sand_world_potential_energy(w);
        highest = fmax(highest, now);
        rise = fmax(rise, now - last);
        last = now;
    }
    print_message("energy: at most %.1e of the start above it; largest rise in a step %.1e; %.2f left\n",
                  (highest - start) / range, rise / range, (last - floor) / range);
    assert_true(highest <= start + 1e-3 * range); // required: 0.1 % of the range
    assert_true(rise <= 1e-3 * range);            // and no single step gains energy from a penetration
    sand_simulation_free(sim);
}

// --- moving walls and friction pairs ----------------------------------------------------------------------

static void a_belt_carries_what_lies_on_it(void **state) {
    (void)state;
    for (int shape = 0; shape < 2; shape++) {
        SandWorld world = lab_world(0.5);
        SandShape box;
        world.step = 1e-3;
        int belt = lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
        world.boundaries[belt].moves = true;
        world.boundaries[belt].motion.velocity = v3_make(1.4, 0, 0);
        assert_true(sand_shape_box(&box, v3_make(1, 1, 0.5), NULL));
        sand_world_add_shape(&world, &box, NULL);
        lab_body(&world, shape, 0.2, v3_make(0, 0, shape ? 0.1 : 0.2));
        SandSimulation *sim = lab_exact(&world);
        lab_run(sim, 1000); // friction gives the box the belt's speed in 0.3 s
        const SandWorld *w = sand_simulation_world(sim);
        // A sphere is set rolling: its lowest point has the belt's speed, its center 2/7 of it. The lever arm of friction is
        // too long by half of h mu u, 0.2 %.
        NEAR(w->velocity[0].x, shape ? 1.4 : 0.4, shape ? 1e-6 : 0.4 * 5e-3);
        NEAR(w->velocity[0].x - w->spin[0].y * (shape ? 0.1 : 0.2), 1.4, 1e-6);
        sand_simulation_free(sim);
    }
}

static void a_turntable_carries_what_lies_on_it(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    SandShape box;
    world.step = 1e-3;
    int table = lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    world.boundaries[table].moves = true;
    world.boundaries[table].motion.axis = v3_make(0, 0, 1);
    world.boundaries[table].motion.rate = 1; // w^2 r = 1 m/s^2, and friction holds 4.9
    assert_true(sand_shape_box(&box, v3_make(0.2, 0.2, 0.1), NULL));
    int body = lab_body(&world, sand_world_add_shape(&world, &box, NULL), 1, v3_make(1, 0, 0.1));
    world.velocity[body] = v3_make(0, 1, 0);
    world.spin[body] = v3_make(0, 0, 1);
    SandSimulation *sim = lab_exact(&world);
    lab_run(sim, 2000);
    const SandWorld *w = sand_simulation_world(sim);
    double radius = hypot(w->position[0].x, w->position[0].y), angle = atan2(w->position[0].y, w->position[0].x);
    // A step follows the tangent, so the radius grows by h w^2 r / 2 a second: 1e-3 in two.
    NEAR(radius, 1, 2e-3);
    NEAR(angle, 2, 1e-3);
    NEAR(w->spin[0].z, 1, 1e-6);
    sand_simulation_free(sim);
}

static void a_pair_of_materials_has_its_own_friction(void **state) {
    (void)state;
    // Both materials have 0.6 and would hold the box on a slope of 0.4; the pair has 0.2.
    SandWorld world = lab_world(0.6);
    SandShape box;
    double angle = atan(0.4);
    world.gravity = lab_slope(angle);
    world.step = 1e-3;
    assert_int_equal(sand_world_add_material(&world, &(SandMaterial){.name = "ice", .density = 900, .mu = 0.6}, NULL), 1);
    lab_set_pair_friction(&world, 0, 1, 0.2);
    int slope = lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    world.boundaries[slope].material = 1;
    assert_true(sand_shape_box(&box, v3_make(0.5, 0.4, 0.2), NULL));
    lab_body(&world, sand_world_add_shape(&world, &box, NULL), 1, v3_make(0, 0, 0.2));
    SandSimulation *sim = lab_exact(&world);
    double slides = GRAVITY * (sin(angle) - 0.2 * cos(angle));
    NEAR(acceleration(sim, 50, 300), slides, 0.01 * slides);
    const SandProblem *p = sand_simulation_problem(sim);
    for (int i = 0; i < p->contact_count; i++) NEAR(p->contacts[i].mu, 0.2, 0);
    sand_simulation_free(sim);

    // Between two bodies; the geometric mean where no pair was set.
    world = lab_world(0.9);
    world.gravity = v3_make(0, 0, 0);
    sand_world_add_material(&world, &(SandMaterial){.name = "ice", .density = 900, .mu = 0.1}, NULL);
    sand_world_add_material(&world, &(SandMaterial){.name = "rubber", .density = 900, .mu = 0.4}, NULL);
    lab_set_pair_friction(&world, 1, 0, 0.05);
    for (int i = 0; i < 3; i++) lab_body(&world, 0, 0.1, v3_make(0.2 * i, 0, 0));
    world.material[1] = 1;
    world.material[2] = 2;
    sim = lab_exact(&world);
    lab_step(sim);
    p = sand_simulation_problem(sim);
    assert_int_equal(p->contact_count, 2);
    double low = fmin(p->contacts[0].mu, p->contacts[1].mu), high = fmax(p->contacts[0].mu, p->contacts[1].mu);
    NEAR(low, 0.05, 0);
    NEAR(high, 0.2, 1e-15);
    sand_simulation_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sphere_rolls_and_beyond_the_threshold_slides),
        cmocka_unit_test(a_box_sticks_and_beyond_the_threshold_slides),
        cmocka_unit_test(a_thrown_sphere_ends_rolling_at_five_sevenths),
        cmocka_unit_test(a_stack_carries_its_weight),
        cmocka_unit_test(a_standing_cylinder_stays),
        cmocka_unit_test(a_cylinder_rolls_down_at_two_thirds),
        cmocka_unit_test(a_lying_cylinder_rests_in_a_corner),
        cmocka_unit_test(a_free_cluster_keeps_its_momentum),
        cmocka_unit_test(a_tumbling_box_keeps_momentum_and_energy),
        cmocka_unit_test(energy_never_grows_in_a_closed_box),
        cmocka_unit_test(a_belt_carries_what_lies_on_it),
        cmocka_unit_test(a_turntable_carries_what_lies_on_it),
        cmocka_unit_test(a_pair_of_materials_has_its_own_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
