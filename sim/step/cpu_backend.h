// SPDX-License-Identifier: MIT
// The CPU as a backend: the same table of functions as CUDA, on the host state itself.
#pragma once
#include "sim/step/ranks/rank_engine.h"

const SandBackend *sand_cpu_backend(void);

// The CPU as the engine of a rank: its steps are those of a subdomain (ranks/subdomain.h), and the host has current bodies
// only after a read.
const SandRankEngine *sand_cpu_rank_engine(void);

// The solver of a device of this backend, for residuals and for building problems on the host.
SandCpu *sand_cpu_backend_solver(SandDevice *device);
