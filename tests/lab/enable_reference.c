// SPDX-License-Identifier: MIT
// Part of every test: the reference methods and the reader of FCLIB files are there, as they are in the program.
#include "sandglass/solver.h"

__attribute__((constructor)) static void enable(void) { sand_reference_enable(); }
