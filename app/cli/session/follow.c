// SPDX-License-Identifier: MIT
// The session of a rank other than 0: the same scene, the same steps, and its parts of the files and pictures of rank 0.
#include "app/cli/session/follow.h"
#include "app/cli/film/composite.h"
#include "app/cli/session/checkpoints.h"
#include "app/cli/session/ranks.h"
#include "app/engine/backends.h"

// The options of a rank that follows: without those that write files.
static Options without_files(const Options *options) {
    static const OptionId files[] = {
        OPTION_LOG, OPTION_PROBES, OPTION_EXPORT, OPTION_EXPORT_COLUMNS, OPTION_EXPORT_CONTACTS, OPTION_TAKE, OPTION_JSON};
    Options silent = *options;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) silent.values[files[k]] = (OptionValue){0};
    silent.verb = VERB_BENCH; // this verb accepts probes without --probes
    return silent;
}

// Plans the export of rank 0 on this rank, where all ranks write it.
static bool join_export(Session *session, const Options *options, SandError *error) {
    if (!export_plan(&session->export, options, error)) return false;
    export_join(&session->export, session->sim);
    if (session->export.path && !exporter_has_parts(&session->export)) session->export.path = NULL;
    return true;
}

// Starts in the state in which rank 0 starts: that of the scene, or of its checkpoint.
static bool resume(Session *session, const Options *options, SandError *error) {
    Checkpoints checkpoints = {0};
    Peak peak = {0};
    bool resumes = options->verb != VERB_RECORD && options_resume(options); // a film is computed from its start
    bool ok = !resumes || (checkpoints_open(&checkpoints, options, session, error) &&
                           checkpoints_resume(&checkpoints, session, &peak, error));
    checkpoints_close(&checkpoints);
    return ok;
}

Outcome follow_rank_0(const Options *options, SandError *error) {
    if (options->values[OPTION_HELP].given || options->values[OPTION_VERSION].given) return OUTCOME_DONE;
    Session session;
    Options silent = without_files(options);
    progress_silence();
    Composite *composite = NULL;
    Outcome outcome = session_open(&session, &silent, "follow", error);
    if (outcome == OUTCOME_DONE && !composite_create(&composite, error)) outcome = OUTCOME_FAILED;
    if (outcome == OUTCOME_DONE && !(join_export(&session, options, error) && resume(&session, options, error)))
        outcome = OUTCOME_WRONG;
    // A take may move the simulation to another backend, which rank 0 runs alone.
    while (outcome == OUTCOME_DONE && !ranks_over() && backends_several(backends_kind(sand_simulation_backend(session.sim))))
        if (!session_step(&session, 0, 1, error) && !ranks_over()) outcome = OUTCOME_FAILED;
    composite_free(composite);
    return session_close(&session, outcome, error);
}
