// SPDX-License-Identifier: MIT
// The verbs of the command line, one file each. Each fills the error when its outcome is not OUTCOME_DONE.
#pragma once
#include "app/cli/options/options.h"
#include "app/cli/session/session.h"

Outcome run_scene(const Options *options, SandError *error);      // run.c
Outcome compute_scene(const Options *options, SandError *error);  // run.c: without pictures
Outcome bench_scene(const Options *options, SandError *error);    // bench.c
Outcome freeze_step(const Options *options, SandError *error);    // freeze.c
Outcome record_scene(const Options *options, SandError *error);   // record.c
Outcome race_solvers(const Options *options, SandError *error);   // race.c
Outcome converge_scene(const Options *options, SandError *error); // converge.c
Outcome sweep_scene(const Options *options, SandError *error);    // sweep.c
Outcome demo_playlist(const Options *options, SandError *error);  // demo.c
Outcome list_topic(const Options *options, SandError *error);     // list.c
Outcome print_manual(const Options *options, SandError *error);   // manual.c

// Prints the help of a verb on standard output; that of run is also that of the program (manual.c).
void print_help(Verb verb);
