// Reads friction problems of the FCLIB collection (HDF5): local ones (W, q, mu), and global ones (M, H, f, w, mu), which are
// reduced to local form by W = H' M^-1 H, q = H' M^-1 f + w. The normal component of a contact comes first. A build without
// HDF5 refuses them with an error message.
#pragma once
#include "sandglass/problem.h"

bool sand_fclib_load(SandProblem *problem, const char *path, SandError *error);
