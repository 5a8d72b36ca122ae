// SPDX-License-Identifier: MIT
// Bodies by owner: several ranks, each with a part of the world, take the steps of one process to the bit. What they report
// of every step is the same, too. The ranks are threads here (tests/lab/ranks/local_ranks.h); tests/mpi has processes.
#include "tests/lab/compound_lab.h"
#include "tests/lab/ranks/subdomain_lab.h"
#include "sim/ranks/cpu_engine.h"
#include "sim/step/cpu_backend.h"

#include <unistd.h>

static bool is_short;

// --- ranks as a backend -------------------------------------------------------------------------------------

static const SandRankEngine *engine(void) { return sand_cpu_rank_engine(); }

static SandDevice *create(const SandDeviceDef *def, SandError *error) { return engine()->create(def, my_ranks, 0, error); }

static bool read_bodies(SandDevice *device, SandWorld *world, int first, int count, SandError *error) {
    (void)world, (void)first, (void)count;
    return engine()->share_state(device, error);
}

static bool read_warm_start(SandDevice *device, SandWarmStart *warm, SandError *error) {
    (void)warm;
    return engine()->share_state(device, error);
}

// All ranks ask for it here.
static bool write_checkpoint(SandDevice *device, const SandCheckpointRequest *request, SandError *error) {
    SandError fault;
    if (!engine()->write_checkpoint(device, request, &fault, error)) return false;
    *error = fault;
    return !*fault.text;
}

static const SandBackend *ranks_backend(void) {
    static _Thread_local SandBackend backend;
    backend = *sand_cpu_backend();
    backend.name = "ranks";
    backend.on_host = false;
    backend.fails_for_all = true;
    backend.create = create;
    backend.read_bodies = read_bodies;
    backend.read_warm_start = read_warm_start;
    backend.read_block = engine()->read_block;
    backend.write_checkpoint = write_checkpoint;
    backend.read_step = engine()->gather_step;
    return &backend;
}

// --- checks -------------------------------------------------------------------------------------------------

static uint64_t hash_bodies(const SandWorld *w, int first, int end) {
    uint64_t hash = SAND_HASH_BEGIN;
    for (int i = first; i < end; i++) {
        hash = sand_hash_bytes(hash, &w->position[i], sizeof *w->position);
        hash = sand_hash_bytes(hash, &w->rotation[i], sizeof *w->rotation);
        hash = sand_hash_bytes(hash, &w->velocity[i], sizeof *w->velocity);
        hash = sand_hash_bytes(hash, &w->spin[i], sizeof *w->spin);
        hash = sand_hash(sand_hash(hash, w->gone[i]), w->sleep[i]);
    }
    return hash;
}

// The bodies of its block, read alone, are those that a rank has when it reads all.
static void check_block(SandSimulation *sim, const SandRanks *ranks) {
    const SandWorld *w = sand_simulation_world(sim);
    int first, end;
    SandError error;
    if (!sand_simulation_fetch_block(sim, &first, &end, &error)) give_up(ranks->rank, &error);
    uint64_t alone = hash_bodies(w, first, end);
    if (!sand_simulation_fetch(sim, &error)) give_up(ranks->rank, &error);
    int blocks = ranks->count < SAND_CHUNKS ? ranks->count : SAND_CHUNKS,
        block = ranks->rank < blocks ? ranks->rank : blocks;
    if (alone != hash_bodies(w, first, end) || first != w->body_count * block / blocks)
        give_up(ranks->rank, &(SandError){"the block that it read alone is another"});
}

static const char *path_of(int step, bool of_ranks) {
    static _Thread_local char path[80];
    snprintf(path, sizeof path, "/tmp/sandglass-part-%ld-%d-%s", (long)getpid(), step, of_ranks ? "ranks" : "one");
    return path;
}

static bool write_file(SandSimulation *sim, const char *path, SandError *error) {
    const SandCheckpointNotes notes = {.origin = "a world\n", .progress = "odd"};
    SandCheckpoint scratch = {0};
    bool written = sand_simulation_write_checkpoint(sim, &scratch, &notes, path, error);
    sand_checkpoint_free(&scratch);
    return written;
}

