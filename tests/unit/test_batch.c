// SPDX-License-Identifier: MIT
// A batch of worlds: a world has the same bits in it as alone, whatever the threads; it begins anew, hears of its actions
// and shows what it has; what goes wrong is said of the world that it is about, and the others go on.
#include "tests/lab/lab.h"
#include "tests/lab/mock_backend.h"
#include "tests/lab/batch_lab.h"
#include "sandglass/checkpoint.h"
#include "sandglass/query.h"

#include <math.h>

enum { WORLDS = 6, STEPS = 40 };

static const uint64_t SEEDS[WORLDS] = {0, 1, 2, 40, 1ull << 40, UINT64_MAX};

static SandBatch *make(const SandWorld *world, int count, const uint64_t *seeds, int threads) {
    SandSimulationDef def = sand_default_simulation();
    def.threads = threads;
    return lab_batch(world, count, seeds, def);
}

static uint64_t hash_of(const SandBatch *batch, int world) {
    return sand_world_hash(sand_simulation_world(sand_batch_simulation(batch, world)));
}

// The hash of a world that runs alone, scattered by a seed (NULL: not at all).
static uint64_t hash_alone(const SandWorld *world, const uint64_t *seed, int steps) {
    SandWorld copy;
    SandError error;
    SandSimulationDef def = sand_default_simulation();
    assert_true(sand_world_copy(&copy, world, NULL));
    if (seed) sand_world_scatter(&copy, *seed, sand_default_batch().scatter);
    def.threads = 2;
    SandSimulation *sim = lab_simulation(&copy, &def);
    for (int i = 0; i < steps; i++)
        if (!sand_simulation_step(sim, &error)) fail_msg("%s", error.text);
    uint64_t hash = sand_world_hash(sand_simulation_world(sim));
    sand_simulation_free(sim);
    return hash;
}

// --- the same bits ------------------------------------------------------------------------------------------------

// An arm on a motor, above a pile of spheres.
static void add_arm(SandWorld *world) {
    SandShape box;
    SandJointDef hinge = sand_default_joint();
    assert_true(sand_shape_box(&box, v3_make(0.3, 0.05, 0.05), NULL));
    int shape = sand_world_add_shape(world, &box, NULL);
    hinge.kind = SAND_JOINT_HINGE;
    hinge.b = lab_body(world, shape, 1, v3_make(0, 0, 2.5));
    hinge.anchor = v3_make(-0.3, 0, 2.5);
    hinge.axis = v3_make(0, 1, 0);
    hinge.drive.motor = SAND_MOTOR_POSITION;
    hinge.drive.strength = 500;
    snprintf(hinge.name, sizeof hinge.name, "elbow");
    assert_int_equal(sand_world_add_joint(world, &hinge, NULL), 0);
}

static SandWorld arm_in_pile(void) {
    SandWorld world = lab_pile(0);
    add_arm(&world);
    return world;
}

static void same_bits(SandWorld world) {
    for (int threads = 1; threads <= 4; threads += threads == 2 ? 2 : 1) {
        SandBatch *batch = make(&world, WORLDS, SEEDS, threads);
        lab_batch_step(batch, NULL, STEPS / 3);
        lab_batch_step(batch, NULL, STEPS - STEPS / 3);
        for (int k = 0; k < WORLDS; k++) assert_true(hash_of(batch, k) == hash_alone(&world, &SEEDS[k], STEPS));
        for (int k = 1; k < WORLDS; k++) assert_true(hash_of(batch, k) != hash_of(batch, 0)); // seeds do something
        sand_batch_free(batch);
    }
    sand_world_free(&world);
}

static void spheres_have_the_bits_of_a_world_alone(void **state) {
    (void)state;
    same_bits(lab_pile(0));
}

static void sleeping_spheres_too(void **state) {
    (void)state;
    same_bits(lab_pile(0.05));
}

static void and_an_arm(void **state) {
    (void)state;
    same_bits(arm_in_pile());
}

