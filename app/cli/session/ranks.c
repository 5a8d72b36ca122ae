// SPDX-License-Identifier: MIT
// Runs with MPI: the verbs and options that they refuse, and how a run ends. A build without MPI refuses `--backend mpi`.
#include "app/cli/session/ranks.h"

#include "app/engine/backends.h"

#ifdef SAND_HAVE_MPI

#include "mpi/communicator.h"

#include <string.h>

// Accepts the verbs that take the steps of one simulation.
static bool check_verb(const Options *options, SandError *error) {
    Verb verb = options->verb;
    if (verb == VERB_RUN || verb == VERB_BENCH || verb == VERB_RECORD || verb == VERB_EXPORT || verb == VERB_FREEZE)
        return true;
    return sand_fail(
        error, "--backend mpi: run, bench, record, export and freeze support it; this verb works in one process alone");
}

// Refuses options that need a computation on rank 0 in which the others take no part.
static bool check_options(const Options *options, SandError *error) {
    static const struct {
        OptionId id;
        const char *name;
    } alone[] = {{OPTION_BESIDE, "beside"},
                 {OPTION_BESIDE_ITERATIONS, "beside-iterations"},
                 {OPTION_BESIDE_FRICTION, "beside-friction"},
                 {OPTION_OVERLAY, "overlay"}};
    for (size_t k = 0; k < sizeof alone / sizeof *alone; k++)
        if (options->values[alone[k].id].given)
            return sand_fail(error, "--%s works in one process alone, not with --backend mpi", alone[k].name);
    return true;
}

bool ranks_check(const Options *options, SandError *error) {
    if (!backends_several((Backend)options->values[OPTION_BACKEND].integer)) return true;
    return check_verb(options, error) && check_options(options, error);
}

static bool is_asked_for(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc && !strcmp(argv[i], "--backend") ? argv[i + 1] : "";
        if (!strncmp(argv[i], "--backend=", 10)) value = argv[i] + 10;
        if (!strcmp(value, "mpi") || !strcmp(value, "mpi:cuda")) return true;
    }
    return false;
}

bool ranks_begin(int argc, char **argv, SandError *error) {
    SandMpi *mpi;
    if (!is_asked_for(argc, argv)) return true;
    bool begun = sand_mpi_begin(&mpi, error);
    backends_use_mpi(mpi);
    return begun;
}

bool ranks_meet(const SandSimulation *sim, SandError *error) {
    return !backends_several(backends_kind(sand_simulation_backend(sim))) || sand_mpi_agree(backends_mpi(), 0, error);
}

bool ranks_lead(void) { return !backends_mpi() || sand_mpi_rank(backends_mpi()) == 0; }
bool ranks_over(void) { return backends_mpi() && sand_mpi_over(backends_mpi()); }
int ranks_here(void) { return backends_mpi() ? sand_mpi_here(backends_mpi()) : 1; }
const SandRanks *ranks_all(void) { return backends_mpi() ? sand_mpi_ranks(backends_mpi()) : NULL; }

Outcome ranks_end(Outcome outcome, SandError *error) {
    SandMpi *mpi = backends_mpi();
    if (!mpi) return outcome;
    backends_use_mpi(NULL);
    if (sand_mpi_end(mpi, outcome == OUTCOME_DONE, error)) return outcome;
    return outcome == OUTCOME_DONE ? OUTCOME_FAILED : outcome;
}

#else

bool ranks_begin(int argc, char **argv, SandError *error) { return (void)argc, (void)argv, (void)error, true; }
bool ranks_check(const Options *options, SandError *error) {
    if (!backends_several((Backend)options->values[OPTION_BACKEND].integer)) return true;
    return sand_fail(error, "--backend mpi: this build has no MPI backend");
}
bool ranks_meet(const SandSimulation *sim, SandError *error) { return (void)sim, (void)error, true; }
bool ranks_lead(void) { return true; }
bool ranks_over(void) { return false; }
int ranks_here(void) { return 1; }
const SandRanks *ranks_all(void) { return NULL; }
Outcome ranks_end(Outcome outcome, SandError *error) { return (void)error, outcome; }

#endif
