// SPDX-License-Identifier: MIT
// The GPU against the CPU: the solvers on one problem, the stages of a step on one state, and whole runs. Skipped where
// there is no CUDA device. An argument selects tests, as cmocka_set_test_filter does.
#include "sim/solver/method_traits.h"
#include "tests/lab/cuda_lab.h"
#include "tests/lab/solver/joint_problem.h"
#include "tests/lab/lab.h"
#include "sim/core/array.h"
#include "sim/step/build_problem.inl"
#include "sim/core/clock.h"
#include "sim/step/checkpoint.h"
#include "sim/study/race.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static SandRandom lattice_random = {SAND_DEFAULT_SEED};
static double jitter(double most) { return most * sand_random_signed(&lattice_random); }

// Makes a problem of unit spheres of 1 kg on a cubic lattice of n layers of n x n, each touching its neighbors along the
// axes, the lowest on the floor. `clumsy` gives them full inertias and arms off the normal, as clumps have. With
// `high_degree` two large spheres touch all spheres of a face each: that of greatest x and the top.
enum { HIGH_DEGREE_BODIES = 2 };
static void make_lattice(SandProblem *p, int n, double mu, bool clumsy, bool high_degree) {
    SandError error;
    memset(p, 0, sizeof *p);
    int spheres = n * n * n;
    p->dynamic_count = spheres + (high_degree ? HIGH_DEGREE_BODIES : 0);
    p->body_count = p->dynamic_count + 1;
    p->radial = !clumsy;
    p->step = 0.01, p->recovery.speed = 1;
    assert_true(SAND_GROW(p->bodies, p->body_capacity, p->body_count, "bodies", &error));
    assert_true(SAND_GROW(p->contacts, p->contact_capacity, 3 * p->dynamic_count, "contacts", &error));
    assert_true(SAND_GROW(p->start, p->start_capacity, 3 * p->dynamic_count, "contacts", &error));
    for (int k = 0; k < p->body_count; k++) {
        bool moves = k < p->dynamic_count;
        double radius = k < spheres ? 1 : moves ? 10 : 0, inverse_mass = k < spheres ? 1 : moves ? 0.01 : 0;
        double j = moves ? 2.5 * inverse_mass / (radius * radius) : 0;
        p->bodies[k] =
            (SandProblemBody){.inverse_mass = inverse_mass, .inverse_inertia = {j, j, j, 0, 0, 0}, .radius = radius};
        if (moves) p->bodies[k].velocity = v3_make(jitter(0.1), jitter(0.1), -0.0981);
    }
    const SandVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int at_x = high_degree ? spheres : -1, at_top = high_degree ? spheres + 1 : -1;
    for (int k = 0; k < spheres; k++) {
        int x = k % n, y = k / n % n, z = k / n / n,
            next[3] = {x + 1 < n ? k + 1 : at_x, y + 1 < n ? k + n : -1, z + 1 < n ? k + n * n : at_top};
        for (int a = 0; a < 4; a++) {
            int other = a < 3 ? next[a] : z == 0 ? p->dynamic_count : -1;
            if (other < 0) continue;
            SandVec3 normal = a < 3 ? axes[a] : v3_make(0, 0, -1);
            double gap = jitter(1e-4);
            SandContact c = {.a = k, .b = other, .normal = normal, .gap = gap, .mu = mu};
            c.arm_a = v3_scale(1 + 0.5 * gap, normal);
            c.arm_b = v3_scale(other < p->dynamic_count ? -p->bodies[other].radius - 0.5 * gap : 0, normal);
            if (clumsy) c.arm_a = v3_add(c.arm_a, v3_make(jitter(0.1), jitter(0.1), jitter(0.1)));
            p->contacts[p->contact_count++] = c;
        }
    }
}

static SandDevice *device;
static const SandBackend *cuda;

static void finish(SandStepReport *report) {
    SandError error;
    if (!cuda->finish(device, report, &error)) fail_msg("%s", error.text);
}

