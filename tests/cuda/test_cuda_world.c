// SPDX-License-Identifier: MIT
// Worlds on the GPU against the CPU: what rests, laws of pairs, rolling friction, inlets and outlets, joints, probes, and
// snapshots of the bodies.
// Skipped where there is no CUDA device. An argument selects tests, as cmocka_set_test_filter does.
#include "tests/lab/cuda_lab.h"
#include "tests/lab/compound_lab.h"
#include "tests/lab/linkage.h"
#include "sandglass/query.h"
#include "sim/step/checkpoint.h"

static const SandBackend *cuda;

static SandSimulation *settled_pile(void) {
    SandWorld world = lab_pile(0.001);
    SandSimulationDef def = sand_default_simulation();
    def.threads = 2;
    def.solve.iterations = 50;
    SandSimulation *sim = lab_simulation(&world, &def);
    lab_run(sim, 500);
    return sim;
}

// What rests is left out on the device as it is on the CPU: the same contacts are solved, those that are not keep their
// impulses, the same bodies rest after the step, and a run repeats its bits.
static void test_rest(void **state) {
    (void)state;
    SandError error;
    SandSimulation *sims[] = {settled_pile(), settled_pile(), settled_pile()}, *on_cpu = sims[0], *on_gpu = sims[1];
    for (int k = 1; k < 3; k++)
        if (!sand_simulation_move(sims[k], cuda, &error)) fail_msg("%s", error.text);
    for (int k = 0; k < 3; k++) lab_step(sims[k]);
    if (!sand_simulation_fetch_contacts(on_gpu, &error)) fail_msg("%s", error.text);
    const SandCounters *c = sand_simulation_counters(on_cpu), *d = sand_simulation_counters(on_gpu);
    printf("pile: %d bodies rest, %d of %d contacts are solved\n", d->asleep, d->solved_contacts, d->contacts);
    assert_true(c->asleep > 0.5 * LAB_PILE && d->solved_contacts < 0.6 * d->contacts);
    assert_int_equal(c->contacts, d->contacts);
    assert_int_equal(c->solved_contacts, d->solved_contacts);
    assert_int_equal(c->asleep, d->asleep);
    assert_true(relative_difference(sand_simulation_solution(on_cpu), sand_simulation_solution(on_gpu), c->contacts) < 1e-3);
    double height = sand_simulation_energy(on_cpu).potential;
    for (int k = 1; k < 3; k++) lab_run(sims[k], 200);
    for (int k = 1; k < 3; k++) assert_true(sand_simulation_fetch(sims[k], &error));
    assert_true(sand_world_hash(sand_simulation_world(on_gpu)) == sand_world_hash(sand_simulation_world(sims[2])));
    double sunk = height - sand_simulation_energy(on_gpu).potential;
    printf("pile: sinks by %.1e of its height in 200 steps more\n", sunk / height);
    assert_true(fabs(sunk) <= 1e-2 * height); // some bodies still settle: by up to 1.4e-3 on the CPU, as rounding has it
    for (int k = 0; k < 3; k++) sand_simulation_free(sims[k]);
}

// Balls that fall into a box, with restitution and cohesion.
static SandSimulation *falling_balls(void) {
    SandWorld world = lab_pile(0);
    lab_set_laws(&world, 0, 0.6, 0.2 * world.mass[0] * 9.81);
    SandSimulationDef def = sand_default_simulation();
    def.threads = 2;
    return lab_simulation(&world, &def);
}

// One step of the same state on both devices: what each contact bounces with, what it is pulled with and the free velocities
// have the same bits; the impulses agree. Returns how many contacts bounce.
static int compare_laws(SandSimulation *on_cpu, SandSimulation *on_gpu) {
    SandError error;
    lab_step(on_cpu), lab_step(on_gpu);
    if (!sand_simulation_fetch_contacts(on_gpu, &error)) fail_msg("%s", error.text);
    const SandProblem *p = sand_simulation_problem(on_cpu), *q = sand_simulation_problem(on_gpu);
    int bounces = 0;
    assert_int_equal(p->contact_count, q->contact_count);
    for (int i = 0; i < p->contact_count; i++) {
        assert_true(p->contacts[i].bounce == q->contacts[i].bounce && p->contacts[i].pull == q->contacts[i].pull);
        bounces += p->contacts[i].bounce > 0;
    }
    for (int k = 0; k < p->dynamic_count; k++)
        assert_memory_equal(&p->bodies[k].velocity, &q->bodies[k].velocity, 2 * sizeof(SandVec3));
    assert_true(relative_difference(sand_simulation_solution(on_cpu), sand_simulation_solution(on_gpu), p->contact_count) <
                2e-2);
    return bounces;
}

