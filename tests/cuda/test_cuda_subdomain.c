// SPDX-License-Identifier: MIT
// Several ranks on one GPU, each with a part of the world: what they report of every step, and the bodies, have the same
// bits for any number of ranks. The contacts are those of one process, and so is the motion, to rounding. The ranks are
// threads here (tests/lab/ranks/local_ranks.h), each with a device of its own. Skipped where there is no CUDA device. An
// argument selects tests, as cmocka_set_test_filter does.
#include "tests/lab/cuda_lab.h"
#include "tests/lab/ranks/subdomain_lab.h"

static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    return sand_cuda_rank_engine()->create(def, my_ranks, 0, error);
}

// Rank 0 gets from a gather what all get from a read.
static bool read_bodies(SandDevice *device, SandWorld *world, int first, int count, SandError *error) {
    (void)first, (void)count;
    if (!sand_cuda_rank_engine()->gather_bodies(device, error)) return false;
    uint64_t gathered = sand_world_hash(world);
    if (!sand_cuda_rank_engine()->share_state(device, error)) return false;
    assert_true(my_ranks->rank > 0 || sand_world_hash(world) == gathered);
    return true;
}

static uint64_t hash_impulses(const SandWarmStart *warm) {
    if (!(warm->step > 0)) return 0;
    size_t contacts = (size_t)warm->first[warm->body_count];
    uint64_t hash = sand_hash_bytes(SAND_HASH_BEGIN, warm->first, (size_t)(warm->body_count + 1) * sizeof *warm->first);
    hash = sand_hash_bytes(hash, warm->solver_index, (size_t)warm->world_count * sizeof *warm->solver_index);
    hash = sand_hash_bytes(hash, warm->key, contacts * sizeof *warm->key);
    return sand_hash_bytes(hash, warm->impulse, contacts * sizeof *warm->impulse);
}

static bool read_warm_start(SandDevice *device, SandWarmStart *warm, SandError *error) {
    if (!sand_cuda_rank_engine()->gather_impulses(device, error)) return false;
    uint64_t gathered = hash_impulses(warm);
    if (!sand_cuda_rank_engine()->share_state(device, error)) return false;
    assert_true(my_ranks->rank > 0 || hash_impulses(warm) == gathered);
    return true;
}

static const SandBackend *ranks_backend(void) {
    static _Thread_local SandBackend backend;
    backend = *sand_cuda_backend();
    backend.name = "ranks";
    backend.fails_for_all = true;
    backend.create = create;
    backend.read_bodies = read_bodies;
    backend.read_warm_start = read_warm_start;
    return &backend;
}

// One process on the GPU finds the same contacts in the first step, and comes to the same energies.
static void compare_alone(const char *name, const Run *run) {
    Run alone = *run;
    SandError error;
    uint64_t said;
    SandSimulation *sim = start(&alone, sand_cuda_backend(), &said);
    for (int step = 1; step <= run->steps; step++) {
        if (run->act) run->act(sim, step);
        if (!sand_simulation_step(sim, &error)) fail_msg("%s", error.text);
        Figures now = figures_of(sim, said, false, false);
        const Figures *one = &run->one[step];
        if (step == 1) assert_int_equal(now.contacts, one->contacts);
        if (step == 1) assert_true(now.penetration == one->penetration);
        if (step > 3) continue; // rounding grows
        double scale = fabs(one->kinetic) + 1e-3 * fabs(one->potential);
        if (fabs(now.kinetic - one->kinetic) > 1e-3 * scale)
            fail_msg("%s, step %d: %.9g J and %.9g J", name, step, now.kinetic, one->kinetic);
    }
    sand_simulation_free(sim);
}

static void compare_acted(const char *name, SandWorld (*make)(void), void (*act)(SandSimulation *sim, int step), int steps,
                          int iterations) {
    static const int counts[] = {1, 2, 3, 4, 0};
    static Run run;
    run = (Run){.make = make, .act = act, .backend = ranks_backend, .steps = steps, .iterations = iterations};
    compare_ranks(name, &run, counts);
    compare_alone(name, &run);
}

static void compare(const char *name, SandWorld (*make)(void), int steps, int iterations) {
    compare_acted(name, make, NULL, steps, iterations);
}

static SandWorld scene(const char *name, int bodies) {
    SandScene scene;
    SandError error;
    SandSceneOptions options = {.bodies = bodies};
    if (!sand_scene_load(&scene, name, &options, &error)) fail_msg("%s", error.text);
    SandWorld world = scene.world;
    memset(&scene.world, 0, sizeof scene.world);
    sand_scene_free(&scene);
    return world;
}
static SandWorld hourglass(void) { return scene("hourglass", 6000); }

static void an_hourglass(void **state) {
    (void)state;
    compare("hourglass", hourglass, 200, 20);
}

static void a_drum(void **state) {
    (void)state;
    compare("drum", drum, 1000, 3);
}

static void sizes_and_speeds(void **state) {
    (void)state;
    compare("many sizes", many_sizes, 60, 10);
}

