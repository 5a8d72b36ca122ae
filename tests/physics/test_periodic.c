// SPDX-License-Identifier: MIT
// Periodic worlds: nothing depends on where the borders of the box are.
#include "tests/lab/lab.h"
#include "sim/step/checkpoint.h"
#include "sim/world/period.inl"

static const double SIDE = 1.0; // m, of the box, from the origin

static SandWorld periodic_world(double mu, bool x, bool y, bool z) {
    SandWorld world = lab_world(mu);
    SandShapeSphere spheres[] = {{{0.6, 0, 0}, 0.7}, {{-0.6, 0, 0}, 0.7}, {{0, 0.5, 0}, 0.6}};
    SandShape clump;
    world.lower = v3_make(x ? 0 : -10, y ? 0 : -10, z ? 0 : -10);
    world.upper = v3_make(x ? SIDE : 10, y ? SIDE : 10, z ? SIDE : 10);
    world.periodic[0] = x;
    world.periodic[1] = y;
    world.periodic[2] = z;
    assert_true(sand_shape_clump(&clump, spheres, 3, NULL));
    assert_int_equal(sand_world_add_shape(&world, &clump, NULL), 1);
    return world;
}

static SandVec3 random_vector(SandRandom *random) {
    double x = sand_random_signed(random), y = sand_random_signed(random);
    return v3_make(x, y, sand_random_signed(random));
}

// A gas of spheres and clumps of several sizes, some of them fast, on a lattice that fills the box with its borders; moved
// as a whole by `shift`, and into the box again.
enum { ALONG = 7, GAS = ALONG * ALONG * ALONG };
static SandWorld gas(SandVec3 shift) {
    SandWorld world = periodic_world(0.3, true, true, true);
    SandRandom random = sand_random(11);
    world.gravity = v3_make(0, 0, 0);
    for (int i = 0; i < GAS; i++) {
        SandBodyDef def = sand_default_body();
        SandVec3 cell = v3_make(i % ALONG, i / ALONG % ALONG, i / ALONG / ALONG);
        def.shape = i % 5 == 0;
        def.scale = (def.shape ? 0.03 : 0.045) * (1 + 0.5 * sand_random_unit(&random));
        def.pose.position = v3_madd(v3_scale(SIDE / ALONG, cell), 0.01, random_vector(&random));
        def.pose.rotation = sand_random_rotation(&random);
        def.velocity = v3_scale(i % 11 == 0 ? 8 : 0.5, random_vector(&random));
        def.spin = random_vector(&random);
        def.pose.position = period_into_box(&world, v3_add(def.pose.position, shift));
        assert_true(sand_world_add_body(&world, &def, NULL) == i);
    }
    return world;
}

// --- contacts ---

typedef struct Pair {
    int a, b; // a < b
    SandVec3 normal, arm_a, arm_b;
    double gap, bounce;
} Pair;

static int by_bodies(const void *left, const void *right) {
    const Pair *p = left, *q = right;
    if (p->a != q->a) return p->a - q->a;
    if (p->b != q->b) return p->b - q->b;
    return p->gap < q->gap ? -1 : p->gap > q->gap;
}

// The contacts of the coming step, by the numbers of the world.
static Pair *find_pairs(SandSimulation *sim, int *count) {
    SandError error = {""};
    if (!sand_simulation_build(sim, &error)) fail_msg("%s", error.text);
    const SandProblem *p = sand_simulation_problem(sim);
    const int *body = sand_simulation_order(sim);
    Pair *pairs = calloc((size_t)p->contact_count + 1, sizeof *pairs);
    *count = p->contact_count;
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        assert_true(c->b < p->dynamic_count);
        Pair pair = {body[c->a], body[c->b], c->normal, c->arm_a, c->arm_b, c->gap, c->bounce};
        if (pair.a > pair.b) pair = (Pair){pair.b, pair.a, v3_neg(c->normal), c->arm_b, c->arm_a, c->gap, c->bounce};
        pairs[i] = pair;
    }
    qsort(pairs, (size_t)*count, sizeof *pairs, by_bodies);
    return pairs;
}

static void near_vector(SandVec3 a, SandVec3 b, double tolerance) { NEAR(v3_length(v3_sub(a, b)), 0, tolerance); }