static void test_laws(void **state) {
    (void)state;
    SandError error;
    int bounces = 0;
    for (int start = 10; start <= 60; start += 10) {
        SandSimulation *on_cpu = falling_balls(), *on_gpu = falling_balls();
        lab_run(on_cpu, start), lab_run(on_gpu, start);
        if (!sand_simulation_move(on_gpu, cuda, &error)) fail_msg("%s", error.text);
        bounces += compare_laws(on_cpu, on_gpu);
        sand_simulation_free(on_cpu), sand_simulation_free(on_gpu);
    }
    printf("laws: %d contacts bounce\n", bounces);
    assert_true(bounces > 10);

    // A run repeats its bits, with a move to the CPU and back on the way.
    SandSimulation *sims[] = {falling_balls(), falling_balls()};
    for (int k = 0; k < 2; k++) {
        if (!sand_simulation_move(sims[k], cuda, &error)) fail_msg("%s", error.text);
        lab_run(sims[k], 50);
        if (k) assert_true(sand_simulation_move(sims[k], NULL, &error) && sand_simulation_move(sims[k], cuda, &error));
        lab_run(sims[k], 100);
        assert_true(sand_simulation_fetch(sims[k], &error));
    }
    assert_true(sand_world_hash(sand_simulation_world(sims[0])) == sand_world_hash(sand_simulation_world(sims[1])));
    for (int k = 0; k < 2; k++) sand_simulation_free(sims[k]);
}

// Bodies enter and leave on the device as on the CPU; the counts balance to the body, and a run repeats its bits, from a
// checkpoint too.
static void test_flow(void **state) {
    (void)state;
    SandError error = {""};
    SandCheckpoint checkpoint = {0};
    SandSimulation *on_cpu = lab_scene("hopper", 300, 2, SAND_FLOAT), *on_gpu = lab_scene("hopper", 300, 2, SAND_FLOAT);
    if (!sand_simulation_move(on_gpu, cuda, &error)) fail_msg("%s", error.text);
    lab_run(on_cpu, 80), lab_run(on_gpu, 80);
    const SandCounters *c = sand_simulation_counters(on_cpu), *d = sand_simulation_counters(on_gpu);
    assert_int_equal(c->entered_total, d->entered_total); // nothing is in their way yet
    if (!sand_simulation_save_state(on_gpu, &checkpoint, &error)) fail_msg("%s", error.text);
    lab_run(on_gpu, 70);
    SandCounters late = *d;
    const SandWorld *w = sand_simulation_world(on_gpu);
    if (!sand_simulation_fetch(on_gpu, &error)) fail_msg("%s", error.text);
    uint64_t hash = sand_world_hash(w);
    int64_t active = 0, left = 0;
    double mass = 0;
    for (int i = 0; i < w->body_count; i++) {
        active += sand_world_active(w, i);
        left += w->gone[i] >= SAND_LEFT_BY;
        mass += w->gone[i] >= SAND_LEFT_BY ? w->mass[i] : 0;
    }
    printf("hopper: %d entered, %d left\n", (int)late.entered_total, (int)late.left_total);
    assert_true(late.entered_total == 300 && left > 0 && late.left_total == left && late.lost_total == 0);
    assert_int_equal(active + left, w->body_count);
    assert_true(fabs(late.left_mass - mass) <= 1e-12 * mass);
    if (!sand_simulation_restore_state(on_gpu, &checkpoint, &error)) fail_msg("%s", error.text);
    lab_run(on_gpu, 70);
    if (!sand_simulation_fetch(on_gpu, &error)) fail_msg("%s", error.text);
    assert_true(sand_world_hash(w) == hash && d->left_mass == late.left_mass && d->entered_total == 300);
    sand_checkpoint_free(&checkpoint);
    sand_simulation_free(on_cpu), sand_simulation_free(on_gpu);
}

// A periodic world is refused in one sentence, and the CPU takes the step.
static void test_periodic(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    SandSimulationDef def = sand_default_simulation();
    world.lower = v3_make(0, 0, 0);
    world.upper = v3_make(1, 1, 1);
    world.periodic[0] = true;
    lab_body(&world, 0, 0.1, v3_make(0.5, 0.5, 0.5));
    def.backend = cuda;
    SandSimulation *sim = lab_simulation(&world, &def);
    lab_expect(sim, "a periodic world does not run on CUDA; the CPU goes on");
    lab_step(sim);
    assert_string_equal(sand_simulation_backend(sim)->name, "cpu");
    sand_simulation_free(sim);
}

// --- joints in a world --------------------------------------------------------------------------------------

