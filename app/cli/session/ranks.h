// SPDX-License-Identifier: MIT
// The ranks of a run with `--backend mpi`, from the command line to the exit status. Rank 0 carries out the verb, and it
// alone prints; the others follow it (follow.h).
#pragma once
#include "app/cli/options/options.h"
#include "app/cli/outcome.h"
#include "sandglass/simulation.h"
#include "sim/core/ranks.h"

// Starts MPI where the command line has --backend mpi or mpi:cuda. Called before the options are parsed, so that only rank 0
// prints what is wrong with them.
bool ranks_begin(int argc, char **argv, SandError *error);
// False, with a sentence, where --backend mpi is given with a verb or an option that works in one process alone.
bool ranks_check(const Options *options, SandError *error);
// Waits for all ranks where they take the steps together. Called before this rank changes its world, because another rank
// may still draw or write the state as it is.
bool ranks_meet(const SandSimulation *sim, SandError *error);
bool ranks_lead(void);            // whether this process carries out the verb: rank 0, or the only process
bool ranks_over(void);            // whether rank 0 has ended the run, and no rank has failed
int ranks_here(void);             // number of ranks on this machine; 1 without MPI
const SandRanks *ranks_all(void); // NULL where MPI does not run
// Ends MPI where it runs. Returns the outcome of the run, which is a failure where any rank has failed.
Outcome ranks_end(Outcome outcome, SandError *error);
