// SPDX-License-Identifier: MIT
// The projections on the admissible sets, those by which tests judge a solve and those of the solvers, against pairs that
// are made and not computed: a point p of the set and a q of its normal cone there. p is then the nearest point to p + q,
// whatever the distance. Pairs lie in all places, and as near to edges, tips and the surface as numbers can.
#include "tests/lab/solver/admissible.h"
#include "sandglass/problem.h"
#include "sim/core/random.h"
#include "sim/solver/cpu_kernel.h"
#include "sim/solver/kernel/operator.inl"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka.h requires the headers above.
#include <cmocka.h>

enum { PAIRS = 20000, CONTACTS = 200, ROUNDS = 40 };
static const double pi = 3.14159265358979323846;

// In the contact frame, normal first.
typedef struct Pair {
    SandVec3 p, q;
} Pair;

// A share that is 0, about 1, or so small that sums lose all of its digits but a few, or all.
static double share(SandRandom *random) {
    double u = sand_random_unit(random);
    return u < 0.2 ? 0 : u < 0.4 ? sand_random_unit(random) : pow(10, -18 * sand_random_unit(random));
}
static double size(SandRandom *random) { return pow(10, 3 * sand_random_signed(random)); }
static int below(SandRandom *random, int n) { return (int)(sand_random_bits(random) % (uint64_t)n); }

// Corner k of the section of size 1, and the outward normal of the side from it to the next; the square begins at (1, 1).
static SandVec3 corner_of(const AdmissibleSet *set, int facets, int k) {
    bool square = set->model->section == SAND_SQUARE;
    double angle = (square ? 2 * k + 1 : 2 * k) * pi / facets, reach = square ? sqrt(2) : 1;
    return v3_make(0, reach * cos(angle), reach * sin(angle));
}
static SandVec3 normal_of(const AdmissibleSet *set, int facets, int k) {
    double angle = (set->model->section == SAND_SQUARE ? 2 * k + 2 : 2 * k + 1) * pi / facets;
    return v3_make(0, cos(angle), sin(angle));
}
static int facets_of(const AdmissibleSet *set) {
    return set->model->section == SAND_DISC ? 0 : set->model->section == SAND_SQUARE ? 4 : set->facets;
}

// On a side of the section of size r or at its corner, and the sum of the normals there. `slope`: of the sides of a cone,
// whose normals lean backwards; 0: the section itself.
static Pair on_polygon(const AdmissibleSet *set, SandRandom *random, double r, double slope) {
    int facets = facets_of(set), k = below(random, facets), last = (k + facets - 1) % facets;
    double way = share(random), a = share(random), b = share(random);
    double apothem = set->model->section == SAND_SQUARE ? 1 : cos(pi / facets);
    SandVec3 lean = v3_make(-slope * apothem, 0, 0), here = corner_of(set, facets, k), next = corner_of(set, facets, k + 1);
    Pair pair = {.p = v3_scale(r, v3_add(v3_scale(1 - way, here), v3_scale(way, next))),
                 .q = v3_scale(a, v3_add(normal_of(set, facets, k), lean))};
    if (way == 0) pair.q = v3_madd(pair.q, b, v3_add(normal_of(set, facets, last), lean));
    return pair;
}

static Pair on_disc(SandRandom *random, double r, double slope) {
    double angle = 2 * pi * sand_random_unit(random);
    SandVec3 way = v3_make(0, cos(angle), sin(angle));
    return (Pair){v3_scale(r, way), v3_scale(share(random), v3_add(way, v3_make(-slope, 0, 0)))};
}

static Pair on_section(const AdmissibleSet *set, SandRandom *random, double r, double slope) {
    return set->model->section == SAND_DISC ? on_disc(random, r, slope) : on_polygon(set, random, r, slope);
}

// At the tip every sum of normals is one.
static Pair at_tip(const AdmissibleSet *set, SandRandom *random) {
    Pair pair = {.p = {0, 0, 0}, .q = {-share(random), 0, 0}};
    for (int k = 0; k < 3; k++) pair.q = v3_add(pair.q, on_section(set, random, 0, set->mu).q);
    return pair;
}

static Pair in_cone(const AdmissibleSet *set, SandRandom *random) {
    double height = share(random);
    if (height == 0) return at_tip(set, random);
    Pair pair = on_section(set, random, set->mu * height, set->mu);
    double within = below(random, 4) ? 0 : share(random); // from the surface inwards, where there is no q
    if (within > 0) pair = (Pair){v3_scale(1 - within, pair.p), {0, 0, 0}};
    pair.p.x = height;
    return pair;
}