static SandSimulation *jointed(int which) {
    return which ? lab_linkage(SAND_FLOAT) : lab_scene("wrecking-ball", 0, 2, SAND_FLOAT);
}

// The same number, or the same infinity.
static bool alike(double a, double b) { return a == b || fabs(a - b) <= 1e-9 * (1 + fabs(a)); }

static void compare_blocks(const SandProblem *p, const SandProblem *q) {
    assert_int_equal(p->joint_count, q->joint_count);
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *a = &p->contacts[i], *b = &q->contacts[i];
        const SandJointRows *j = sand_problem_joint(p, i), *k = sand_problem_joint(q, i);
        assert_true(a->a == b->a && a->b == b->b && !j == !k && fabs(a->gap - b->gap) <= 1e-12);
        assert_true(v3_length(v3_sub(a->arm_a, b->arm_a)) <= 1e-9 && v3_length(v3_sub(a->arm_b, b->arm_b)) <= 1e-9);
        assert_true(v3_length(v3_sub(p->start[i], q->start[i])) <= 1e-9 + 1e-9 * v3_length(p->start[i]));
        if (!j) continue;
        assert_true(j->angular == k->angular && alike(j->low, k->low) && alike(j->high, k->high));
        assert_true(alike(j->across, k->across) && alike(j->compliance, k->compliance));
        assert_true(v3_length(v3_sub(j->bias, k->bias)) <= 1e-9 && v3_length(v3_sub(a->normal, b->normal)) <= 1e-9);
    }
    for (int k = 0; k < p->body_count; k++) { // with inertias that joints have lifted
        assert_true(v3_length(v3_sub(p->bodies[k].velocity, q->bodies[k].velocity)) <= 1e-12);
        for (int m = 0; m < 6; m++) assert_true(alike(p->bodies[k].inverse_inertia[m], q->bodies[k].inverse_inertia[m]));
    }
}

// A step of a world with joints is that of the CPU: contacts, blocks of joints and their rows, and the impulses.
static void test_joint_step(void **state) {
    (void)state;
    SandError error;
    for (int which = 0; which < 2; which++) {
        SandSimulation *on_cpu = jointed(which), *on_gpu = jointed(which);
        SandSolveDef solve = sand_default_solve();
        solve.iterations = 2000; // the linkage has mass ratios of 500
        assert_true(sand_simulation_set_solve(on_cpu, &solve, NULL) && sand_simulation_set_solve(on_gpu, &solve, NULL));
        lab_run(on_cpu, 30), lab_run(on_gpu, 30);
        if (!sand_simulation_move(on_gpu, cuda, &error)) fail_msg("%s", error.text);
        lab_step(on_cpu), lab_step(on_gpu);
        assert_true(sand_simulation_backend(on_gpu) == cuda);
        if (!sand_simulation_fetch_contacts(on_gpu, &error)) fail_msg("%s", error.text);
        int count = sand_simulation_solved_contacts(on_cpu);
        assert_int_equal(sand_simulation_solved_contacts(on_gpu), count);
        compare_blocks(sand_simulation_problem(on_cpu), sand_simulation_problem(on_gpu));
        double relative = relative_difference(sand_simulation_solution(on_cpu), sand_simulation_solution(on_gpu), count);
        printf("joints: %d contacts, %d of them blocks, impulses differ by %.1e\n", count,
               sand_simulation_problem(on_gpu)->joint_count, relative);
        assert_true(relative <= 0.2);
        sand_simulation_free(on_cpu), sand_simulation_free(on_gpu);
    }
}

// Runs with joints, solved far enough that only rounding is left between the devices: the two precisions of the CPU are
// at most 6.2e-5 m apart after 100 steps. A motor that is reversed on the way is reversed on the device, and a second run
// has the same bits.
static void test_joint_runs(void **state) {
    (void)state;
    SandError error;
    for (int which = 0; which < 2; which++) {
        SandSimulation *sims[3] = {jointed(which), jointed(which), jointed(which)};
        SandSolveDef solve = sand_default_solve();
        solve.iterations = 2000, solve.tolerance = 1e-5;
        for (int k = 0; k < 3; k++) {
            assert_true(sand_simulation_set_solve(sims[k], &solve, NULL));
            if (k && !sand_simulation_move(sims[k], cuda, &error)) fail_msg("%s", error.text);
            lab_run(sims[k], 60);
            if (which) sand_simulation_change(sims[k])->joints[LINKAGE_WHEEL].drive.target = -3;
            lab_run(sims[k], 40);
            assert_true(sand_simulation_fetch(sims[k], &error) && (!k || sand_simulation_backend(sims[k]) == cuda));
        }
        const SandWorld *a = sand_simulation_world(sims[0]), *b = sand_simulation_world(sims[1]);
        double most = 0;
        for (int k = 0; k < a->body_count; k++) most = fmax(most, v3_length(v3_sub(a->position[k], b->position[k])));
        printf("joints: after 100 steps bodies are at most %.1e m apart\n", most);
        assert_true(most <= 1e-3);
        assert_true(sand_world_hash(b) == sand_world_hash(sand_simulation_world(sims[2])));
        for (int k = 0; k < 3; k++) sand_simulation_free(sims[k]);
    }
}

