// SPDX-License-Identifier: MIT
// Contacts of a step that ran on another backend, fetched on demand: what force chains, colors and percentiles read is what
// the CPU would have had. The mock backend of this test steps a simulation of its own, and keeps a second one that is a step
// behind, in the state where the last step began.
#include "sandglass/query.h"
#include "tests/lab/mock_backend.h"
#include "tests/lab/lab.h"
#include "sim/core/array.h"
#include "sim/core/thread_pool.h"
#include "sim/solver/contact_result.h"

enum { BODIES = 60, STEPS = 150 };

struct SandDevice {
    SandSimulation *now, *before;
    SandThreadPool *pool;
};

static int contacts_read;

static SandSimulation *clumps(void) { return lab_scene("clumps", BODIES, 1, SAND_FLOAT); }

static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    (void)def;
    SandDevice *m = calloc(1, sizeof *m);
    m->now = clumps();
    m->before = clumps();
    m->pool = sand_thread_pool_create(1, error);
    return m;
}
static void destroy(SandDevice *m) {
    sand_simulation_free(m->now);
    sand_simulation_free(m->before);
    sand_thread_pool_free(m->pool);
    free(m);
}
static bool integrate(SandDevice *m, SandError *error) {
    if (sand_simulation_world(m->now)->step_index > 0 && !sand_simulation_step(m->before, error)) return false;
    return sand_simulation_step(m->now, error);
}
static bool finish(SandDevice *m, SandStepReport *report, SandError *error) {
    (void)error;
    *report = (SandStepReport){.contacts = sand_simulation_counters(m->now)->contacts};
    return true;
}
static bool read_bodies(SandDevice *m, SandWorld *w, int first, int count, SandError *error) {
    (void)error;
    mock_copy_bodies(w, sand_simulation_world(m->now), first, count);
    return true;
}
static bool read_contacts(SandDevice *m, SandCollision *collision, SandError *error) {
    contacts_read++;
    return sand_collide(collision, sand_simulation_world(m->before), m->pool, error);
}
static bool read_problem_bodies(SandDevice *m, SandProblemBody *bodies, int count, SandError *error) {
    if (!sand_simulation_build(m->before, error)) return false;
    const SandProblem *p = sand_simulation_problem(m->before);
    assert_int_equal(p->body_count, count);
    memcpy(bodies, p->bodies, (size_t)count * sizeof *bodies);
    return true;
}
static bool read_start(SandDevice *m, SandVec3 *start, SandError *error) {
    if (!sand_simulation_build(m->before, error)) return false;
    const SandProblem *p = sand_simulation_problem(m->before);
    memcpy(start, p->start, (size_t)p->contact_count * sizeof *start);
    return true;
}
static bool read_solution(SandDevice *m, SandSolution *to, SandError *error) {
    const SandSolution *from = sand_simulation_solution(m->now);
    int count = sand_simulation_solved_contacts(m->now);
    if (!SAND_GROW(to->impulse, to->impulse_capacity, count, "impulses", error)) return false;
    memcpy(to->impulse, from->impulse, (size_t)count * sizeof *to->impulse);
    return true;
}

static const SandBackend other =
    MOCK_BACKEND(.name = "other", .create = create, .destroy = destroy, .integrate = integrate, .finish = finish,
                 .read_bodies = read_bodies, .read_contacts = read_contacts, .read_problem_bodies = read_problem_bodies,
                 .read_start = read_start, .read_solution = read_solution);

static void apart_at_most(SandVec3 a, SandVec3 b, double most) { assert_true(v3_length(v3_sub(a, b)) <= most); }

