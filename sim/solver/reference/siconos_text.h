// SPDX-License-Identifier: MIT
// Reader of friction-contact problems in the text format of Siconos (.dat), as frictionContact_printInFile and
// globalFrictionContact_printInFile of its numerics write it: dimension, number of contacts, W or M and H in one of three
// storages (dense, sparse blocks, sparse), then q or q and b, and mu.
#pragma once
#include "sandglass/problem.h"

bool sand_siconos_text_load(SandProblem *problem, const char *path, SandError *error);
