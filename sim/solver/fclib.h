// FCLIB's stored friction problems (HDF5): local ones (W, q, mu), and global ones (M, H, f, w, mu), which are made local by
// W = H' M^-1 H, q = H' M^-1 f + w. The normal component comes first. A build without HDF5 refuses them by a sentence.
#pragma once
#include "sim/solver/problem.h"

bool sand_fclib_load(SandProblem *problem, const char *path, SandError *error);