static bool same_files(const char *a, const char *b) {
    FILE *one = fopen(a, "rb"), *other = fopen(b, "rb");
    int x = 0, y = 0;
    assert_true(one && other);
    while (x == y && x != EOF) {
        x = fgetc(one);
        y = fgetc(other);
    }
    fclose(one);
    fclose(other);
    return x == y;
}

// The ranks write the bytes of one process.
static void check_checkpoint(SandSimulation *sim, const SandRanks *ranks, int step) {
    SandError error;
    if (!write_file(sim, path_of(step, true), &error)) give_up(ranks->rank, &error);
    if (ranks->rank == 0 && !same_files(path_of(step, true), path_of(step, false)))
        give_up(0, &(SandError){"the checkpoint differs from that of one process"});
}

static void remove_checkpoints(const Run *run) {
    for (int step = 0; step <= run->steps; step++) {
        remove(path_of(step, false));
        remove(path_of(step, true));
    }
}

static void check_files(SandSimulation *sim, const SandRanks *ranks, int step) {
    check_checkpoint(sim, ranks, step);
    check_block(sim, ranks);
    check_checkpoint(sim, ranks, step); // of bodies and impulses that every host has
}

static void write_alone(SandSimulation *sim, int step) {
    SandError error;
    if (!write_file(sim, path_of(step, false), &error)) fail_msg("%s", error.text);
}

// Takes the steps in one process and on each of these numbers of ranks, and compares.
static void compare_acted(const char *name, SandWorld (*make)(void), void (*act)(SandSimulation *sim, int step), int steps,
                          int iterations, const int *counts) {
    static Run run;
    run = (Run){.make = make,
                .act = act,
                .backend = ranks_backend,
                .reads_steps = true,
                .steps = steps,
                .iterations = iterations,
                .check = check_files,
                .note = write_alone};
    run_alone(&run);
    compare_ranks(name, &run, counts);
    remove_checkpoints(&run);
}

static void compare(const char *name, SandWorld (*make)(void), int steps, int iterations, const int *counts) {
    compare_acted(name, make, NULL, steps, iterations, counts);
}

// --- worlds -------------------------------------------------------------------------------------------------

// A gas in a box that repeats: spheres touch across its sides, and pass through them.
static SandWorld gas(void) {
    SandRandom random = sand_random(7);
    SandWorld w = lab_world(0.3);
    w.gravity = v3_make(0, 0, 0);
    w.lower = v3_make(-1, -1, -1);
    w.upper = v3_make(1, 1, 1);
    w.periodic[0] = w.periodic[1] = w.periodic[2] = true;
    for (int i = 0; i < 400; i++) throw(&w, &random, i % 10 ? 0.08 : 0.16, 1, i % 40 ? 2 : 20);
    return w;
}

// A pile with rolling friction: what is kept of a contact is its torque as well.
static SandWorld rolling_pile(void) {
    SandWorld w = lab_pile(0);
    lab_set_rolling(&w, 0, 0.01, 0.005);
    return w;
}

// A chain that hangs through a cloud of spheres and boxes: every rank must have the bodies that joints hold.
static SandWorld chain(void) {
    SandRandom random = sand_random(11);
    SandWorld w = lab_world(0.3);
    SandShape box;
    SandJointDef ball = sand_default_joint();
    assert_true(sand_shape_box(&box, v3_make(0.06, 0.05, 0.04), NULL));
    int boxes = sand_world_add_shape(&w, &box, NULL);
    for (int k = 0; k < 12; k++) {
        ball.a = k - 1;
        ball.b = lab_body(&w, 0, 0.08, v3_make(0.17 * k, 0, 1.2));
        ball.anchor = v3_make(0.17 * k - 0.085, 0, 1.2);
        assert_int_equal(sand_world_add_joint(&w, &ball, NULL), k);
    }
    for (int i = 0; i < 200; i++) throw(&w, &random, 0.06, 1, 1);
    for (int i = 0; i < 40; i++)
        lab_body(&w, boxes, 1, v3_make(sand_random_signed(&random), sand_random_signed(&random), 1.5 + 0.1 * i));
    return w;
}