// --- rolling friction ---------------------------------------------------------------------------------------

// Balls with rolling friction in a box, with what rests left out or not; one of them is joined to another.
static SandSimulation *rolling_balls(double sleep_speed, SandFriction friction) {
    SandWorld world = lab_pile(sleep_speed);
    lab_set_rolling(&world, 0, 0.01, 0.005);
    if (!(sleep_speed > 0))
        linkage_join(&world, sand_default_joint(), SAND_JOINT_BALL, 0, 1,
                     v3_scale(0.5, v3_add(world.position[0], world.position[1])));
    SandSimulationDef def = sand_default_simulation();
    def.threads = 2;
    def.solve.friction = friction;
    return lab_simulation(&world, &def);
}

// A step of the same state on both devices: the same contacts with the same friction and starts, and impulses and torques
// that agree as unfinished solves in float do.
static void compare_rolling(SandSimulation *on_cpu, SandSimulation *on_gpu) {
    SandError error;
    lab_step(on_cpu), lab_step(on_gpu);
    assert_true(sand_simulation_backend(on_gpu) == cuda);
    if (!sand_simulation_fetch_contacts(on_gpu, &error)) fail_msg("%s", error.text);
    const SandProblem *p = sand_simulation_problem(on_cpu), *q = sand_simulation_problem(on_gpu);
    assert_true(p->rolls && q->rolls && p->contact_count == q->contact_count && p->contact_count > 100);
    for (int i = 0; i < p->contact_count; i++)
        assert_true(p->contacts[i].rolling == q->contacts[i].rolling && p->contacts[i].spinning == q->contacts[i].spinning);
    for (int i = 0; i < sand_problem_vectors(p); i++)
        assert_true(v3_length(v3_sub(p->start[i], q->start[i])) <= 1e-9 + 1e-6 * v3_length(p->start[i]));
    const SandSolution *s = sand_simulation_solution(on_cpu), *t = sand_simulation_solution(on_gpu);
    SandSolution torque = {.impulse = s->impulse + p->contact_count}, other = {.impulse = t->impulse + p->contact_count};
    double forces = relative_difference(s, t, p->contact_count),
           turns = relative_difference(&torque, &other, p->contact_count);
    printf("rolling: %d contacts, forces differ by %.1e, torques by %.1e\n", p->contact_count, forces, turns);
    assert_true(forces < 5e-2 && turns < 0.2);
}

static void test_rolling(void **state) {
    (void)state;
    SandError error;
    for (int which = 0; which < 3; which++) {
        double sleep_speed = which == 2 ? 0.001 : 0;
        SandFriction friction = which == 1 ? SAND_FRICTION_COULOMB : SAND_FRICTION_CONE;
        SandSimulation *on_cpu = rolling_balls(sleep_speed, friction), *on_gpu = rolling_balls(sleep_speed, friction);
        int start = which == 2 ? 500 : 60;
        lab_run(on_cpu, start), lab_run(on_gpu, start);
        if (!sand_simulation_move(on_gpu, cuda, &error)) fail_msg("%s", error.text);
        compare_rolling(on_cpu, on_gpu);
        const SandCounters *c = sand_simulation_counters(on_cpu), *d = sand_simulation_counters(on_gpu);
        assert_int_equal(c->solved_contacts, d->solved_contacts);
        sand_simulation_free(on_cpu), sand_simulation_free(on_gpu);
    }
    // A run repeats its bits, with a move to the CPU and back on the way, which hands the torques over.
    SandSimulation *sims[] = {rolling_balls(0, SAND_FRICTION_CONE), rolling_balls(0, SAND_FRICTION_CONE)};
    for (int k = 0; k < 2; k++) {
        if (!sand_simulation_move(sims[k], cuda, &error)) fail_msg("%s", error.text);
        lab_run(sims[k], 50);
        if (k) assert_true(sand_simulation_move(sims[k], NULL, &error) && sand_simulation_move(sims[k], cuda, &error));
        lab_run(sims[k], 50);
        assert_true(sand_simulation_fetch(sims[k], &error));
    }
    assert_true(sand_world_hash(sand_simulation_world(sims[0])) == sand_world_hash(sand_simulation_world(sims[1])));
    for (int k = 0; k < 2; k++) sand_simulation_free(sims[k]);
}