static void solve_on_cuda(const SandProblem *problem, const SandSolveDef *def, SandSolution *solution) {
    SandError error;
    SandStepReport report;
    if (!cuda->upload_problem(device, problem, def, &error) || !cuda->solve(device, def, false, true, NULL, &error))
        fail_msg("%s", error.text);
    finish(&report);
    if (!cuda->read_solution(device, solution, &error)) fail_msg("%s", error.text);
}

// Solves on the device and on the CPU in double, and compares. The rounding errors of float grow along the iterations: after
// few of them the impulses still agree closely, after many the residuals are about as small. `close` is the greatest
// relative difference of the impulses, `alike` the factor between the residuals, which go up and down with spectral steps.
// The device solves twice, and must give the same bits.
static void compare_lattice(int n, double mu, bool clumsy, bool high_degree, int solver, SandFriction friction,
                            int iterations, double close, double alike) {
    SandProblem problem;
    make_lattice(&problem, n, mu, clumsy, high_degree);
    SandError error;
    SandCpu *cpu = sand_cpu_create(2, SAND_DOUBLE, &error);
    SandSolveDef def = sand_default_solve();
    sand_solve_choose(&def, solver);
    def.iterations = def.presolve = iterations, def.friction = friction; // rounding errors grow in both phases
    SandSolution on_cpu = {.want_metrics = true}, on_gpu = {0}, again = {0};
    solve_on_cuda(&problem, &def, &on_gpu);
    solve_on_cuda(&problem, &def, &again);
    if (!sand_cpu_solve(cpu, &problem, &def, &on_cpu, &error)) fail_msg("%s", error.text);

    double relative = relative_difference(&on_cpu, &on_gpu, problem.contact_count);
    printf("%-13s %-12s %s %7d contacts %3d iterations: CPU residual %.3e, GPU %.3e, impulses differ by %.1e, %.2f us an "
           "iteration\n",
           sand_solver_table[solver].name, sand_friction_table[friction].name, clumsy ? "full  " : "radial",
           problem.contact_count, iterations, on_cpu.metrics.residual, on_gpu.metrics.residual, relative,
           1e6 * on_gpu.seconds / (iterations ? iterations : 1));
    assert_int_equal(on_gpu.iterations, on_cpu.iterations);
    assert_true(relative <= close);
    assert_true(on_gpu.metrics.residual <= alike * on_cpu.metrics.residual + 1e-6 &&
                on_cpu.metrics.residual <= alike * on_gpu.metrics.residual + 1e-6);
    assert_memory_equal(on_gpu.impulse, again.impulse,
                        (size_t)problem.contact_count * sizeof *on_gpu.impulse); // the same bits
    sand_solution_free(&on_cpu), sand_solution_free(&on_gpu), sand_solution_free(&again);
    sand_problem_free(&problem);
    sand_cpu_free(cpu);
}

static void compare(int n, double mu, bool clumsy, int solver, SandFriction friction, int iterations, double close,
                    double alike) {
    compare_lattice(n, mu, clumsy, false, solver, friction, iterations, close, alike);
}

// Every solver that runs on CUDA, with every friction model it can do. Colors and blocks are chosen differently on the
// device, so that sweeps take another path to the same solution; hence their tolerance. Blocks are of other bodies there,
// and after five iterations from nothing residuals differ by up to 1.4; the tests below hold the result to that of the CPU.
static void test_few_iterations(void **state) {
    (void)state;
    for (int s = 0; s < sand_solver_count(); s++)
        for (int f = 0; f < SAND_FRICTION_COUNT; f++) {
            if (!sand_solver_table[s].on_cuda || !sand_solver_can(s, (SandFriction)f)) continue;
            bool colored = sand_param_find(&sand_solver_table[s], "order") >= 0;
            bool blocks = sand_solver_table[s].needs & SAND_NEEDS_BLOCKS, sweeps = colored || blocks;
            for (int clumsy = 0; clumsy < 2; clumsy++)
                compare(8, f == SAND_FRICTIONLESS ? 0 : 0.3, clumsy, s, (SandFriction)f, 5, sweeps ? 0.2 : 1e-5,
                        blocks ? 2 : 1.3);
        }
}

