// `--backend mpi`: the processes of a run, from the command line to the exit status. Rank 0 carries out the verb, and alone
// prints; the others follow it (follow.h).
#pragma once
#include "app/cli/options/options.h"
#include "app/cli/outcome.h"
#include "sandglass/simulation.h"
#include "sim/core/ranks.h"

// Starts MPI where --backend mpi asks for it: before the command line is read, so that rank 0 alone refuses a wrong one.
bool ranks_begin(int argc, char **argv, SandError *error);
// False, with a sentence, where --backend mpi is given and the verb or an option is for one process.
bool ranks_check(const Options *options, SandError *error);
// Waits for all ranks where they take the steps: none changes its world while another still shows or writes what was before.
bool ranks_meet(const SandSimulation *sim, SandError *error);
bool ranks_lead(void);            // whether this process carries out the verb and speaks: true where MPI does not run
bool ranks_over(void);            // whether rank 0 has ended the run, and no rank has failed
int ranks_here(void);             // processes of the run on this machine
const SandRanks *ranks_all(void); // NULL where MPI does not run
// Ends MPI where it runs. Returns the outcome of the run: a failure where any rank has failed.
Outcome ranks_end(Outcome outcome, SandError *error);
