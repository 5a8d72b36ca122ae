// Races over two devices: solvers that the backend supports run there, the rest on the CPU, all on the same problem from the
// same start. The backend of this test solves on the CPU in float and counts its solves.
#include "tests/lab/frozen.h"
#include "tests/lab/lab.h"
#include "tests/lab/mock_backend.h"
#include "sim/step/race.h"

struct SandDevice {
    SandCpu *cpu;
    const SandProblem *problem;
    SandSolution solution;
};

static int backends, solves;
static bool broken; // makes every solve of the backend fail

static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    (void)def;
    SandDevice *m = calloc(1, sizeof *m);
    m->cpu = sand_cpu_create(1, SAND_FLOAT, error);
    backends++;
    return m;
}
static void destroy(SandDevice *m) {
    backends--;
    sand_solution_free(&m->solution);
    sand_cpu_free(m->cpu);
    free(m);
}
static bool upload_problem(SandDevice *m, const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    (void)def;
    (void)error;
    m->problem = problem;
    return true;
}
static bool solve(SandDevice *m, const SandSolveDef *def, bool curve, bool metrics, const int *stop, SandError *error) {
    if (broken) return sand_fail(error, "the device broke");
    solves++;
    m->solution.want_curve = curve;
    m->solution.want_metrics = metrics;
    m->solution.stop = stop;
    return sand_cpu_solve(m->cpu, m->problem, def, &m->solution, error);
}
// Moves the solution out: a device solves one problem after the other.
static bool read_solution(SandDevice *m, SandSolution *to, SandError *error) {
    (void)error;
    sand_solution_free(to);
    *to = m->solution;
    m->solution = (SandSolution){0};
    return true;
}

static const SandBackend other = {.name = "other",
                                  .create = create,
                                  .destroy = destroy,
                                  .upload_problem = upload_problem,
                                  .solve = solve,
                                  .finish = mock_finish,
                                  .read_solution = read_solution};

static SandRaceDef race_of(const char *solvers) {
    SandError error;
    SandRaceDef def = sand_default_race();
    assert_true(sand_race_parse(&def, solvers, &error));
    def.backend = &other;
    def.solve.iterations = 50;
    return def;
}

static void run(SandRace *race, const SandProblem *problem, const SandRaceDef *def) {
    SandError error;
    solves = 0;
    if (!sand_race_run(race, problem, def, &error)) fail_msg("%s", error.text);
    assert_int_equal(backends, 0);
}

static void each_runs_where_it_can(void **state) {
    SandProblem problem = frozen_well_posed(*state, 0.3);
    SandRace race = {0};
    SandRaceDef def = race_of("p-spg-fb,ngs,ipm-soc,jacobi");
    run(&race, &problem, &def);
    static const char *const where[] = {"other", "cpu", "cpu", "other"};
    for (int i = 0; i < race.count; i++) assert_string_equal(race.entries[i].device, where[i]);
    assert_int_equal(solves, 2);
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
    broken = true;
    run(&race, &problem, &def);
    broken = false;
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
    assert_int_equal(solves, 0);
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
