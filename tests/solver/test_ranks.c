// SPDX-License-Identifier: MIT
// Several ranks solve one problem together: impulses, velocities and figures have the bits of one process, for every method
// that runs on ranks, in every kernel. The ranks are threads here (tests/lab/ranks/local_ranks.h); tests/mpi has processes.
#include "sim/solver/cpu_kernel.h"
#include "sim/solver/method_traits.h"
#include "sim/core/array.h"
#include "tests/lab/solver/cut_problem.h"
#include "tests/lab/solver/joint_problem.h"
#include "tests/lab/ranks/local_ranks.h"
#include "tests/lab/solver/solver_lab.h"

enum { MOST_RANKS = 8, COUNTS = 5, ITERATIONS = 24 };
static const int rank_counts[COUNTS] = {1, 2, 3, 4, MOST_RANKS};

// The problems of solver_lab.h that are quick to make.
static int make_some(void **state) {
    (void)state;
    problems[CUP] = frozen_stored("spheres");
    problems[CLUMPS] = frozen_stored("clumps");
    problems[PLATE] = frozen_text(plate_scene, 10, 50);
    return 0;
}

// --- solves -------------------------------------------------------------------------------------------------

typedef struct Job {
    const SandProblem *problem;
    const SandSolveDef *def;
    SandPrecision precision;
    int threads;                              // of each rank
    SandSolution solution[MOST_RANKS], whole; // of each; what they found together
    SandError error[MOST_RANKS];
    bool solved[MOST_RANKS];
} Job;

// Solves its part, and puts what it owns where all ranks put theirs.
static void solve_as_rank(const SandRanks *ranks, void *argument) {
    Job *job = argument;
    int me = ranks->rank;
    SandError *error = &job->error[me];
    SandSolution *own = &job->solution[me];
    CutProblem subproblem;
    cut_problem(&subproblem, job->problem, ranks);
    SandCpu *cpu = sand_cpu_create(job->threads, job->precision, error);
    job->solved[me] = sand_cpu_solve_subproblem(cpu, &subproblem.problem, &subproblem.partition, job->def, own, error);
    for (int k = 0; job->solved[me] && job->whole.velocity && k < subproblem.problem.dynamic_count; k++) {
        if (subproblem.owner[k] != me) continue;
        job->whole.velocity[subproblem.body[k]] = own->velocity[k];
        job->whole.spin[subproblem.body[k]] = own->spin[k];
    }
    for (int i = 0; job->solved[me] && job->whole.velocity && i < subproblem.problem.contact_count; i++) {
        if (subproblem.owner[subproblem.problem.contacts[i].a] != me) continue;
        job->whole.impulse[subproblem.contact[i]] = own->impulse[i];
        if (job->problem->rolls)
            job->whole.impulse[job->problem->contact_count + subproblem.contact[i]] =
                own->impulse[subproblem.problem.contact_count + i];
    }
    sand_cpu_free(cpu);
    cut_problem_free(&subproblem);
}

static void solve_alone(const SandProblem *p, const SandSolveDef *def, SandPrecision precision, SandSolution *solution) {
    solution->want_metrics = solution->want_curve = true;
    solve_in(precision, p, def, solution);
}

static void assert_same_motion(const SandProblem *p, const SandSolution *one, const SandSolution *whole, const char *what) {
    size_t bodies = (size_t)p->dynamic_count * sizeof(SandVec3),
           impulses = (size_t)sand_problem_vectors(p) * sizeof(SandVec3);
    bool same = !memcmp(one->velocity, whole->velocity, bodies) && !memcmp(one->spin, whole->spin, bodies) &&
                (!impulses || !memcmp(one->impulse, whole->impulse, impulses));
    if (!same) fail_msg("%s differs from one process", what);
}

static void assert_same(const SandSolution *one, const SandSolution *other, const char *what) {
    bool same = one->status == other->status && one->iterations == other->iterations &&
                !memcmp(&one->metrics, &other->metrics, sizeof one->metrics);
    for (int k = 0; k < one->curve_count; k++) same = same && one->curve[k].residual == other->curve[k].residual;
    if (!same) fail_msg("%s differs from one process", what);
}

static void free_solutions(Job *job) {
    for (int r = 0; r < MOST_RANKS; r++) sand_solution_free(&job->solution[r]);
    sand_solution_free(&job->whole);
}