// The same contacts, wherever the gas is: with the borders through other bodies. Distances are of the box's size, so they
// differ by some roundings of it.
static void contacts_do_not_depend_on_the_borders(void **state) {
    (void)state;
    SandRandom random = sand_random(4);
    SandWorld first = gas(v3_make(0, 0, 0));
    SandSimulation *here = lab_exact(&first);
    int count, crossing = 0;
    Pair *wanted = find_pairs(here, &count);
    const SandWorld *w = sand_simulation_world(here);
    for (int i = 0; i < count; i++)
        crossing += v3_length(v3_sub(w->position[wanted[i].a], w->position[wanted[i].b])) > 0.5 * SIDE;
    print_message("%d contacts, %d of them across a border\n", count, crossing);
    assert_true(count > GAS && crossing > count / 6);
    for (int k = 0; k < 5; k++) {
        SandWorld moved = gas(v3_scale(3, random_vector(&random)));
        SandSimulation *there = lab_exact(&moved);
        int found;
        Pair *got = find_pairs(there, &found);
        assert_int_equal(found, count);
        for (int i = 0; i < count; i++) {
            assert_true(got[i].a == wanted[i].a && got[i].b == wanted[i].b);
            NEAR(got[i].gap, wanted[i].gap, 1e-14);
            near_vector(got[i].normal, wanted[i].normal, 1e-12);
            near_vector(got[i].arm_a, wanted[i].arm_a, 1e-13);
            near_vector(got[i].arm_b, wanted[i].arm_b, 1e-13);
        }
        free(got);
        sand_simulation_free(there);
    }
    free(wanted);
    sand_simulation_free(here);
}

// The contacts of the gas in a world where it bounces and sticks, and the free spins of its bodies with the pulls of
// cohesion, by the numbers of the world.
static Pair *find_laws(SandVec3 shift, int *count, SandVec3 *spin) {
    SandWorld world = gas(shift);
    lab_set_laws(&world, 0, 0.7, 2);
    SandSimulation *sim = lab_exact(&world);
    Pair *pairs = find_pairs(sim, count);
    const SandProblem *p = sand_simulation_problem(sim);
    for (int k = 0; k < p->dynamic_count; k++) spin[sand_simulation_order(sim)[k]] = p->bodies[k].spin;
    sand_simulation_free(sim);
    return pairs;
}

// Bounces, and what cohesion does to bodies that are not touched at their centers, are those of the images at the contact.
// The pulls are summed in fixed point, of 1e-12 m/s.
static void laws_do_not_depend_on_the_borders(void **state) {
    (void)state;
    SandVec3 here[GAS], there[GAS];
    int count, found, bounces = 0;
    Pair *wanted = find_laws(v3_make(0, 0, 0), &count, here);
    Pair *got = find_laws(v3_make(0.43, 0.27, 0.61), &found, there);
    assert_int_equal(found, count);
    for (int i = 0; i < count; i++) {
        NEAR(got[i].bounce, wanted[i].bounce, 1e-12);
        bounces += wanted[i].bounce > 0;
    }
    for (int i = 0; i < GAS; i++) near_vector(there[i], here[i], 1e-9);
    print_message("%d contacts, %d of them bounce\n", count, bounces);
    assert_true(bounces > GAS / 8);
    free(wanted);
    free(got);
}

// Every pair of spheres that are within the envelope, in any image, is a contact: found by looking at all.
static void no_contact_is_missed(void **state) {
    (void)state;
    SandWorld world = gas(v3_make(0.4, 0.1, 0.7));
    world.envelope = 0.03;
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    lab_run(sim, 20);
    int count, within = 0;
    Pair *pairs = find_pairs(sim, &count);
    for (int a = 0; a < GAS; a++)
        for (int b = a + 1; b < GAS; b++) {
            SandVec3 apart = v3_sub(period_image(w, w->position[b], w->position[a]), w->position[a]);
            if (w->shape[a] || w->shape[b] || v3_length(apart) > w->scale[a] + w->scale[b] + w->envelope) continue;
            int i = 0;
            while (i < count && (pairs[i].a != a || pairs[i].b != b)) i++;
            assert_true(i < count);
            NEAR(pairs[i].gap, v3_length(apart) - w->scale[a] - w->scale[b], 1e-13);
            within++;
        }
    print_message("%d pairs within the envelope\n", within);
    assert_true(within > GAS / 2);
    free(pairs);
    sand_simulation_free(sim);
}

// --- motion ---

