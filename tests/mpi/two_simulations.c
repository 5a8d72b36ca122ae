// SPDX-License-Identifier: MIT
// Two simulations in one process of several ranks: their steps alternate, and each has the bits that it has alone, in one
// process. Rank 0 reads one of them while the other ranks are already at a step of the other one; one ends before the other.
// tests/mpi/run_ranks runs it; it ends with 1 and a sentence where anything differs.
#include "mpi/backend.h"
#include "sandglass/scene.h"
#include "sandglass/simulation.h"
#include "sim/ranks/cpu_engine.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 24, LAST_OF_FIRST = 16 };

typedef struct Run {
    const char *scene;
    int bodies;
    uint64_t hash[STEPS + 1]; // of the world, alone
    SandSimulation *sim;
} Run;

static void check(bool ok, const char *what, const SandError *error) {
    if (ok) return;
    fprintf(stderr, "two_simulations: %s: %s\n", what, error->text);
    abort(); // mpirun then ends the other ranks
}

static SandSimulation *start(const Run *run, const SandBackend *backend) {
    SandScene scene;
    SandError error;
    SandSceneOptions options = {.bodies = run->bodies};
    SandSimulationDef def = sand_default_simulation();
    check(sand_scene_load(&scene, run->scene, &options, &error), run->scene, &error);
    def.threads = 1;
    def.solve.iterations = 20;
    def.backend = backend;
    SandWorld world = scene.world;
    scene.world = (SandWorld){0};
    sand_scene_free(&scene);
    SandSimulation *sim = sand_simulation_create(&world, &def, &error);
    check(sim != NULL, run->scene, &error);
    return sim;
}

static void step(SandSimulation *sim) {
    SandError error;
    check(sand_simulation_step(sim, &error), "a step", &error);
}

static uint64_t hash(SandSimulation *sim) {
    SandError error;
    check(sand_simulation_fetch(sim, &error), "a read", &error);
    return sand_world_hash(sand_simulation_world(sim));
}

static void run_alone(Run *run) {
    SandSimulation *sim = start(run, NULL);
    for (int k = 1; k <= STEPS; k++) {
        step(sim);
        run->hash[k] = hash(sim);
    }
    sand_simulation_free(sim);
}

// Rank 0 alone asks: the other ranks serve it when they next agree, for whichever simulation.
static void compare(const SandMpi *mpi, const Run *run, int k) {
    if (sand_mpi_rank(mpi) > 0) return;
    uint64_t now = hash(run->sim);
    SandError error;
    sand_fail(&error, "step %d has the hash %llx, and alone %llx", k, (unsigned long long)now,
              (unsigned long long)run->hash[k]);
    check(now == run->hash[k], run->scene, &error);
}

// Until the agreement the others serve what rank 0 reads.
static void finish(SandMpi *mpi, Run *run) {
    SandError error;
    check(sand_mpi_agree(mpi, 0, &error), run->scene, &error);
    sand_simulation_free(run->sim);
}

// Each is read after a step of the other one, which changes nothing in it.
static void run_together(SandMpi *mpi, Run runs[2]) {
    SandMpiBackend backends[2] = {sand_mpi_backend(mpi, sand_cpu_rank_engine()),
                                  sand_mpi_backend(mpi, sand_cpu_rank_engine())};
    for (int j = 0; j < 2; j++) runs[j].sim = start(&runs[j], &backends[j].backend);
    for (int k = 1; k <= LAST_OF_FIRST; k++) {
        step(runs[0].sim);
        if (k > 1 && k % 3 == 0) compare(mpi, &runs[1], k - 1);
        step(runs[1].sim);
        if (k % 4 == 0) compare(mpi, &runs[0], k);
    }
    finish(mpi, &runs[0]);
    for (int k = LAST_OF_FIRST + 1; k <= STEPS; k++) step(runs[1].sim);
    compare(mpi, &runs[1], STEPS);
    finish(mpi, &runs[1]);
}

int main(void) {
    static Run runs[2] = {{.scene = "hourglass", .bodies = 150}, {.scene = "drum", .bodies = 90}};
    SandError error;
    SandMpi *mpi;
    for (int j = 0; j < 2; j++) run_alone(&runs[j]);
    check(sand_mpi_begin(&mpi, &error), "MPI", &error);
    run_together(mpi, runs);
    bool lead = sand_mpi_rank(mpi) == 0;
    check(sand_mpi_end(mpi, true, &error), "the end", &error);
    if (lead) puts("two simulations, step by step in turn: the bits of each alone");
    return 0;
}