static void compare_with_one(const char *name, const SandProblem *p, const SandSolveDef *def, SandPrecision precision) {
    SandSolution one = {0};
    solve_alone(p, def, precision, &one);
    for (int k = 0; k < COUNTS; k++) {
        char what[160];
        Job job = {.problem = p, .def = def, .precision = precision, .threads = k == 1 ? 3 : 1};
        SandError why;
        assert_true(sand_solution_reserve(&job.whole, p, def, &why));
        for (int r = 0; r < rank_counts[k]; r++) job.solution[r].want_metrics = job.solution[r].want_curve = true;
        local_ranks_run(rank_counts[k], solve_as_rank, &job, NULL);
        for (int r = 0; r < rank_counts[k]; r++) {
            snprintf(what, sizeof what, "%s of %s, %s, %s, rank %d of %d", sand_solver_table[def->solver].name, name,
                     sand_friction_table[def->friction].name, precision == SAND_DOUBLE ? "double" : "float", r,
                     rank_counts[k]);
            if (!job.solved[r]) fail_msg("%s: %s", what, job.error[r].text);
            assert_same(&one, &job.solution[r], what);
        }
        assert_same_motion(p, &one, &job.whole, what);
        free_solutions(&job);
    }
    sand_solution_free(&one);
}

// Every method of the table that runs on ranks, with each of these friction models that it can do.
static void compare_methods(const char *name, const SandProblem *p, const SandFriction *models, int model_count) {
    int compared = 0;
    for (int solver = 0; solver < sand_solver_count(); solver++)
        for (int k = 0; k < model_count; k++) {
            SandSolveDef def = sand_default_solve();
            SandError why;
            sand_solve_choose(&def, solver);
            def.friction = models[k];
            def.iterations = ITERATIONS;
            bool knows = !(p->joint_count && sand_solver_table[solver].friction & SAND_CONTACTS_ONLY) &&
                         (!p->rolls || sand_solve_check_rolling(&def, &why));
            if (!knows || !sand_solve_check(&def, &why) || !sand_solve_check_ranks(&def, &why)) continue;
            compare_with_one(name, p, &def, SAND_FLOAT);
            compare_with_one(name, p, &def, SAND_DOUBLE);
            compared++;
        }
    print_message("%s: %d contacts, %d methods and models\n", name, p->contact_count, compared);
    assert_true(compared > 0);
}

static const SandFriction all_models[] = {SAND_FRICTIONLESS,   SAND_FRICTION_BOX,      SAND_FRICTION_CONE,
                                          SAND_FRICTION_PRISM, SAND_FRICTION_CYLINDER, SAND_FRICTION_COULOMB};
enum { ALL_MODELS = sizeof all_models / sizeof *all_models };

// Spheres: the radial kernels with one row, with three in the world, and with three in the basis of the contact.
static void spheres_give_the_bits_of_one_process(void **state) {
    (void)state;
    compare_methods("cup", &problems[CUP], all_models, ALL_MODELS);
}

// The same with general arms.
static void clumps_give_the_bits_of_one_process(void **state) {
    (void)state;
    compare_methods("clumps", &problems[CLUMPS], all_models, ALL_MODELS);
}

// A body with more contacts than a segment holds: its contacts lie in chunks of all ranks, and one rank gathers them.
static void a_high_degree_body_gives_the_bits_of_one_process(void **state) {
    (void)state;
    const SandFriction models[] = {SAND_FRICTION_CONE, SAND_FRICTION_CYLINDER};
    compare_methods("plate", &problems[PLATE], models, 2);
}

// A problem several times side by side, with bodies for several chunks. Copies share every other body, so that no cut
// between chunks is without contacts.
enum { COPIES = 12 };
static int copied_body(const SandProblem *p, int k, int copy) {
    return k < p->dynamic_count ? p->dynamic_count * copy + k : p->dynamic_count * (COPIES - 1) + k;
}

static SandProblem repeated(const SandProblem *p) {
    SandProblem q = {
        .radial = p->radial, .bounces = p->bounces, .rolls = p->rolls, .step = p->step, .recovery = p->recovery};
    int contacts = p->contact_count;
    SandError error;
    q.dynamic_count = COPIES * p->dynamic_count;
    q.body_count = q.dynamic_count + p->body_count - p->dynamic_count;
    q.contact_count = COPIES * contacts;
    assert_true(SAND_GROW(q.bodies, q.body_capacity, q.body_count, "bodies", &error) &&
                SAND_GROW(q.contacts, q.contact_capacity, q.contact_count, "contacts", &error) &&
                SAND_GROW(q.start, q.start_capacity, sand_problem_vectors(&q), "contacts", &error) &&
                sand_problem_reserve_joints(&q, COPIES * p->joint_count, &error));
    for (int copy = 0; copy < COPIES; copy++) {
        for (int k = 0; k < p->body_count; k++) q.bodies[copied_body(p, k, copy)] = p->bodies[k];
        for (int k = 0; k < p->joint_count; k++) q.joints[copy * p->joint_count + k] = p->joints[k];
        for (int i = 0; i < contacts; i++) {
            SandContact *c = &q.contacts[copy * contacts + i];
            *c = p->contacts[i];
            c->a = copied_body(p, c->a, copy);
            c->b = copied_body(p, c->b, c->b < p->dynamic_count && copy + 1 < COPIES && i % 2 ? copy + 1 : copy);
            q.start[copy * contacts + i] = p->start[i];
            if (q.rolls) q.start[q.contact_count + copy * contacts + i] = p->start[contacts + i];
            if (p->joint_count) q.joint[copy * contacts + i] = p->joint[i] < 0 ? -1 : p->joint[i] + copy * p->joint_count;
        }
    }
    return q;
}