// Impulses are equal and opposite across a border as anywhere: momentum is kept but for rounding.
static void momentum_is_kept(void **state) {
    (void)state;
    SandWorld world = gas(v3_make(0, 0, 0));
    SandSimulationDef def = sand_default_simulation();
    def.precision = SAND_DOUBLE;
    def.threads = 2;
    def.solve.iterations = 20;
    SandSimulation *sim = lab_simulation(&world, &def);
    const SandWorld *w = sand_simulation_world(sim);
    SandVec3 before = sand_world_momentum(w);
    double size = 0, energy = sand_world_kinetic_energy(w);
    for (int i = 0; i < GAS; i++) size += w->mass[i] * v3_length(w->velocity[i]);
    for (int s = 0; s < 1000; s++) {
        lab_step(sim);
        for (int i = 0; i < GAS; i++) near_vector(period_into_box(w, w->position[i]), w->position[i], 0);
    }
    double drift = v3_length(v3_sub(sand_world_momentum(w), before));
    print_message("momentum drifts by %.1e of %.3g kg m/s; %.2g of the kinetic energy is left\n", drift, size,
                  sand_world_kinetic_energy(w) / energy);
    assert_true(drift < 1e-12 * size);
    assert_true(sand_world_kinetic_energy(w) < 0.9 * energy); // they did collide
    sand_simulation_free(sim);
}

// A column of spheres lies on a floor and is hit at its end: across the border it does what it does in the middle.
static SandSimulation *hit_column(double x) {
    SandWorld world = periodic_world(0.4, true, true, false);
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    for (int i = 0; i < 5; i++) lab_body(&world, 0, 0.05, v3_make(x + 0.101 * i, 0.5 + 0.002 * (i % 3), 0.05 + 0.0003 * i));
    world.velocity[0] = v3_make(1, 0.05, 0.1);
    return lab_exact(&world);
}

static void a_column_across_the_border(void **state) {
    (void)state;
    SandSimulation *middle = hit_column(0.25), *border = hit_column(0.75);
    const SandWorld *a = sand_simulation_world(middle), *b = sand_simulation_world(border);
    for (int s = 0; s < 60; s++) {
        lab_step(middle);
        lab_step(border);
        assert_int_equal(sand_simulation_counters(middle)->contacts, sand_simulation_counters(border)->contacts);
        for (int i = 0; i < 5; i++) {
            SandVec3 moved = v3_add(a->position[i], v3_make(0.5, 0, 0));
            near_vector(period_image(b, b->position[i], moved), moved, 1e-9); // of the solves, to 1e-12 each
            near_vector(a->velocity[i], b->velocity[i], 1e-9);
            near_vector(a->spin[i], b->spin[i], 1e-7);
        }
    }
    assert_true(a->velocity[4].x > 0.1); // the last one was reached
    sand_simulation_free(middle);
    sand_simulation_free(border);
}

// A body that passes several periods in a step is in the box all the same, and is not lost.
static void a_fast_body_stays_in_the_box(void **state) {
    (void)state;
    SandWorld world = periodic_world(0, true, true, true);
    world.gravity = v3_make(0, 0, 0);
    int body = lab_body(&world, 0, 0.05, v3_make(0.9, 0.2, -3.5)); // outside at the start
    world.velocity[body] = v3_make(350, -120, 25);
    SandSimulation *sim = lab_exact(&world);
    lab_step(sim);
    near_vector(sand_simulation_world(sim)->position[body], v3_make(0.4, 0, 0.75), 1e-12);
    sand_simulation_free(sim);
}

// --- piles, threads, checkpoints ---

static SandWorld pile(double sleep_speed) {
    SandWorld world = periodic_world(0.3, true, true, false);
    SandRandom random = sand_random(2);
    world.sleep_speed = sleep_speed;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    for (int i = 0; i < 300; i++) {
        SandVec3 cell = v3_make(i % 7, i / 7 % 7, i / 49 + 0.6), off = random_vector(&random);
        lab_body(&world, 0, 0.055 + 0.01 * sand_random_unit(&random), v3_madd(v3_scale(1. / 7, cell), 0.005, off));
    }
    return world;
}

static SandSimulation *settle(double sleep_speed, int threads, int steps) {
    SandWorld world = pile(sleep_speed);
    SandSimulationDef def = sand_default_simulation();
    def.threads = threads;
    SandSimulation *sim = lab_simulation(&world, &def);
    lab_run(sim, steps);
    return sim;
}

// The pile has no walls and must carry itself across the borders; where what rests is left out, it stays as high.
static void a_pile_rests(void **state) {
    (void)state;
    SandSimulation *all = settle(0, 2, 300), *some = settle(0.001, 2, 300);
    const SandCounters *c = sand_simulation_counters(some);
    double height = sand_simulation_energy(all).potential;
    print_message("%d of %d bodies rest; potential energy %.6g of %.6g J\n", c->asleep, c->bodies,
                  sand_simulation_energy(some).potential, height);
    assert_true(sand_simulation_energy(all).kinetic < 1e-4 * height);
    // How many rest when is a matter of rounding.
    for (int k = 0; k < 20 && c->asleep <= c->bodies / 2; k++) lab_run(some, 50);
    assert_true(c->asleep > c->bodies / 2);
    NEAR(sand_simulation_energy(some).potential, height, 2e-3 * height);
    sand_simulation_free(all);
    sand_simulation_free(some);
}

