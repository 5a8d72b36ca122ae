// Bodies by owner: several ranks, each with a part of the world, take the steps of one process to the bit. What they report
// of every step is the same, too. The ranks are threads here (tests/lab/local_ranks.h); tests/mpi has processes.
#include "tests/lab/lab.h"
#include "tests/lab/local_ranks.h"
#include "sim/core/hash.h"
#include "sim/step/cpu_backend.h"

#include <pthread.h>

enum { MOST_STEPS = 10000, MOST_RANKS = 8 };
static bool is_short;

// --- ranks as a backend -------------------------------------------------------------------------------------

static _Thread_local const SandRanks *my_ranks;

static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    SandDevice *device = sand_cpu_backend()->create(def, error);
    assert_true(device && sand_cpu_backend_join(device, my_ranks, error));
    return device;
}

static bool read_bodies(SandDevice *device, SandWorld *world, int first, int count, SandError *error) {
    (void)world, (void)first, (void)count;
    return sand_cpu_backend_read(device, error);
}

static bool read_warm_start(SandDevice *device, SandWarmStart *warm, SandError *error) {
    (void)warm;
    return sand_cpu_backend_read(device, error);
}

static bool read_step(SandDevice *device, SandError *error) { return sand_cpu_backend_read_step(device, error); }

static const SandBackend *ranks_backend(void) {
    static _Thread_local SandBackend backend;
    backend = *sand_cpu_backend();
    backend.name = "ranks";
    backend.on_host = false;
    backend.fails_for_all = true;
    backend.create = create;
    backend.read_bodies = read_bodies;
    backend.read_warm_start = read_warm_start;
    backend.read_step = read_step;
    return &backend;
}

// --- runs ---------------------------------------------------------------------------------------------------

// What is known after a step.
typedef struct Figures {
    int bodies, contacts, warm_started, resting, solved, lost, left, entered;
    double left_mass, penetration, walls, residual, kinetic, potential;
    uint64_t said; // sentences so far
    uint64_t hash; // of the world, where it was fetched
    uint64_t step; // of the contacts, problem and solution of the step, where they were
} Figures;

typedef struct Run {
    SandWorld (*make)(void);
    int steps, iterations;
    Figures one[MOST_STEPS + 1];
    bool wrong[MOST_RANKS];
    char sentence[200];
} Run;

static void hear(void *said, const char *sentence) {
    uint64_t *hash = said;
    *hash = sand_hash_bytes(*hash, sentence, strlen(sentence));
}

// Contacts, bodies, impulses and velocities of the last step.
static uint64_t hash_step(SandSimulation *sim) {
    const SandProblem *p = sand_simulation_problem(sim);
    const SandSolution *s = sand_simulation_solution(sim);
    const int *order = sand_simulation_order(sim);
    uint64_t hash = sand_hash(SAND_HASH_BEGIN, (uint64_t)p->contact_count);
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        const double numbers[] = {c->a, c->b, c->gap, c->mu, c->normal.x, c->normal.y, c->arm_a.z, c->arm_b.x};
        hash = sand_hash_bytes(hash, numbers, sizeof numbers);
        hash = sand_hash_bytes(hash, &p->start[i], sizeof *p->start);
        hash = sand_hash_bytes(hash, &s->impulse[i], sizeof *s->impulse);
    }
    for (int k = 0; k < p->dynamic_count; k++) {
        hash = sand_hash(hash, (uint64_t)order[k]);
        hash = sand_hash_bytes(hash, &p->bodies[k].velocity, sizeof p->bodies[k].velocity);
        hash = sand_hash_bytes(hash, &s->velocity[k], sizeof *s->velocity);
        hash = sand_hash_bytes(hash, &s->spin[k], sizeof *s->spin);
    }
    return hash;
}

static Figures figures_of(SandSimulation *sim, uint64_t said, bool fetch) {
    const SandCounters *c = sand_simulation_counters(sim);
    SandEnergy energy = sand_simulation_energy(sim);
    SandError error;
    Figures f;
    memset(&f, 0, sizeof f);
    f.bodies = c->bodies;
    f.contacts = c->contacts;
    f.warm_started = c->warm_started;
    f.resting = c->resting;
    f.solved = c->solved_contacts;
    f.lost = (int)c->lost_total;
    f.left = (int)c->left_total;
    f.entered = (int)c->entered_total;
    f.left_mass = c->left_mass;
    f.penetration = c->penetration_max;
    f.walls = c->penetration_walls;
    f.residual = c->metrics.residual;
    f.kinetic = energy.kinetic;
    f.potential = energy.potential;
    f.said = said;
    if (!fetch) return f;
    assert_true(sand_simulation_fetch(sim, &error) && sand_simulation_fetch_contacts(sim, &error));
    f.hash = sand_world_hash(sand_simulation_world(sim));
    f.step = hash_step(sim);
    return f;
}