static void a_high_degree_body(void **state) {
    (void)state;
    compare("star", star, 40, 15);
}

static void a_body_that_is_pulled(void **state) {
    (void)state;
    compare("a pulled body", pulled, 60, 10);
}

static void what_bounces(void **state) {
    (void)state;
    compare("bouncing spheres", bouncing, 60, 10);
}

static void what_clings(void **state) {
    (void)state;
    compare("sticky spheres", sticky, 60, 10);
}

static void what_rests(void **state) {
    (void)state;
    compare("a resting pile", sleeping_pile, 300, 20);
}

static void what_enters(void **state) {
    (void)state;
    compare("a fountain", fountain, 120, 10);
}

static void bodies_that_pass(void **state) {
    (void)state;
    compare("passing bodies", passing, 60, 10);
}

static void what_is_pushed(void **state) {
    (void)state;
    compare_acted("a stirred pile", sleeping_pile, stir, 100, 20);
    compare_acted("a stirred star", star, stir, 40, 15);
}

static void ranks_without_bodies(void **state) {
    (void)state;
    compare("few", few, 90, 10);
}

static uint64_t held[MOST_RANKS]; // bytes that each rank held last

static void note_held(SandSimulation *sim, const SandRanks *ranks, int step) {
    (void)step;
    held[ranks->rank] = sand_simulation_counters(sim)->held;
}

// Where memory is scarce ranks give back what the solve does not need: they hold less, and come to the same bits.
static void scarce_memory(void **state) {
    (void)state;
    static const int up_to_two[] = {1, 2, 0}, two[] = {2, 0}, four[] = {4, 0};
    static Run run;
    uint64_t plenty[2];
    run = (Run){.make = hourglass, .backend = ranks_backend, .check = note_held, .steps = 60, .iterations = 20};
    compare_ranks("plenty of memory", &run, up_to_two);
    memcpy(plenty, held, sizeof plenty);
    run.memory = 64;
    compare_ranks("scarce memory", &run, two);
    for (int r = 0; r < 2; r++) assert_true(held[r] < plenty[r]);
    compare_ranks("scarce memory", &run, four);
}

// What ranks on GPUs cannot do yet they say, before the first step.
static void refuse(const SandRanks *ranks, void *argument) {
    SandWorld world = *(SandWorld *)argument;
    SandSimulationDef def = sand_default_simulation();
    SandError error;
    my_ranks = ranks;
    def.backend = ranks_backend();
    SandSimulation *sim = sand_simulation_create(&world, &def, &error);
    assert_null(sim);
    if (!strstr(error.text, "ranks on GPUs cannot do")) fail_msg("%s", error.text);
}

static void what_ranks_cannot_do(void **state) {
    (void)state;
    enum { ROLLS, CONVEX, CLUMP, JOINED, SQUEEZED, ALL };
    for (int what = 0; what < ALL; what++) {
        SandWorld w = lab_world(0.3);
        const SandShapeSphere two[] = {{v3_make(0, 0, 0), 0.1}, {v3_make(0.1, 0, 0), 0.1}};
        SandShape box, clump;
        SandJointDef joint = sand_default_joint();
        SandError error;
        lab_body(&w, 0, 0.1, v3_make(0, 0, 0));
        joint.a = -1;
        if (what == ROLLS) lab_set_rolling(&w, 0, 0.01, 0);
        if (what == CONVEX) {
            assert_true(sand_shape_box(&box, v3_make(0.1, 0.1, 0.1), &error));
            lab_body(&w, sand_world_add_shape(&w, &box, &error), 1, v3_make(1, 0, 0));
        }
        if (what == CLUMP) {
            assert_true(sand_shape_clump(&clump, two, 2, &error));
            lab_body(&w, sand_world_add_shape(&w, &clump, &error), 1, v3_make(1, 0, 0));
        }
        if (what == JOINED) assert_int_equal(sand_world_add_joint(&w, &joint, &error), 0);
        if (what == SQUEEZED) w.squeeze.rate = w.squeeze.pressure = 1;
        local_ranks_run(1, refuse, &w, NULL);
    }
}

int main(int argc, char **argv) {
    setenv("CUDA_MODULE_LOADING", "EAGER", 1); // loading a kernel waits for all that run, and those wait for each other
    cuda_or_skip();
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_without_bodies),  cmocka_unit_test(a_drum),
                                       cmocka_unit_test(sizes_and_speeds),      cmocka_unit_test(a_high_degree_body),
                                       cmocka_unit_test(an_hourglass),          cmocka_unit_test(scarce_memory),
                                       cmocka_unit_test(a_body_that_is_pulled), cmocka_unit_test(what_bounces),
                                       cmocka_unit_test(what_clings),           cmocka_unit_test(what_rests),
                                       cmocka_unit_test(what_enters),           cmocka_unit_test(bodies_that_pass),
                                       cmocka_unit_test(what_is_pushed),        cmocka_unit_test(what_ranks_cannot_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
