// block-sweeps: blocks of one color share no body, whatever the problem; any number of threads computes the same bits; the
// result is the minimum, by plain algebra; and on a deep pile it is nearer than gradients are after as many products.
#include "sim/solver/blocks.h"
#include "sim/core/array.h"
#include "sim/core/random.h"
#include "tests/lab/solver/dense.h"
#include "tests/lab/solver/solver_lab.h"

#include <math.h>

// --- blocks -------------------------------------------------------------------------------------------------

enum { CLOUD_BOUNDARIES = 3 };

// A place in a box of side 10; now and then one far outside, or that of another body.
static SandVec3 random_place(const SandProblem *p, int k, SandRandom *random) {
    SandVec3 x = v3_make(10 * sand_random_unit(random), 10 * sand_random_unit(random), 10 * sand_random_unit(random));
    double chance = sand_random_unit(random);
    if (chance < 0.01) return v3_scale(1e12 * sand_random_signed(random), x);
    return chance < 0.02 && k > 0 ? p->bodies[k - 1].position : x;
}

// Whether bodies a and b touch: those that are near each other, and a few at random, as with large bodies and joints.
static bool random_touch(const SandProblem *p, int a, int b, double reach, SandRandom *random) {
    if (b >= p->dynamic_count) return sand_random_unit(random) < 0.05;
    bool near = v3_length(v3_sub(p->bodies[a].position, p->bodies[b].position)) < reach;
    return near || sand_random_unit(random) < 0.0005;
}

// Bodies anywhere, and contacts between them; only what the blocks are made from.
static SandProblem random_cloud(uint64_t seed) {
    SandProblem p = {0};
    SandError error;
    SandRandom random = sand_random(seed * 0x9e3779b97f4a7c15ull); // small seeds begin with small numbers
    p.dynamic_count = 1 + (int)(400 * sand_random_unit(&random));
    p.body_count = p.dynamic_count + CLOUD_BOUNDARIES;
    double reach = 2 * sand_random_unit(&random), flat = sand_random_unit(&random) < 0.3 ? 0 : 1;
    assert_true(SAND_GROW(p.bodies, p.body_capacity, p.body_count, "bodies", &error));
    for (int k = 0; k < p.dynamic_count; k++) {
        p.bodies[k].position = random_place(&p, k, &random);
        p.bodies[k].position.z *= flat;
    }
    for (int a = 0; a < p.dynamic_count; a++)
        for (int b = a + 1; b < p.body_count; b++) {
            if (!random_touch(&p, a, b, reach, &random)) continue;
            assert_true(SAND_GROW(p.contacts, p.contact_capacity, p.contact_count + 1, "contacts", &error));
            p.contacts[p.contact_count++] =
                (SandContact){.a = a, .b = b, .arm_a = {0, 0, 0.25 * reach}, .arm_b = {0, 0, -0.25 * reach}};
        }
    return p;
}

static void check_block(const SandProblem *p, const SandBlocks *blocks, int color, int q, int *seen, int (*owner)[2]) {
    assert_true(blocks->first[q] < blocks->first[q + 1]);
    for (int e = blocks->first[q]; e < blocks->first[q + 1]; e++) {
        const SandContact *c = &p->contacts[blocks->list[e]];
        assert_true(e == blocks->first[q] || blocks->list[e - 1] < blocks->list[e]);
        seen[blocks->list[e]]++;
        for (int side = 0; side < 2; side++) {
            int k = side ? c->b : c->a;
            if (k >= p->dynamic_count) continue;
            assert_true(owner[k][0] != color + 1 || owner[k][1] == q);
            owner[k][0] = color + 1;
            owner[k][1] = q;
        }
    }
}

static void blocks_of_a_color_share_no_body(void **state) {
    (void)state;
    SandBlocks blocks = {0};
    SandError error;
    long several = 0, far = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        SandProblem p = random_cloud(seed);
        int *seen = calloc((size_t)p.contact_count + 1, sizeof *seen);
        int(*owner)[2] = calloc((size_t)p.dynamic_count, sizeof *owner);
        double diameters = 1 + 4 * (double)(seed % 5);
        assert_true(sand_blocks_build(&blocks, &p, diameters, &error));
        assert_int_equal(blocks.color_first[0], 0);
        assert_int_equal(blocks.color_first[SAND_BLOCK_COLORS], blocks.count);
        for (int c = 0; c < SAND_BLOCK_COLORS; c++)
            for (int q = blocks.color_first[c]; q < blocks.color_first[c + 1]; q++)
                check_block(&p, &blocks, c, q, seen, owner);
        for (int i = 0; i < p.contact_count; i++) assert_int_equal(seen[i], 1);
        several += blocks.color_first[1] > 1; // several blocks that are swept at once
        far += blocks.color_first[SAND_BLOCK_COLORS] > blocks.color_first[SAND_BLOCK_COLORS - 1];
        free(seen);
        free(owner);
        sand_problem_free(&p);
    }
    print_message("several blocks of a color in %ld of 300, contacts that reach far in %ld\n", several, far);
    assert_true(several > 50 && far > 50); // both were met
    sand_blocks_free(&blocks);
}