// Bars so close that they spin into each other, and columns of boxes in which a blow runs from one to the next within a
// step: ranks look again (sim/step/second_look.inl) where one process does.
static SandWorld spinning(void) {
    SandRandom random = sand_random(13);
    SandWorld w = lab_world(0.3);
    SandShape bar, box;
    lab_plane(&w, v3_make(0, 0, 0), v3_make(0, 0, 1));
    assert_true(sand_shape_capsule(&bar, 0.02, 0.1, NULL) && sand_shape_box(&box, v3_make(0.05, 0.05, 0.05), NULL));
    int bars = sand_world_add_shape(&w, &bar, NULL), boxes = sand_world_add_shape(&w, &box, NULL);
    for (int i = 0; i < 160; i++) {
        int body = lab_body(&w, bars, 1, v3_make(0.08 * (i % 8), 0.16 * (i / 8 % 4), 0.1 + 0.16 * (i / 32)));
        w.spin[body] = v3_make(60 * sand_random_signed(&random), 0, 20 * sand_random_signed(&random));
    }
    for (int i = 0; i < 60; i++) {
        int body = lab_body(&w, boxes, 1, v3_make(-0.4 - 0.3 * (i / 12), 0, 0.06 + 0.11 * (i % 12)));
        if (i % 12 == 11) w.velocity[body].z = -8;
    }
    return w;
}

static const int all_counts[] = {2, 3, 4, 8, 0}, some_counts[] = {3, 0};
static const int *counts(void) { return is_short ? some_counts : all_counts; }

static void sizes_and_speeds(void **state) {
    (void)state;
    compare("many sizes", many_sizes, is_short ? 6 : 60, 10, counts());
}

static void a_world_that_repeats(void **state) {
    (void)state;
    compare("gas", gas, is_short ? 6 : 80, 10, counts());
}

static void what_rests(void **state) {
    (void)state;
    compare("a resting pile", sleeping_pile, is_short ? 20 : 300, 20, counts());
}

static void what_bounces_and_rolls(void **state) {
    (void)state;
    compare("bouncing spheres", bouncing, is_short ? 8 : 40, 10, counts());
    compare("a pile that rolls", rolling_pile, is_short ? 20 : 100, 20, counts());
}

static void what_clings(void **state) {
    (void)state;
    compare("sticky spheres", sticky, is_short ? 8 : 60, 10, counts());
}

static void what_enters(void **state) {
    (void)state;
    compare("a fountain", fountain, is_short ? 30 : 120, 10, counts());
}

static void bodies_of_several_spheres(void **state) {
    (void)state;
    compare("clumps", clumps, is_short ? 20 : 80, 10, counts());
}

static void bodies_that_pass(void **state) {
    (void)state;
    compare("passing bodies", passing, is_short ? 10 : 60, 10, counts());
}

static void what_joints_hold(void **state) {
    (void)state;
    compare("a chain", chain, is_short ? 10 : 100, 20, counts());
}

// Some ranks have no joint, and solve as often as those that have.
static SandWorld chain_of_passes(void) {
    SandWorld w = chain();
    w.joint_passes = 3;
    return w;
}

static void joints_that_are_solved_again(void **state) {
    (void)state;
    compare("a chain in three passes", chain_of_passes, is_short ? 4 : 20, 10, counts());
}

// Bodies enough for SAND_CHUNKS chunks, of 16 bodies at least.
static SandWorld crowd(void) {
    SandRandom random = sand_random(17);
    SandWorld w = lab_world(0.3);
    lab_plane(&w, v3_make(0, 0, -1), v3_make(0, 0, 1));
    for (int i = 0; i < 1300; i++) throw(&w, &random, 0.06, 1, 1);
    return w;
}

