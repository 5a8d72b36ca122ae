// SPDX-License-Identifier: MIT
// What a caller changes between two steps, and what it may do to a simulation that it must not: every wrong number is a
// sentence or a body that is taken out, and nothing crashes, hangs or moves.
#include "sim/core/thread_pool.h"
#include "tests/lab/lab.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BODIES = 3 };

// Three spheres on a plane, after a step.
static SandSimulation *row_of_spheres(int threads) {
    SandWorld world = lab_world(0.3);
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    for (int i = 0; i < BODIES; i++) lab_body(&world, 0, 0.1, v3_make(0.25 * i, 0, 0.15));
    SandSimulationDef def = sand_default_simulation();
    def.threads = threads;
    SandSimulation *sim = lab_simulation(&world, &def);
    lab_step(sim);
    return sim;
}

static SandWorld *change(SandSimulation *sim) {
    SandWorld *w = sand_simulation_change_bodies(sim, NULL);
    assert_non_null(w);
    return w;
}

// The step fails with these words, and has moved nothing.
static void expect_refusal(SandSimulation *sim, const char *words) {
    const SandWorld *w = sand_simulation_world(sim);
    SandError error = {""};
    uint64_t step = w->step_index;
    SandVec3 last = w->position[BODIES - 1];
    assert_false(sand_simulation_step(sim, &error));
    if (!strstr(error.text, words)) fail_msg("got \"%s\", wanted \"%s\"", error.text, words);
    assert_true(w->step_index == step && last.z == w->position[BODIES - 1].z);
    assert_int_equal(sand_simulation_counters(sim)->lost_total, 0);
}

// Overwrites a number with wrong ones; once it is put back steps go on, as if nothing had been.
static void refuse_number(SandSimulation *sim, double *number, const char *words) {
    static const double wrong[] = {NAN, INFINITY, -INFINITY};
    double right = *number;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        change(sim);
        *number = wrong[k];
        expect_refusal(sim, words);
        expect_refusal(sim, words); // not only the first time
        *number = right;
    }
    lab_step(sim);
}

static void numbers_of_bodies_must_be_finite(void **state) {
    (void)state;
    SandSimulation *sim = row_of_spheres(1);
    SandWorld *w = change(sim);
    refuse_number(sim, &w->position[0].x, "body 0: its position");
    refuse_number(sim, &w->velocity[1].y, "body 1: its velocity");
    refuse_number(sim, &w->spin[2].z, "body 2: its spin");
    refuse_number(sim, &w->rotation[1].w, "body 1: its rotation");
    refuse_number(sim, &w->mass[1], "body 1: mass");
    refuse_number(sim, &w->inertia[1].y, "body 1: mass");
    refuse_number(sim, &w->scale[2], "body 2: size");
    refuse_number(sim, &w->gravity.z, "gravity must be finite");
    refuse_number(sim, &w->step, "step is");
    refuse_number(sim, &w->time, "the time");
    refuse_number(sim, &w->envelope, "envelope is");
    refuse_number(sim, &w->upper.x, "upper corner");
    refuse_number(sim, &w->boundaries[0].pose.position.x, "boundary plane-0");
    refuse_number(sim, &w->pairs[0].mu, "the friction of stone and stone");
    sand_simulation_free(sim);
}

