// SPDX-License-Identifier: MIT
// Islands: the factorization in a skyline against dense algebra, which bodies form an island, and the direct solve: what it
// claims against dense algebra, its velocities against the reference, and what it leaves to a method.
#include "sim/core/random.h"
#include "sim/core/thread_pool.h"
#include "sim/solver/skyline.h"
#include "tests/lab/solver/dense.h"
#include "tests/lab/lab.h"
#include "tests/lab/solver/solver_lab.h"

// --- the factorization ------------------------------------------------------------------------------------

static double *entry(SandSkyline *s, int row, int column) {
    return sand_skyline_block(s, row / SAND_BLOCK, column / SAND_BLOCK) + SAND_BLOCK * (column % SAND_BLOCK) +
           row % SAND_BLOCK;
}

// Fills a skyline with random numbers and a dominant diagonal, and `dense` with the same matrix.
static void fill(SandSkyline *s, SandRandom *dice, double *dense) {
    int n = SAND_BLOCK * s->count;
    memset(dense, 0, sizeof(double) * (size_t)(n * n));
    sand_skyline_clear(s);
    for (int row = 0; row < n; row++)
        for (int column = SAND_BLOCK * s->first.data[row / SAND_BLOCK]; column <= row; column++) {
            double value = row == column ? 2.0 * n : 2 * sand_random_unit(dice) - 1;
            *entry(s, row, column) = value;
            dense[n * row + column] = dense[n * column + row] = value;
        }
}

static void a_skyline_solves_what_is_in_it(void **state) {
    (void)state;
    enum { ROWS = 9, N = SAND_BLOCK * ROWS };
    static double dense[N * N];
    SandRandom dice = sand_random(5);
    SandSkyline s = {0};
    for (int trial = 0; trial < 20; trial++) {
        double x[N], b[N];
        assert_true(sand_skyline_reserve(&s, ROWS, NULL));
        for (int r = 0; r < ROWS; r++) s.first.data[r] = (int)(sand_random_unit(&dice) * (r + 1));
        assert_true(sand_skyline_shape(&s, NULL));
        fill(&s, &dice, dense);
        for (int i = 0; i < N; i++) x[i] = b[i] = sand_random_unit(&dice);
        assert_true(sand_skyline_factor(&s));
        sand_skyline_solve(&s, x);
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int j = 0; j < N; j++) sum += dense[N * i + j] * x[j];
            NEAR(sum, b[i], 1e-14); // of numbers up to 1, with a condition below 2
        }
        fill(&s, &dice, dense);
        *entry(&s, N - 2, N - 2) = -1;
        assert_false(sand_skyline_factor(&s)); // not positive definite, and it says so
    }
    sand_skyline_free(&s);
}

// --- worlds of towers -------------------------------------------------------------------------------------

// Towers of cubes beside each other, of these heights; each cube is off by up to 1 cm.
static SandWorld towers(const int *heights, int count) {
    SandWorld world = lab_world(0.6);
    SandRandom dice = sand_random(3);
    SandShape box;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    assert_true(sand_shape_box(&box, v3_make(0.1, 0.1, 0.1), NULL));
    int cube = sand_world_add_shape(&world, &box, NULL);
    for (int t = 0; t < count; t++)
        for (int k = 0; k < heights[t]; k++) {
            double x = 0.01 * (2 * sand_random_unit(&dice) - 1), y = 0.01 * (2 * sand_random_unit(&dice) - 1);
            lab_body(&world, cube, 1, v3_make(t + x, y, 0.1 + 0.2 * k));
        }
    return world;
}

static SandSimulationDef island_def(int islands, int threads) {
    SandSimulationDef def = sand_default_simulation();
    def.threads = threads;
    def.solve.islands = islands;
    return def;
}

// The towers stand on one plane, which connects nothing. What is too large for a direct solve is left to the method.
static void islands_are_what_touches(void **state) {
    (void)state;
    static const int heights[] = {1, 2, 5, 3};
    static const struct {
        int islands, solved;
    } cases[] = {{1000, 4}, {20, 4}, {19, 3}, {8, 2}, {4, 1}, {3, 0}}; // four contacts a cube
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        SandWorld world = towers(heights, 4);
        SandSimulationDef def = island_def(cases[k].islands, 1);
        SandSimulation *sim = lab_simulation(&world, &def);
        lab_run(sim, 3);
        const SandIslandReport *report = &sand_simulation_counters(sim)->islands;
        assert_int_equal(report->count, 4);
        assert_int_equal(report->solved, cases[k].solved);
        assert_true(report->rms <= 1e-6);
        sand_simulation_free(sim);
    }
    SandWorld world = towers(heights, 4);
    SandSimulationDef def = island_def(0, 1);
    SandSimulation *sim = lab_simulation(&world, &def);
    lab_run(sim, 3);
    assert_int_equal(sand_simulation_counters(sim)->islands.count, 0); // nobody asked
    sand_simulation_free(sim);
}

// Some islands are solved directly and some by the method, on any number of threads to the same bits.
static void threads_change_no_bits(void **state) {
    (void)state;
    static const int heights[] = {1, 2, 5, 3, 4, 8, 2, 7};
    SandVec3 position[3][32];
    sand_thread_pool_set_grain(1);
    for (int k = 0; k < 3; k++) {
        SandWorld world = towers(heights, 8);
        SandSimulationDef def = island_def(20, k + 1);
        SandSimulation *sim = lab_simulation(&world, &def);
        lab_run(sim, 40);
        assert_int_equal(sand_simulation_counters(sim)->islands.solved, 6);
        memcpy(position[k], sand_simulation_world(sim)->position, sizeof position[k]);
        sand_simulation_free(sim);
        assert_memory_equal(position[k], position[0], sizeof position[k]);
    }
    sand_thread_pool_set_grain(SAND_GRAIN);
}

