// SPDX-License-Identifier: MIT
// What people build of convex bodies, and whether it stands or falls: a tower, a brick wall, a house of cards, a box on a
// slope. Everything but the wall, the cards and islands is solved as a scene is by default, in float and with 50 iterations.
//   test_bricks         short runs
//   test_bricks full    a minute of simulated time each, and what is solved directly from eight starts
#include "tests/lab/lab.h"

static double seconds = 5; // that things have to stand
static int starts = 1;     // of what is solved directly

static int add_shape(SandWorld *world, SandVec3 size) {
    SandShape box;
    assert_true(sand_shape_box(&box, v3_scale(0.5, size), NULL));
    return sand_world_add_shape(world, &box, NULL);
}

static SandWorld level_world(double mu) {
    SandWorld world = lab_world(mu);
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    return world;
}

// How a world is solved.
typedef struct Effort {
    int iterations;  // at most
    double accuracy; // percent, at which a solve ends; 0: not before its iterations
    const char *solver;
    int islands; // most contacts of what is solved directly
} Effort;
static const Effort usual = {50, 0, "p-spg-fb", 0}, more = {120, 0, "p-spg-fb", 0}, accurate = {2000, 99.99, "p-spg-fb", 0},
                    direct = {50, 0, "p-spg-fb", 5000};

static SandSimulation *simulate(SandWorld *world, Effort effort) {
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    assert_int_equal(def.solve.iterations, usual.iterations);
    sand_solve_choose(&def.solve, sand_solver_find(effort.solver));
    if (!sand_solver_can(def.solve.solver, def.solve.friction)) def.solve.friction = SAND_FRICTION_COULOMB;
    def.solve.islands = effort.islands;
    def.solve.iterations = effort.iterations;
    def.solve.accuracy = effort.accuracy;
    return lab_simulation(world, &def);
}

// What a run did to its bodies.
typedef struct Moved {
    double most;  // m, farthest that a body was from its start, looked at ten times a second
    double fresh; // contacts per step that did not find their impulse of the step before
    int contacts; // at the end
    int unsolved; // steps of which an island was to be solved directly, and was not
    double rms;   // m/s, the largest residual of an island that was
} Moved;

static double farthest(const SandWorld *w, const SandVec3 *start) {
    double most = 0;
    for (int i = 0; i < w->body_count; i++) most = fmax(most, v3_length(v3_sub(w->position[i], start[i])));
    return most;
}

// Runs a world, and takes it.
static Moved run(SandWorld *world, Effort effort, double time) {
    SandVec3 *start = malloc(sizeof *start * (size_t)world->body_count);
    assert_non_null(start);
    for (int i = 0; i < world->body_count; i++) start[i] = world->position[i];
    int steps = (int)(time / world->step + 0.5), often = (int)(0.1 / world->step + 0.5);
    SandSimulation *sim = simulate(world, effort);
    const SandCounters *counters = sand_simulation_counters(sim);
    Moved moved = {0};
    for (int k = 1; k <= steps; k++) {
        lab_step(sim);
        if (k > 1) moved.fresh += (double)(counters->contacts - counters->warm_started) / steps;
        moved.unsolved += counters->islands.solved < counters->islands.count;
        moved.rms = fmax(moved.rms, counters->islands.rms);
        if (k % often == 0) moved.most = fmax(moved.most, farthest(sand_simulation_world(sim), start));
    }
    moved.contacts = counters->contacts;
    sand_simulation_free(sim);
    free(start);
    return moved;
}

// --- towers -----------------------------------------------------------------------------------------------

typedef struct Tower {
    int high;
    double turn; // rad, of each cube against the one below
    double off;  // m, most that a cube is beside the axis, along x and along y
} Tower;

// Moves all bodies a little, so that starts differ.
static void disturb(SandWorld *world, int start) {
    SandRandom dice = sand_random(100 + (uint64_t)start);
    for (int i = 0; i < world->body_count; i++) {
        SandVec3 by = v3_make(sand_random_unit(&dice), sand_random_unit(&dice), sand_random_unit(&dice));
        world->position[i] = v3_madd(world->position[i], 1e-10, by);
    }
}

