// The part of each rank in a run with MPI: which verbs and options are refused there, the loop in which the others follow
// rank 0, and how all of them end. In a build without MPI `--backend mpi` is refused, and one process leads alone.
#include "app/cli/session/ranks.h"

#ifdef SAND_HAVE_MPI

#include "app/cli/session/checkpoints.h"
#include "app/cli/film/composite.h"
#include "mpi/backend.h"
#include "mpi/communicator.h"

#include <string.h>

// The verbs that take the steps of one simulation.
static bool check_verb(const Options *options, SandError *error) {
    Verb verb = options->verb;
    if (verb == VERB_RUN || verb == VERB_BENCH || verb == VERB_RECORD || verb == VERB_EXPORT || verb == VERB_FREEZE)
        return true;
    return sand_fail(error, "--backend mpi: run, bench, record, export and freeze have it; this verb is for one process");
}

// Options that make rank 0 compute what the others do not.
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
            return sand_fail(error, "--%s: it is for one process, and --backend mpi has several", alone[k].name);
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

bool ranks_begin(int argc, char **argv, SandError *error) { return !is_asked_for(argc, argv) || sand_mpi_begin(error); }

bool ranks_meet(const SandSimulation *sim, SandError *error) {
    return !backends_several(backends_kind(sand_simulation_backend(sim))) || sand_mpi_agree(0, error);
}

bool ranks_lead(void) { return sand_mpi_rank() == 0; }
int ranks_here(void) { return sand_mpi_here(); }
const SandRanks *ranks_all(void) { return sand_mpi_running() ? sand_mpi_ranks() : NULL; }

// The options of a rank that writes no file of its own.
static Options without_files(const Options *options) {
    static const OptionId files[] = {
        OPTION_LOG, OPTION_PROBES, OPTION_EXPORT, OPTION_EXPORT_COLUMNS, OPTION_EXPORT_CONTACTS, OPTION_TAKE, OPTION_JSON};
    Options silent = *options;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) silent.values[files[k]] = (OptionValue){0};
    silent.verb = VERB_BENCH; // which may have probes without a file for them
    return silent;
}

// Takes part in the export of rank 0, where all ranks write it.
static bool join_export(Session *session, const Options *options, SandError *error) {
    if (!export_plan(&session->export, options, error)) return false;
    export_join(&session->export, session->sim);
    if (session->export.path && !exporter_has_parts(&session->export)) session->export.path = NULL;
    return true;
}

// Starts where rank 0 starts: from the beginning, or from its checkpoint.
static bool resume(Session *session, const Options *options, SandError *error) {
    Checkpoints checkpoints = {0};
    Peak peak = {0};
    bool resumes = options->verb != VERB_RECORD && checkpoints_resumes(options); // a film computes again what it has drawn
    bool ok = !resumes || (checkpoints_open(&checkpoints, options, session, error) &&
                           checkpoints_resume(&checkpoints, session, &peak, error));
    checkpoints_close(&checkpoints);
    return ok;
}

Outcome ranks_follow(const Options *options, SandError *error) {
    if (options->values[OPTION_HELP].given || options->values[OPTION_VERSION].given) return OUTCOME_DONE;
    Session session;
    Options silent = without_files(options);
    progress_silence();
    Composite *composite = NULL;
    Outcome outcome = session_open(&session, &silent, "follow", error);
    if (outcome == OUTCOME_DONE && !composite_create(&composite, error)) outcome = OUTCOME_FAILED;
    if (outcome == OUTCOME_DONE && !(join_export(&session, options, error) && resume(&session, options, error)))
        outcome = OUTCOME_WRONG;
    // A take may move the simulation to another backend, where no rank needs the others.
    while (outcome == OUTCOME_DONE && !sand_mpi_over() &&
           backends_several(backends_kind(sand_simulation_backend(session.sim))))
        if (!session_step(&session, 0, 1, error) && !sand_mpi_over()) outcome = OUTCOME_FAILED;
    composite_free(composite);
    return session_close(&session, outcome, error);
}

Outcome ranks_end(Outcome outcome, SandError *error) {
    if (!sand_mpi_running() || sand_mpi_end(outcome == OUTCOME_DONE, error)) return outcome;
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
int ranks_here(void) { return 1; }
const SandRanks *ranks_all(void) { return NULL; }
Outcome ranks_follow(const Options *options, SandError *error) { return (void)options, (void)error, OUTCOME_WRONG; }
Outcome ranks_end(Outcome outcome, SandError *error) { return (void)error, outcome; }

#endif
