// SPDX-License-Identifier: MIT
// A rank other than 0 in a run of `--backend mpi`: it has the same scene as rank 0, takes the same steps as long as rank 0
// does, writes its parts of the files of rank 0, and draws its bodies for the pictures of rank 0.
#pragma once
#include "app/cli/session/session.h"

Outcome follow_rank_0(const Options *options, SandError *error);
