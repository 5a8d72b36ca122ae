// SPDX-License-Identifier: MIT
// Inlets and outlets: what enters and leaves is counted to the body, by any number of threads and from a checkpoint, and
// nothing enters where something is.
#include "tests/lab/lab.h"
#include "sim/step/checkpoint.h"

// Balls of mixed sizes over a plane that slopes towards +x, and an outlet behind its edge and one far below.
enum { BALLS = 200 };
static SandWorld chute(void) {
    SandWorld world = lab_world(0.2);
    SandRandom random = sand_random(3);
    world.gravity = lab_slope(30 * PI / 180);
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    for (int i = 0; i < BALLS; i++)
        lab_body(&world, 0, 0.04 + 0.05 * sand_random_unit(&random),
                 v3_make(0.2 * (i % 10), 0.2 * (i / 10 % 5), 0.1 + 0.2 * (i / 50)));
    SandOutlet box = sand_outlet_box(v3_make(3, -5, -1), v3_make(4, 0.5, 3));
    SandOutlet plane = sand_outlet_plane(v3_make(3.5, 0, 0), v3_make(-2, 0, 0));
    assert_int_equal(sand_world_add_outlet(&world, &box, NULL), 0);
    assert_int_equal(sand_world_add_outlet(&world, &plane, NULL), 1);
    return world;
}

static SandSimulation *run(SandWorld world, int threads, int steps) {
    SandSimulationDef def = sand_default_simulation();
    def.threads = threads;
    SandSimulation *sim = lab_simulation(&world, &def); // a message would fail the test: nothing is lost
    lab_run(sim, steps);
    return sim;
}

// The bodies that are out, as the world knows them, are those that the counters count, and the others are active.
static void check_balance(const SandSimulation *sim) {
    const SandWorld *w = sand_simulation_world(sim);
    const SandCounters *c = sand_simulation_counters(sim);
    int64_t left[2] = {0}, active = 0;
    double mass[2] = {0};
    for (int i = 0; i < w->body_count; i++) {
        active += sand_world_active(w, i);
        if (w->gone[i] < SAND_LEFT_BY) continue;
        left[w->gone[i] - SAND_LEFT_BY]++;
        mass[w->gone[i] - SAND_LEFT_BY] += w->mass[i];
    }
    for (int k = 0; k < w->outlet_count; k++) {
        assert_int_equal(w->outlets[k].bodies, left[k]);
        NEAR(w->outlets[k].mass, mass[k], 1e-12 * mass[k]); // the same sum in another order
    }
    assert_int_equal(c->left_total, left[0] + left[1]);
    NEAR(c->left_mass, mass[0] + mass[1], 1e-12 * c->left_mass);
    assert_int_equal(c->lost_total, 0);
    assert_int_equal(active + c->left_total, w->body_count);
}

static void outlets_count_what_leaves(void **state) {
    (void)state;
    SandSimulation *sim = run(chute(), 2, 60);
    const SandWorld *w = sand_simulation_world(sim);
    check_balance(sim);
    assert_true(w->outlets[0].bodies > 0 && sand_simulation_counters(sim)->left_total < BALLS);
    lab_run(sim, 400);
    check_balance(sim);
    assert_int_equal(sand_simulation_counters(sim)->left_total, BALLS);
    assert_true(w->outlets[1].bodies > 0); // those that passed beside the box
    sand_simulation_free(sim);
}

static void outlets_are_the_same_for_all_threads(void **state) {
    (void)state;
    SandSimulation *one = run(chute(), 1, 100), *three = run(chute(), 3, 100);
    const SandWorld *a = sand_simulation_world(one), *b = sand_simulation_world(three);
    assert_int_equal(sand_world_hash(a), sand_world_hash(b));
    assert_true(a->outlets[0].bodies > 0);
    assert_memory_equal(a->outlets, b->outlets, 2 * sizeof *a->outlets);
    sand_simulation_free(one);
    sand_simulation_free(three);
}