// A pile that has just landed, with a probe of every kind in it.
enum { FLOOR_FORCE, WALL_FORCE, ENERGY, CENTER, PATH, FLOW, FIELDS, PROBES = FIELDS + 12 };
static SandSimulation *probed_pile(void) {
    SandWorld world = lab_pile(0);
    SandProbe probes[PROBES] = {[ENERGY] = sand_probe_of(SAND_PROBE_ENERGY),
                                [CENTER] = sand_probe_of(SAND_PROBE_CENTER),
                                [PATH] = sand_probe_of(SAND_PROBE_PATH),
                                [FLOW] = sand_probe_flow(v3_make(0, 0, 0.4), v3_make(0, 0.1, 1))};
    probes[PATH].body = 17;
    for (int k = FLOOR_FORCE; k <= WALL_FORCE; k++) {
        probes[k] = sand_probe_of(SAND_PROBE_FORCE);
        probes[k].boundary = k;
    }
    const SandProbeKind kinds[5] = {SAND_PROBE_DENSITY, SAND_PROBE_VELOCITY, SAND_PROBE_STRESS, SAND_PROBE_COORDINATION,
                                    SAND_PROBE_SURFACE};
    for (int k = 0; k < 12; k++) { // on a grid, a profile, and in one box
        SandProbe *p = &probes[FIELDS + k];
        *p = sand_probe_of(k == 11 ? SAND_PROBE_CENTER : kinds[k % 5]);
        sand_probe_box(p, v3_make(-0.5, -0.5, 0), v3_make(0.5, 0.5, k > 5 ? 0.7 : 2));
        p->cells[0] = k > 5 ? 1 : 2;
        p->cells[1] = k > 5 ? 1 : 3;
        p->least_force = 1;
        if (k == 5) sand_probe_line(p, v3_make(0, 0, 0), v3_make(0.1, 0.2, 1), 0.5, 7);
    }
    for (int k = 0; k < PROBES; k++) {
        SandError error;
        snprintf(probes[k].name, SAND_NAME, "%d", k);
        if (sand_world_add_probe(&world, &probes[k], &error) < 0) fail_msg("%s", error.text);
    }
    SandSimulationDef def = sand_default_simulation();
    def.threads = 2;
    def.solve.iterations = 400;
    return lab_simulation(&world, &def);
}

static int value_count(const SandProbe *p) { return sand_probe_cells(p) * sand_probe_columns(p); }

// The values of a probe of the same state on both devices, relative to the largest of them, or to the weight of the pile:
// the solvers agree to 1e-3. Of the contacts in a cell one in twenty may carry a force that is just the least.
static void compare_probe(const SandWorld *a, const SandWorld *b, int k) {
    const double *x = sand_probe_values(a, k), *y = sand_probe_values(b, k);
    SandProbeKind kind = a->probes[k].kind;
    double largest = kind == SAND_PROBE_FORCE ? LAB_PILE * a->mass[0] * GRAVITY : 1e-6;
    double tolerance = kind == SAND_PROBE_COORDINATION ? 5e-2 : 1e-2;
    for (int i = 0; i < value_count(&a->probes[k]); i++) largest = fmax(largest, isnan(x[i]) ? 0 : fabs(x[i]));
    for (int i = 0; i < value_count(&a->probes[k]); i++)
        if (isnan(x[i]) != isnan(y[i]) || fabs(x[i] - y[i]) > tolerance * largest)
            fail_msg("%s %d, value %d: %.9g on the CPU, %.9g on the GPU", sand_probe_kind_name(kind), k, i, x[i], y[i]);
}

// What the probes of the device must have read, from the bodies and impulses that are fetched after the step.
static void check_by_hand(SandSimulation *sim) {
    SandError error;
    if (!sand_simulation_fetch_contacts(sim, &error)) fail_msg("%s", error.text);
    const SandWorld *w = sand_simulation_world(sim);
    const SandProblem *p = sand_simulation_problem(sim);
    double kinetic = sand_world_kinetic_energy(w), on_floor = 0;
    for (int i = 0; i < p->contact_count; i++)
        if (p->contacts[i].b == p->dynamic_count) on_floor += sand_simulation_solution(sim)->impulse[i].z / p->step;
    NEAR(sand_probe_values(w, ENERGY)[0], kinetic, 1e-12 * kinetic);
    NEAR(sand_probe_values(w, FLOOR_FORCE)[2], on_floor, 1e-9 * fabs(on_floor));
    NEAR(sand_probe_values(w, PATH)[2], w->position[17].z, 0);
}

