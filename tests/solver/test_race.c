// SPDX-License-Identifier: MIT
// Races over two devices: solvers that the backend supports run there, the rest on the CPU, all on the same problem from the
// same start.
#include "tests/lab/solver/frozen.h"
#include "tests/lab/lab.h"
#include "tests/lab/solving_backend.h"
#include "sim/study/race.h"

static SandRaceDef race_of(const char *solvers) {
    SandError error;
    SandRaceDef def = sand_default_race();
    assert_true(sand_race_parse(&def, solvers, &error));
    def.backend = &solving_backend;
    def.solve.iterations = 50;
    return def;
}

static void run(SandRace *race, const SandProblem *problem, const SandRaceDef *def) {
    SandError error;
    solving_count = 0;
    if (!sand_race_run(race, problem, def, &error)) fail_msg("%s", error.text);
    assert_int_equal(solving_devices, 0);
}

static void each_runs_where_it_can(void **state) {
    SandProblem problem = frozen_well_posed(*state, 0.3);
    SandRace race = {0};
    SandRaceDef def = race_of("p-spg-fb,ngs,ipm-soc,jacobi");
    run(&race, &problem, &def);
    static const char *const where[] = {"other", "cpu", "cpu", "other"};
    for (int i = 0; i < race.count; i++) assert_string_equal(race.entries[i].device, where[i]);
    assert_int_equal(solving_count, 2);
    assert_true(race.exact); // by ipm-soc
    for (int i = 0; i < race.count; i += 3) {
        const SandSolution *s = &race.entries[i].solution;
        assert_true(race.entries[i].ran);
        assert_int_equal(s->curve_count, 51);
        assert_true(s->metrics.objective >= race.reference - 1e-6 * fabs(race.reference));
    }
    // ngs does not support circular cones.
    assert_false(race.entries[1].ran);
    assert_non_null(strstr(race.entries[1].refused, "ngs"));
    sand_race_free(&race);
    sand_problem_free(&problem);
}

static void what_fails_there_is_kept_by_name(void **state) {
    SandProblem problem = frozen_well_posed(*state, 0.3);
    SandRace race = {0};
    SandRaceDef def = race_of("p-spg-fb,ipm-soc");
    solving_broken = true;
    run(&race, &problem, &def);
    solving_broken = false;
    assert_false(race.entries[0].ran);
    assert_string_equal(race.entries[0].refused, "the device broke");
    assert_true(race.entries[1].ran);
    sand_race_free(&race);
    sand_problem_free(&problem);
}

static void canceled_before_it_begins(void **state) {
    SandProblem problem = frozen_well_posed(*state, 0.3);
    SandRace race = {0};
    SandRaceDef def = race_of("p-spg-fb,jacobi");
    sand_race_cancel(&race);
    run(&race, &problem, &def);
    assert_int_equal(solving_count, 0);
    for (int i = 0; i < race.count; i++) assert_string_equal(race.entries[i].refused, "canceled");
    sand_race_free(&race);
    sand_problem_free(&problem);
}

// Where a build has no reference methods, sand_solver_find returns -1 for them.
static void no_method_can_do_nothing(void **state) {
    (void)state;
    assert_int_equal(sand_solver_find("no such method"), -1);
    for (int model = 0; model < SAND_FRICTION_COUNT; model++) assert_false(sand_solver_can(-1, (SandFriction)model));
}

static int freeze(void **state) {
    static SandProblem problem;
    problem = frozen_stored("spheres");
    *state = &problem;
    return 0;
}
static int thaw(void **state) {
    sand_problem_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_runs_where_it_can), cmocka_unit_test(what_fails_there_is_kept_by_name),
        cmocka_unit_test(canceled_before_it_begins), cmocka_unit_test(no_method_can_do_nothing)};
    return cmocka_run_group_tests(tests, freeze, thaw);
}