static void a_checkpoint_has_the_counts(void **state) {
    (void)state;
    SandError error = {""};
    SandCheckpoint checkpoint = {0};
    SandSimulation *sim = run(chute(), 2, 60);
    int64_t early = sand_simulation_counters(sim)->left_total;
    if (!sand_simulation_save_state(sim, &checkpoint, &error)) fail_msg("%s", error.text);
    lab_run(sim, 40);
    SandCounters late = *sand_simulation_counters(sim);
    uint64_t hash = sand_world_hash(sand_simulation_world(sim));
    if (!sand_simulation_restore_state(sim, &checkpoint, &error)) fail_msg("%s", error.text);
    assert_int_equal(sand_simulation_counters(sim)->left_total, early);
    lab_run(sim, 40);
    check_balance(sim);
    assert_true(early > 0 && late.left_total > early);
    assert_int_equal(sand_simulation_counters(sim)->left_total, late.left_total);
    assert_true(sand_simulation_counters(sim)->left_mass == late.left_mass);
    assert_int_equal(sand_world_hash(sand_simulation_world(sim)), hash);
    sand_checkpoint_free(&checkpoint);
    sand_simulation_free(sim);
}

// --- inlets ---

// A small hopper: spheres and clumps are fed from above, faster than the orifice lets them out.
static const char *const hopper = "step: 0.005\n"
                                  "seed: 5\n"
                                  "shapes: [{name: pair, spheres: [{center: [0.5, 0, 0], radius: 0.8},"
                                  " {center: [-0.5, 0, 0], radius: 0.8}]}]\n"
                                  "boundaries: [{name: silo, shape: revolution,"
                                  " profile: [[0.2, -0.1], [0.2, 0], [0.35, 0.3], [0.35, 1.2]]}]\n"
                                  "inlets:\n"
                                  "  - {radii: [0.02, 0.03], count: 400, rate: 400, lower: [-0.2, -0.2, 0.8],"
                                  " upper: [0.2, 0.2, 1], velocity: [0, 0, -1]}\n"
                                  "  - {shape: pair, sizes: [0.02, 0.03], count: 100, rate: 50, start: 0.5,"
                                  " lower: [-0.2, -0.2, 1], upper: [0.2, 0.2, 1.2]}\n"
                                  "outlets: [{point: [0, 0, -0.4], normal: [0, 0, 1]}]\n";

static bool load(const char *keys, SandScene *scene, SandError *error) {
    char text[2000];
    int size = snprintf(text, sizeof text, "name: t\n%s", keys);
    return sand_scene_load_text(scene, text, (size_t)size, "t.yaml", NULL, error);
}

static SandWorld load_world(const char *keys) {
    SandScene scene;
    SandError error = {""};
    if (!load(keys, &scene, &error)) fail_msg("%s", error.text);
    SandWorld world = scene.world;
    memset(&scene.world, 0, sizeof scene.world);
    sand_scene_free(&scene);
    return world;
}

// Whether a body is clear of all others: by its bounding sphere, as inlets see it.
static bool is_clear(const SandWorld *w, int body) {
    double r = w->scale[body] * w->shapes[w->shape[body]].bound;
    for (int i = 0; i < w->body_count; i++) {
        double apart = v3_length(v3_sub(w->position[i], w->position[body]));
        if (i != body && sand_world_active(w, i) && apart < r + w->scale[i] * w->shapes[w->shape[i]].bound - 1e-12)
            return false;
    }
    return true;
}