// Probes read the same on both devices, no body comes to the host for them, and a run repeats their bits.
static void test_probes(void **state) {
    (void)state;
    SandError error;
    SandSimulation *sims[] = {probed_pile(), probed_pile(), probed_pile()};
    for (int k = 0; k < 3; k++) lab_run(sims[k], 45);
    for (int k = 1; k < 3; k++)
        if (!sand_simulation_move(sims[k], cuda, &error)) fail_msg("%s", error.text);
    for (int k = 0; k < 3; k++) lab_step(sims[k]);
    const SandWorld *a = sand_simulation_world(sims[0]), *b = sand_simulation_world(sims[1]),
                    *c = sand_simulation_world(sims[2]);
    assert_true(sand_simulation_profile(sims[1])->downloaded == 0);
    for (int k = 0; k < a->probe_count; k++) compare_probe(a, b, k);
    check_by_hand(sims[1]);
    for (int n = 0; n < 30; n++) lab_step(sims[1]), lab_step(sims[2]);
    assert_true(sand_simulation_profile(sims[2])->downloaded == 0);
    for (int k = 0; k < a->probe_count; k++)
        assert_memory_equal(sand_probe_values(b, k), sand_probe_values(c, k), value_count(&b->probes[k]) * sizeof(double));
    for (int k = 0; k < 3; k++) sand_simulation_free(sims[k]);
}

// Compares a snapshot that was read with the bodies that are fetched.
static void check_snapshot(SandSimulation *sim, SandSlot *slot) {
    const SandWorld *w = sand_simulation_world(sim);
    size_t n = (size_t)w->body_count, bytes = sand_snapshot_bytes(w->body_count);
    SandError error;
    uint8_t *read = cuda->snapshot_read(slot, bytes, &error);
    if (!read) fail_msg("%s", error.text);
    SandWorld view = sand_snapshot_view(w, read);
    if (!sand_simulation_fetch(sim, &error)) fail_msg("%s", error.text);
    assert_memory_equal(view.position, w->position, n * sizeof *w->position);
    assert_memory_equal(view.rotation, w->rotation, n * sizeof *w->rotation);
    assert_memory_equal(view.velocity, w->velocity, n * sizeof *w->velocity);
    assert_memory_equal(view.spin, w->spin, n * sizeof *w->spin);
    assert_memory_equal(view.gone, w->gone, n);
}

// The world of tests/lab/settle.yaml after 150 steps on the GPU, and its deepest overlap on the way (m).
static SandSimulation *settle(double *deepest) {
    SandError error;
    SandSimulation *sim = lab_scene(SAND_SOURCE_DIR "/tests/lab/settle.yaml", 0, 2, SAND_FLOAT);
    sand_simulation_change(sim)->looks = SAND_MAX_LOOKS;
    if (!sand_simulation_move(sim, cuda, &error)) fail_msg("%s", error.text);
    for (int k = 0; k < 150; k++) {
        lab_step(sim);
        *deepest = fmax(*deepest, sand_simulation_counters(sim)->penetration_max);
    }
    if (!sand_simulation_fetch(sim, &error)) fail_msg("%s", error.text);
    return sim;
}

// A step looks again on the GPU where bodies turn into each other, and repeats its bits.
static void test_second_look(void **state) {
    (void)state;
    double deepest = 0;
    SandSimulation *sims[] = {settle(&deepest), settle(&deepest)};
    printf("settle: %.2f mm deep on the GPU\n", 1e3 * deepest);
    assert_true(deepest < 0.5e-3);
    assert_true(sand_world_hash(sand_simulation_world(sims[0])) == sand_world_hash(sand_simulation_world(sims[1])));
    for (int k = 0; k < 2; k++) sand_simulation_free(sims[k]);
}

// A simulation of compounds after 60 steps on the CPU, moved to the GPU where it is asked for.
static SandSimulation *some_compounds(SandWorld world, bool on_gpu) {
    SandError error;
    SandSimulationDef def = sand_default_simulation();
    def.threads = 2;
    world.looks = 0;
    SandSimulation *sim = lab_simulation(&world, &def);
    lab_run(sim, 60);
    if (on_gpu && !sand_simulation_move(sim, cuda, &error)) fail_msg("%s", error.text);
    lab_step(sim);
    if (on_gpu && !sand_simulation_fetch_contacts(sim, &error)) fail_msg("%s", error.text);
    return sim;
}

