// SPDX-License-Identifier: MIT
// Ranks that each have a part of the world (sim/ranks/subdomain.h, cuda/ranks/subdomain.h) take the same steps,
// whatever their number: worlds for that, and a comparison of all that is known after each step. The ranks are threads
// (tests/lab/ranks/local_ranks.h).
#pragma once
#include "tests/lab/lab.h"
#include "tests/lab/ranks/local_ranks.h"
#include "sim/core/hash.h"

#include <pthread.h>

enum { MOST_STEPS = 10000, MOST_RANKS = SAND_CHUNKS + 6 };

static _Thread_local const SandRanks *my_ranks;

// --- runs ---------------------------------------------------------------------------------------------------

// What is known after a step.
typedef struct Figures {
    int bodies, contacts, warm_started, asleep, solved, lost, left, entered;
    double left_mass, penetration, walls, residual, kinetic, potential;
    uint64_t said;   // sentences so far
    uint64_t probes; // what they measured
    uint64_t hash;   // of the world, where it was fetched
    uint64_t step;   // of the contacts, problem and solution of the step, where they were
} Figures;

typedef struct Run {
    SandWorld (*make)(void);
    const SandBackend *(*backend)(void); // of a rank; it knows my_ranks
    bool reads_steps;                    // contacts of a step can be read from it, by rank 0
    // Where bodies are fetched: NULL, or what else each rank does then, and one process.
    void (*check)(SandSimulation *sim, const SandRanks *ranks, int step);
    void (*note)(SandSimulation *sim, int step);
    void (*act)(SandSimulation *sim, int step); // before each step, on each rank and in one process; NULL: nothing is done
    int steps, iterations;
    size_t memory; // of the GPU that is to suffice for all ranks; 0: all that it has
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

static uint64_t hash_probes(const SandWorld *w) {
    uint64_t hash = SAND_HASH_BEGIN;
    for (int k = 0; k < w->probe_count; k++) {
        int values = sand_probe_cells(&w->probes[k]) * sand_probe_columns(&w->probes[k]);
        hash = sand_hash_bytes(hash, sand_probe_values(w, k), (size_t)values * sizeof(double));
    }
    return hash;
}

static Figures figures_of(SandSimulation *sim, uint64_t said, bool fetch, bool fetch_step) {
    const SandCounters *c = sand_simulation_counters(sim);
    SandEnergy energy = sand_simulation_energy(sim);
    SandError error;
    Figures f;
    memset(&f, 0, sizeof f);
    f.bodies = c->bodies;
    f.contacts = c->contacts;
    f.warm_started = c->warm_started;
    f.asleep = c->asleep;
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
    f.probes = hash_probes(sand_simulation_world(sim));
    if (!fetch) return f;
    assert_true(sand_simulation_fetch(sim, &error));
    f.hash = sand_world_hash(sand_simulation_world(sim));
    if (!fetch_step) return f;
    assert_true(sand_simulation_fetch_contacts(sim, &error));
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
    def.device_memory = run->memory;
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
    SandSimulation *sim = start(run, run->backend(), &said);
    for (int step = 1; step <= run->steps && !run->wrong[ranks->rank]; step++) {
        if (run->act) run->act(sim, step);
        if (!sand_simulation_step(sim, &error)) give_up(ranks->rank, &error);
        if (run->check && is_fetched(run, step)) run->check(sim, ranks, step);
        Figures now = figures_of(sim, said, is_fetched(run, step), run->reads_steps), *one = &run->one[step];
        if (ranks->rank > 0) now.step = one->step;
        if (ranks->count == 1) *one = now; // the others are compared with it
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

static inline void run_alone(Run *run) {
    SandError error;
    uint64_t said;
    SandSimulation *sim = start(run, NULL, &said);
    for (int step = 1; step <= run->steps; step++) {
        if (run->act) run->act(sim, step);
        if (!sand_simulation_step(sim, &error)) fail_msg("%s", error.text);
        run->one[step] = figures_of(sim, said, is_fetched(run, step), run->reads_steps);
        if (run->note && is_fetched(run, step)) run->note(sim, step);
        if (begins_anew(step) && !sand_simulation_change_bodies(sim, &error)) fail_msg("%s", error.text);
    }
    sand_simulation_free(sim);
}

// Takes the steps on each of these numbers of ranks, and compares them with what one has done.
static void compare_ranks(const char *name, Run *run, const int *counts) {
    for (; *counts; counts++) {
        memset(run->wrong, 0, sizeof run->wrong);
        local_ranks_run(*counts, run_as_rank, run, NULL);
        for (int r = 0; r < *counts; r++)
            if (run->wrong[r]) fail_msg("%s on %d ranks: %s", name, *counts, run->sentence);
    }
    const Figures *end = &run->one[run->steps];
    print_message("%s: %d bodies, %d contacts, %d lost, %d left after %d steps\n", name, end->bodies, end->contacts,
                  end->lost, end->left, run->steps);
}

// --- worlds -------------------------------------------------------------------------------------------------

static inline void throw(SandWorld * w, SandRandom *random, double radius, double half, double speed) {
    SandVec3 at =
        v3_make(half * sand_random_signed(random), half * sand_random_signed(random), half * sand_random_signed(random));
    int body = lab_body(w, 0, radius, at);
    w->velocity[body] =
        v3_make(speed * sand_random_signed(random), speed * sand_random_signed(random), speed * sand_random_signed(random));
    w->spin[body] = v3_make(0, 0, 5 * sand_random_signed(random));
}

static inline SandWorld drum(void) {
    SandScene scene;
    SandError error;
    SandSceneOptions options = {.bodies = 200};
    if (!sand_scene_load(&scene, "drum", &options, &error)) fail_msg("%s", error.text);
    SandWorld world = scene.world;
    memset(&scene.world, 0, sizeof scene.world);
    sand_scene_free(&scene);
    return world;
}

// Adds a probe of each kind: of boundary 0, of a body, of everything, or of the cells of a box.
static inline void measure_all(SandWorld *w) {
    for (int kind = 0; kind < SAND_PROBE_KINDS; kind++) {
        SandError error;
        SandProbe p = sand_probe_of((SandProbeKind)kind);
        bool cells = kind >= SAND_PROBE_DENSITY && kind <= SAND_PROBE_SURFACE;
        if (kind == SAND_PROBE_FLOW) p = sand_probe_flow(v3_make(0, 0, -0.5), v3_make(0, 0, -1));
        if (kind == SAND_PROBE_FORCE) p.boundary = 0;
        if (kind == SAND_PROBE_PATH) p.body = 7;
        if (cells) sand_probe_box(&p, v3_make(-1.5, -1.5, -1.5), v3_make(1.5, 1.5, 1.5));
        if (cells) p.cells[0] = p.cells[1] = 2;
        snprintf(p.name, sizeof p.name, "%s", sand_probe_kind_name((SandProbeKind)kind));
        if (sand_world_add_probe(w, &p, &error) < 0) fail_msg("%s", error.text);
    }
}

// Radii that differ by a factor of 20, and a few fast ones: several levels of grids, impact margins, and bodies that leave
// the world's box, by the dozen. With probes of all kinds.
static inline SandWorld many_sizes(void) {
    SandRandom random = sand_random(1);
    SandWorld w = lab_world(0.3);
    w.lower = v3_make(-3, -3, -3);
    w.upper = v3_make(3, 3, 3);
    lab_plane(&w, v3_make(0, 0, -1.5), v3_make(0.1, 0, 1));
    for (int i = 0; i < 600; i++) throw(&w, &random, 0.02 * pow(20, sand_random_unit(&random)), 1.5, i % 50 ? 0.5 : 20);
    measure_all(&w);
    return w;
}

// The mouse drags a body from the bottom to the top, through the subdomains of all ranks.
static inline SandWorld pulled(void) {
    SandWorld w = many_sizes();
    w.spring.body = 11;
    w.spring.target = v3_make(0, 0, 2);
    w.spring.rate = 20;
    w.position[w.spring.body].z = -1.4;
    return w;
}

// A sphere larger than what any rank owns, among small ones that cling to it: its contacts lie on all ranks.
static inline SandWorld star(void) {
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
static inline SandWorld few(void) {
    SandRandom random = sand_random(5);
    SandWorld w = lab_world(0.2);
    SandOutlet outlet = sand_outlet_plane(v3_make(0, 0, -0.5), v3_make(0, 0, 1));
    assert_int_equal(sand_world_add_outlet(&w, &outlet, NULL), 0);
    for (int i = 0; i < 20; i++) throw(&w, &random, 0.1, 0.6, 1);
    for (int i = 0; i < 20; i++) w.enter[i] = 0.02 * (i % 4);
    return w;
}

// A pile that comes to rest, and is left out of the solve.
static inline SandWorld sleeping_pile(void) { return lab_pile(0.01); }

// Spheres that bounce on a slope and on each other: the speed of an impact is kept for the next step.
static inline SandWorld bouncing(void) {
    SandRandom random = sand_random(9);
    SandWorld w = lab_world(0.3);
    lab_set_laws(&w, 0, 0.7, 0);
    lab_plane(&w, v3_make(0, 0, -0.8), v3_make(0.2, 0, 1));
    for (int i = 0; i < 400; i++) throw(&w, &random, 0.07, 0.8, 2);
    return w;
}

// Spheres that cling to each other and to a wall.
static inline SandWorld sticky(void) {
    SandRandom random = sand_random(19);
    SandWorld w = lab_world(0.3);
    lab_set_laws(&w, 0, 0, 30);
    lab_plane(&w, v3_make(0, 0, -0.8), v3_make(0, 0, 1));
    lab_plane(&w, v3_make(-0.8, 0, 0), v3_make(1, 0, 0));
    for (int i = 0; i < 400; i++) throw(&w, &random, 0.08, 0.8, 1);
    return w;
}

// Bodies enter from two boxes, at the top and at the side, fall through each other's way, and leave at the bottom.
static inline SandWorld fountain(void) {
    SandWorld w = lab_world(0.3);
    SandInlet in = {
        .lower = v3_make(-0.5, -0.5, 0.8), .upper = v3_make(0.5, 0.5, 1.1), .rate = 400, .count = 200, .seed = 3};
    SandOutlet outlet = sand_outlet_plane(v3_make(0, 0, -1.4), v3_make(0, 0, 1));
    for (int i = 0; i < 400; i++) lab_body(&w, 0, i % 3 ? 0.05 : 0.07, v3_make(0, 0, 5 + 0.2 * i));
    for (int i = 0; i < 400; i++) w.velocity[i] = v3_make(i < 200 ? 0 : 2, 0, i < 200 ? -1 : 1);
    for (int i = 0; i < 100; i++) lab_body(&w, 0, 0.06, v3_make(0.13 * (i % 10 - 4.5), 0.13 * (i / 10 - 4.5), -0.5));
    lab_plane(&w, v3_make(0, 0, -1), v3_make(0.6, 0, 1));
    assert_true(sand_world_add_inlet(&w, &in, NULL) >= 0);
    in = (SandInlet){.lower = v3_make(-1, -0.5, -0.2), .upper = v3_make(-0.7, 0.5, 0.2), .rate = 150, .start = 0.05};
    in.first = in.count = 200;
    assert_true(sand_world_add_inlet(&w, &in, NULL) >= 0 && sand_world_add_outlet(&w, &outlet, NULL) == 0);
    return w;
}

// Bodies of one, two and three spheres in a heap.
static inline SandWorld clumps(void) {
    static const SandShapeSphere spheres[] = {
        {.center = {-0.8, 0, 0}, .radius = 1}, {.center = {0.8, 0, 0}, .radius = 1}, {.center = {0, 1.2, 0}, .radius = 0.7}};
    SandWorld w = lab_world(0.3);
    SandShape pair, triple;
    assert_true(sand_shape_clump(&pair, spheres, 2, NULL) && sand_shape_clump(&triple, spheres, 3, NULL));
    int pairs = sand_world_add_shape(&w, &pair, NULL), triples = sand_world_add_shape(&w, &triple, NULL);
    lab_plane(&w, v3_make(0, 0, -0.1), v3_make(0.1, 0, 1));
    for (int i = 0; i < 360; i++) {
        SandVec3 at = v3_make(0.21 * (i % 6) + 0.01 * (i % 7), 0.21 * (i / 6 % 6), 0.17 * (i / 36) + 0.005 * (i % 5));
        lab_body(&w, i % 3 == 0 ? 0 : i % 3 == 1 ? pairs : triples, 0.055, at);
    }
    return w;
}

// Every third body passes through the one after it, in a pile.
static inline SandWorld passing(void) {
    SandWorld w = lab_pile(0);
    for (int i = 0; i + 1 < LAB_PILE; i += 3) assert_true(sand_world_keep_apart(&w, i, i + 1, NULL));
    return w;
}

// Forces on some of the bodies, other ones in every step, and none in every fifth; now and then at points of the world.
static inline void stir(SandSimulation *sim, int step) {
    enum { MOST = 700 };
    int count = sand_simulation_world(sim)->body_count, body[MOST], n = 0;
    SandVec3 force[MOST], at[MOST];
    SandError error;
    assert_true(count < MOST);
    for (int i = step % 3; i < count && step % 5; i += 3) {
        body[n] = i;
        force[n] = v3_make(40 * sin(i + 0.3 * step), 40 * cos(0.7 * i), 10 * sin(0.2 * step));
        at[n++] = v3_make(0.01 * i, 0, 0.5);
    }
    SandForces forces = {.count = n, .body = body, .force = force, .torque = force, .at = step % 7 ? NULL : at};
    if (!sand_simulation_apply_force(sim, &forces, &error)) give_up(0, &error);
}