static void the_same_bits_for_all_threads_and_from_a_checkpoint(void **state) {
    (void)state;
    SandError error = {""};
    SandCheckpoint checkpoint = {0};
    SandSimulation *one = settle(0.001, 1, 60), *three = settle(0.001, 3, 40);
    uint64_t hash = sand_world_hash(sand_simulation_world(one));
    if (!sand_simulation_save_state(three, &checkpoint, &error)) fail_msg("%s", error.text);
    for (int k = 0; k < 2; k++) {
        lab_run(three, 20);
        assert_int_equal(sand_world_hash(sand_simulation_world(three)), hash);
        if (!sand_simulation_restore_state(three, &checkpoint, &error)) fail_msg("%s", error.text);
    }
    sand_checkpoint_free(&checkpoint);
    sand_simulation_free(one);
    sand_simulation_free(three);
}

// --- squeeze ---

// Frictionless spheres on a cubic lattice with gaps, in a box that is squeezed.
enum { SIDE_COUNT = 5, CUBE = SIDE_COUNT * SIDE_COUNT * SIDE_COUNT };
static SandSimulation *squeezed_cube(int threads) {
    SandWorld world = periodic_world(0, true, true, true);
    SandSimulationDef def = sand_default_simulation();
    def.threads = threads;
    def.precision = SAND_DOUBLE;
    world.gravity = v3_make(0, 0, 0);
    world.squeeze = (SandSqueeze){.rate = 0.5, .pressure = 1e4, .speed = 0.5};
    for (int i = 0; i < CUBE; i++) {
        SandVec3 cell = v3_make(i % SIDE_COUNT, i / SIDE_COUNT % SIDE_COUNT, i / SIDE_COUNT / SIDE_COUNT);
        lab_body(&world, 0, 0.08, v3_scale(SIDE / SIDE_COUNT, v3_add(cell, v3_make(0.5, 0.5, 0.5))));
    }
    SandSimulation *sim = lab_simulation(&world, &def);
    lab_expect(sim, "infeasible"); // as a step is that closes a jammed box further
    return sim;
}

// They jam when each touches six others: then the box is as many diameters long as there are spheres along it.
static void a_squeezed_cube_jams_where_its_spheres_touch(void **state) {
    (void)state;
    SandSimulation *sim = squeezed_cube(2);
    const SandWorld *w = sand_simulation_world(sim);
    double loaded = 0;
    for (int s = 0; s < 300; s++) {
        lab_step(sim);
        loaded = fmax(loaded, w->squeeze.now);
    }
    SandVec3 size = sand_world_period(w);
    print_message("sides of %.6f, %.6f and %.6f m; at most %.3g Pa\n", size.x, size.y, size.z, loaded);
    near_vector(size, v3_make(0.8, 0.8, 0.8), 1e-4);
    assert_true(loaded > w->squeeze.pressure);
    for (int i = 0; i < CUBE; i++) near_vector(period_into_box(w, w->position[i]), w->position[i], 0);
    sand_simulation_free(sim);
}

static void a_squeezed_box_has_the_same_bits_for_all_threads_and_from_a_checkpoint(void **state) {
    (void)state;
    SandError error = {""};
    SandCheckpoint checkpoint = {0};
    SandSimulation *one = squeezed_cube(1), *three = squeezed_cube(3);
    lab_run(one, 60);
    lab_run(three, 40);
    if (!sand_simulation_save_state(three, &checkpoint, &error)) fail_msg("%s", error.text);
    for (int k = 0; k < 2; k++) {
        lab_run(three, 20);
        const SandWorld *a = sand_simulation_world(one), *b = sand_simulation_world(three);
        assert_int_equal(sand_world_hash(a), sand_world_hash(b));
        near_vector(sand_world_period(a), sand_world_period(b), 0);
        if (!sand_simulation_restore_state(three, &checkpoint, &error)) fail_msg("%s", error.text);
    }
    sand_checkpoint_free(&checkpoint);
    sand_simulation_free(one);
    sand_simulation_free(three);
}

// --- bad input ---

static void refuse(const char *text, const char *message) {
    SandScene scene;
    SandError error = {""};
    if (sand_scene_load_text(&scene, text, strlen(text), "t.yaml", NULL, &error)) fail_msg("accepted: %s", text);
    if (!strstr(error.text, message) || strchr(error.text, '\n')) fail_msg("got: %s\nwanted: %s", error.text, message);
}