// Worlds of their own: a scene with an inlet, built by other seeds.
static void worlds_of_scenes_have_their_bits(void **state) {
    (void)state;
    enum { SCENES = 2 };
    SandWorld worlds[SCENES];
    uint64_t alone[SCENES];
    SandBatchDef def = sand_default_batch();
    SandError error;
    for (int k = 0; k < SCENES; k++) {
        SandScene scene;
        SandSceneOptions options = {.bodies = 200 + 10 * k, .has_seed = true, .seed = (uint64_t)k + 1};
        if (!sand_scene_load(&scene, "hopper", &options, &error)) fail_msg("%s", error.text);
        def.simulation.solve = scene.solve;
        worlds[k] = scene.world;
        memset(&scene.world, 0, sizeof scene.world);
        sand_scene_free(&scene);
        SandWorld copy;
        SandSimulationDef one = def.simulation;
        assert_true(sand_world_copy(&copy, &worlds[k], NULL));
        SandSimulation *sim = lab_simulation(&copy, &one);
        for (int i = 0; i < STEPS; i++) assert_true(sand_simulation_step(sim, NULL));
        assert_true(sand_simulation_counters(sim)->entered_total > 0);
        alone[k] = sand_world_hash(sand_simulation_world(sim));
        sand_simulation_free(sim);
    }
    def.count = SCENES;
    def.simulation.threads = 2;
    SandBatch *batch = sand_batch_of_worlds(worlds, &def, &error);
    if (!batch) fail_msg("%s", error.text);
    lab_batch_step(batch, NULL, STEPS);
    for (int k = 0; k < SCENES; k++) assert_true(hash_of(batch, k) == alone[k]);
    sand_batch_free(batch);
}

// --- masks, resets, states ----------------------------------------------------------------------------------------

static void a_mask_leaves_worlds_where_they_are(void **state) {
    (void)state;
    SandWorld world = lab_pile(0);
    SandBatch *batch = make(&world, WORLDS, SEEDS, 2);
    bool mask[WORLDS] = {false, true, false, true, true, false};
    uint64_t before[WORLDS];
    for (int k = 0; k < WORLDS; k++) before[k] = hash_of(batch, k);
    lab_batch_step(batch, mask, 5);
    for (int k = 0; k < WORLDS; k++) {
        assert_int_equal(sand_simulation_world(sand_batch_simulation(batch, k))->step_index, mask[k] ? 5 : 0);
        assert_int_equal(hash_of(batch, k) == before[k], !mask[k]);
    }
    assert_null(sand_batch_simulation(batch, WORLDS));
    assert_null(sand_batch_simulation(batch, -1));
    sand_batch_free(batch);
    sand_world_free(&world);
}

static void a_reset_begins_the_same_run_again_or_that_of_another_seed(void **state) {
    (void)state;
    SandWorld world = arm_in_pile();
    SandBatch *batch = make(&world, WORLDS, SEEDS, 2);
    bool mask[WORLDS] = {true, false, true, false, true, false};
    uint64_t others[WORLDS] = {9, 0, 8, 0, 7, 0}, first[WORLDS];
    SandError error;
    lab_batch_step(batch, NULL, STEPS);
    for (int k = 0; k < WORLDS; k++) first[k] = hash_of(batch, k);
    assert_true(sand_batch_reset(batch, mask, NULL, &error));
    for (int k = 0; k < WORLDS; k++)
        assert_int_equal(sand_simulation_world(sand_batch_simulation(batch, k))->step_index, mask[k] ? 0 : STEPS);
    lab_batch_step(batch, mask, STEPS);
    for (int k = 0; k < WORLDS; k++) assert_true(hash_of(batch, k) == first[k]);
    assert_true(sand_batch_reset(batch, mask, others, &error));
    lab_batch_step(batch, mask, STEPS);
    for (int k = 0; k < WORLDS; k++)
        assert_true(hash_of(batch, k) == (mask[k] ? hash_alone(&world, &others[k], STEPS) : first[k]));
    assert_true(sand_batch_reset(batch, mask, NULL, &error)); // those seeds are the last now
    lab_batch_step(batch, mask, STEPS);
    for (int k = 0; k < WORLDS; k += 2) assert_true(hash_of(batch, k) == hash_alone(&world, &others[k], STEPS));
    sand_batch_free(batch);
    sand_world_free(&world);
}