// Cubes of 0.2 m on each other.
static SandWorld tower_world(const Tower *t) {
    SandWorld world = level_world(0.6);
    SandRandom dice = sand_random(3);
    int cube = add_shape(&world, v3_make(0.2, 0.2, 0.2));
    for (int k = 0; k < t->high; k++) {
        double x = t->off * (2 * sand_random_unit(&dice) - 1), y = t->off * (2 * sand_random_unit(&dice) - 1);
        int body = lab_body(&world, cube, 1, v3_make(x, y, 0.1 + 0.2 * k));
        world.rotation[body] = q_exp(v3_make(0, 0, t->turn * k));
    }
    return world;
}

// A tower that is not straight bends while it is not solved, and the stiffness against that falls with the fourth power of
// its height: of 30 cubes that are off by 1 cm a solve to 1e-8 m/s takes 4,400 iterations, and with 50 they rock.
static void a_tower_stands(void **state) {
    (void)state;
    static const Tower towers[] = {{30, 0, 0},     {30, 0.05, 0}, {30, 0.3, 0},  {30, 0.4, 0},
                                   {30, 0.785, 0}, {6, 0, 0.01},  {6, 0.7, 0.01}};
    for (size_t k = 0; k < sizeof towers / sizeof *towers; k++) {
        SandWorld world = tower_world(&towers[k]);
        Moved moved = run(&world, usual, seconds);
        print_message(
            "tower of %d, turned by %.2f, off by %.2f m: moved by %.1e m in %.0f s, %d contacts, %.2f new per step\n",
            towers[k].high, towers[k].turn, towers[k].off, moved.most, seconds, moved.contacts, moved.fresh);
        assert_true(moved.most < 1e-3);
    }
}

// What 50 sweeps leave of the slowest error of five cubes, their bending, is 0.87 of it, above the 0.77 that a step may
// leave: by themselves gauss-seidel, ngs and tgs-soft rock them, in line or not. As an island they stand, whatever the
// method.
static void a_tower_of_five_stands_as_an_island(void **state) {
    (void)state;
    static const char *const sweeps[] = {"gauss-seidel", "ngs", "tgs-soft", "jacobi"};
    for (int k = 0; k < 8; k++) {
        SandWorld world = tower_world(&(Tower){5, 0, k / 4 * 0.01});
        Effort effort = {50, 0, sweeps[k % 4], 1000};
        Moved moved = run(&world, effort, seconds);
        print_message("five cubes, %s: moved by %.1e m, %d steps unsolved\n", sweeps[k % 4], moved.most, moved.unsolved);
        assert_int_equal(moved.unsolved, 0);
        assert_true(moved.most < 1e-6);
    }
}

// Cubes that are off by up to 5 % of their width, and that nothing lets rest.
static void a_crooked_tower_stands_as_an_island(void **state) {
    (void)state;
    for (int start = 0; start < starts; start++) {
        SandWorld world = tower_world(&(Tower){30, 0, 0.01});
        disturb(&world, start);
        Moved moved = run(&world, direct, seconds);
        print_message("30 crooked cubes: moved by %.1e m in %.0f s, solved to %.1e m/s\n", moved.most, seconds, moved.rms);
        assert_int_equal(moved.unsolved, 0);
        assert_true(moved.rms > 0 && moved.rms <= 1e-6);
        assert_true(moved.most < 1e-5);
    }
}

// --- a wall -----------------------------------------------------------------------------------------------

static const SandVec3 brick = {0.215, 0.1025, 0.065};

