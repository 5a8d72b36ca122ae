// SPDX-License-Identifier: MIT
// Several ranks solve one problem together on the GPU: impulses, velocities and figures have the bits of one rank, for every
// method of the kernels that are one rank of several; and one rank agrees with the ordinary kernel, to rounding. The ranks
// are threads (tests/lab/ranks/local_ranks.h), each with a device of its own, that share the GPU. Skipped where there is no
// CUDA device. An argument selects tests, as cmocka_set_test_filter does.
#include "tests/lab/cuda_lab.h"
#include "tests/lab/solver/cut_problem.h"
#include "tests/lab/ranks/local_ranks.h"
#include "tests/lab/solver/solver_lab.h"
#include "sim/solver/cpu_kernel.h"

enum { MOST_RANKS = 4 };

static const SandBackend *cuda;
static SandDevice *devices[MOST_RANKS];

static const char *const known_methods[] = {"p-spg-fb", "spg-fb", "jacobi", "apgd", "p-apgd", "admm", "admm-spectral"};
enum { KNOWN_METHODS = sizeof known_methods / sizeof *known_methods };

static SandSolveDef def_of(const char *solver, int iterations) {
    return method_def((Method){.solver = solver}, iterations, 0);
}

// --- solves -------------------------------------------------------------------------------------------------

typedef struct Job {
    const SandProblem *problem;
    const SandSolveDef *def;
    SandSolution solution[MOST_RANKS], whole; // of each; what they found together
    SandError error[MOST_RANKS];
    bool solved[MOST_RANKS];
} Job;

// Puts what a rank owns where all ranks put theirs.
static void give_own(Job *job, const CutProblem *subproblem, int me) {
    const SandSolution *own = &job->solution[me];
    for (int k = 0; k < subproblem->problem.dynamic_count; k++) {
        if (subproblem->owner[k] != me) continue;
        job->whole.velocity[subproblem->body[k]] = own->velocity[k];
        job->whole.spin[subproblem->body[k]] = own->spin[k];
    }
    for (int i = 0; i < subproblem->problem.contact_count; i++)
        if (subproblem->owner[subproblem->problem.contacts[i].a] == me)
            job->whole.impulse[subproblem->contact[i]] = own->impulse[i];
}

static void solve_as_rank(const SandRanks *ranks, void *argument) {
    Job *job = argument;
    int me = ranks->rank;
    CutProblem subproblem;
    cut_problem(&subproblem, job->problem, ranks);
    job->solution[me].want_metrics = true;
    job->solved[me] = sand_cuda_solve_subproblem(devices[me], &subproblem.problem, &subproblem.partition, ranks->count,
                                                 job->def, &job->solution[me], &job->error[me]);
    if (job->solved[me]) give_own(job, &subproblem, me);
    cut_problem_free(&subproblem);
}

static Job solve_on_ranks(const SandProblem *p, const SandSolveDef *def, int ranks) {
    Job job = {.problem = p, .def = def};
    SandError error = {""};
    if (!sand_solution_reserve(&job.whole, p, def, &error)) fail_msg("%s", error.text);
    local_ranks_run(ranks, solve_as_rank, &job, NULL);
    for (int r = 0; r < ranks; r++)
        if (!job.solved[r]) fail_msg("rank %d of %d: %s", r, ranks, job.error[r].text);
    return job;
}

static void free_job(Job *job) {
    for (int r = 0; r < MOST_RANKS; r++) sand_solution_free(&job->solution[r]);
    sand_solution_free(&job->whole);
}

// --- comparison ---------------------------------------------------------------------------------------------

static bool same_motion(const SandProblem *p, const SandSolution *a, const SandSolution *b) {
    size_t bodies = (size_t)p->dynamic_count * sizeof(SandVec3), contacts = (size_t)p->contact_count * sizeof(SandVec3);
    return !memcmp(a->velocity, b->velocity, bodies) && !memcmp(a->spin, b->spin, bodies) &&
           !memcmp(a->impulse, b->impulse, contacts);
}

static bool same_figures(const SandSolution *a, const SandSolution *b) {
    return a->status == b->status && a->iterations == b->iterations && !memcmp(&a->metrics, &b->metrics, sizeof a->metrics);
}