static void a_start_may_be_kept_later(void **state) {
    (void)state;
    SandWorld world = lab_pile(0);
    SandBatch *batch = make(&world, 2, SEEDS, 1);
    uint64_t there[2], beyond[2];
    lab_batch_step(batch, NULL, 20);
    assert_true(sand_batch_keep_start(batch, NULL, NULL));
    for (int k = 0; k < 2; k++) there[k] = hash_of(batch, k);
    lab_batch_step(batch, NULL, 20);
    for (int k = 0; k < 2; k++) beyond[k] = hash_of(batch, k);
    assert_true(sand_batch_reset(batch, NULL, NULL, NULL));
    for (int k = 0; k < 2; k++) assert_true(hash_of(batch, k) == there[k]);
    lab_batch_step(batch, NULL, 20);
    for (int k = 0; k < 2; k++) assert_true(hash_of(batch, k) == beyond[k]);
    sand_batch_free(batch);
    sand_world_free(&world);
}

static void a_state_of_a_simulation_goes_on_in_all_worlds(void **state) {
    (void)state;
    SandWorld world = lab_pile(0), copy;
    SandError error;
    SandSimulationDef def = sand_default_simulation();
    SandBatch *batch = make(&world, 3, NULL, 2);
    bool mask[3] = {true, false, true};
    void *bytes;
    size_t size;
    assert_true(sand_world_copy(&copy, &world, NULL));
    SandSimulation *sim = lab_simulation(&copy, &def);
    for (int i = 0; i < STEPS / 2; i++) assert_true(sand_simulation_step(sim, NULL));
    assert_true(sand_simulation_save(sim, &bytes, &size, NULL));
    assert_true(sand_batch_restore(batch, mask, bytes, size, &error));
    lab_batch_step(batch, NULL, STEPS / 2);
    for (int k = 0; k < 3; k++) assert_true(hash_of(batch, k) == hash_alone(&world, NULL, mask[k] ? STEPS : STEPS / 2));
    assert_false(sand_batch_restore(batch, mask, bytes, size / 2, &error));
    assert_non_null(strstr(error.text, "the state"));
    sand_free(bytes);
    sand_simulation_free(sim);
    sand_batch_free(batch);
    sand_world_free(&world);
}

// --- by chance ----------------------------------------------------------------------------------------------------

enum { FEW = 4, CALLS = 60 };

// Worlds of a batch, and for each a simulation alone, of which the same is asked.
typedef struct Twins {
    SandBatch *batch;
    SandSimulation *alone[FEW];
    void *start[FEW]; // of each alone
    size_t start_size[FEW];
    uint64_t seed[FEW];
    bool seeded[FEW];
    SandRandom random;
} Twins;

static int below(Twins *t, int n) { return (int)(sand_random_bits(&t->random) % (uint64_t)n); }

static void begin_again(Twins *t, int k) {
    assert_true(sand_simulation_restore(t->alone[k], t->start[k], t->start_size[k], NULL));
    if (t->seeded[k])
        sand_world_scatter(sand_simulation_change_bodies(t->alone[k], NULL), t->seed[k], sand_default_batch().scatter);
}

static void keep_alone(Twins *t, int k) {
    sand_free(t->start[k]);
    assert_true(sand_simulation_save(t->alone[k], &t->start[k], &t->start_size[k], NULL));
    t->seeded[k] = false;
}

static Twins make_twins(const SandWorld *world, uint64_t seed) {
    Twins t = {.random = sand_random(seed)};
    SandSimulationDef def = sand_default_simulation();
    for (int k = 0; k < FEW; k++) {
        SandWorld copy;
        assert_true(sand_world_copy(&copy, world, NULL));
        t.alone[k] = lab_simulation(&copy, &def);
        keep_alone(&t, k);
        t.seed[k] = SEEDS[k];
        t.seeded[k] = true;
        begin_again(&t, k);
    }
    t.batch = make(world, FEW, SEEDS, 1 + below(&t, 3));
    return t;
}