// Takes steps, and checks in each of them where bodies enter. Returns how many had to wait in the last one.
static int feed(SandSimulation *sim, int steps) {
    SandError error = {""};
    const SandWorld *w = sand_simulation_world(sim);
    int waiting = 0;
    for (int s = 0; s < steps; s++) {
        if (!sand_simulation_build(sim, &error)) fail_msg("%s", error.text);
        for (int k = 0; k < w->inlet_count; k++) {
            const SandInlet *in = &w->inlets[k];
            for (int i = in->first + in->entered; i < in->first + in->count && !isinf(w->enter[i]); i++)
                assert_true(is_clear(w, i) && w->enter[i] == w->time);
        }
        lab_step(sim);
        int64_t active = 0, entered = 0;
        waiting = 0;
        for (int k = 0; k < w->inlet_count; k++) {
            const SandInlet *in = &w->inlets[k];
            int due = (int)floor(in->rate * (w->time - w->step - in->start) + 1e-9);
            entered += in->entered;
            assert_true(in->entered <= in->count && in->entered <= (due > 0 ? due : 0));
            waiting += (due < in->count ? due : in->count) - in->entered;
        }
        for (int i = 0; i < w->body_count; i++) active += sand_world_active(w, i);
        const SandCounters *c = sand_simulation_counters(sim);
        assert_int_equal(c->entered_total, entered);
        assert_int_equal(c->entered_total - c->left_total, active);
        assert_int_equal(c->lost_total, 0);
    }
    return waiting;
}

static void what_enters_leaves(void **state) {
    (void)state;
    SandSimulation *sim = run(load_world(hopper), 2, 0);
    const SandCounters *c = sand_simulation_counters(sim);
    assert_true(feed(sim, 200) >= 0);
    assert_true(c->entered_total > 300 && c->left_total > 50);
    feed(sim, 600);
    const SandWorld *w = sand_simulation_world(sim);
    double mass = 0;
    for (int i = 0; i < w->body_count; i++) mass += w->mass[i];
    assert_int_equal(c->entered_total, 500);
    assert_int_equal(c->left_total, 500);
    NEAR(c->left_mass, mass, 1e-12 * mass);
    sand_simulation_free(sim);
}

// Without an outlet the vessel fills up to its inlet, and the rest waits. Nothing is pushed in.
static void what_finds_no_place_waits(void **state) {
    (void)state;
    SandWorld world = load_world("boundaries: [{shape: box, size: [0.4, 0.4, 0.4], position: [0, 0, 0.2]}]\n"
                                 "inlets: [{radius: 0.03, count: 500, rate: 1000, lower: [-0.2, -0.2, 0.3],"
                                 " upper: [0.2, 0.2, 0.4], velocity: [0, 0, -1]}]\n");
    SandSimulation *sim = run(world, 2, 0);
    int waiting = feed(sim, 300);
    const SandCounters *c = sand_simulation_counters(sim);
    print_message("%d entered, %d wait\n", (int)c->entered_total, waiting);
    assert_true(waiting > 50 && c->entered_total > 100 && c->entered_total + waiting == 500);
    assert_true(c->penetration_max < 0.002);
    sand_simulation_free(sim);
}

static uint64_t hash_fed(int threads, int steps) {
    SandSimulation *sim = run(load_world(hopper), threads, steps);
    uint64_t hash = sand_world_hash(sand_simulation_world(sim)) ^ (uint64_t)sand_simulation_counters(sim)->entered_total;
    sand_simulation_free(sim);
    return hash;
}

static void inlets_are_the_same_for_all_threads(void **state) {
    (void)state;
    uint64_t alone = hash_fed(1, 200);
    assert_int_equal(hash_fed(2, 200), alone);
    assert_int_equal(hash_fed(3, 200), alone);
}

// Back to a checkpoint from which bodies have entered since, and on with the same bits; also after a build that was dropped.
static void inlets_go_back_in_time(void **state) {
    (void)state;
    SandError error = {""};
    SandCheckpoint checkpoint = {0};
    SandSimulation *sim = run(load_world(hopper), 2, 120);
    SandCounters early = *sand_simulation_counters(sim);
    if (!sand_simulation_save_state(sim, &checkpoint, &error)) fail_msg("%s", error.text);
    lab_run(sim, 80);
    SandCounters late = *sand_simulation_counters(sim);
    uint64_t hash = sand_world_hash(sand_simulation_world(sim));
    if (!sand_simulation_restore_state(sim, &checkpoint, &error)) fail_msg("%s", error.text);
    assert_int_equal(sand_simulation_counters(sim)->entered_total, early.entered_total);
    for (int s = 0; s < 80; s++) {
        if (!sand_simulation_build(sim, &error)) fail_msg("%s", error.text);
        sand_simulation_change(sim); // nothing changes, but the problem is dropped
        lab_step(sim);
    }
    assert_true(early.entered_total > 0 && late.entered_total > early.entered_total && late.left_total > early.left_total);
    assert_int_equal(sand_simulation_counters(sim)->entered_total, late.entered_total);
    assert_int_equal(sand_world_hash(sand_simulation_world(sim)), hash);
    sand_checkpoint_free(&checkpoint);
    sand_simulation_free(sim);
}