static double iteration_us(const SandSolution *s) { return 1e6 * s->seconds / (s->iterations ? s->iterations : 1); }

// The bits of one rank on 2, 3 and 4 of them; returns what one found, to be freed.
static Job compare_ranks(const char *name, const SandProblem *p, const SandSolveDef *def) {
    const char *solver = sand_solver_table[def->solver].name;
    Job one = solve_on_ranks(p, def, 1);
    for (int ranks = 2; ranks <= MOST_RANKS; ranks++) {
        Job several = solve_on_ranks(p, def, ranks);
        if (!same_motion(p, &one.whole, &several.whole))
            fail_msg("%s, %s: the motion of %d ranks differs from that of one by %g", name, solver, ranks,
                     relative_difference(&one.whole, &several.whole, p->contact_count));
        for (int r = 0; r < ranks; r++)
            if (!same_figures(&one.solution[0], &several.solution[r]))
                fail_msg("%s, %s: the figures of rank %d of %d differ: residual %.9g after %d iterations, %.9g after %d",
                         name, solver, r, ranks, one.solution[0].metrics.residual, one.solution[0].iterations,
                         several.solution[r].metrics.residual, several.solution[r].iterations);
        printf("%-10s %-13s %6d contacts on %d ranks: %.1f us an iteration, %.1f on one\n", name, solver, p->contact_count,
               ranks, iteration_us(&several.solution[0]), iteration_us(&one.solution[0]));
        free_job(&several);
    }
    return one;
}

// What the ordinary kernel finds.
static void solve_alone(const SandProblem *p, const SandSolveDef *def, SandSolution *solution) {
    SandError error = {""};
    SandStepReport report;
    if (!cuda->upload_problem(devices[0], p, def, &error) || !cuda->solve(devices[0], def, false, true, NULL, &error) ||
        !cuda->finish(devices[0], &report, &error) || !cuda->read_solution(devices[0], solution, &error))
        fail_msg("%s", error.text);
}

// Rounding errors grow along the iterations: so after few of them.
static void compare_with_ordinary(const char *name, const SandProblem *p, const char *solver, double close) {
    SandSolveDef def = def_of(solver, 5);
    SandSolution ordinary = {.want_metrics = true};
    Job one = solve_on_ranks(p, &def, 1);
    solve_alone(p, &def, &ordinary);
    double difference = relative_difference(&ordinary, &one.whole, p->contact_count);
    double residual = ordinary.metrics.residual, here = one.solution[0].metrics.residual;
    printf("%-10s %-13s %6d contacts: residual %.6e, as a rank %.6e, impulses differ by %.1e\n", name, solver,
           p->contact_count, residual, here, difference);
    assert_int_equal(one.solution[0].iterations, ordinary.iterations);
    assert_true(difference <= close);
    assert_true(here <= 1.1 * residual + 1e-9 && residual <= 1.1 * here + 1e-9); // it goes up and down with spectral steps
    free_job(&one);
    sand_solution_free(&ordinary);
}

static void compare_methods(const char *name, const SandProblem *p, int iterations) {
    for (int k = 0; k < KNOWN_METHODS; k++) {
        SandSolveDef def = def_of(known_methods[k], iterations);
        Job one = compare_ranks(name, p, &def);
        free_job(&one);
        compare_with_ordinary(name, p, known_methods[k], 1e-4);
    }
}

// --- tests --------------------------------------------------------------------------------------------------

// Fewer chunks than ranks: some ranks have nothing.
static void few_bodies_give_the_bits_of_one_rank(void **state) {
    (void)state;
    SandProblem p = frozen_stored("spheres");
    compare_methods("spheres", &p, 24);
    sand_problem_free(&p);
}

static void an_hourglass_gives_the_bits_of_one_rank(void **state) {
    (void)state;
    SandProblem p = frozen_scene("hourglass", 6000, 40, 50);
    compare_methods("hourglass", &p, 40);
    sand_problem_free(&p);
}

