// SPDX-License-Identifier: MIT
// Sandglass: a laboratory for hard-contact granular dynamics. Parses the command line (options.c) and runs its verb.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/session/follow.h"
#include "app/cli/session/ranks.h"

static Outcome dispatch(const Options *options, SandError *error) {
    switch (options->verb) {
    case VERB_RUN: return run_scene(options, error);
    case VERB_BENCH: return bench_scene(options, error);
    case VERB_FREEZE: return freeze_step(options, error);
    case VERB_RECORD: return record_scene(options, error);
    case VERB_EXPORT: return compute_scene(options, error);
    case VERB_RACE: return race_solvers(options, error);
    case VERB_CONVERGE: return converge_scene(options, error);
    case VERB_SWEEP: return sweep_scene(options, error);
    case VERB_DEMO: return demo_playlist(options, error);
    case VERB_LIST: return list_topic(options, error);
    case VERB_HELP: return print_manual(options, error);
    case VERB_COUNT: break;
    }
    return OUTCOME_WRONG;
}

int main(int argc, char **argv) {
    Options options;
    SandError error = {""};
    Outcome outcome = OUTCOME_DONE;
    sand_reference_enable();
    if (!ranks_begin(argc, argv, &error) || !options_parse(&options, argc, argv, &error) || !ranks_check(&options, &error))
        outcome = OUTCOME_WRONG;
    else if (!ranks_lead())
        outcome = follow_rank_0(&options, &error);
    else if (options.values[OPTION_HELP].given)
        print_help(options.verb);
    else if (options.values[OPTION_VERSION].given)
        printf("sandglass %s\n", sand_version());
    else
        outcome = dispatch(&options, &error);

    // A result that could not be written is a failure.
    if (outcome == OUTCOME_DONE && (fflush(stdout) != 0 || ferror(stdout))) {
        sand_fail(&error, "standard output: %s", strerror(errno));
        outcome = OUTCOME_FAILED;
    }
    bool lead = ranks_lead();
    outcome = ranks_end(outcome, &error);
    if (!lead) return OUTCOME_DONE; // rank 0 has the status of the run; one that ends before it would cut it short
    if (outcome != OUTCOME_DONE) fprintf(stderr, "sandglass: %s\n", error.text);
    return (int)outcome;
}