// --- solves -----------------------------------------------------------------------------------------------

static SandSolveDef direct_def(SandFriction friction) {
    SandSolveDef def = sand_default_solve();
    def.friction = friction;
    def.islands = 100000;
    def.iterations = 200;
    return def;
}

static double dense_rms(const SandProblem *p, SandFriction friction, const SandVec3 *x) {
    if (friction == SAND_FRICTIONLESS) return dense_measure(p, true, x).residual / sqrt(p->contact_count);
    double tau = dense_tau(p, false), map = dense_natural_map(p, friction == SAND_FRICTION_COULOMB, x, tau);
    return map / tau / sqrt(p->contact_count);
}

// The largest difference of the velocities of two solutions, m/s.
static double difference(const SandProblem *p, const SandSolution *a, const SandSolution *b) {
    double most = 0;
    for (int k = 0; k < p->dynamic_count; k++) most = fmax(most, v3_length(v3_sub(a->velocity[k], b->velocity[k])));
    return most;
}

// Every problem from no start at all, with every model: what was solved is solved by the definition, to what the report
// says, and moves the bodies as the reference does. A residual of 1e-6 m/s in slow modes is a velocity some hundred times
// that.
static void direct_solves_are_what_they_claim(void **state) {
    (void)state;
    static const SandFriction models[] = {SAND_FRICTIONLESS, SAND_FRICTION_CONE, SAND_FRICTION_COULOMB};
    SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, NULL);
    assert_non_null(cpu);
    for (int k = 0; k < PROBLEMS; k++)
        for (int m = 0; m < 3; m++) {
            SandProblem p = frozen_well_posed(&problems[k], -1);
            SandSolveDef def = direct_def(models[m]), exact = def;
            SandSolution got = {0}, want = {0};
            SandError error = {""};
            if (!sand_cpu_solve(cpu, &p, &def, &got, &error)) fail_msg("%s", error.text);
            double rms = dense_rms(&p, models[m], got.impulse);
            print_message("%s, %s: %d of %d islands in %d factorizations, rms %.1e m/s\n", problem_names[k],
                          sand_friction_table[models[m]].name, got.islands.solved, got.islands.count,
                          got.islands.factorizations, rms);
            assert_true(got.islands.count > 0);
            // The island of heavy is too wide to be factorized, and De Saxce's bias takes more than its budget.
            bool all = models[m] != SAND_FRICTION_COULOMB && k != HEAVY;
            assert_int_equal(all ? got.islands.solved : 0, all ? got.islands.count : 0);
            if (got.islands.solved == got.islands.count) {
                assert_int_equal(got.status, SAND_SOLVED);
                assert_true(rms <= 1e-6 && rms <= 1.0001 * got.islands.rms);
            }
            NEAR(got.metrics.residual_rms, rms, 1e-9 + 1e-6 * rms);
            sand_solve_choose(&exact, sand_solver_find("ipm-soc"));
            exact.islands = 0;
            if (all) {
                if (!sand_cpu_solve(cpu, &p, &exact, &want, &error)) fail_msg("%s", error.text);
                NEAR(difference(&p, &got, &want), 0, 1e-4);
            }
            sand_solution_free(&got);
            sand_solution_free(&want);
            sand_problem_free(&p);
        }
    sand_cpu_free(cpu);
}

// A tolerance below what an island is solved to is met as well.
static void a_tolerance_is_met(void **state) {
    (void)state;
    SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, NULL);
    SandProblem p = frozen_well_posed(&problems[CLUMPS], -1);
    SandSolveDef def = direct_def(SAND_FRICTION_CONE);
    SandSolution s = {0};
    def.tolerance = 1e-9;
    assert_true(sand_cpu_solve(cpu, &p, &def, &s, NULL));
    assert_int_equal(s.status, SAND_SOLVED);
    assert_true(dense_measure(&p, false, s.impulse).residual <= 1.001e-9);
    sand_solution_free(&s);
    sand_problem_free(&p);
    sand_cpu_free(cpu);
}

// Models whose set is no circular cone are refused, and so is a number of contacts below zero.
static void what_cannot_be_is_refused(void **state) {
    (void)state;
    SandError error = {""};
    SandSolveDef def = direct_def(SAND_FRICTION_PYRAMID);
    assert_false(sand_solve_check(&def, &error));
    assert_non_null(strstr(error.text, "pyramid"));
    def = direct_def(SAND_FRICTION_CONE);
    def.islands = -1;
    assert_false(sand_solve_check(&def, &error));
    assert_non_null(strstr(error.text, "islands"));
    def.islands = 10;
    assert_true(sand_solve_check(&def, &error));
    assert_false(sand_solve_check_ranks(&def, &error));
    assert_non_null(strstr(error.text, "islands"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_skyline_solves_what_is_in_it),
        cmocka_unit_test(islands_are_what_touches),
        cmocka_unit_test(threads_change_no_bits),
        cmocka_unit_test(direct_solves_are_what_they_claim),
        cmocka_unit_test(a_tolerance_is_met),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests_name("islands", tests, make_problems, free_problems);
}
