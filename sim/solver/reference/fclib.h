// SPDX-License-Identifier: MIT
// Reads and writes friction problems of the FCLIB collection (HDF5): local ones (W, q, mu), and global ones (M, H, f, w,
// mu), which are reduced to local form by W = H' M^-1 H, q = H' M^-1 f + w. The normal component of a contact comes first. A
// build without HDF5 refuses them with an error message.
#pragma once
#include "sandglass/problem.h"

bool sand_fclib_load(SandProblem *problem, const char *path, SandError *error);

typedef enum SandFclibForm { SAND_FCLIB_LOCAL, SAND_FCLIB_GLOBAL } SandFclibForm;

// Writes a problem, and a solution of it in FCLIB's group `solution` (v of a global problem, u, r) where it is not NULL.
// What FCLIB has no place for is in a group `sandglass`: status and gaps of the contacts, and the frame of each. A stored
// matrix can only be written in local form; a warm start is not kept.
bool sand_fclib_save(const SandProblem *problem, const SandSolution *solution, SandFclibForm form, const char *path,
                     SandError *error);