// Both devices find the same contacts of the same state; returns how many have another gap.
static int compare_contacts(SandSimulation *on_cpu, SandSimulation *on_gpu) {
    const SandProblem *p = sand_simulation_problem(on_cpu), *q = sand_simulation_problem(on_gpu);
    int differ = 0;
    assert_true(p->contact_count > 100);
    assert_int_equal(p->contact_count, q->contact_count);
    assert_int_equal(sand_simulation_counters(on_cpu)->warm_started, sand_simulation_counters(on_gpu)->warm_started);
    for (int i = 0; i < p->contact_count; i++) {
        assert_int_equal(p->contacts[i].a, q->contacts[i].a);
        assert_int_equal(p->contacts[i].b, q->contacts[i].b);
        differ += p->contacts[i].gap != q->contacts[i].gap;
    }
    printf("compounds: %d contacts, %d of them with another gap on the GPU\n", q->contact_count, differ);
    return differ;
}

// Compounds of boxes have the same contacts on both devices, bit for bit; runs of them and of those with cylinders, whose
// last bits may differ, stay above the floor and repeat their bits.
static void test_compounds(void **state) {
    (void)state;
    SandError error;
    SandSimulation *sims[] = {some_compounds(lab_buckets(), false), some_compounds(lab_buckets(), true)};
    assert_int_equal(compare_contacts(sims[0], sims[1]), 0);
    for (int k = 0; k < 2; k++) sand_simulation_free(sims[k]);
    for (int k = 0; k < 2; k++) {
        sims[k] = some_compounds(lab_compounds(), true);
        lab_run(sims[k], 100);
        assert_true(sand_simulation_fetch(sims[k], &error));
    }
    const SandWorld *w = sand_simulation_world(sims[1]);
    for (int i = 0; i < w->body_count; i++) assert_true(w->position[i].z > 0);
    assert_true(sand_world_hash(w) == sand_world_hash(sand_simulation_world(sims[0])));
    for (int k = 0; k < 2; k++) sand_simulation_free(sims[k]);
}

// A snapshot has the bodies of its moment, before the first step too.
static void test_snapshot(void **state) {
    (void)state;
    SandError error;
    SandSimulation *sim = settled_pile();
    if (!sand_simulation_move(sim, cuda, &error)) fail_msg("%s", error.text);
    SandSlot *slot = cuda->slot_create(&error);
    assert_non_null(slot);
    for (int n = 0; n < 3; n++) {
        if (!sand_simulation_snapshot(sim, slot, &error)) fail_msg("%s", error.text);
        check_snapshot(sim, slot);
        lab_step(sim);
    }
    SandDeviceArrays arrays;
    assert_true(sand_simulation_device_arrays(sim, &arrays, &error));
    assert_int_equal(arrays.bodies, sand_simulation_world(sim)->body_count);
    assert_int_equal(arrays.contacts, sand_simulation_counters(sim)->contacts);
    cuda->slot_free(slot);
    sand_simulation_free(sim);
}

// Takes steps on the GPU with so much memory, with a move to the CPU and back on the way.
static SandSimulation *run_within(size_t memory, int solver) {
    SandWorld world = lab_pile(0);
    SandSimulationDef def = sand_default_simulation();
    SandError error;
    def.threads = 2;
    def.device_memory = memory;
    sand_solve_choose(&def.solve, solver);
    def.solve.iterations = 20;
    SandSimulation *sim = lab_simulation(&world, &def);
    if (!sand_simulation_move(sim, cuda, &error)) fail_msg("%s", error.text);
    lab_run(sim, 60);
    assert_true(sand_simulation_move(sim, NULL, &error) && sand_simulation_move(sim, cuda, &error));
    lab_run(sim, 60);
    if (!sand_simulation_fetch(sim, &error)) fail_msg("%s", error.text);
    return sim;
}

// The account of a device adds up to what it holds; what is lent is within the arena.
static void check_account(const SandSimulation *sim) {
    SandHeldArray arrays[SAND_MAX_HELD];
    uint64_t held = 0, arena = 0, largest = 0;
    int count = sand_simulation_held(sim, arrays);
    assert_true(count > 0);
    for (int k = 0; k < count; k++) {
        if (!arrays[k].lent) held += arrays[k].bytes;
        if (strcmp(arrays[k].name, "arena") == 0) arena = arrays[k].bytes;
        if (arrays[k].lent && arrays[k].bytes > largest) largest = arrays[k].bytes;
    }
    assert_true(held == sand_simulation_counters(sim)->held);
    assert_true(largest > 0 && largest <= arena);
}