static Pair in_bounds(const AdmissibleSet *set, SandRandom *random) {
    Pair pair = on_section(set, random, set->bound, 0);
    double within = below(random, 4) ? 0 : share(random);
    if (within > 0) pair = (Pair){v3_scale(1 - within, pair.p), {0, 0, 0}};
    double height = share(random);
    pair.p.x = height;
    pair.q.x = height > 0 ? 0 : -share(random);
    return pair;
}

static Pair random_pair(const AdmissibleSet *set, bool cone, SandRandom *random) {
    Pair pair;
    if (set->mu == 0) { // the half line along the normal
        pair = (Pair){{share(random), 0, 0}, {0, sand_random_signed(random), sand_random_signed(random)}};
        if (pair.p.x == 0) pair.q.x = -share(random);
    } else {
        pair = cone ? in_cone(set, random) : in_bounds(set, random);
    }
    if (cone || set->mu == 0) { // of a size whose squares have digits in float too
        double length = v3_length(pair.p) + v3_length(pair.q), scale = length > 0 ? size(random) / length : 0;
        return (Pair){v3_scale(scale, pair.p), v3_scale(scale, pair.q)};
    }
    return (Pair){pair.p, v3_scale(below(random, 2) ? size(random) : 1, pair.q)};
}

static SandVec3 out_of_frame(SandVec3 n, SandVec3 x) {
    SandVec3 t1, t2;
    admissible_tangents(n, &t1, &t2);
    return v3_madd(v3_madd(v3_scale(x.x, n), x.y, t1), x.z, t2);
}

static SandVec3 random_unit(SandRandom *random) {
    double z = sand_random_signed(random), angle = 2 * pi * sand_random_unit(random), r = sqrt(1 - z * z);
    return v3_make(r * cos(angle), r * sin(angle), z);
}

static AdmissibleSet random_set(int friction, int facets, SandRandom *random) {
    double mu = friction == SAND_FRICTIONLESS || below(random, 20) == 0 ? 0 : pow(10, 1.5 * sand_random_signed(random));
    return (AdmissibleSet){&sand_friction_table[friction], mu, below(random, 20) ? size(random) : 0, facets};
}

// How far a projection is off, of the size of what it projects.
static double off_by(Pair pair, SandVec3 n, SandVec3 got) {
    SandVec3 want = out_of_frame(n, pair.p), x = v3_add(want, out_of_frame(n, pair.q));
    return v3_length(v3_sub(got, want)) / (v3_length(want) + v3_length(x) + 1e-300);
}

static const int facets_tried[] = {4, 10, 32};
enum { FACETS_TRIED = sizeof facets_tried / sizeof *facets_tried };

static void checks_project_on_the_nearest_point(void **state) {
    (void)state;
    SandRandom random = sand_random(11);
    for (int friction = 0; friction < SAND_FRICTION_COUNT; friction++)
        for (int k = 0; k < FACETS_TRIED; k++)
            for (int cone = 0; cone < 2; cone++) {
                double worst = 0, outside = 0;
                for (int i = 0; i < PAIRS; i++) {
                    AdmissibleSet set = random_set(friction, facets_tried[k], &random);
                    SandVec3 n = random_unit(&random);
                    Pair pair = random_pair(&set, cone, &random);
                    SandVec3 x = v3_add(out_of_frame(n, pair.p), out_of_frame(n, pair.q));
                    worst = fmax(worst, off_by(pair, n, admissible_nearest(&set, cone, n, x)));
                    double local[3] = {pair.p.x, pair.p.y, pair.p.z};
                    outside = fmax(outside, admissible_outside(&set, cone, local) / (v3_length(pair.p) + 1e-300));
                }
                print_message("%s, %d facets, %s: off by %.1e, points of the set outside by %.1e\n",
                              sand_friction_table[friction].name, facets_tried[k], cone ? "cone" : "set", worst, outside);
                assert_true(worst <= 16 * DBL_EPSILON && outside <= 16 * DBL_EPSILON);
            }
}

// A ball that touches in many places, of which only normals and friction count.
static SandProblem touching(SandProblemBody bodies[2], SandContact *contacts, SandVec3 *start, SandRandom *random) {
    bodies[0] = (SandProblemBody){.inverse_mass = 1, .inverse_inertia = {1, 1, 1}, .velocity = {0, 0, -1}};
    bodies[1] = (SandProblemBody){.velocity = {0, 0, 0}};
    for (int i = 0; i < CONTACTS; i++) {
        contacts[i] = (SandContact){.b = 1, .normal = random_unit(random)};
        start[i] = v3_make(0, 0, 0);
    }
    return (SandProblem){.body_count = 2,
                         .dynamic_count = 1,
                         .contact_count = CONTACTS,
                         .step = 0.01,
                         .bodies = bodies,
                         .contacts = contacts,
                         .start = start};
}