// Numbers that are finite and no less wrong.
static void absurd_numbers_are_refused(void **state) {
    (void)state;
    SandSimulation *sim = row_of_spheres(1);
    SandWorld *w = change(sim);
    const struct {
        double *number, wrong;
        const char *words;
    } rows[] = {{&w->mass[1], -1, "body 1: mass -1 kg"},
                {&w->mass[1], 0, "body 1: mass 0 kg"},
                {&w->scale[0], -1, "body 0: size -1"},
                {&w->scale[0], 1e300, "body 0: its radius"},
                {&w->scale[0], 1e-300, "body 0: its radius"},
                {&w->velocity[1].x, 1e300, "body 1: its velocity (1e+300, 0"},
                {&w->velocity[1].x, -1e30, "body 1: its velocity (-1e+30, 0"},
                {&w->spin[1].x, 1e300, "body 1: with its spin (1e+300, 0"},
                {&w->step, -1, "step is -1 s, and must be from 1e-09 to 10"},
                {&w->step, 0, "step is 0 s"},
                {&w->step, 1e300, "step is 1e+300 s"},
                {&w->step, 1e-300, "step is 1e-300 s"},
                {&w->gravity.z, -1e300, "gravity (0, 0, -1e+300)"},
                {&w->upper.x, 1e300, "a corner of the world's box"},
                {&w->pairs[0].mu, 1e300, "the friction of stone and stone"},
                {&w->recovery_fraction, 2, "recovery_fraction is 2, and must be from 0 to 1"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        double right = *rows[k].number;
        change(sim);
        *rows[k].number = rows[k].wrong;
        expect_refusal(sim, rows[k].words);
        *rows[k].number = right;
        lab_step(sim);
    }
    sand_simulation_free(sim);
}

static void what_is_not_there_is_refused(void **state) {
    (void)state;
    SandSimulation *sim = row_of_spheres(1);
    SandWorld *w = change(sim);
    const struct {
        int *index, wrong;
        const char *words;
    } rows[] = {{&w->material[0], 17, "body 0: there is no material 17"},
                {&w->material[0], -1, "body 0: there is no material -1"},
                {&w->shape[1], 1, "body 1: there is no shape 1"},
                {&w->shape[1], INT32_MIN, "body 1: there is no shape"},
                {&w->boundaries[0].material, 3, "boundary plane-0: there is no material 3"},
                {&w->spring.body, BODIES, "the mouse spring: there is no body 3"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        int right = *rows[k].index;
        change(sim);
        *rows[k].index = rows[k].wrong;
        expect_refusal(sim, rows[k].words);
        *rows[k].index = right;
        lab_step(sim);
    }
    SandBodyState body;
    SandError error;
    assert_false(sand_simulation_read_body(sim, BODIES, &body, &error));
    assert_true(isnan(sand_simulation_motor(sim, 0)));
    sand_simulation_free(sim);
}

// However far away a body is put, it has left the world.
static void a_body_far_away_is_taken_out(void **state) {
    (void)state;
    static const double far[] = {1e300, -1e300, 1e30, 1e9, 2e4};
    for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
        SandSimulation *sim = row_of_spheres(1);
        change(sim)->position[0].x = far[k];
        lab_expect(sim, "body 0 left the world");
        lab_step(sim);
        assert_int_equal(sand_simulation_counters(sim)->lost_total, 1);
        assert_int_equal(sand_simulation_counters(sim)->bodies, BODIES - 1);
        assert_int_equal(sand_simulation_world(sim)->gone[0], 1);
        lab_step(sim);
        assert_int_equal(sand_simulation_counters(sim)->lost_total, 1);
        sand_simulation_free(sim);
    }
}

// The same where it starts there, or is added there.
static void a_body_may_start_far_away(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    lab_body(&world, 0, 0.1, v3_make(0, 0, 1e300));
    lab_body(&world, 0, 0.1, v3_make(0, 0, 1));
    SandSimulationDef def = sand_default_simulation();
    SandSimulation *sim = lab_simulation(&world, &def);
    lab_expect(sim, "left the world");
    lab_step(sim);
    assert_int_equal(sand_simulation_counters(sim)->lost_total, 1);
    lab_body(change(sim), 0, 0.1, v3_make(1e200, 0, 0));
    lab_step(sim);
    assert_int_equal(sand_simulation_counters(sim)->lost_total, 2);
    assert_int_equal(sand_simulation_counters(sim)->bodies, 1);
    sand_simulation_free(sim);
}

static void a_body_far_away_in_an_outlet_counts_there(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    lab_body(&world, 0, 0.1, v3_make(0, 0, 1));
    SandOutlet below = sand_outlet_plane(v3_make(0, 0, -1), v3_make(0, 0, 1));
    assert_int_equal(sand_world_add_outlet(&world, &below, NULL), 0);
    SandSimulationDef def = sand_default_simulation();
    SandSimulation *sim = lab_simulation(&world, &def);
    double mass = sand_simulation_world(sim)->mass[0];
    change(sim)->position[0].z = -1e300;
    lab_step(sim);
    const SandCounters *c = sand_simulation_counters(sim);
    assert_true(c->left_total == 1 && c->lost_total == 0 && c->left_mass == mass);
    assert_int_equal(sand_simulation_world(sim)->gone[0], SAND_LEFT_BY);
    sand_simulation_free(sim);
}

static void a_rotation_of_any_length_is_scaled(void **state) {
    (void)state;
    SandSimulation *sim = row_of_spheres(1);
    SandWorld *w = change(sim);
    w->rotation[1] = (SandQuat){3, 0, 4, 0};
    SandQuat kept = w->rotation[2];
    lab_step(sim);
    SandQuat q = w->rotation[1];
    NEAR(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-15);
    assert_memory_equal(&kept, &w->rotation[2], sizeof kept);
    change(sim)->rotation[1] = (SandQuat){0, 0, 0, 0};
    expect_refusal(sim, "body 1: its rotation (0, 0, 0, 0)");
    sand_simulation_free(sim);
}

static void drives_of_joints_are_checked(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    for (int i = 0; i < BODIES; i++) lab_body(&world, 0, 0.1, v3_make(i, 0, 1));
    SandJointDef hinge = sand_default_joint();
    hinge.kind = SAND_JOINT_HINGE;
    hinge.anchor = v3_make(0, 0, 1);
    hinge.drive.motor = SAND_MOTOR_SPEED;
    assert_int_equal(sand_world_add_joint(&world, &hinge, NULL), 0);
    SandSimulationDef def = sand_default_simulation();
    SandSimulation *sim = lab_simulation(&world, &def);
    lab_step(sim);
    SandWorld *w = sand_simulation_change(sim);
    w->joints[0].drive.target = NAN;
    expect_refusal(sim, "joint 0: target");
    w->joints[0].drive.target = 1;
    w->joints[0].b = BODIES;
    expect_refusal(sim, "joint 0: there is no body 3");
    w->joints[0].b = 1 << 30; // reading before the step that refuses it
    assert_true(sand_joint_coordinate(w, 0) == 0);
    w->joints[0].b = 0;
    w->joints[0].drive.motor = (SandMotor)9;
    expect_refusal(sim, "joint 0: there is no motor of kind 9");
    w->joints[0].drive.motor = SAND_MOTOR_SPEED;
    lab_step(sim);
    sand_simulation_free(sim);
}

// The solver of a simulation: what is refused changes nothing.
static void solvers_that_are_not_there_are_refused(void **state) {
    (void)state;
    SandSimulation *sim = row_of_spheres(1);
    SandSolveDef good = sand_default_solve();
    good.iterations = 3;
    assert_true(sand_simulation_set_solve(sim, &good, NULL));
    SandSolveDef wrong[10];
    for (int k = 0; k < 10; k++) wrong[k] = sand_default_solve();
    wrong[0].solver = 9999;
    wrong[1].solver = -1;
    wrong[2].iterations = -5;
    wrong[3].tolerance = NAN;
    wrong[4].budget_ms = -1;
    wrong[5].accuracy = 101;
    wrong[6].friction = (SandFriction)77;
    wrong[7].bounds = (SandBounds)77;
    wrong[8].params[0] = NAN;
    wrong[9].presolve = -1;
    for (int k = 0; k < 10; k++) {
        SandError error = {""};
        assert_false(sand_simulation_set_solve(sim, &wrong[k], &error));
        assert_true(*error.text);
        lab_step(sim);
        assert_int_equal(sand_simulation_counters(sim)->iterations, 3);
    }
    SandWorld world = lab_world(0.3);
    SandSimulationDef def = sand_default_simulation();
    def.solve.solver = 9999;
    assert_null(sand_simulation_create(&world, &def, NULL));
    sand_simulation_free(sim);
}

// --- who may use it ---------------------------------------------------------------------------------------------

// A forked process has no threads but its own: its parent's simulation is refused there, and can be freed.
static int use_in_child(SandSimulation *sim) {
    SandError error = {""};
    if (sand_simulation_step(sim, &error) || !strstr(error.text, "forked")) return 1;
    if (sand_simulation_build(sim, &error) || sand_simulation_change_bodies(sim, &error)) return 2;
    sand_simulation_free(sim);
    SandWorld world;
    SandShape shape;
    sand_world_init(&world);
    sand_shape_sphere(&shape, NULL);
    if (sand_world_add_material(&world, &(SandMaterial){.name = "glass", .density = 2500, .mu = 0.3}, NULL) ||
        sand_world_add_shape(&world, &shape, NULL))
        return 3;
    SandBodyDef body = sand_default_body();
    for (int i = 0; i < BODIES; i++, body.pose.position.x += 1.5) sand_world_add_body(&world, &body, NULL);
    SandSimulationDef def = sand_default_simulation();
    def.threads = 3;
    SandSimulation *own = sand_simulation_create(&world, &def, NULL);
    if (!own || !sand_simulation_step(own, NULL)) return 4;
    sand_simulation_free(own);
    return 0;
}

static void a_forked_process_is_refused(void **state) {
    (void)state;
    SandSimulation *sim = row_of_spheres(4);
    pid_t child = fork();
    if (child == 0) _exit(use_in_child(sim));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    lab_step(sim); // the parent goes on
    sand_simulation_free(sim);
}

static void count_worker(SandWorker *worker, void *argument) {
    if (worker->id == 0) *(int *)argument = worker->count;
    sand_barrier(worker);
}

// A pool that was made before the fork starts threads of its own in the child.
static void a_pool_outlives_a_fork(void **state) {
    (void)state;
    SandThreadPool *pool = sand_thread_pool_create(3, NULL);
    int workers = 0;
    sand_thread_pool_run(pool, count_worker, &workers);
    assert_int_equal(workers, 3);
    pid_t child = fork();
    if (child == 0) {
        sand_thread_pool_run(pool, count_worker, &workers);
        sand_thread_pool_free(pool);
        _exit(workers);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    sand_thread_pool_free(pool);
}

typedef struct Intruder {
    SandSimulation *sim;
    bool stepped, alone;
    SandError error;
} Intruder;

static void *step_beside(void *argument) {
    Intruder *i = argument;
    i->stepped = sand_simulation_step(i->sim, &i->error);
    return NULL;
}

// A message comes from the middle of a step: whoever steps then is refused, in this thread and in another.
static void intrude(void *user, const char *sentence) {
    (void)sentence;
    Intruder *i = user;
    pthread_t thread;
    SandError error = {""};
    i->alone = !sand_simulation_step(i->sim, &error) && strstr(error.text, "in use");
    if (pthread_create(&thread, NULL, step_beside, i) == 0) pthread_join(thread, NULL);
}

static void a_second_call_is_refused_while_one_is_under_way(void **state) {
    (void)state;
    SandSimulation *sim = row_of_spheres(1);
    Intruder i = {.sim = sim, .stepped = true};
    change(sim)->position[0].x = 1e6;
    sand_simulation_on_message(sim, intrude, &i);
    lab_step(sim);
    assert_true(i.alone);
    assert_false(i.stepped);
    assert_non_null(strstr(i.error.text, "this simulation is in use"));
    lab_step(sim);
    sand_simulation_free(sim);
}

// --- threads of small worlds ------------------------------------------------------------------------------------

static int workers_for(int64_t items) {
    SandThreadPool *pool = sand_thread_pool_create(4, NULL);
    int workers = 0;
    sand_thread_pool_expect(pool, items);
    sand_thread_pool_run(pool, count_worker, &workers);
    sand_thread_pool_free(pool);
    return workers;
}

// Every worker has a grain of work; one alone has what is less than two.
static void little_work_has_one_worker(void **state) {
    (void)state;
    sand_thread_pool_set_grain(SAND_GRAIN);
    assert_int_equal(workers_for(0), 1);
    assert_int_equal(workers_for(2 * SAND_GRAIN - 1), 1);
    assert_int_equal(workers_for(2 * SAND_GRAIN), 2);
    assert_int_equal(workers_for(100 * SAND_GRAIN), 4);
    sand_thread_pool_set_grain(1);
    assert_int_equal(workers_for(3), 3);
}

static uint64_t hash_with_grain(int grain) {
    sand_thread_pool_set_grain(grain);
    SandSimulation *sim = lab_scene("hourglass", 150, 3, SAND_FLOAT);
    lab_run(sim, 40);
    assert_true(sand_simulation_counters(sim)->contacts > 100);
    uint64_t hash = sand_world_hash(sand_simulation_world(sim));
    sand_simulation_free(sim);
    sand_thread_pool_set_grain(1);
    return hash;
}

static void the_number_of_workers_changes_no_bits(void **state) {
    (void)state;
    uint64_t all = hash_with_grain(1);
    assert_true(hash_with_grain(64) == all); // some of the threads, a number that changes from stage to stage
    assert_true(hash_with_grain(1 << 20) == all);
}

// --- rows of joints ---------------------------------------------------------------------------------------------

// A box on the floor, and beside it one that hangs from a fixed joint with a second on a hinge that a motor holds.
static void rows_of_joints_are_no_contacts(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    SandShape box;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    assert_true(sand_shape_box(&box, v3_make(0.1, 0.1, 0.1), NULL));
    assert_int_equal(sand_world_add_shape(&world, &box, NULL), 1);
    lab_body(&world, 1, 1, v3_make(0, 0, 0.1));
    lab_body(&world, 1, 1, v3_make(0, 0, 1));
    lab_body(&world, 1, 1, v3_make(0.3, 0, 1));
    SandJointDef fixed = sand_default_joint(), hinge = sand_default_joint();
    fixed.kind = SAND_JOINT_FIXED;
    fixed.b = 1;
    fixed.anchor = v3_make(0, 0, 1);
    hinge.kind = SAND_JOINT_HINGE;
    hinge.a = 1;
    hinge.b = 2;
    hinge.anchor = v3_make(0.15, 0, 1);
    hinge.axis = v3_make(0, 1, 0);
    hinge.drive.motor = SAND_MOTOR_SPEED;
    hinge.drive.strength = 1e4;
    assert_int_equal(sand_world_add_joint(&world, &fixed, NULL), 0);
    assert_int_equal(sand_world_add_joint(&world, &hinge, NULL), 1);
    SandSimulation *sim = lab_exact(&world);
    lab_run(sim, 50);
    const SandWorld *w = sand_simulation_world(sim);
    const SandCounters *c = sand_simulation_counters(sim);
    SandJointRow rows[8];
    assert_int_equal(c->contacts, 4);
    assert_int_equal(c->solved_contacts, 4);
    assert_int_equal(c->joint_rows, 4);
    assert_int_equal(sand_simulation_solved_contacts(sim), 8);
    assert_int_equal(sand_simulation_joint_rows(sim, rows, 8), 4);
    double weight = w->mass[1] * GRAVITY, carried[2] = {0}, torque = 0;
    for (int k = 0; k < 4; k++) {
        assert_true(sand_problem_joint(sand_simulation_problem(sim), rows[k].contact) != NULL);
        assert_int_equal(rows[k].a, rows[k].joint ? 1 : -1);
        assert_int_equal(rows[k].b, rows[k].joint ? 2 : 1);
        if (!rows[k].angular) carried[rows[k].joint] += rows[k].impulse.z / w->step;
        if (rows[k].angular && rows[k].joint) torque += v3_dot(rows[k].impulse, rows[k].axis) / w->step;
    }
    NEAR(carried[0], 2 * weight, 1e-6); // on body 1: it carries both
    NEAR(carried[1], weight, 1e-6);
    NEAR(torque, sand_simulation_motor(sim, 1), 1e-9);
    NEAR(fabs(torque), 0.15 * weight, 1e-6);
    sand_simulation_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_bodies_must_be_finite),
        cmocka_unit_test(absurd_numbers_are_refused),
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(a_body_far_away_is_taken_out),
        cmocka_unit_test(a_body_may_start_far_away),
        cmocka_unit_test(a_body_far_away_in_an_outlet_counts_there),
        cmocka_unit_test(a_rotation_of_any_length_is_scaled),
        cmocka_unit_test(drives_of_joints_are_checked),
        cmocka_unit_test(solvers_that_are_not_there_are_refused),
        cmocka_unit_test(a_forked_process_is_refused),
        cmocka_unit_test(a_pool_outlives_a_fork),
        cmocka_unit_test(a_second_call_is_refused_while_one_is_under_way),
        cmocka_unit_test(little_work_has_one_worker),
        cmocka_unit_test(the_number_of_workers_changes_no_bits),
        cmocka_unit_test(rows_of_joints_are_no_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