// A rank has whole chunks, of which there are SAND_CHUNKS at most: those behind have nothing to do. Joints, ghosts of which
// are everywhere, periodic images and levels of grids have masks of ranks; so have blocks of files.
static void more_ranks_than_chunks(void **state) {
    static const int more[] = {SAND_CHUNKS, SAND_CHUNKS + 1, SAND_CHUNKS + 6, 0}, most[] = {SAND_CHUNKS + 6, 0};
    const int *ranks = is_short ? most : more;
    (void)state;
    compare("a crowd", crowd, 3, 5, ranks);
    compare("many sizes", many_sizes, 3, 5, ranks);
    compare("gas", gas, 3, 5, ranks);
    compare("a chain in three passes", chain_of_passes, 6, 5, ranks);
    compare("star", star, 2, 5, ranks);
    compare("few", few, 6, 5, most);
}

static void what_spins(void **state) {
    (void)state;
    compare("spinning bars", spinning, is_short ? 10 : 60, 40, counts());
}

static void what_is_made_of_pieces(void **state) {
    (void)state;
    compare("compounds", lab_compounds, is_short ? 20 : 80, 20, counts());
}

static void a_high_degree_body(void **state) {
    (void)state;
    compare("star", star, is_short ? 6 : 40, 15, counts());
}

static void a_body_that_is_pulled(void **state) {
    (void)state;
    compare("a pulled body", pulled, is_short ? 6 : 60, 10, counts());
}

static void ranks_without_bodies(void **state) {
    (void)state;
    compare("few", few, is_short ? 30 : 90, 10, counts());
}

// Bodies cross the borders all the time: in 10,000 steps none is lost, doubled or changed.
static void a_long_run(void **state) {
    (void)state;
    compare("drum", drum, is_short ? 10 : MOST_STEPS, 3, some_counts);
}

static void what_is_pushed(void **state) {
    (void)state;
    compare_acted("a stirred pile", sleeping_pile, stir, is_short ? 20 : 100, 20, counts());
    compare_acted("a stirred gas", gas, stir, is_short ? 10 : 60, 10, counts());
    compare_acted("a stirred chain", chain, stir, is_short ? 10 : 60, 20, counts());
}

// The pressure on a box that is squeezed is a sum over all contacts in their order.
static void refuse_squeeze(const SandRanks *ranks, void *argument) {
    SandWorld world = gas();
    SandSimulationDef def = sand_default_simulation();
    world.squeeze.rate = world.squeeze.pressure = 1;
    my_ranks = ranks;
    def.threads = 1;
    def.backend = ranks_backend();
    assert_null(sand_simulation_create(&world, &def, argument));
}

static void what_cannot_be_shared_is_refused(void **state) {
    (void)state;
    SandError error = {""};
    local_ranks_run(1, refuse_squeeze, &error, NULL);
    assert_string_equal(error.text, "several ranks cannot squeeze a box yet");
}

int main(int argc, char **argv) {
    is_short = argc > 1 && !strcmp(argv[1], "short");
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_and_speeds),
                                       cmocka_unit_test(a_world_that_repeats),
                                       cmocka_unit_test(what_rests),
                                       cmocka_unit_test(what_bounces_and_rolls),
                                       cmocka_unit_test(what_clings),
                                       cmocka_unit_test(what_enters),
                                       cmocka_unit_test(bodies_of_several_spheres),
                                       cmocka_unit_test(bodies_that_pass),
                                       cmocka_unit_test(what_joints_hold),
                                       cmocka_unit_test(joints_that_are_solved_again),
                                       cmocka_unit_test(more_ranks_than_chunks),
                                       cmocka_unit_test(what_spins),
                                       cmocka_unit_test(what_is_made_of_pieces),
                                       cmocka_unit_test(what_is_pushed),
                                       cmocka_unit_test(a_high_degree_body),
                                       cmocka_unit_test(a_body_that_is_pulled),
                                       cmocka_unit_test(ranks_without_bodies),
                                       cmocka_unit_test(a_long_run),
                                       cmocka_unit_test(what_cannot_be_shared_is_refused)};
    if (argc > 2) cmocka_set_test_filter(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