// Fetched only now and then: ranks that always knew everything would prove nothing.
static bool is_fetched(const Run *run, int step) { return step == run->steps || step % 37 == 5; }

// Now and then bodies are changed, even if no number is: the ranks begin anew, with the bodies and impulses of the host.
static bool begins_anew(int step) { return step % 41 == 3; }

static SandSimulation *start(const Run *run, const SandBackend *backend, uint64_t *said) {
    static pthread_mutex_t building = PTHREAD_MUTEX_INITIALIZER; // one scene at a time
    pthread_mutex_lock(&building);
    SandWorld world = run->make();
    pthread_mutex_unlock(&building);
    SandSimulationDef def = sand_default_simulation();
    SandError error;
    def.threads = 1;
    def.precision = SAND_FLOAT;
    def.solve.iterations = run->iterations;
    def.backend = backend;
    SandSimulation *sim = sand_simulation_create(&world, &def, &error);
    if (!sim) fail_msg("%s", error.text);
    *said = SAND_HASH_BEGIN;
    sand_simulation_on_message(sim, hear, said);
    return sim;
}

// The others would wait for this rank forever.
static void give_up(int rank, const SandError *error) {
    fprintf(stderr, "rank %d: %s\n", rank, error->text);
    abort();
}

static void run_as_rank(const SandRanks *ranks, void *argument) {
    Run *run = argument;
    SandError error;
    uint64_t said;
    my_ranks = ranks;
    SandSimulation *sim = start(run, ranks_backend(), &said);
    for (int step = 1; step <= run->steps && !run->wrong[ranks->rank]; step++) {
        if (!sand_simulation_step(sim, &error)) give_up(ranks->rank, &error);
        Figures now = figures_of(sim, said, is_fetched(run, step)), *one = &run->one[step];
        if (begins_anew(step) && !sand_simulation_change_bodies(sim, &error)) give_up(ranks->rank, &error);
        if (!memcmp(&now, one, sizeof now)) continue;
        run->wrong[ranks->rank] = true; // as on all ranks
        snprintf(run->sentence, sizeof run->sentence,
                 "step %d: %d bodies, %d contacts, %g J, hash %llx; one process: %d, %d, %g, %llx", step, now.bodies,
                 now.contacts, now.kinetic, (unsigned long long)now.hash, one->bodies, one->contacts, one->kinetic,
                 (unsigned long long)one->hash);
    }
    sand_simulation_free(sim);
}

static void run_alone(Run *run) {
    SandError error;
    uint64_t said;
    SandSimulation *sim = start(run, NULL, &said);
    for (int step = 1; step <= run->steps; step++) {
        if (!sand_simulation_step(sim, &error)) fail_msg("%s", error.text);
        run->one[step] = figures_of(sim, said, is_fetched(run, step));
        if (begins_anew(step) && !sand_simulation_change_bodies(sim, &error)) fail_msg("%s", error.text);
    }
    sand_simulation_free(sim);
}

// Takes the steps in one process and on each of these numbers of ranks, and compares.
static void compare(const char *name, SandWorld (*make)(void), int steps, int iterations, const int *counts) {
    static Run run;
    run = (Run){.make = make, .steps = steps, .iterations = iterations};
    run_alone(&run);
    const Figures *end = &run.one[steps];
    print_message("%s: %d bodies, %d contacts, %d lost, %d left after %d steps\n", name, end->bodies, end->contacts,
                  end->lost, end->left, steps);
    for (; *counts; counts++) {
        memset(run.wrong, 0, sizeof run.wrong);
        local_ranks_run(*counts, run_as_rank, &run, NULL);
        for (int r = 0; r < *counts; r++)
            if (run.wrong[r]) fail_msg("%s on %d ranks: %s", name, *counts, run.sentence);
    }
}

// --- worlds -------------------------------------------------------------------------------------------------

