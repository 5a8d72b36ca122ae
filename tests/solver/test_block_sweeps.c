// SPDX-License-Identifier: MIT
// block-sweeps: blocks of one color share no body, whatever the problem; any number of threads computes the same bits; the
// result is the minimum, by plain algebra; and on a deep pile it is nearer than gradients are after as many products.
#include "sim/solver/blocks.h"
#include "sim/core/array.h"
#include "sim/core/random.h"
#include "sim/core/thread_pool.h"
#include "sim/solver/method_traits.h"
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

// Cuts the contacts of a problem as they are, by so many threads.
static void cut(SandBlocks *blocks, int threads, const SandProblem *p, double diameters) {
    SandError error;
    int(*body)[2] = calloc((size_t)p->contact_count + 1, sizeof *body), *a = (int *)body, *b = a + p->contact_count;
    for (int i = 0; i < p->contact_count; i++) {
        a[i] = p->contacts[i].a;
        b[i] = p->contacts[i].b;
    }
    SandThreadPool *pool = sand_thread_pool_create(threads, &error);
    assert_non_null(pool);
    SandBlockContacts contacts = {p->contact_count, a, b};
    assert_true(sand_blocks_build(blocks, pool, p, contacts, diameters, &error));
    sand_thread_pool_free(pool);
    free(body);
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

// The contacts of one tile: of this block, and no moving body twice. Returns how many they are.
static int check_tile(const SandProblem *p, const SandBlocks *blocks, int q, const int *tile) {
    int count = 0, met[2 * SAND_BLOCK_LANES], bodies = 0;
    while (count < SAND_BLOCK_LANES && tile[count] >= 0) {
        const SandContact *c = &p->contacts[tile[count++]];
        bool listed = false;
        for (int e = blocks->first[q]; e < blocks->first[q + 1]; e++) listed |= blocks->list[e] == tile[count - 1];
        assert_true(listed);
        met[bodies++] = c->a;
        if (c->b < p->dynamic_count) met[bodies++] = c->b;
    }
    for (int l = count; l < SAND_BLOCK_LANES; l++) assert_int_equal(tile[l], -1);
    for (int j = 0; j < bodies; j++)
        for (int k = 0; k < j; k++) assert_int_not_equal(met[j], met[k]);
    return count;
}

// Tiles have every contact of their block, and so each once: as many as the block has, and none twice.
static void check_tiles(const SandProblem *p, const SandBlocks *blocks) {
    int *seen = calloc((size_t)p->contact_count + 1, sizeof *seen);
    for (int q = 0; q < blocks->count; q++) {
        int count = 0;
        for (int t = blocks->tile_first[q]; t < blocks->tile_first[q + 1]; t++) {
            const int *tile = blocks->tile + SAND_BLOCK_LANES * t;
            int lanes = check_tile(p, blocks, q, tile);
            for (int l = 0; l < lanes; l++) assert_int_equal(seen[tile[l]]++, 0);
            assert_true(lanes > 0);
            count += lanes;
        }
        assert_int_equal(count, blocks->first[q + 1] - blocks->first[q]);
    }
    free(seen);
}

static void blocks_of_a_color_share_no_body(void **state) {
    (void)state;
    SandBlocks blocks = {0};
    long several = 0, far = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        SandProblem p = random_cloud(seed);
        int *seen = calloc((size_t)p.contact_count + 1, sizeof *seen);
        int(*owner)[2] = calloc((size_t)p.dynamic_count, sizeof *owner);
        double diameters = 1 + 4 * (double)(seed % 5);
        cut(&blocks, 1 + (int)(seed % 3), &p, diameters);
        assert_int_equal(blocks.color_first[0], 0);
        assert_int_equal(blocks.color_first[SAND_BLOCK_COLORS], blocks.count);
        for (int c = 0; c < SAND_BLOCK_COLORS; c++)
            for (int q = blocks.color_first[c]; q < blocks.color_first[c + 1]; q++)
                check_block(&p, &blocks, c, q, seen, owner);
        for (int i = 0; i < p.contact_count; i++) assert_int_equal(seen[i], 1);
        check_tiles(&p, &blocks);
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

static bool are_neighbors(const SandBlockGrid *grid, int cell, int other) {
    bool found = false;
    for (int n = 0; n < SAND_BLOCK_NEIGHBORS; n++) found |= sand_block_neighbor(grid, cell, n) == other;
    return found;
}

// Cells that share a body, except that of what reaches far, are neighbors, and each is one of the other: so a GPU lets a
// block go on as soon as its neighbors are done.
static void cells_that_share_a_body_are_neighbors(void **state) {
    (void)state;
    SandBlocks blocks = {0};
    int pairs = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        SandProblem p = random_cloud(seed);
        cut(&blocks, 1, &p, 1 + 4 * (double)(seed % 5));
        int cells = sand_block_cells(&blocks.grid);
        for (int i = 0; i < p.contact_count; i++)
            for (int j = 0; j < i; j++) {
                const SandContact *c = &p.contacts[i], *d = &p.contacts[j];
                bool share = c->a == d->a || c->a == d->b || (c->b < p.dynamic_count && (c->b == d->a || c->b == d->b));
                int cell = blocks.cell[i], other = blocks.cell[j];
                if (!share || cell == other || cell == cells || other == cells) continue;
                assert_true(are_neighbors(&blocks.grid, cell, other) && are_neighbors(&blocks.grid, other, cell));
                pairs++;
            }
        for (int cell = 0; cell < cells; cell++) {
            int along[3];
            sand_block_coordinates(&blocks.grid, cell, along);
            assert_int_equal(sand_block_place(&blocks.grid, along), cell);
        }
        sand_problem_free(&p);
    }
    print_message("%d pairs of contacts\n", pairs);
    assert_true(pairs > 1000);
    sand_blocks_free(&blocks);
}

// Grains of one size fill cells of five diameters, and not one cell or one cell each.
static void grains_fill_blocks(void **state) {
    (void)state;
    SandProblem p = frozen_scene("hourglass", 2000, 60, 20);
    SandBlocks blocks = {0};
    cut(&blocks, 1, &p, 5);
    double mean = (double)p.contact_count / blocks.count;
    print_message("%d contacts in %d blocks\n", p.contact_count, blocks.count);
    assert_true(mean > 20 && mean < 600);
    sand_blocks_free(&blocks);
    sand_problem_free(&p);
}

// Every thread cuts a part, and the blocks are those of one thread.
static void threads_cut_the_same_blocks(void **state) {
    (void)state;
    SandProblem p = frozen_scene("hourglass", 3000, 60, 20);
    SandBlocks one = {0}, other = {0};
    cut(&one, 1, &p, 5);
    for (int threads = 2; threads <= 5; threads++) {
        cut(&other, threads, &p, 5);
        size_t tiles = (size_t)one.tile_first[one.count];
        assert_int_equal(other.count, one.count);
        assert_memory_equal(other.color_first, one.color_first, sizeof one.color_first);
        assert_memory_equal(other.first, one.first, (size_t)(one.count + 1) * sizeof *one.first);
        assert_memory_equal(other.list, one.list, (size_t)p.contact_count * sizeof *one.list);
        assert_memory_equal(other.tile_first, one.tile_first, (size_t)(one.count + 1) * sizeof *one.tile_first);
        assert_memory_equal(other.tile, one.tile, SAND_BLOCK_LANES * tiles * sizeof *one.tile);
    }
    sand_blocks_free(&one);
    sand_blocks_free(&other);
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

// What a solve that only uses up its budget says of its impulses, which it measures briefly, is what plain algebra says, and
// its velocities are those that the impulses produce.
static void says_what_its_impulses_are(void **state) {
    (void)state;
    static const int budgets[] = {1, 7, 49, 53, 120}; // before, at and after the pass that computes velocities anew
    SandProblem p = frozen_stored("spheres");
    SandVec3 *velocity = calloc((size_t)p.body_count, sizeof *velocity), *spin = calloc((size_t)p.body_count, sizeof *spin);
    for (int k = 0; k < 5; k++) {
        SandSolveDef def = block_sweeps(budgets[k]);
        SandSolution s = {0};
        solve(&p, &def, &s);
        DenseMeasure m = dense_measure(&p, false, s.impulse);
        print_message("%d: residual %g m/s, by algebra %g; objective %g J, %g\n", budgets[k], s.metrics.residual, m.residual,
                      s.metrics.objective, m.objective);
        assert_int_equal(s.status, SAND_BUDGET);
        dense_velocities(&p, s.impulse, velocity, spin);
        for (int b = 0; b < p.dynamic_count; b++) {
            assert_true(v3_length(v3_sub(s.velocity[b], velocity[b])) < 1e-9); // as well
            assert_true(v3_length(v3_sub(s.spin[b], spin[b])) < 1e-9 * (1 + v3_length(spin[b])));
        }
        assert_true(fabs(s.metrics.residual - m.residual) < 1e-9 * (1 + m.residual)); // rounding of double
        assert_true(fabs(s.metrics.objective - m.objective) < 1e-9 * (1 + fabs(m.objective)));
        sand_solution_free(&s);
    }
    free(velocity);
    free(spin);
    sand_problem_free(&p);
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

// --- the coarse correction ----------------------------------------------------------------------------------

enum { PILE_SIDE = 47, PILE = PILE_SIDE * PILE_SIDE * PILE_SIDE };
_Static_assert((int)PILE >= (int)SAND_CORRECTED_BODIES, "the pile is corrected");

static void pile_touch(SandProblem *p, int a, int b, SandVec3 normal) {
    p->contacts[p->contact_count++] = (SandContact){
        .a = a, .b = b, .normal = normal, .arm_a = v3_scale(0.5, normal), .arm_b = v3_scale(-0.5, normal), .mu = 0.3};
}

// A cube of spheres in touch, 1 kg and 1 m each, on the ground, that has fallen for a step. It starts with the load of its
// columns, of which those on one side have half and those on the other one and a half.
static SandProblem cube_of_spheres(void) {
    SandProblem p = {.body_count = PILE + 1, .dynamic_count = PILE, .radial = true, .step = 0.01, .recovery.speed = 1};
    SandError error;
    assert_true(SAND_GROW(p.bodies, p.body_capacity, p.body_count, "bodies", &error) &&
                SAND_GROW(p.contacts, p.contact_capacity, 3 * PILE, "contacts", &error));
    const int next[3] = {1, PILE_SIDE, PILE_SIDE * PILE_SIDE};
    for (int k = 0; k < PILE; k++) {
        const int at[3] = {k % PILE_SIDE, k / PILE_SIDE % PILE_SIDE, k / PILE_SIDE / PILE_SIDE};
        p.bodies[k] = (SandProblemBody){.inverse_mass = 1,
                                        .inverse_inertia = {10, 10, 10},
                                        .velocity = {0, 0, -0.0981},
                                        .radius = 0.5,
                                        .position = {at[0], at[1], at[2]}};
        if (at[2] == 0) pile_touch(&p, k, PILE, v3_make(0, 0, -1));
        for (int axis = 0; axis < 3; axis++)
            if (at[axis] + 1 < PILE_SIDE) pile_touch(&p, k, k + next[axis], v3_make(axis == 0, axis == 1, axis == 2));
    }
    assert_true(SAND_GROW(p.start, p.start_capacity, p.contact_count, "contacts", &error));
    for (int i = 0; i < p.contact_count; i++) {
        const SandContact *c = &p.contacts[i];
        int k = c->b < PILE ? c->b : c->a, above = PILE_SIDE - k / next[2]; // spheres that the contact carries
        double share = 0.5 + (double)(k % PILE_SIDE) / (PILE_SIDE - 1);
        p.start[i] = v3_scale(share * 0.0981 * above * fabs(c->normal.z), c->normal);
    }
    return p;
}

// The objective after 20 iterations, by its definition in double, and whether the solve says the same.
static double corrected_objective(const SandProblem *p, double first, SandSolution *s) {
    SandSolveDef def = block_sweeps(20);
    def.params[sand_param_find(&sand_solver_table[def.solver], "first")] = first;
    solve(p, &def, s);
    SandVec3 *v = calloc((size_t)p->body_count, sizeof *v), *w = calloc((size_t)p->body_count, sizeof *w);
    double energy = 0, work = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        SandVec3 f = s->impulse[i], torque = v3_cross(c->arm_a, f);
        work += v3_dot(f, v3_sub(p->bodies[c->b].velocity, p->bodies[c->a].velocity));
        v[c->a] = v3_sub(v[c->a], f);
        v[c->b] = v3_add(v[c->b], f);
        w[c->a] = v3_sub(w[c->a], torque);
        if (c->b < p->dynamic_count) w[c->b] = v3_add(w[c->b], v3_cross(c->arm_b, f));
    }
    for (int k = 0; k < p->dynamic_count; k++)
        energy += 0.5 * p->bodies[k].inverse_mass * v3_dot(v[k], v[k]) +
                  0.5 * p->bodies[k].inverse_inertia[0] * v3_dot(w[k], w[k]);
    free(v);
    free(w);
    return work + energy;
}

// Where loads are wrong over long distances alone, corrections put right what sweeps leave; and what comes back is
// admissible and has the objective that is said.
static void corrections_reach_far(void **state) {
    (void)state;
    SandProblem p = cube_of_spheres();
    SandSolution plain = {0}, corrected = {0};
    double without = corrected_objective(&p, 0, &plain), with = corrected_objective(&p, 4, &corrected);
    double least = -0.5 * PILE * 0.0981 * 0.0981; // every sphere is stopped
    print_message("above the least objective after 20 iterations: %g J without corrections, %g J with them\n",
                  without - least, with - least);
    assert_true(with > least - 1e-9 && with - least < 0.02 * (without - least));
    assert_true(fabs(plain.metrics.objective - without) < 1e-9 * fabs(without));
    assert_true(fabs(corrected.metrics.objective - with) < 1e-9 * fabs(with));
    for (int i = 0; i < p.contact_count; i++) {
        SandVec3 f = corrected.impulse[i], n = p.contacts[i].normal;
        double push = v3_dot(f, n);
        assert_true(v3_length(v3_madd(f, -push, n)) <= 0.3 * push + 1e-9);
    }
    sand_solution_free(&plain);
    sand_solution_free(&corrected);
    sand_problem_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_that_share_a_body_are_neighbors),
        cmocka_unit_test(blocks_of_a_color_share_no_body),
        cmocka_unit_test(grains_fill_blocks),
        cmocka_unit_test(threads_change_no_bits),
        cmocka_unit_test(comes_to_the_minimum),
        cmocka_unit_test(comes_closer_than_gradients),
        cmocka_unit_test(threads_cut_the_same_blocks),
        cmocka_unit_test(says_what_its_impulses_are),
        cmocka_unit_test(corrections_reach_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