static void joints_give_the_bits_of_one_process(void **state) {
    (void)state;
    SandProblem joint = joint_problem(3), roll = rolling_problem(4), joints = repeated(&joint), rolling = repeated(&roll);
    compare_methods("joints", &joints, all_models, ALL_MODELS);
    compare_methods("rolling", &rolling, all_models, ALL_MODELS);
    SandProblem *all[] = {&joint, &roll, &joints, &rolling};
    for (int k = 0; k < 4; k++) sand_problem_free(all[k]);
}

// --- corners ------------------------------------------------------------------------------------------------

// Fewer contacts than ranks: some have none; and a problem without any.
static void ranks_without_contacts_do_no_harm(void **state) {
    (void)state;
    SandProblem p = frozen_copy(&problems[CUP]);
    SandSolveDef def = sand_default_solve();
    def.iterations = ITERATIONS;
    for (int contacts = 0; contacts < 40; contacts = 3 * contacts + 1) {
        p.contact_count = contacts;
        compare_with_one("a few contacts", &p, &def, SAND_DOUBLE);
    }
    p.contact_count = problems[CUP].contact_count;
    sand_problem_free(&p);
}

// A method that cannot be cut says so, with its name; every rank says the same.
static void what_needs_one_process_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *solver, *order, *reason;
    } refused[] = {{"c-spg-fb", NULL, "c-spg-fb needs the whole problem"},
                   {"ipm-soc", NULL, "ipm-soc needs N as one matrix"},
                   {"gauss-seidel", "symmetric", "gauss-seidel runs on several ranks only with order=colored"}};
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        SandSolveDef def = method_def((Method){.solver = refused[k].solver, .order = refused[k].order}, 10, 0);
        Job job = {.problem = &problems[CUP], .def = &def, .threads = 1};
        local_ranks_run(2, solve_as_rank, &job, NULL);
        for (int r = 0; r < 2; r++) {
            assert_false(job.solved[r]);
            assert_non_null(strstr(job.error[r].text, refused[k].reason));
        }
        free_solutions(&job);
    }
}

// Ranks that are about to do different things would wait for each other forever: they say so instead.
static void solve_differently(const SandRanks *ranks, void *argument) {
    Job *job = argument;
    SandSolveDef def = *job->def;
    Job own = *job;
    def.iterations += ranks->rank;
    own.def = &def;
    solve_as_rank(ranks, &own);
    job->solved[ranks->rank] = own.solved[ranks->rank];
    job->error[ranks->rank] = own.error[ranks->rank];
    sand_solution_free(&own.solution[ranks->rank]);
}

static void ranks_that_differ_do_not_wait(void **state) {
    (void)state;
    SandSolveDef def = sand_default_solve();
    Job job = {.problem = &problems[CUP], .def = &def, .threads = 1};
    local_ranks_run(3, solve_differently, &job, NULL);
    for (int r = 0; r < 3; r++) {
        assert_false(job.solved[r]);
        assert_string_equal(job.error[r].text, "the ranks do not have the same problem");
    }
}

// --- traffic ------------------------------------------------------------------------------------------------

// One exchange for each product, one allgather for each reduction: an iteration of jacobi adds one exchange and no
// reduction.
static void an_iteration_exchanges_once(void **state) {
    (void)state;
    LocalTraffic few[4], many[4];
    SandSolveDef def = method_def((Method){.solver = "jacobi"}, 3, 0);
    Job job = {.problem = &problems[PLATE], .def = &def, .threads = 1};
    local_ranks_run(4, solve_as_rank, &job, few);
    def.iterations = 7; // below the first look for growth
    local_ranks_run(4, solve_as_rank, &job, many);
    for (int r = 0; r < 4; r++) {
        assert_int_equal(many[r].exchanges - few[r].exchanges, 4);
        assert_int_equal(many[r].allgathers, few[r].allgathers);
        assert_true(many[r].messages > 0);
        assert_int_equal(many[r].messages % many[r].exchanges, 0); // one for each neighbor
        assert_int_equal((many[r].bytes - few[r].bytes) % (4 * 6 * (long)sizeof(float)), 0);
        assert_true(many[r].bytes > few[r].bytes);
    }
    free_solutions(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spheres_give_the_bits_of_one_process),
        cmocka_unit_test(clumps_give_the_bits_of_one_process),
        cmocka_unit_test(a_high_degree_body_gives_the_bits_of_one_process),
        cmocka_unit_test(joints_give_the_bits_of_one_process),
        cmocka_unit_test(ranks_without_contacts_do_no_harm),
        cmocka_unit_test(what_needs_one_process_is_refused),
        cmocka_unit_test(ranks_that_differ_do_not_wait),
        cmocka_unit_test(an_iteration_exchanges_once),
    };
    return cmocka_run_group_tests(tests, make_some, free_problems);
}