static void contacts_come_when_asked_for(void **state) {
    (void)state;
    SandError error;
    SandSimulation *plain = clumps(), *sim = clumps();
    assert_true(sand_simulation_move(sim, &other, &error));
    assert_true(sand_simulation_fetch_contacts(sim, &error)); // none yet
    lab_run(plain, STEPS);
    lab_run(sim, STEPS);
    assert_int_equal(sand_simulation_solved_contacts(sim), 0);
    assert_int_equal(contacts_read, 0);
    for (int k = 0; k < 2; k++)
        if (!sand_simulation_fetch_contacts(sim, &error)) fail_msg("%s", error.text);
    assert_int_equal(contacts_read, 1);

    const SandProblem *p = sand_simulation_problem(plain), *q = sand_simulation_problem(sim);
    int count = sand_simulation_solved_contacts(plain);
    assert_true(count > BODIES);
    assert_int_equal(sand_simulation_solved_contacts(sim), count);
    assert_true(q->step == p->step && q->radial == p->radial && q->dynamic_count == p->dynamic_count);
    for (int i = 0; i < count; i++) {
        const SandContact *a = &p->contacts[i], *b = &q->contacts[i];
        assert_true(a->a == b->a && a->b == b->b && a->gap == b->gap && a->mu == b->mu);
        apart_at_most(a->normal, b->normal, 0);
        apart_at_most(a->arm_a, b->arm_a, 1e-13);
        apart_at_most(a->arm_b, b->arm_b, 1e-13);
        apart_at_most(p->start[i], q->start[i], 0);
        apart_at_most(sand_simulation_solution(plain)->impulse[i], sand_simulation_solution(sim)->impulse[i], 0);
    }
    for (int k = 0; k < p->body_count; k++) apart_at_most(p->bodies[k].velocity, q->bodies[k].velocity, 0);
    const double *a = sand_simulation_residuals(plain, &error), *b = sand_simulation_residuals(sim, &error);
    for (int i = 0; i < count; i++) NEAR(b[i], a[i], 1e-5 + 1e-4 * a[i]); // in float
    sand_simulation_measure(plain);
    sand_simulation_measure(sim);
    NEAR(sand_simulation_counters(sim)->penetration_p99, sand_simulation_counters(plain)->penetration_p99, 0);

    SandContactResult *results[2] = {calloc((size_t)count, sizeof **results), calloc((size_t)count, sizeof **results)};
    sand_contact_results(p, sand_simulation_solution(plain), results[0]);
    sand_contact_results(q, sand_simulation_solution(sim), results[1]); // the device has the velocities
    for (int i = 0; i < count; i++) {
        assert_true(results[0][i].status == results[1][i].status && results[0][i].impulse[0] == results[1][i].impulse[0]);
        assert_true(isfinite(results[0][i].velocity[0]) && isnan(results[1][i].velocity[0]));
    }
    for (int k = 0; k < 2; k++) free(results[k]);

    // The next step invalidates them.
    lab_step(sim);
    assert_int_equal(sand_simulation_solved_contacts(sim), 0);
    sand_simulation_free(plain);
    sand_simulation_free(sim);
}

// Questions bring what they need to the host: bodies for rays, contacts for forces and, after every step, for events.
static void questions_are_answered_on_the_host(void **state) {
    (void)state;
    enum { MOST = 400 };
    SandError error;
    SandSimulation *sims[2] = {clumps(), clumps()};
    SandHit hits[2][BODIES];
    SandVec3 force[2][BODIES];
    static SandContactEvent events[2][MOST];
    int pairs[2];
    assert_true(sand_simulation_move(sims[1], &other, &error));
    contacts_read = 0;
    for (int k = 0; k < 2; k++) {
        lab_run(sims[k], STEPS - 2);
        assert_int_equal(contacts_read, 0);
        assert_true(sand_simulation_keep_events(sims[k], true, &error));
        lab_run(sims[k], 2);
        assert_int_equal(contacts_read, 2 * k);
        for (int i = 0; i < BODIES; i++) {
            SandRay ray = {v3_make(0.1 * i - 3, 0, 5), v3_make(0.01 * i, 0, -1), INFINITY, -1};
            if (!sand_simulation_raycast(sims[k], &ray, 1, &hits[k][i], &error)) fail_msg("%s", error.text);
        }
        if (!sand_simulation_contact_forces(sims[k], force[k], NULL, &error)) fail_msg("%s", error.text);
        pairs[k] = sand_simulation_contact_events(sims[k], events[k], MOST);
        assert_int_equal(contacts_read, 2 * k);
    }
    assert_memory_equal(hits[0], hits[1], sizeof hits[0]);
    assert_true(pairs[0] > BODIES / 4 && pairs[0] <= MOST && pairs[0] == pairs[1]);
    for (int i = 0; i < BODIES; i++) apart_at_most(force[1][i], force[0][i], 0);
    for (int i = 0; i < pairs[0]; i++) {
        const SandContactEvent *a = &events[0][i], *b = &events[1][i];
        assert_true(a->a == b->a && a->b == b->b && a->begins == b->begins && a->impulse == b->impulse);
    }
    for (int k = 0; k < 2; k++) sand_simulation_free(sims[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(contacts_come_when_asked_for),
                                       cmocka_unit_test(questions_are_answered_on_the_host)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