static void step_twins(Twins *t, const bool *mask) {
    int steps = 1 + below(t, 4);
    lab_batch_step(t->batch, mask, steps);
    for (int k = 0; k < FEW; k++)
        for (int i = 0; mask[k] && i < steps; i++) assert_true(sand_simulation_step(t->alone[k], NULL));
}

static void push_twins(Twins *t, const bool *mask) {
    int body = below(t, 8);
    SandVec3 force[FEW];
    for (int k = 0; k < FEW; k++) force[k] = v3_make(50 * sand_random_signed(&t->random), 0, 80);
    assert_true(sand_batch_apply_force(t->batch, mask, &body, 1, force, NULL, NULL));
    for (int k = 0; k < FEW; k++) {
        SandForces one = {.count = 1, .body = &body, .force = &force[k]};
        if (mask[k]) assert_true(sand_simulation_apply_force(t->alone[k], &one, NULL));
    }
}

static void tell_twins(Twins *t, const bool *mask) {
    int elbow = 0;
    double target[FEW];
    for (int k = 0; k < FEW; k++) target[k] = sand_random_signed(&t->random);
    assert_true(sand_batch_set_targets(t->batch, mask, &elbow, 1, target, NULL));
    for (int k = 0; k < FEW; k++)
        if (mask[k]) sand_simulation_change(t->alone[k])->joints[elbow].drive.target = target[k];
}

static void reset_twins(Twins *t, const bool *mask) {
    bool anew = below(t, 2);
    uint64_t seeds[FEW];
    for (int k = 0; k < FEW; k++) seeds[k] = sand_random_bits(&t->random);
    assert_true(sand_batch_reset(t->batch, mask, anew ? seeds : NULL, NULL));
    for (int k = 0; k < FEW; k++) {
        if (!mask[k]) continue;
        if (anew) t->seed[k] = seeds[k];
        t->seeded[k] = t->seeded[k] || anew;
        begin_again(t, k);
    }
}

static void keep_twins(Twins *t, const bool *mask) {
    assert_true(sand_batch_keep_start(t->batch, mask, NULL));
    for (int k = 0; k < FEW; k++)
        if (mask[k]) keep_alone(t, k);
}

static void whatever_is_asked_the_bits_are_those_of_a_world_alone(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    for (int i = 0; i < 12; i++)
        lab_body(&world, 0, 0.1, v3_make(0.21 * (i % 3), 0.21 * (i / 3 % 2), 0.11 + 0.21 * (i / 6)));
    add_arm(&world);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        Twins t = make_twins(&world, seed);
        void (*const calls[])(Twins *, const bool *) = {step_twins, step_twins,  push_twins,
                                                        tell_twins, reset_twins, keep_twins};
        for (int n = 0; n < CALLS; n++) {
            bool mask[FEW];
            for (int k = 0; k < FEW; k++) mask[k] = below(&t, 3) > 0;
            calls[below(&t, 6)](&t, mask);
            for (int k = 0; k < FEW; k++)
                assert_true(hash_of(t.batch, k) == sand_world_hash(sand_simulation_world(t.alone[k])));
        }
        for (int k = 0; k < FEW; k++) {
            sand_simulation_free(t.alone[k]);
            sand_free(t.start[k]);
        }
        sand_batch_free(t.batch);
    }
    sand_world_free(&world);
}

// --- observations and actions -------------------------------------------------------------------------------------