static void refuse_inlet(SandInlet inlet, const char *words) {
    SandWorld world = lab_world(0);
    SandError error = {""};
    for (int i = 0; i < 4; i++) lab_body(&world, 0, 0.1, v3_make(i, 0, 0));
    SandInlet first = {.upper = {1, 1, 1}, .rate = 1, .first = 3, .count = 1};
    assert_int_equal(sand_world_add_inlet(&world, &first, &error), 0);
    assert_int_equal(sand_world_add_inlet(&world, &inlet, &error), -1);
    if (!strstr(error.text, words)) fail_msg("%s", error.text);
    sand_world_free(&world);
}

static void bad_inlets_are_refused(void **state) {
    (void)state;
    SandVec3 one = v3_make(1, 1, 1);
    refuse_inlet((SandInlet){.upper = {1, 1, 0}, .rate = 1, .count = 1}, "above its lower one");
    refuse_inlet((SandInlet){.upper = one, .rate = 0, .count = 1}, "its rate 0 must be above 0");
    refuse_inlet((SandInlet){.upper = one, .rate = 1, .start = NAN, .count = 1}, "its start nan finite");
    refuse_inlet((SandInlet){.upper = one, .rate = 1, .first = 2, .count = 3}, "not all in the world");
    refuse_inlet((SandInlet){.upper = one, .rate = 1, .first = 2, .count = 2}, "have bodies in common");
    refuse_inlet((SandInlet){.upper = {1, 1, 0.15}, .rate = 1, .count = 2}, "smaller than its largest body, of 0.2 m");
    refuse_inlet((SandInlet){.upper = {1000, 1000, 1}, .rate = 1, .count = 2}, "holds more than 100000 bodies");
}

static void refuse_outlet(SandOutlet outlet, const char *words) {
    SandWorld world = lab_world(0);
    SandError error = {""};
    assert_int_equal(sand_world_add_outlet(&world, &outlet, &error), -1);
    if (!strstr(error.text, words)) fail_msg("%s", error.text);
    sand_world_free(&world);
}

static void bad_outlets_are_refused(void **state) {
    (void)state;
    refuse_outlet(sand_outlet_box(v3_make(0, 0, 0), v3_make(1, 0, 1)), "above its lower one");
    refuse_outlet(sand_outlet_box(v3_make(0, 0, NAN), v3_make(1, 1, 1)), "above its lower one");
    refuse_outlet(sand_outlet_plane(v3_make(0, 0, 0), v3_make(0, 0, 0)), "a normal with a length");
    refuse_outlet(sand_outlet_plane(v3_make(0, INFINITY, 0), v3_make(0, 0, 1)), "a normal with a length");
    SandWorld world = lab_world(0);
    SandOutlet box = sand_outlet_box(v3_make(0, 0, 0), v3_make(1, 1, 1));
    SandError error = {""};
    for (int k = 0; k < SAND_MAX_OUTLETS; k++) assert_int_equal(sand_world_add_outlet(&world, &box, &error), k);
    assert_int_equal(sand_world_add_outlet(&world, &box, &error), -1);
    assert_non_null(strstr(error.text, "at most 16 outlets"));
    sand_world_free(&world);
}

// --- scene files ---