// Grains of one size fill cells of five diameters, and not one cell or one cell each.
static void grains_fill_blocks(void **state) {
    (void)state;
    SandProblem p = frozen_scene("hourglass", 2000, 60, 20);
    SandBlocks blocks = {0};
    SandError error;
    assert_true(sand_blocks_build(&blocks, &p, 5, &error));
    double mean = (double)p.contact_count / blocks.count;
    print_message("%d contacts in %d blocks\n", p.contact_count, blocks.count);
    assert_true(mean > 20 && mean < 600);
    sand_blocks_free(&blocks);
    sand_problem_free(&p);
}

// --- solves -------------------------------------------------------------------------------------------------

static SandSolveDef block_sweeps(int iterations) { return method_def((Method){.solver = "block-sweeps"}, iterations, 0); }

static void solve_on(int threads, const SandProblem *p, const SandSolveDef *def, SandSolution *s) {
    SandError error;
    SandCpu *cpu = sand_cpu_create(threads, SAND_FLOAT, &error);
    if (!cpu || !sand_cpu_solve(cpu, p, def, s, &error)) fail_msg("%s", error.text);
    sand_cpu_free(cpu);
}

static void threads_change_no_bits(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 5};
    static const char *const scenes[] = {"hourglass", "clumps", "heavy"};
    for (int k = 0; k < 3; k++) {
        SandProblem p = frozen_scene(scenes[k], k == 0 ? 1500 : k == 1 ? 100 : 0, k == 0 ? 60 : 150, 20);
        SandSolveDef def = block_sweeps(15);
        SandSolution one = {0}, other = {0};
        solve_on(threads[0], &p, &def, &one);
        for (int t = 1; t < 4; t++) {
            solve_on(threads[t], &p, &def, &other);
            assert_memory_equal(one.impulse, other.impulse, (size_t)p.contact_count * sizeof *one.impulse);
            assert_memory_equal(one.velocity, other.velocity, (size_t)p.dynamic_count * sizeof *one.velocity);
            assert_memory_equal(one.spin, other.spin, (size_t)p.dynamic_count * sizeof *one.spin);
        }
        sand_solution_free(&one);
        sand_solution_free(&other);
        sand_problem_free(&p);
    }
}

// The conditions of the minimum, by dense algebra: nothing is left of the residual but what 2,000 iterations leave.
static void comes_to_the_minimum(void **state) {
    (void)state;
    static const char *const stored[] = {"spheres", "clumps"};
    for (int k = 0; k < 2; k++) {
        SandProblem frozen = frozen_stored(stored[k]), p = frozen_well_posed(&frozen, -1);
        SandSolveDef def = block_sweeps(2000);
        SandSolution s = {0};
        solve(&p, &def, &s);
        DenseMeasure m = dense_measure(&p, false, s.impulse);
        print_message("%s: residual %g m/s, objective %g J\n", stored[k], m.residual, m.objective);
        assert_true(m.residual < 1e-8); // rounding of p-apgd and apgd on these is as large
        assert_true(m.outside < 1e-12);
        sand_solution_free(&s);
        sand_problem_free(&p);
        sand_problem_free(&frozen);
    }
}

// Steps of few iterations before: what they left over long distances is there to be put right.
static void comes_closer_than_gradients(void **state) {
    (void)state;
    SandProblem p = frozen_scene("hourglass", 3000, 60, 20);
    double end = objective_after(&p, "p-apgd", 1500);
    double gradients = objective_after(&p, "p-spg-fb", 60) - end, sweeps = objective_after(&p, "block-sweeps", 60) - end;
    print_message("above the minimum after 60 iterations: p-spg-fb %g J, block-sweeps %g J\n", gradients, sweeps);
    assert_true(sweeps < 0.5 * gradients);
    sand_problem_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_a_color_share_no_body), cmocka_unit_test(grains_fill_blocks),
        cmocka_unit_test(threads_change_no_bits),          cmocka_unit_test(comes_to_the_minimum),
        cmocka_unit_test(comes_closer_than_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