// Where memory is scarce the solve takes that of the contacts (cuda/arena.h): it holds less and gives the same bits, and
// says that there are no contacts to read.
static void test_scarce_memory(void **state) {
    (void)state;
    SandError error;
    const char *names[] = {"p-spg-fb", "gauss-seidel", "jacobi", "apgd"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        SandSimulation *plenty = run_within(0, sand_solver_find(names[k])),
                       *scarce = run_within(1, sand_solver_find(names[k]));
        const SandCounters *c = sand_simulation_counters(plenty), *d = sand_simulation_counters(scarce);
        printf("%s: %d contacts, %.0f bytes with them and %.0f without\n", names[k], c->contacts, (double)c->held,
               (double)d->held);
        assert_true(sand_world_hash(sand_simulation_world(plenty)) == sand_world_hash(sand_simulation_world(scarce)));
        assert_true(c->contacts > 100 && c->contacts == d->contacts && c->warm_started == d->warm_started);
        assert_true(d->held < c->held || sand_solver_table[sand_solver_find(names[k])].vectors < 6);
        check_account(plenty);
        check_account(scarce);
        assert_true(sand_simulation_fetch_contacts(plenty, &error));
        assert_false(sand_simulation_fetch_contacts(scarce, &error));
        assert_non_null(strstr(error.text, "given up"));
        sand_simulation_free(plenty);
        sand_simulation_free(scarce);
    }
}

// Questions about bodies and contacts of the device, answered as on the CPU for the same bodies.
static void test_questions(void **state) {
    (void)state;
    enum { RAYS = 2000 };
    SandError error;
    static SandRay rays[RAYS];
    static SandHit hits[2][RAYS];
    static SandVec3 force[LAB_PILE], before[LAB_PILE];
    SandSimulation *sims[2], *on_gpu;
    SandRandom random = sand_random(3);
    for (int k = 0; k < 2; k++) {
        SandWorld world = lab_pile(0);
        SandSimulationDef def = sand_default_simulation();
        sims[k] = lab_simulation(&world, &def);
        lab_run(sims[k], 100);
    }
    on_gpu = sims[1];
    if (!sand_simulation_move(on_gpu, cuda, &error)) fail_msg("%s", error.text);
    assert_true(sand_simulation_keep_events(on_gpu, true, &error));
    assert_true(sand_simulation_fetch(on_gpu, &error));
    memcpy(before, sand_simulation_world(on_gpu)->velocity, sizeof before);
    lab_step(on_gpu);
    for (int k = 0; k < RAYS; k++) {
        double x = sand_random_unit(&random) - 0.5, y = sand_random_unit(&random) - 0.5;
        rays[k] = (SandRay){v3_make(x, y, 5), v3_make(0.2 * y, 0.2 * x, -1), INFINITY, -1};
    }
    if (!sand_simulation_raycast(on_gpu, rays, RAYS, hits[1], &error)) fail_msg("%s", error.text);
    const SandWorld *w = sand_simulation_world(on_gpu);
    SandWorld *same = sand_simulation_change_bodies(sims[0], &error);
    memcpy(same->position, w->position, LAB_PILE * sizeof *w->position);
    memcpy(same->rotation, w->rotation, LAB_PILE * sizeof *w->rotation);
    if (!sand_simulation_raycast(sims[0], rays, RAYS, hits[0], &error)) fail_msg("%s", error.text);
    assert_memory_equal(hits[0], hits[1], sizeof hits[0]);

    if (!sand_simulation_contact_forces(on_gpu, force, NULL, &error)) fail_msg("%s", error.text);
    double weight = w->mass[0] * GRAVITY, worst = 0;
    for (int i = 0; i < LAB_PILE; i++) {
        SandVec3 want = v3_scale(w->mass[i], v3_sub(v3_scale(1 / w->step, v3_sub(w->velocity[i], before[i])), w->gravity));
        worst = fmax(worst, v3_length(v3_sub(force[i], want)));
    }
    printf("pile: forces of contacts are mass times acceleration within %.1e of a weight\n", worst / weight);
    assert_true(worst < 1e-2 * weight); // solved in float
    int pairs = sand_simulation_contact_events(on_gpu, NULL, 0), contacts = sand_simulation_counters(on_gpu)->contacts;
    assert_true(pairs > LAB_PILE && pairs <= contacts);
    for (int k = 0; k < 2; k++) sand_simulation_free(sims[k]);
}

int main(int count, char **arguments) {
    cuda = cuda_or_skip();
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest),     cmocka_unit_test(test_laws),       cmocka_unit_test(test_flow),
        cmocka_unit_test(test_periodic), cmocka_unit_test(test_joint_step), cmocka_unit_test(test_joint_runs),
        cmocka_unit_test(test_rolling),  cmocka_unit_test(test_probes),     cmocka_unit_test(test_second_look),
        cmocka_unit_test(test_snapshot), cmocka_unit_test(test_questions),  cmocka_unit_test(test_scarce_memory),
        cmocka_unit_test(test_compounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