static void bad_periods_are_refused(void **state) {
    (void)state;
    SandScene scene;
    SandError error = {""};
    const char *good = "name: t\nworld: {lower: [0, 0, 0], upper: [1, 2, 3], periodic: xz}\n"
                       "bodies: [{shape: sphere, radius: 0.1, position: [0.5, 0.5, 0.5]}]\n";
    if (!sand_scene_load_text(&scene, good, strlen(good), "t.yaml", NULL, &error)) fail_msg("%s", error.text);
    assert_true(scene.world.periodic[0] && !scene.world.periodic[1] && scene.world.periodic[2]);
    near_vector(sand_world_period(&scene.world), v3_make(1, 0, 3), 0);
    SandSettleDef settle = {.threads = 1};
    assert_false(sand_scene_settle(&scene, &settle, &error));
    assert_non_null(strstr(error.text, "settled: the world is periodic"));
    sand_scene_free(&scene);
    refuse("name: t\nworld: {lower: [0, 0, 0], upper: [1, 1, 1], periodic: xyq}\n",
           "t.yaml:2: periodic: expected axes, such as xy, got 'xyq'");
    refuse("name: t\nworld: {lower: [0, 0, 0], upper: [1, 1, 1], periodic: xx}\n", "expected axes, such as xy, got 'xx'");
    refuse("name: t\nworld: {lower: [0, 0, 0], upper: [1, 1, 1], periodic: xy}\n"
           "bodies: [{shape: sphere, radius: 0.1, position: [0.95, 0.02, 0.5]},"
           " {shape: sphere, radius: 0.1, position: [0.05, 0.98, 0.5]}]\n",
           "body 1 and body 2 overlap");
    refuse("name: t\nview: {lower: [0, 0, 0], upper: [1, 1, 1], periodic: x}\n", "t.yaml:2: periodic: ");
    refuse("name: t\nworld: {lower: [0, 0, 0], upper: [1, 0.7, 1], periodic: xy}\n"
           "bodies: [{shape: sphere, radius: 0.1, position: [0.5, 0.5, 0.5]}]\n",
           "t.yaml:2: periodic: the period along y is 0.7 m; it must be at least 4 times the largest body, of 0.2 m");
    refuse("name: t\nworld: {lower: [0, 0, 0], upper: [1, 1, 1], periodic: x}\n"
           "bodies: [{shape: box, size: [0.1, 0.1, 0.1], position: [0.5, 0.5, 0.5]}]\n",
           "t.yaml:2: periodic: body 0 is convex, and the world is periodic");
}

static void bad_squeezes_are_refused(void **state) {
    (void)state;
    refuse("name: t\nworld: {lower: [0, 0, 0], upper: [1, 1, 1], periodic: xy, squeeze: {rate: 1, pressure: 1}}\n",
           "t.yaml:2: squeeze: only a world that repeats along x, y and z, and has no boundaries, can be squeezed");
    refuse("name: t\nworld: {lower: [0, 0, 0], upper: [1, 1, 1], periodic: xyz, squeeze: {rate: 20, pressure: 1}}\n",
           "t.yaml:2: squeeze: the rate of the squeeze is 20 1/s; it must be above 0 and less than 0.1 in a step");
    refuse("name: t\nworld: {lower: [0, 0, 0], upper: [1, 1, 1], periodic: xyz, squeeze: {rate: 1, pressure: 0}}\n",
           "t.yaml:2: squeeze: the pressure of the squeeze is 0 Pa; it must be finite and above 0");
    refuse("name: t\nworld: {lower: [0, 0, 0], upper: [1, 1, 1], periodic: xyz, squeeze: {rate: 0, pressure: 1}}\n",
           "t.yaml:2: squeeze: its rate must be above 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contacts_do_not_depend_on_the_borders),
        cmocka_unit_test(laws_do_not_depend_on_the_borders),
        cmocka_unit_test(no_contact_is_missed),
        cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(a_column_across_the_border),
        cmocka_unit_test(a_fast_body_stays_in_the_box),
        cmocka_unit_test(a_pile_rests),
        cmocka_unit_test(the_same_bits_for_all_threads_and_from_a_checkpoint),
        cmocka_unit_test(a_squeezed_cube_jams_where_its_spheres_touch),
        cmocka_unit_test(a_squeezed_box_has_the_same_bits_for_all_threads_and_from_a_checkpoint),
        cmocka_unit_test(bad_periods_are_refused),
        cmocka_unit_test(bad_squeezes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