// Both machines minimize as far, to the rounding of float.
static void assert_same_objective(const SandProblem *p, const SandSolveDef *def) {
    SandError error = {""};
    SandSolution on_cpu = {.want_metrics = true}, on_gpu = {.want_metrics = true};
    SandCpu *cpu = sand_cpu_create(1, SAND_FLOAT, &error);
    assert_true(cpu && sand_cpu_solve(cpu, p, def, &on_cpu, &error));
    solve_on_cuda(p, def, &on_gpu);
    if (!(fabs(on_gpu.metrics.objective - on_cpu.metrics.objective) <= 1e-3 * fabs(on_cpu.metrics.objective)))
        fail_msg("%s, %s: objective %g on the GPU, %g on the CPU", sand_solver_table[def->solver].name,
                 sand_friction_table[def->friction].name, on_gpu.metrics.objective, on_cpu.metrics.objective);
    sand_cpu_free(cpu);
    sand_solution_free(&on_cpu);
    sand_solution_free(&on_gpu);
}

// Joints among the contacts: every method that does them, on a few random problems.
static void test_joints(void **state) {
    (void)state;
    int solved = 0;
    for (int solver = 0; solver < sand_solver_count(); solver++)
        for (int friction = 0; friction < SAND_FRICTION_COUNT; friction++) {
            const SandSolver *row = &sand_solver_table[solver];
            SandSolveDef def = sand_default_solve();
            SandError error = {""};
            sand_solve_choose(&def, solver);
            def.friction = (SandFriction)friction;
            def.iterations = 400;
            if (!row->on_cuda || row->friction & SAND_CONTACTS_ONLY || !sand_solve_check(&def, &error)) continue;
            SandProblem p = joint_problem(solved % 4);
            assert_same_objective(&p, &def);
            sand_problem_free(&p);
            solved++;
        }
    print_message("%d solves with joints\n", solved);
    assert_true(solved > 40);
}

// The same with rolling friction.
static void test_rolling(void **state) {
    (void)state;
    int solved = 0;
    for (int solver = 0; solver < sand_solver_count(); solver++)
        for (int law = 0; law < 2; law++) {
            const SandSolver *row = &sand_solver_table[solver];
            SandSolveDef def = sand_default_solve();
            if (!row->on_cuda || !(row->friction & SAND_ROLLS)) continue;
            sand_solve_choose(&def, solver);
            def.friction = law ? SAND_FRICTION_COULOMB : SAND_FRICTION_CONE;
            def.iterations = 2000; // after 400 spg-fb is still 0.7 % off with coulomb, on either machine
            SandProblem p = rolling_problem(solved % 4);
            assert_same_objective(&p, &def);
            sand_problem_free(&p);
            solved++;
        }
    print_message("%d solves with rolling friction\n", solved);
    assert_true(solved >= 14);
}

// Uncoordinated gauss-seidel has races by design, so that bits differ from run to run; its residual comes down as far as
// that of the colored one, and the velocities that all threads add to stay those that the impulses make.
static void test_uncoordinated(void **state) {
    (void)state;
    SandSolveDef def = sand_default_solve();
    sand_solve_choose(&def, sand_solver_find("gauss-seidel"));
    def.iterations = 60;
    for (int clumsy = 0; clumsy < 2; clumsy++) {
        SandProblem problem;
        make_lattice(&problem, 24, 0.3, clumsy, false);
        double residual[2];
        for (int k = 0; k < 2; k++) {
            SandSolution s = {0};
            SandError error;
            if (!sand_solve_set(&def, "order", k ? "uncoordinated" : "colored", &error)) fail_msg("%s", error.text);
            solve_on_cuda(&problem, &def, &s);
            residual[k] = s.metrics.residual;
            sand_solution_free(&s);
        }
        printf("gauss-seidel, %d contacts, 60 sweeps: colored %.3e, uncoordinated %.3e\n", problem.contact_count,
               residual[0], residual[1]);
        assert_true(residual[1] < 2 * residual[0]);
        sand_problem_free(&problem);
    }
}

