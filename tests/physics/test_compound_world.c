// SPDX-License-Identifier: MIT
// Compounds in motion: the halves of a box move as the box, a ring lets a ball through, a bucket holds what is in it, free
// flight keeps its energy, and threads do not change a bit.
#include "tests/lab/compound_lab.h"

// --- two halves -------------------------------------------------------------------------------------------

// A box of 1 x 0.6 x 0.4, as one, or as two halves of which one lies turned; on ground of this friction.
static SandSimulation *thrown_box(bool halves, double mu, SandVec3 velocity, SandVec3 spin, SandVec3 turn, double height) {
    SandWorld w = lab_world(mu);
    SandShape box;
    SandPiece pieces[2] = {lab_box_piece(v3_make(0.25, 0.3, 0.2), v3_make(-0.25, 0, 0), v3_make(0, 0, 0)),
                           lab_box_piece(v3_make(0.25, 0.3, 0.2), v3_make(0.25, 0, 0), v3_make(0, 0, PI))};
    w.looks = 0;
    lab_plane(&w, v3_make(0, 0, 0), v3_make(0, 0, 1));
    assert_true(sand_shape_box(&box, v3_make(0.5, 0.3, 0.2), NULL));
    int whole = sand_world_add_shape(&w, &box, NULL), both = lab_compound(&w, pieces, 2);
    int body = lab_body(&w, halves ? both : whole, 1, v3_make(0, 0, height));
    w.rotation[body] = q_exp(turn);
    w.velocity[body] = velocity;
    w.spin[body] = spin;
    return lab_exact(&w);
}

// How far the two come apart in a second (m), over the way that they go.
static double parting(double mu, SandVec3 velocity, SandVec3 spin, SandVec3 turn, double height, double *way) {
    SandSimulation *one = thrown_box(false, mu, velocity, spin, turn, height),
                   *two = thrown_box(true, mu, velocity, spin, turn, height);
    const SandWorld *a = sand_simulation_world(one), *b = sand_simulation_world(two);
    SandVec3 from = a->position[0];
    double apart = 0;
    for (int k = 0; k < 100; k++) {
        lab_step(one);
        lab_step(two);
        SandVec3 corner = v3_make(0.5, 0.3, 0.2);
        SandVec3 p = v3_add(a->position[0], q_rotate(a->rotation[0], corner)),
                 q = v3_add(b->position[0], q_rotate(b->rotation[0], corner));
        apart = fmax(apart, v3_length(v3_sub(p, q)));
    }
    *way = v3_length(v3_sub(a->position[0], from));
    sand_simulation_free(one);
    sand_simulation_free(two);
    return apart;
}

static void two_halves_move_as_the_whole(void **state) {
    (void)state;
    SandVec3 none = v3_make(0, 0, 0);
    double falls, slides, tumbles;
    double fall = parting(0, none, none, v3_make(0.1, 0.2, 0.3), 1.5, &falls);
    double rubs = parting(0.5, none, none, v3_make(0.1, 0.2, 0.3), 1.5, &falls);
    double slide = parting(0.3, v3_make(2, 0.5, 0), none, none, 0.2, &slides);
    double tumble = parting(0.8, v3_make(3, 0, 0), v3_make(0, 4, 1), v3_make(0, 0.5, 0.2), 1, &tumbles);
    print_message("halves part from the whole by %.1e m in a fall of %.2f m, %.1e with friction, %.1e sliding %.2f m, "
                  "%.1e tumbling %.2f m\n",
                  fall, falls, rubs, slide, slides, tumble, tumbles);
    assert_true(falls > 1 && slides > 0.5 && tumbles > 1);
    // The corners in the middle bear what those at the ends would: solved to 1e-12, the motion is one. With friction the
    // convex cone lifts each corner by h mu of its own sliding, which at the middle is not the mean of the ends.
    NEAR(fall, 0, 1e-6);
    NEAR(rubs, 0, 5e-3);
    NEAR(slide, 0, 1e-7);
    NEAR(tumble, 0, 1e-3);
}