static void throw(SandWorld * w, SandRandom *random, double radius, double half, double speed) {
    SandVec3 at =
        v3_make(half * sand_random_signed(random), half * sand_random_signed(random), half * sand_random_signed(random));
    int body = lab_body(w, 0, radius, at);
    w->velocity[body] =
        v3_make(speed * sand_random_signed(random), speed * sand_random_signed(random), speed * sand_random_signed(random));
    w->spin[body] = v3_make(0, 0, 5 * sand_random_signed(random));
}

static SandWorld drum(void) {
    SandScene scene;
    SandError error;
    SandSceneOptions options = {.bodies = 200};
    if (!sand_scene_load(&scene, "drum", &options, &error)) fail_msg("%s", error.text);
    SandWorld world = scene.world;
    memset(&scene.world, 0, sizeof scene.world);
    sand_scene_free(&scene);
    return world;
}

// A pile that comes to rest, and is left out of the solve.
static SandWorld resting_pile(void) { return lab_pile(0.01); }

// Radii that differ by a factor of 20, and a few fast ones: several levels of grids, impact margins, and bodies that leave
// the world's box, by the dozen.
static SandWorld many_sizes(void) {
    SandRandom random = sand_random(1);
    SandWorld w = lab_world(0.3);
    w.lower = v3_make(-3, -3, -3);
    w.upper = v3_make(3, 3, 3);
    lab_plane(&w, v3_make(0, 0, -1.5), v3_make(0.1, 0, 1));
    for (int i = 0; i < 600; i++) throw(&w, &random, 0.02 * pow(20, sand_random_unit(&random)), 1.5, i % 50 ? 0.5 : 20);
    return w;
}

// A sphere larger than what any rank owns, among small ones that cling to it: its contacts lie on all ranks.
static SandWorld star(void) {
    SandRandom random = sand_random(3);
    SandWorld w = lab_world(0.2);
    w.gravity = v3_make(0, 0, 0);
    lab_body(&w, 0, 1.0, v3_make(0, 0, 0));
    for (int i = 0; i < 500; i++) {
        throw(&w, &random, 0.05, 1, 0);
        SandVec3 at = w.position[i + 1], out = v3_scale(1 / v3_length(at), at);
        w.position[i + 1] = v3_scale(1.06, out);
        w.velocity[i + 1] = v3_scale(-1, out);
    }
    return w;
}

// Fewer bodies than ranks have chunks, and soon none at all: all fall through an outlet.
static SandWorld few(void) {
    SandRandom random = sand_random(5);
    SandWorld w = lab_world(0.2);
    SandOutlet outlet = sand_outlet_plane(v3_make(0, 0, -0.5), v3_make(0, 0, 1));
    assert_int_equal(sand_world_add_outlet(&w, &outlet, NULL), 0);
    for (int i = 0; i < 20; i++) throw(&w, &random, 0.1, 0.6, 1);
    for (int i = 0; i < 20; i++) w.enter[i] = 0.02 * (i % 4);
    return w;
}

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

// Spheres that bounce on a slope and on each other: the speed of an impact is kept for the next step.
static SandWorld bouncing(void) {
    SandRandom random = sand_random(9);
    SandWorld w = lab_world(0.3);
    sand_world_set_laws(&w, 0, 0.7, 0);
    lab_plane(&w, v3_make(0, 0, -0.8), v3_make(0.2, 0, 1));
    for (int i = 0; i < 400; i++) throw(&w, &random, 0.07, 0.8, 2);
    return w;
}

// A pile with rolling friction: what is kept of a contact is its torque as well.
static SandWorld rolling_pile(void) {
    SandWorld w = lab_pile(0);
    sand_world_set_rolling(&w, 0, 0.01, 0.005);
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
    compare("a resting pile", resting_pile, is_short ? 20 : 300, 20, counts());
}

static void what_bounces_and_rolls(void **state) {
    (void)state;
    compare("bouncing spheres", bouncing, is_short ? 8 : 40, 10, counts());
    compare("a pile that rolls", rolling_pile, is_short ? 20 : 100, 20, counts());
}

static void what_joints_hold(void **state) {
    (void)state;
    compare("a chain", chain, is_short ? 10 : 100, 20, counts());
}

static void a_high_degree_body(void **state) {
    (void)state;
    compare("star", star, is_short ? 6 : 40, 15, counts());
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
                                       cmocka_unit_test(what_joints_hold),
                                       cmocka_unit_test(a_high_degree_body),
                                       cmocka_unit_test(ranks_without_bodies),
                                       cmocka_unit_test(a_long_run),
                                       cmocka_unit_test(what_cannot_be_shared_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