// Two bodies with more than SAND_HIGH_DEGREE contacts, which are gathered in segments.
static void test_high_degree(void **state) {
    (void)state;
    const char *const solvers[] = {"p-spg-fb", "jacobi", "gauss-seidel"};
    for (int s = 0; s < 3; s++)
        for (int clumsy = 0; clumsy < 2; clumsy++)
            compare_lattice(12, 0.3, clumsy, true, sand_solver_find(solvers[s]), SAND_FRICTION_CONE, 5, s == 2 ? 0.2 : 1e-5,
                            1.3);
}

static void test_many_iterations(void **state) {
    (void)state;
    int spg = sand_solver_default, jacobi = sand_solver_find("jacobi");
    compare(12, 0.3, false, spg, SAND_FRICTION_CONE, 100, 0.2, 1.3);
    compare(12, 0, false, spg, SAND_FRICTIONLESS, 100, 0.2, 10); // near its end
    compare(12, 0.3, false, jacobi, SAND_FRICTION_CONE, 100, 1e-3, 1.3);
    compare(47, 0.3, false, spg, SAND_FRICTION_CONE, 20, 0.05, 1.3);
    compare(47, 0.3, false, jacobi, SAND_FRICTION_CONE, 20, 1e-3, 1.3);
}

// --- stages -------------------------------------------------------------------------------------------------

static bool is_cylinder(const SandWorld *w, int body) { return w->shapes[w->shape[body]].kind == SAND_CYLINDER; }

