// SPDX-License-Identifier: MIT
// Everything that a method is made of, in one include: the SPMD macros, the operator, residuals, active sets and the state
// of a solve. Each file of sim/solver/methods begins with it, so that it opens alone in an editor.
#pragma once
#include "sim/solver/kernel/solve.inl"