static void clumps_give_the_bits_of_one_rank(void **state) {
    (void)state;
    SandProblem p = frozen_stored("clumps");
    compare_methods("clumps", &p, 24);
    sand_problem_free(&p);
}

// A body whose contacts lie in chunks of all ranks, and are summed in segments.
static void a_high_degree_body_gives_the_bits_of_one_rank(void **state) {
    (void)state;
    SandProblem p = frozen_text(plate_scene, 10, 50);
    compare_methods("plate", &p, 24);
    sand_problem_free(&p);
}

// Bodies for more than one kind of kernel: from 100,000 on a thread block has more threads.
static void many_bodies_give_the_bits_of_one_rank(void **state) {
    (void)state;
    for (int bodies = 30000; bodies <= 101000; bodies += 71000) {
        SandProblem p = frozen_scene("hourglass", bodies, 12, 20);
        SandSolveDef def = def_of("p-spg-fb", 50);
        Job one = compare_ranks("hourglass", &p, &def);
        free_job(&one);
        compare_with_ordinary("hourglass", &p, "p-spg-fb", 1e-4);
        sand_problem_free(&p);
    }
}

// A solve that ends by its tolerance ends at the same iteration everywhere, and so does one that runs out of time, which
// rank 0 decides.
static void ranks_end_together(void **state) {
    (void)state;
    SandProblem p = frozen_scene("hourglass", 3000, 40, 50);
    SandSolveDef def = def_of("p-spg-fb", 200);
    Job start = solve_on_ranks(&p, &def, 1);
    def.tolerance = 20 * start.solution[0].metrics.residual;
    free_job(&start);
    Job within = compare_ranks("tolerance", &p, &def);
    assert_int_equal(within.solution[0].status, SAND_SOLVED);
    assert_true(within.solution[0].iterations < def.iterations);
    free_job(&within);
    def.tolerance = 0;
    def.budget_ms = 1e-6;
    Job late = compare_ranks("budget", &p, &def);
    assert_int_equal(late.solution[0].iterations, 1);
    free_job(&late);
    sand_problem_free(&p);
}

// What these kernels cannot do is refused with a sentence, by every rank.
static void the_rest_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *solver;
        SandFriction friction;
        const char *reason;
    } refused[] = {{"gauss-seidel", SAND_FRICTION_CONE, "gauss-seidel does not run on several ranks of CUDA; p-spg-fb,"},
                   {"c-spg-fb", SAND_FRICTION_CONE, "c-spg-fb needs the whole problem"},
                   {"p-spg-fb", SAND_FRICTION_BOX, "the friction model box does not run on several ranks of CUDA"}};
    SandProblem p = frozen_stored("spheres");
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        SandSolveDef def = sand_default_solve();
        sand_solve_choose(&def, sand_solver_find(refused[k].solver));
        def.friction = refused[k].friction;
        Job job = {.problem = &p, .def = &def};
        local_ranks_run(2, solve_as_rank, &job, NULL);
        for (int r = 0; r < 2; r++) {
            assert_false(job.solved[r]);
            if (!strstr(job.error[r].text, refused[k].reason)) fail_msg("rank %d says: %s", r, job.error[r].text);
        }
        free_job(&job);
    }
    sand_problem_free(&p);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_is_refused),
        cmocka_unit_test(few_bodies_give_the_bits_of_one_rank),
        cmocka_unit_test(clumps_give_the_bits_of_one_rank),
        cmocka_unit_test(a_high_degree_body_gives_the_bits_of_one_rank),
        cmocka_unit_test(an_hourglass_gives_the_bits_of_one_rank),
        cmocka_unit_test(ranks_end_together),
        cmocka_unit_test(many_bodies_give_the_bits_of_one_rank),
    };
    // Kernels of ranks wait for each other: none may queue behind another.
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
    cuda = cuda_or_skip();
    for (int r = 0; r < MOST_RANKS; r++) {
        SandError error;
        SandDeviceDef def = {0};
        devices[r] = cuda->create(&def, &error);
        if (!devices[r]) return printf("%s\n", error.text), 1;
    }
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int r = 0; r < MOST_RANKS; r++) cuda->destroy(devices[r]);
    return failed;
}