static void arrays_show_what_each_world_has(void **state) {
    (void)state;
    SandWorld world = arm_in_pile();
    SandBatch *batch = make(&world, 3, SEEDS, 2);
    int bodies = sand_batch_body_count(batch), last = bodies - 1, some[2] = {last, 4};
    SandVec3 *position = calloc((size_t)(3 * bodies), sizeof *position), picked[6], force[6];
    SandQuat rotation[6];
    double angle[3], speed[3], motor[3];
    int pressed = 0;
    SandBatchJoints joints = {angle, speed, motor};
    lab_batch_step(batch, NULL, 40);
    assert_int_equal(bodies, world.body_count);
    assert_int_equal(sand_batch_joint_count(batch), 1);
    assert_true(sand_batch_read_bodies(batch, NULL, 0, &(SandBatchBodies){.position = position}, NULL));
    assert_true(sand_batch_read_bodies(batch, some, 2,
                                       &(SandBatchBodies){.position = picked, .rotation = rotation, .force = force}, NULL));
    assert_true(sand_batch_read_joints(batch, NULL, 0, &joints, NULL));
    for (int k = 0; k < 3; k++) {
        SandSimulation *sim = sand_batch_simulation(batch, k);
        const SandWorld *w = sand_simulation_world(sim);
        SandVec3 *forces = calloc((size_t)bodies, sizeof *forces);
        SandJointState joint;
        assert_true(sand_simulation_contact_forces(sim, forces, NULL, NULL) &&
                    sand_simulation_read_joint(sim, 0, &joint, NULL));
        assert_memory_equal(position + k * bodies, w->position, (size_t)bodies * sizeof *position);
        for (int i = 0; i < 2; i++) {
            assert_memory_equal(&picked[2 * k + i], &w->position[some[i]], sizeof *picked);
            assert_memory_equal(&rotation[2 * k + i], &w->rotation[some[i]], sizeof *rotation);
            assert_memory_equal(&force[2 * k + i], &forces[some[i]], sizeof *force);
        }
        assert_true(angle[k] == joint.position && speed[k] == joint.speed && motor[k] == joint.motor);
        assert_true(isfinite(motor[k]));
        pressed += v3_length(forces[4]) > 0;
        free(forces);
    }
    assert_int_equal(pressed, 3);
    free(position);
    sand_batch_free(batch);
    sand_world_free(&world);
}

// Two worlds of one and two spheres.
static void what_a_world_lacks_is_nan(void **state) {
    (void)state;
    SandWorld worlds[2] = {lab_world(0.3), lab_world(0.3)};
    SandBatchDef def = sand_default_batch();
    SandVec3 position[4];
    SandError error;
    int second = 1;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i <= k; i++) lab_body(&worlds[k], 0, 0.1, v3_make(i, k, 3));
    def.count = 2;
    SandBatch *batch = sand_batch_of_worlds(worlds, &def, &error);
    assert_non_null(batch);
    assert_true(sand_batch_read_bodies(batch, NULL, 0, &(SandBatchBodies){.position = position}, &error));
    assert_true(position[0].z == 3 && isnan(position[1].x) && isnan(position[1].z));
    assert_true(position[2].y == 1 && position[3].x == 1);
    assert_false(sand_batch_read_bodies(batch, &second, 1, &(SandBatchBodies){.position = position}, &error));
    assert_string_equal(error.text, "world 0: there is no body 1");
    sand_batch_free(batch);
}

// Without gravity a force F on a mass m for one step of h gives the speed h F / m, here and nowhere else.
static void forces_act_in_their_worlds(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    world.gravity = v3_make(0, 0, 0);
    for (int i = 0; i < 3; i++) lab_body(&world, 0, 0.1, v3_make(i, 0, 0));
    SandBatch *batch = make(&world, 3, NULL, 2);
    int bodies[2] = {2, 0};
    bool mask[3] = {true, false, true};
    SandVec3 force[6];
    for (int k = 0; k < 6; k++) force[k] = v3_make(k + 1, 0, -k);
    assert_true(sand_batch_apply_force(batch, mask, bodies, 2, force, NULL, NULL));
    lab_batch_step(batch, NULL, 1);
    lab_batch_step(batch, NULL, 1); // which has none
    for (int k = 0; k < 3; k++) {
        const SandWorld *w = sand_simulation_world(sand_batch_simulation(batch, k));
        for (int i = 0; i < 2; i++) {
            NEAR(w->velocity[bodies[i]].x, mask[k] ? w->step / w->mass[0] * (2 * k + i + 1) : 0, 1e-12);
            NEAR(w->velocity[bodies[i]].z, mask[k] ? -w->step / w->mass[0] * (2 * k + i) : 0, 1e-12);
        }
        assert_true(w->velocity[1].x == 0);
    }
    sand_batch_free(batch);
    sand_world_free(&world);
}