// Rows of bricks in running bond, `joint` (m) apart; every other row ends in half bricks.
static SandWorld wall(int rows, int columns, double joint) {
    SandWorld world = level_world(0.6);
    double pitch = brick.x + joint, half = 0.5 * (brick.x - joint);
    int whole = add_shape(&world, brick), part = add_shape(&world, v3_make(half, brick.y, brick.z));
    for (int r = 0; r < rows; r++) {
        double z = brick.z * (r + 0.5);
        bool shifted = r % 2 == 1;
        for (int i = shifted; i < columns; i++)
            lab_body(&world, whole, 1, v3_make(pitch * i + (shifted ? -0.5 * joint : 0.5 * brick.x), 0, z));
        if (!shifted) continue;
        lab_body(&world, part, 1, v3_make(0.5 * half, 0, z));
        lab_body(&world, part, 1, v3_make(pitch * columns - joint - 0.5 * half, 0, z));
    }
    return world;
}

// What rests is left out. Without that the wall comes to rest within a second, and rocks again after some more: a mode of it
// is stable only where a solve from the last impulses leaves less than 1 / (1 + f) of its error, with f the part of a gap
// that a step closes (0.3, the recovery fraction, of a penetration, and 1 of a gap that is open), and 50 iterations leave
// more. With 50 iterations a brick moves by some 5 cm before it rests in three of eight walls that differ by 1e-10 m, with
// 80 in one, with 120 in none.
static void a_wall_stands(void **state) {
    (void)state;
    static const double joints[] = {0, 0.003}; // contacts with the neighbors of a row, and none
    for (int k = 0; k < 2; k++) {
        SandWorld world = wall(20, 20, joints[k]);
        world.sleep_speed = 0.003;
        Moved moved = run(&world, more, seconds);
        print_message("wall, joints of %.0f mm: moved by %.1e m in %.0f s, %d contacts, %.2f new per step\n",
                      1e3 * joints[k], moved.most, seconds, moved.contacts, moved.fresh);
        assert_true(moved.fresh < 0.1); // names of edges that coincide change, impulses stay
        assert_true(moved.most < 1e-3);
    }
}

// The same without rest, solved directly.
static void a_wall_stands_as_an_island(void **state) {
    (void)state;
    static const double joints[] = {0, 0.003};
    for (int k = 0; k < 2 * starts; k++) {
        SandWorld world = wall(20, 20, joints[k % 2]);
        disturb(&world, k / 2);
        Moved moved = run(&world, direct, seconds);
        print_message("wall as an island, joints of %.0f mm: moved by %.1e m in %.0f s, solved to %.1e m/s\n",
                      1e3 * joints[k % 2], moved.most, seconds, moved.rms);
        assert_int_equal(moved.unsolved, 0);
        assert_true(moved.rms > 0 && moved.rms <= 1e-6);
        assert_true(moved.most < 1e-5);
    }
}

// --- a house of cards -------------------------------------------------------------------------------------

enum { FLOORS = 5 };
static const SandVec3 card = {0.09, 0.06, 0.002};
#define LEAN 0.35 // rad, from the vertical

static void add_card(SandWorld *world, int shape, double x, double z, double angle) {
    int body = lab_body(world, shape, 1, v3_make(x, 0, z));
    world->rotation[body] = q_exp(v3_make(0, angle, 0)); // about y: 0 lies, a quarter turn stands
}

// Two cards that lean on each other with their upper edges at x, and stand at height z.
static void add_pair_of_cards(SandWorld *world, int shape, double x, double z) {
    double out = 0.5 * (card.x * sin(LEAN) + card.z * cos(LEAN)), up = 0.5 * (card.x * cos(LEAN) + card.z * sin(LEAN));
    add_card(world, shape, x - out, z + up, LEAN - 0.5 * PI);
    add_card(world, shape, x + out, z + up, 0.5 * PI - LEAN);
}

static SandWorld card_house(double mu) {
    SandWorld world = level_world(mu);
    int shape = add_shape(&world, card), bed;
    double wide = 2 * (card.x * sin(LEAN) + card.z * cos(LEAN)) + 0.002, z = 0;
    bed = add_shape(&world, v3_make(wide - 0.001, card.y, card.z));
    for (int floor = 0; floor < FLOORS; floor++) {
        double first = 0.5 * wide * floor;
        for (int i = 0; i < FLOORS - floor; i++) add_pair_of_cards(&world, shape, first + wide * i, z);
        z += card.x * cos(LEAN) + card.z * sin(LEAN);
        for (int i = 0; i + 1 < FLOORS - floor; i++) add_card(&world, bed, first + wide * (i + 0.5), z + 0.5 * card.z, 0);
        z += card.z;
    }
    return world;
}

