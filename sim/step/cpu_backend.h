// The CPU as a backend: the same table of functions as CUDA, on the host state itself.
#pragma once
#include "sim/step/backend.h"

const SandBackend *sand_cpu_backend(void);

// The solver of a device of this backend, for residuals and for building problems on the host.
SandCpu *sand_cpu_backend_solver(SandDevice *device);