static void motors_go_where_each_world_sends_them(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    add_arm(&world);
    world.gravity = v3_make(0, 0, 0);
    SandBatch *batch = make(&world, 3, NULL, 2);
    double targets[3] = {0.1, -0.2, 0.3}, angle[3];
    int elbow = 0;
    SandError error;
    assert_true(sand_batch_set_targets(batch, NULL, &elbow, 1, targets, &error));
    lab_batch_step(batch, NULL, 300);
    assert_true(sand_batch_read_joints(batch, &elbow, 1, &(SandBatchJoints){.position = angle}, &error));
    for (int k = 0; k < 3; k++) NEAR(angle[k], targets[k], 1e-3); // half a millimeter at the end of the arm
    targets[1] = NAN;
    assert_false(sand_batch_set_targets(batch, NULL, &elbow, 1, targets, &error));
    assert_string_equal(error.text, "world 1: joint 0: the target nan is not finite");
    sand_batch_free(batch);
    sand_world_free(&world);
}

// The weight on the ground of spheres that rest, of other masses in each world.
static void probes_are_read_in_all_worlds(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    SandProbe probe = sand_probe_of(SAND_PROBE_FORCE);
    probe.boundary = lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    snprintf(probe.name, sizeof probe.name, "ground");
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0.1));
    assert_true(sand_world_add_probe(&world, &probe, NULL) >= 0);
    int columns = sand_probe_columns(&world.probes[0]);
    SandBatch *batch = make(&world, 3, NULL, 2);
    double *values = calloc((size_t)(3 * columns), sizeof *values);
    SandError error;
    for (int k = 0; k < 3; k++) sand_simulation_change_bodies(sand_batch_simulation(batch, k), NULL)->mass[0] = k + 1;
    lab_batch_step(batch, NULL, 50);
    assert_true(sand_batch_read_probe(batch, 0, values, &error));
    for (int k = 0; k < 3; k++) {
        double most = 0;
        for (int c = 0; c < columns; c++) most = fmax(most, fabs(values[k * columns + c]));
        NEAR(most, (k + 1) * GRAVITY, 1e-3 * GRAVITY); // what single precision and the tolerance of a solve leave
    }
    assert_false(sand_batch_read_probe(batch, 1, values, &error));
    assert_string_equal(error.text, "world 0: there is no probe 1");
    free(values);
    sand_batch_free(batch);
    sand_world_free(&world);
}

// --- what goes wrong ----------------------------------------------------------------------------------------------

static void a_world_that_fails_is_named_and_the_others_go_on(void **state) {
    (void)state;
    SandWorld world = lab_pile(0);
    SandBatch *batch = make(&world, WORLDS, SEEDS, 2);
    SandError error;
    for (int k = 3; k < 6; k += 2) sand_simulation_change_bodies(sand_batch_simulation(batch, k), NULL)->velocity[5].x = NAN;
    assert_false(sand_batch_step(batch, NULL, 2, &error));
    assert_ptr_equal(strstr(error.text, "world 3: body 5"), error.text);
    for (int k = 0; k < WORLDS; k++)
        assert_int_equal(sand_simulation_world(sand_batch_simulation(batch, k))->step_index, k == 3 || k == 5 ? 0 : 2);
    assert_true(sand_batch_reset(batch, NULL, NULL, &error)); // which mends it
    lab_batch_step(batch, NULL, 1);
    sand_batch_free(batch);
    sand_world_free(&world);
}

typedef struct Heard {
    int worlds[8], count;
} Heard;

static void hear(void *user, int world, const char *sentence) {
    Heard *heard = user;
    assert_non_null(strstr(sentence, "left the world"));
    assert_true(heard->count < 8);
    heard->worlds[heard->count++] = world;
}