// Collision detection and packing on both devices, from one state. All contacts are the same bit for bit, except
// contacts with a cylinder body: hypot, sin and cos may differ in the last bit, which IEEE 754 leaves open. All other
// operations on the way are +, -, *, / and sqrt, which it specifies.
static void compare_stages(const char *scene, int bodies, int steps) {
    SandError error;
    SandSimulation *sim = lab_scene(scene, bodies, 2, SAND_FLOAT);
    for (int k = 0; k < steps; k++) lab_step(sim);
    SandCheckpoint kept = {0};
    assert_true(sand_simulation_save_state(sim, &kept, &error));
    assert_true(sand_simulation_build(sim, &error));
    const SandProblem *p = sand_simulation_problem(sim);
    const SandWorld *world = sand_simulation_world(sim);

    SandSolveDef def = sand_default_solve();
    def.iterations = 0;
    SandStepReport report;
    SandCollision found = {0};
    SandHostState host = {.world = *world, .warm_start = kept.warm_start};
    assert_true(cuda->upload(device, &host, &error));
    do {
        if (!cuda->collide(device, world, &error) || !cuda->warm_start(device, &error) || !cuda->build(device, &def, &error))
            fail_msg("%s", error.text);
        finish(&report);
    } while (report.again);
    if (!cuda->read_contacts(device, &found, &error)) fail_msg("%s", error.text);
    SandVec3 *start = calloc((size_t)report.contacts + 1, sizeof *start);
    assert_true(cuda->read_start(device, start, &error));
    assert_int_equal(report.contacts, p->contact_count);
    assert_int_equal(report.bodies, p->dynamic_count);
    const int *order = sand_simulation_order(sim);
    int different = 0;
    for (int k = 0; k < p->dynamic_count; k++) assert_int_equal(found.body[k], order[k]);
    for (int i = 0; i < p->contact_count; i++) {
        SandContact c = problem_contact(world, &found, &found.contacts[i]);
        assert_int_equal(c.a, p->contacts[i].a);
        assert_int_equal(c.b, p->contacts[i].b);
        bool differs = memcmp(&c, &p->contacts[i], sizeof c) != 0 || memcmp(&start[i], &p->start[i], sizeof *start) != 0;
        bool cylinder = is_cylinder(world, order[c.a]) || (c.b < p->dynamic_count && is_cylinder(world, order[c.b]));
        if (differs && !cylinder) fail_msg("%s: contact %d differs in a bit, and has no cylinder", scene, i);
        different += differs;
        assert_true(fabs(c.gap - p->contacts[i].gap) <= 1e-12 && v3_length(v3_sub(c.normal, p->contacts[i].normal)) <= 1e-9);
        assert_true(v3_length(v3_sub(start[i], p->start[i])) <= 1e-12 + 1e-9 * v3_length(p->start[i]));
    }

    // Then the operator: objective and residual of the initial impulses against double.
    SandSolution on_cpu = {.want_metrics = true};
    SandCpu *cpu = sand_cpu_create(2, SAND_DOUBLE, &error);
    assert_true(sand_cpu_solve(cpu, p, &def, &on_cpu, &error));
    if (!cuda->solve(device, &def, false, true, NULL, &error)) fail_msg("%s", error.text);
    finish(&report);
    printf("%-12s %6d bodies %7d contacts: %d differ in a bit; objective CPU %.9e, GPU %.9e; residual %.6e, %.6e\n", scene,
           report.bodies, report.contacts, different, on_cpu.metrics.objective, report.metrics.objective,
           on_cpu.metrics.residual, report.metrics.residual);
    assert_true(fabs(report.metrics.objective - on_cpu.metrics.objective) <= 1e-5 * fabs(on_cpu.metrics.objective) + 1e-9);
    assert_true(fabs(report.metrics.residual - on_cpu.metrics.residual) <= 1e-5 * on_cpu.metrics.residual + 1e-9);
    sand_cpu_free(cpu);
    sand_solution_free(&on_cpu);
    sand_checkpoint_free(&kept);
    sand_collision_free(&found);
    free(start);
    sand_simulation_free(sim);
}

static void test_stages(void **state) {
    (void)state;
    compare_stages("hourglass", 3000, 120);                            // the glass, several levels
    compare_stages("clumps", 150, 100);                                // clumps
    compare_stages("heavy", 0, 60);                                    // a cylinder on spheres
    compare_stages("heap", 400, 60);                                   // the ground
    compare_stages("drum", 0, 60);                                     // a wall that turns
    compare_stages(SAND_SOURCE_DIR "/tests/lab/stones.yaml", 200, 80); // convex bodies of every kind
}

// --- whole runs ---------------------------------------------------------------------------------------------

// The kinetic energy over time on both devices, which is how petra2009 compares its solvers: within 1.5 % of the peak. A
// second run on the device has the same bits.
static void compare_runs(const char *scene, int bodies, int steps) {
    SandError error;
    SandSimulation *on_cpu = lab_scene(scene, bodies, 2, SAND_FLOAT);
    SandSimulation *on_gpu = lab_scene(scene, bodies, 2, SAND_FLOAT), *again = lab_scene(scene, bodies, 2, SAND_FLOAT);
    if (!sand_simulation_move(on_gpu, cuda, &error) || !sand_simulation_move(again, cuda, &error))
        fail_msg("%s", error.text);
    double peak = 0, most = 0;
    for (int k = 0; k < steps; k++) {
        lab_step(on_cpu), lab_step(on_gpu), lab_step(again);
        double a = sand_simulation_energy(on_cpu).kinetic, b = sand_simulation_energy(on_gpu).kinetic;
        peak = fmax(peak, a), most = fmax(most, fabs(a - b));
        if (k == steps / 2) { // a move to the CPU and back changes nothing
            assert_true(sand_simulation_move(again, NULL, &error));
            assert_true(sand_simulation_move(again, cuda, &error));
        }
    }
    assert_true(sand_simulation_fetch(on_gpu, &error) && sand_simulation_fetch(again, &error));
    double host = sand_world_kinetic_energy(sand_simulation_world(on_gpu));
    printf("%-12s %d steps: kinetic energy differs by at most %.2f %% of its peak %.4g J\n", scene, steps, 100 * most / peak,
           peak);
    assert_true(fabs(host - sand_simulation_energy(on_gpu).kinetic) <= 1e-9 * peak);
    assert_true(most <= 0.015 * peak);
    assert_true(sand_world_hash(sand_simulation_world(on_gpu)) == sand_world_hash(sand_simulation_world(again)));
    sand_simulation_free(on_cpu), sand_simulation_free(on_gpu), sand_simulation_free(again);
}