// The largest error of the projections of the contacts of one problem.
static double solver_off_by(SandCpu *cpu, const SandSolveDef *def, SandRandom *random) {
    SandProblemBody bodies[2];
    SandContact contacts[CONTACTS];
    SandVec3 start[CONTACTS], x[CONTACTS], y[CONTACTS];
    AdmissibleSet sets[CONTACTS];
    Pair pairs[CONTACTS];
    double bounds[CONTACTS], worst = 0;
    SandProblem p = touching(bodies, contacts, start, random);
    const SandSolverKernel *kernel;
    SandSolverWorkspace *workspace;
    SandError error;
    for (int i = 0; i < CONTACTS; i++) {
        sets[i] = random_set(def->friction, def->facets, random);
        contacts[i].mu = sets[i].mu;
        if (sets[i].mu == 0) sets[i].bound = 0;
        bounds[i] = sets[i].bound;
    }
    if (!sand_cpu_load(cpu, &p, def, &kernel, &workspace, &error)) fail_msg("%s", error.text);
    kernel->write_bounds(workspace, bounds);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CONTACTS; i++) {
            pairs[i] = random_pair(&sets[i], sets[i].model->set != SAND_SET_CYLINDER, random);
            x[i] = v3_add(out_of_frame(contacts[i].normal, pairs[i].p), out_of_frame(contacts[i].normal, pairs[i].q));
        }
        kernel->project(workspace, x, y);
        for (int i = 0; i < CONTACTS; i++) worst = fmax(worst, off_by(pairs[i], contacts[i].normal, y[i]));
    }
    return worst;
}

static void solvers_project(SandPrecision precision, double tolerance) {
    SandError error;
    SandRandom random = sand_random(12);
    SandCpu *cpu = sand_cpu_create(1, precision, &error);
    if (!cpu) fail_msg("%s", error.text);
    for (int friction = 0; friction < SAND_FRICTION_COUNT; friction++)
        for (int k = 0; k < FACETS_TRIED; k++) {
            SandSolveDef def = sand_default_solve();
            def.friction = (SandFriction)friction;
            def.facets = facets_tried[k];
            double worst = solver_off_by(cpu, &def, &random);
            print_message("%s, %d facets: a solver is off by %.1e\n", sand_friction_table[friction].name, def.facets, worst);
            assert_true(worst <= tolerance);
        }
    sand_cpu_free(cpu);
}

static void solvers_project_on_the_nearest_point_in_double(void **state) {
    (void)state;
    solvers_project(SAND_DOUBLE, 16 * DBL_EPSILON);
}

static void solvers_project_on_the_nearest_point_in_float(void **state) {
    (void)state;
    solvers_project(SAND_FLOAT, 16 * FLT_EPSILON);
}

// Where the square of a distance across the normal counts `ratio` times, the rest across it is that much shorter.
static void a_metric_stretches_the_circular_cone(void **state) {
    (void)state;
    SandRandom random = sand_random(13);
    double worst = 0;
    for (int i = 0; i < PAIRS; i++) {
        AdmissibleSet set = random_set(SAND_FRICTION_CONE, 4, &random);
        double ratio = pow(10, sand_random_signed(&random));
        SandVec3 n = random_unit(&random);
        Pair pair = random_pair(&set, true, &random);
        pair.q.y /= ratio;
        pair.q.z /= ratio;
        SandVec3 x = v3_add(out_of_frame(n, pair.p), out_of_frame(n, pair.q));
        Vec got = cone_project_by(vec_make(x.x, x.y, x.z), 0, vec_make(n.x, n.y, n.z), set.mu, ratio,
                                  cone_factor_by(set.mu, ratio));
        worst = fmax(worst, off_by(pair, n, v3_make(got.x, got.y, got.z)));
    }
    print_message("in a metric off by %.1e\n", worst);
    assert_true(worst <= 16 * 10 * DBL_EPSILON);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_project_on_the_nearest_point),
        cmocka_unit_test(solvers_project_on_the_nearest_point_in_double),
        cmocka_unit_test(solvers_project_on_the_nearest_point_in_float),
        cmocka_unit_test(a_metric_stretches_the_circular_cone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