static void a_scene_has_outlets(void **state) {
    (void)state;
    SandScene scene;
    SandError error = {""};
    if (!load("outlets:\n"
              "  - {name: drain, lower: [-1, -2, -3], upper: [1, 2, 3]}\n"
              "  - {point: [0, 0, -5], normal: [0, 0, 2]}\n",
              &scene, &error))
        fail_msg("%s", error.text);
    const SandOutlet *o = scene.world.outlets;
    assert_int_equal(scene.world.outlet_count, 2);
    assert_string_equal(o[0].name, "drain");
    assert_true(o[0].lower.y == -2 && o[0].upper.z == 3 && v3_length(o[0].normal) == 0);
    assert_string_equal(o[1].name, "2");
    assert_true(o[1].normal.z == 2 && o[1].offset == -10 && isinf(o[1].upper.x));
    sand_scene_free(&scene);
}

static const struct {
    const char *keys, *message;
} wrongs[] = {
    {"outlets: [{name: a}]\n", "t.yaml:2: outlets: expected lower and upper (a box), or point and normal (a plane)"},
    {"outlets: [{lower: [0, 0, 0]}]\n", "t.yaml:2: upper: missing: a box has lower and upper"},
    {"outlets: [{normal: [0, 0, 1]}]\n", "t.yaml:2: point: missing: a plane has point and normal"},
    {"outlets: [{lower: [0, 0, 0], upper: [1, 1, 0]}]\n", "its upper corner must lie above its lower one"},
    {"outlets: [{point: [0, 0, 0], normal: [0, 0, 0]}]\n", "a normal with a length"},
    {"outlets: [{point: [0, 0, 1e9], normal: [0, 0, 1]}]\n", "t.yaml:2: point: expected"},
    {"inlets: [{radius: 0.1, rate: 1, count: 2, lower: [0, 0, 0]}]\n", "t.yaml:2: upper: missing"},
    {"inlets: [{radius: 0.1, rate: 1, lower: [0, 0, 0], upper: [1, 1, 1]}]\n", "t.yaml:2: count: missing"},
    {"inlets: [{rate: 1, count: 2, lower: [0, 0, 0], upper: [1, 1, 1]}]\n", "t.yaml:2: radius: missing"},
    {"inlets: [{radius: 0.1, rate: 0, count: 2, lower: [0, 0, 0], upper: [1, 1, 1]}]\n", "t.yaml:2: rate: expected"},
    {"inlets: [{radius: 0.1, rate: 1, count: 2, lower: [0, 0, 0], upper: [1, 1, 0.1]}]\n", "smaller than its largest"},
    {"boundaries: [{name: floor, shape: plane}]\n"
     "inlets: [{radius: 0.1, rate: 1, count: 2, lower: [0, 0, -0.1], upper: [1, 1, 1]}]\n",
     "t.yaml:3: inlets: inlet 1 reaches into boundary 'floor'"},
    {"size: {bodies: 10}\n"
     "inlets: [{radius: 0.1, rate: 1, count: 2, lower: [0, 0, 0], upper: [1, 1, 1]}]\n",
     "t.yaml:2: size: no fill or inlet takes its count from it"},
    {"outlets: [{point: [0, 0, 0], normal: [0, 0, 1], size: 3}]\n", "t.yaml:2: size: "},
};

static void bad_keys_are_refused_in_one_line(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        SandScene scene;
        SandError error = {""};
        if (load(wrongs[i].keys, &scene, &error)) fail_msg("accepted: %s", wrongs[i].keys);
        if (!strstr(error.text, wrongs[i].message) || strchr(error.text, '\n'))
            fail_msg("got: %s\nwanted: %s", error.text, wrongs[i].message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outlets_count_what_leaves),
        cmocka_unit_test(outlets_are_the_same_for_all_threads),
        cmocka_unit_test(a_checkpoint_has_the_counts),
        cmocka_unit_test(bad_outlets_are_refused),
        cmocka_unit_test(what_enters_leaves),
        cmocka_unit_test(what_finds_no_place_waits),
        cmocka_unit_test(inlets_are_the_same_for_all_threads),
        cmocka_unit_test(inlets_go_back_in_time),
        cmocka_unit_test(bad_inlets_are_refused),
        cmocka_unit_test(a_scene_has_outlets),
        cmocka_unit_test(bad_keys_are_refused_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