static void test_runs(void **state) {
    (void)state;
    // A pile that forms: between float and double on the CPU it differs by 0.3 % of the peak. (An hourglass at 50 iterations
    // is no such measure: there the two precisions of the CPU are 7 % apart.)
    compare_runs("cylinder", 1000, 200);
}

// A budget by accuracy: the device alone knows how many contacts the tolerance of a step is for. One method keeps its own
// residual, the other is measured every ten iterations.
static void test_accuracy(void **state) {
    (void)state;
    const char *const methods[] = {"p-spg-fb", "jacobi"};
    SandError error;
    for (int k = 0; k < 2; k++) {
        SandSimulation *sim = lab_scene("heap", 200, 2, SAND_FLOAT);
        if (!sand_simulation_move(sim, cuda, &error)) fail_msg("%s", error.text);
        SandSolveDef solve = sand_default_solve();
        sand_solve_choose(&solve, sand_solver_find(methods[k]));
        solve.iterations = 5000;
        solve.accuracy = 99;
        assert_true(sand_simulation_set_solve(sim, &solve, NULL));
        for (int i = 0; i < 150; i++) {
            lab_step(sim);
            const SandCounters *c = sand_simulation_counters(sim);
            assert_true(c->status == SAND_SOLVED && c->iterations < solve.iterations);
            assert_true(c->metrics.residual_rms <= 0.01 * GRAVITY * sand_simulation_world(sim)->step * (1 + 1e-9));
        }
        assert_true(sand_simulation_counters(sim)->contacts > 100);
        sand_simulation_free(sim);
    }
}

// Contacts and impulses of a step on the device, fetched to the host, are those of the same step on the CPU.
static void test_fetched_contacts(void **state) {
    (void)state;
    SandError error;
    SandSimulation *on_cpu = lab_scene("clumps", 150, 2, SAND_FLOAT), *on_gpu = lab_scene("clumps", 150, 2, SAND_FLOAT);
    lab_run(on_cpu, 150), lab_run(on_gpu, 150);
    if (!sand_simulation_move(on_gpu, cuda, &error)) fail_msg("%s", error.text);
    lab_step(on_cpu), lab_step(on_gpu);
    assert_int_equal(sand_simulation_solved_contacts(on_gpu), 0);
    if (!sand_simulation_fetch_contacts(on_gpu, &error)) fail_msg("%s", error.text);
    const SandProblem *p = sand_simulation_problem(on_cpu), *q = sand_simulation_problem(on_gpu);
    int count = sand_simulation_solved_contacts(on_cpu);
    assert_true(count > 100);
    assert_int_equal(sand_simulation_solved_contacts(on_gpu), count);
    for (int i = 0; i < count; i++) {
        const SandContact *a = &p->contacts[i], *b = &q->contacts[i];
        assert_true(a->a == b->a && a->b == b->b && fabs(a->gap - b->gap) <= 1e-12);
        assert_true(v3_length(v3_sub(a->arm_a, b->arm_a)) <= 1e-9 && v3_length(v3_sub(a->arm_b, b->arm_b)) <= 1e-9);
        assert_true(v3_length(v3_sub(p->start[i], q->start[i])) <= 1e-9 + 1e-9 * v3_length(p->start[i]));
    }
    for (int k = 0; k < p->body_count; k++)
        assert_true(v3_length(v3_sub(p->bodies[k].velocity, q->bodies[k].velocity)) <= 1e-12);
    double relative = relative_difference(sand_simulation_solution(on_cpu), sand_simulation_solution(on_gpu), count);
    printf("clumps: %d contacts fetched from the device, impulses differ by %.1e\n", count, relative);
    assert_true(relative <= 0.2);
    sand_simulation_free(on_cpu), sand_simulation_free(on_gpu);
}