// It begins without impulses, and is down before 50 iterations have found them.
static void a_card_house_stands_by_friction(void **state) {
    (void)state;
    SandWorld rough = card_house(0.6), smooth = card_house(0.05);
    Moved stood = run(&rough, accurate, seconds), fell = run(&smooth, accurate, 2);
    print_message("card house: moved by %.1e m in %.0f s with mu 0.6, %d contacts; by %.2f m in 2 s with 0.05\n", stood.most,
                  seconds, stood.contacts, fell.most);
    assert_true(stood.most < 1e-3);
    assert_true(fell.most > 0.2); // of a house of 0.43 m
}

// --- a slope ----------------------------------------------------------------------------------------------

typedef enum Fate { STICKS, SLIDES, TIPS } Fate;

// What a box of width 1 and this height does on a slope within two seconds.
static Fate fate_on_slope(double mu, double height, double degrees, bool on_body) {
    SandWorld world = lab_world(mu);
    world.gravity = lab_slope(degrees * PI / 180);
    SandBoundary block;
    assert_true(sand_boundary_box(&block, v3_make(20, 20, 1), SAND_OUTSIDE, NULL));
    block.pose.position.z = -1;
    if (on_body)
        sand_world_add_boundary(&world, &block, NULL);
    else
        lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    lab_body(&world, add_shape(&world, v3_make(1, 1, height)), 1, v3_make(0.3, 0.2, 0.5 * height));
    SandSimulation *sim = simulate(&world, usual);
    lab_run(sim, 200);
    const SandWorld *w = sand_simulation_world(sim);
    double turned = fabs(w->rotation[0].y), moved = w->position[0].x - 0.3;
    sand_simulation_free(sim);
    return turned > 0.02 ? TIPS : moved > 0.02 ? SLIDES : STICKS;
}

// Sticks below both limits; beyond, it does what comes first. Angles within half a degree of a limit are left out.
static void a_box_on_a_slope_does_what_geometry_says(void **state) {
    (void)state;
    static const double mus[] = {0.1, 0.3, 0.5, 0.8, 1.2}, heights[] = {0.4, 1, 2, 3};
    int runs = 0;
    for (int k = 0; k < 40; k++) {
        double mu = mus[k % 5], height = heights[k / 5 % 4], slides = atan(mu) * 180 / PI,
               tips = atan(1 / height) * 180 / PI;
        double limit = fmin(slides, tips);
        for (double angle = limit - 2; angle < limit + 2.1; angle += 0.5) {
            if (fabs(angle - limit) < 0.49 || fabs(slides - tips) < 4) continue;
            Fate wanted = angle < limit ? STICKS : slides < tips ? SLIDES : TIPS;
            Fate fate = fate_on_slope(mu, height, angle, k >= 20);
            if (fate != wanted) fail_msg("mu %g, height %g, %.2f degrees: %d, not %d", mu, height, angle, fate, wanted);
            runs++;
        }
    }
    print_message("slope: %d boxes stick, slide or tip as they should, to half a degree\n", runs);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_on_a_slope_does_what_geometry_says),
        cmocka_unit_test(a_tower_stands),
        cmocka_unit_test(a_tower_of_five_stands_as_an_island),
        cmocka_unit_test(a_crooked_tower_stands_as_an_island),
        cmocka_unit_test(a_wall_stands_as_an_island),
        cmocka_unit_test(a_card_house_stands_by_friction),
        cmocka_unit_test(a_wall_stands),
    };
    if (argc > 1 && !strcmp(argv[1], "full")) {
        seconds = 60;
        starts = 8;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