// --- holes ------------------------------------------------------------------------------------------------

// A ring of twelve boxes around z, whose hole has a radius of 0.5, as one body on three posts; a ball falls into it.
static double height_of_ball(double radius) {
    enum { SIDES = 12 };
    SandWorld w = lab_world(0.3);
    SandPiece pieces[SIDES + 3];
    double width = 0.6 * tan(PI / SIDES);
    for (int k = 0; k < SIDES; k++) {
        double angle = 2 * PI * k / SIDES;
        pieces[k] = lab_box_piece(v3_make(0.1, width + 0.02, 0.1), v3_make(0.6 * cos(angle), 0.6 * sin(angle), 0),
                                  v3_make(0, 0, angle));
    }
    for (int k = 0; k < 3; k++) {
        double angle = 2 * PI * k / 3;
        pieces[SIDES + k] =
            lab_box_piece(v3_make(0.05, 0.05, 0.6), v3_make(0.6 * cos(angle), 0.6 * sin(angle), -0.7), v3_make(0, 0, angle));
    }
    lab_plane(&w, v3_make(0, 0, -1.3), v3_make(0, 0, 1));
    int ring = lab_compound(&w, pieces, SIDES + 3);
    SandBodyDef def = sand_default_body();
    def.shape = ring;
    def.pose = sand_shape_place(&w.shapes[ring], 1, (SandPose){{0, 0, 0}, q_identity()});
    assert_true(sand_world_add_body(&w, &def, NULL) == 0);
    lab_body(&w, 0, radius, v3_make(0, 0, 1));
    SandSimulation *sim = lab_exact(&w);
    lab_run(sim, 200);
    double height = sand_simulation_world(sim)->position[1].z;
    sand_simulation_free(sim);
    return height;
}

static void a_ring_lets_a_ball_through(void **state) {
    (void)state;
    double small = height_of_ball(0.45), large = height_of_ball(0.6);
    print_message("a ball of 0.45 m ends at %.4f m, one of 0.6 m at %.4f m\n", small, large);
    NEAR(small, -1.3 + 0.45, 1e-3);
    // It rests on the upper inner edges, whose middles are 0.5 from the axis: at sqrt(0.6^2 - 0.5^2) above them.
    NEAR(large, 0.1 + sqrt(0.36 - 0.25), 5e-3);
}

// --- a bucket ---------------------------------------------------------------------------------------------

enum { BALLS = 30 };

// A bucket of 1 m, with balls and boxes in it, on the floor.
static SandWorld full_bucket(void) {
    SandWorld w = lab_world(0.4);
    SandShape box;
    lab_plane(&w, v3_make(0, 0, 0), v3_make(0, 0, 1));
    int bucket = lab_bucket(&w, 0.5);
    SandBodyDef def = sand_default_body();
    def.shape = bucket;
    def.pose = sand_shape_place(&w.shapes[bucket], 1, (SandPose){{0, 0, 0.5}, q_identity()});
    assert_true(sand_world_add_body(&w, &def, NULL) == 0);
    assert_true(sand_shape_box(&box, v3_make(0.1, 0.08, 0.06), NULL));
    int boxes = sand_world_add_shape(&w, &box, NULL);
    for (int k = 0; k < BALLS; k++) {
        SandVec3 at = v3_make(0.25 * (k % 3 - 1), 0.25 * (k / 3 % 3 - 1), 0.3 + 0.24 * (k / 9));
        lab_body(&w, k % 3 ? 0 : boxes, k % 3 ? 0.1 : 1, at);
    }
    return w;
}

static bool is_in(const SandWorld *w, int body) {
    SandVec3 at = q_unrotate(w->rotation[0], v3_sub(w->position[body], w->position[0]));
    return fabs(at.x) < 0.4 && fabs(at.y) < 0.4 && fabs(at.z) < 0.9;
}