// --- races --------------------------------------------------------------------------------------------------

typedef struct Cancel {
    SandRace *race;
    double seconds; // after which it is canceled
} Cancel;

static void *cancel_later(void *argument) {
    const Cancel *cancel = argument;
    for (double end = sand_seconds() + cancel->seconds; sand_seconds() < end;)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    sand_race_cancel(cancel->race);
    return NULL;
}

// A race on the device has a point for every iteration; a long one ends soon after it is canceled, with the result so far.
static void test_race(void **state) {
    (void)state;
    SandProblem problem;
    SandError error;
    SandRace race = {0};
    SandRaceDef def = sand_default_race();
    make_lattice(&problem, 12, 0.3, false, false);
    def.backend = cuda, def.solve.iterations = 30;
    assert_true(sand_race_parse(&def, "p-spg-fb,jacobi", &error));
    if (!sand_race_run(&race, &problem, &def, &error)) fail_msg("%s", error.text);
    for (int i = 0; i < 2; i++) {
        const SandSolution *s = &race.entries[i].solution;
        assert_string_equal(race.entries[i].device, "cuda");
        assert_int_equal(s->curve_count, 31);
        assert_true(s->metrics.residual < s->curve[0].residual && s->seconds > 0);
    }
    sand_race_free(&race);

    // Later and later, until the solve has begun before it is canceled: a machine under load may take its time.
    def.solve.iterations = 10000000;
    def.count = 1;
    for (Cancel cancel = {&race, 0.1}; !race.entries[0].ran; cancel.seconds *= 2) {
        pthread_t thread;
        assert_true(cancel.seconds < 100);
        sand_race_free(&race);
        assert_int_equal(pthread_create(&thread, NULL, cancel_later, &cancel), 0);
        if (!sand_race_run(&race, &problem, &def, &error)) fail_msg("%s", error.text);
        pthread_join(thread, NULL);
    }
    const SandSolution *s = &race.entries[0].solution;
    printf("a canceled race ended after %d iterations, residual %.2e\n", s->iterations, s->metrics.residual);
    assert_true(s->iterations < def.solve.iterations && isfinite(s->metrics.residual));
    assert_int_equal(s->curve_count, s->iterations + 1);
    sand_race_free(&race), sand_problem_free(&problem);
}

int main(int count, char **arguments) {
    SandError why;
    cuda = cuda_or_skip();
    const SandDeviceDef def = {0};
    device = cuda->create(&def, &why);
    if (!device) return printf("%s\n", why.text), 1;
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_few_iterations),
                                       cmocka_unit_test(test_high_degree),
                                       cmocka_unit_test(test_joints),
                                       cmocka_unit_test(test_rolling),
                                       cmocka_unit_test(test_uncoordinated),
                                       cmocka_unit_test(test_many_iterations),
                                       cmocka_unit_test(test_stages),
                                       cmocka_unit_test(test_runs),
                                       cmocka_unit_test(test_accuracy),
                                       cmocka_unit_test(test_fetched_contacts),
                                       cmocka_unit_test(test_race)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cuda->destroy(device);
    return failed;
}