static void what_is_wrong_with_an_action_changes_nothing(void **state) {
    (void)state;
    SandWorld world = arm_in_pile();
    SandBatch *batch = make(&world, 3, NULL, 2);
    SandError error;
    int wrong = 7, body = 4;
    double targets[3] = {0.5, 0.5, 0.5}, angle[3];
    SandVec3 force[3] = {{0, 0, 1}, {0, 0, NAN}, {0, 0, 1}};
    assert_false(sand_batch_set_targets(batch, NULL, &wrong, 1, targets, &error));
    assert_string_equal(error.text, "world 0: there is no joint 7");
    assert_false(sand_batch_read_joints(batch, &wrong, 1, &(SandBatchJoints){.position = angle}, &error));
    assert_string_equal(error.text, "world 0: there is no joint 7");
    wrong = -1;
    assert_false(sand_batch_read_bodies(batch, &wrong, 1, &(SandBatchBodies){0}, &error));
    assert_string_equal(error.text, "world 0: there is no body -1");
    assert_false(sand_batch_apply_force(batch, NULL, &body, 1, force, NULL, &error));
    assert_ptr_equal(strstr(error.text, "world 1: body 4"), error.text);
    assert_null(sand_simulation_world(sand_batch_simulation(batch, 1))->force);
    lab_batch_step(batch, NULL, STEPS);
    assert_true(hash_of(batch, 1) == hash_alone(&world, NULL, STEPS));
    sand_batch_free(batch);
    sand_world_free(&world);
}

static void reports_come_in_the_order_of_worlds(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    Heard heard = {{0}, 0};
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0));
    SandBatch *batch = make(&world, WORLDS, NULL, 3);
    sand_batch_on_message(batch, hear, &heard);
    for (int k = 1; k < WORLDS; k += 2)
        sand_simulation_change_bodies(sand_batch_simulation(batch, k), NULL)->position[0].x = 1e9;
    lab_batch_step(batch, NULL, 2);
    assert_int_equal(heard.count, 3);
    for (int i = 0; i < 3; i++) assert_int_equal(heard.worlds[i], 2 * i + 1);
    sand_batch_free(batch);
    sand_world_free(&world);
}

static void what_is_no_batch_is_refused(void **state) {
    (void)state;
    static const SandBackend other = MOCK_BACKEND(.name = "lifting");
    SandWorld world = lab_pile(0);
    SandError error;
    SandBatchDef def = sand_default_batch();
    def.count = 0;
    assert_null(sand_batch_create(&world, &def, &error));
    assert_string_equal(error.text, "a batch has at least 1 world, got 0");
    def.count = 2;
    def.scatter = NAN;
    assert_null(sand_batch_create(&world, &def, &error));
    def.scatter = 0;
    def.simulation.backend = &other;
    assert_null(sand_batch_create(&world, &def, &error));
    assert_string_equal(error.text, "a batch of worlds does not run on the backend lifting");
    def.simulation.backend = NULL;
    world.velocity[3].y = NAN;
    assert_null(sand_batch_create(&world, &def, &error));
    assert_ptr_equal(strstr(error.text, "world 0: body 3"), error.text);
    sand_world_free(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spheres_have_the_bits_of_a_world_alone),
        cmocka_unit_test(sleeping_spheres_too),
        cmocka_unit_test(and_an_arm),
        cmocka_unit_test(worlds_of_scenes_have_their_bits),
        cmocka_unit_test(a_mask_leaves_worlds_where_they_are),
        cmocka_unit_test(a_reset_begins_the_same_run_again_or_that_of_another_seed),
        cmocka_unit_test(a_start_may_be_kept_later),
        cmocka_unit_test(a_state_of_a_simulation_goes_on_in_all_worlds),
        cmocka_unit_test(whatever_is_asked_the_bits_are_those_of_a_world_alone),
        cmocka_unit_test(arrays_show_what_each_world_has),
        cmocka_unit_test(what_a_world_lacks_is_nan),
        cmocka_unit_test(forces_act_in_their_worlds),
        cmocka_unit_test(motors_go_where_each_world_sends_them),
        cmocka_unit_test(probes_are_read_in_all_worlds),
        cmocka_unit_test(a_world_that_fails_is_named_and_the_others_go_on),
        cmocka_unit_test(what_is_wrong_with_an_action_changes_nothing),
        cmocka_unit_test(reports_come_in_the_order_of_worlds),
        cmocka_unit_test(what_is_no_batch_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