static void a_bucket_holds_what_is_in_it(void **state) {
    (void)state;
    SandWorld w = full_bucket();
    SandSimulationDef def = sand_default_simulation();
    def.threads = 2;
    SandSimulation *sim = lab_simulation(&w, &def);
    lab_run(sim, 300);
    const SandWorld *now = sand_simulation_world(sim);
    const SandCounters *c = sand_simulation_counters(sim);
    for (int k = 1; k <= BALLS; k++) assert_true(is_in(now, k));
    print_message("bucket: %d contacts, %d of them warm, %.2f mm deep, %.1e J\n", c->contacts, c->warm_started,
                  1e3 * c->penetration_max, sand_simulation_energy(sim).kinetic);
    assert_true(c->penetration_max < 2e-3);
    assert_true(c->warm_started > 0.9 * c->contacts); // at rest a contact is the one of the step before
    // It is lifted and swung, and still holds them.
    sand_simulation_change(sim)->gravity = v3_make(4, 0, -9);
    lab_run(sim, 100);
    for (int k = 1; k <= BALLS; k++) assert_true(is_in(sand_simulation_world(sim), k));
    sand_simulation_free(sim);
}

// --- flight, and threads ----------------------------------------------------------------------------------

static void free_flight_keeps_energy(void **state) {
    (void)state;
    SandWorld w = lab_world(0.5);
    SandPiece pieces[5];
    w.gravity = v3_make(0, 0, 0);
    int body = lab_body(&w, lab_compound(&w, pieces, lab_motley(pieces, 0.3)), 1, v3_make(0, 0, 0));
    w.velocity[body] = v3_make(1, 2, 3);
    w.spin[body] = v3_make(5, -3, 2);
    double energy = sand_world_kinetic_energy(&w), most = energy, least = energy;
    SandVec3 momentum = sand_world_angular_momentum(&w);
    SandSimulation *sim = lab_exact(&w);
    const SandWorld *now = sand_simulation_world(sim);
    for (int k = 0; k < 500; k++) {
        lab_step(sim);
        most = fmax(most, sand_world_kinetic_energy(now));
        least = fmin(least, sand_world_kinetic_energy(now));
    }
    print_message("flight: energy from %.1e below to %.1e above\n", 1 - least / energy, most / energy - 1);
    NEAR(most / energy, 1, 1e-12);
    NEAR(least / energy, 1, 1e-12);
    NEAR(v3_length(v3_sub(sand_world_angular_momentum(now), momentum)), 0, 1e-11 * v3_length(momentum));
    sand_simulation_free(sim);
}

static uint64_t hash_with(SandWorld w, int threads, int *contacts) {
    SandSimulationDef def = sand_default_simulation();
    def.threads = threads;
    def.solve.iterations = 30;
    SandSimulation *sim = lab_simulation(&w, &def);
    lab_run(sim, 60);
    *contacts = sand_simulation_counters(sim)->contacts;
    uint64_t hash = sand_world_hash(sand_simulation_world(sim));
    sand_simulation_free(sim);
    return hash;
}

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    int contacts;
    uint64_t alone = hash_with(lab_compounds(), 1, &contacts), buckets = hash_with(lab_buckets(), 1, &contacts);
    print_message("compounds: %016llx, buckets: %016llx, %d contacts\n", (unsigned long long)alone,
                  (unsigned long long)buckets, contacts);
    assert_true(contacts > 100);
    assert_true(hash_with(lab_compounds(), 2, &contacts) == alone && hash_with(lab_compounds(), 5, &contacts) == alone);
    assert_true(hash_with(lab_buckets(), 3, &contacts) == buckets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_halves_move_as_the_whole), cmocka_unit_test(a_ring_lets_a_ball_through),
        cmocka_unit_test(a_bucket_holds_what_is_in_it), cmocka_unit_test(free_flight_keeps_energy),
        cmocka_unit_test(threads_do_not_change_a_bit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
