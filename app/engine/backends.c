// SPDX-License-Identifier: MIT
// The choice of a backend: which ones this build has, and which of them can run a given solver.
#include "app/engine/backends.h"

#include <stdio.h>

const char *const backend_names[BACKEND_COUNT + 1] = {"auto", "cpu", "cuda", "mpi", "mpi:cuda", NULL};

#ifdef SAND_HAVE_CUDA
#include "cuda/backend.h"

static const SandBackend *cuda(SandError *why) { return sand_cuda_devices(why) ? sand_cuda_backend() : NULL; }
#else
static const SandBackend *cuda(SandError *why) { return sand_fail(why, "this build has no CUDA backend"), NULL; }
#endif

#ifdef SAND_HAVE_MPI
#include "mpi/backend.h"
#include "sim/ranks/cpu_engine.h"

// The ranks that this process is one of, and the backends that they have.
static struct {
    SandMpi *mpi; // NULL: MPI does not run
    SandMpiBackend threads, gpus;
} ranks;

void backends_use_mpi(SandMpi *mpi) {
    ranks.mpi = mpi;
    ranks.threads = sand_mpi_backend(mpi, sand_cpu_rank_engine());
#ifdef SAND_HAVE_CUDA
    ranks.gpus = sand_mpi_backend(mpi, sand_cuda_rank_engine());
#endif
}
SandMpi *backends_mpi(void) { return ranks.mpi; }
SandMpiBackend *backends_on_threads(void) { return &ranks.threads; }

static const SandBackend *mpi(SandError *why) {
    if (ranks.mpi) return &ranks.threads.backend;
    return sand_fail(why, "its processes must be there from the start: mpirun -n 4 sandglass SCENE --backend mpi"), NULL;
}
static bool is_mpi(const SandBackend *backend) { return backend == &ranks.threads.backend; }
static bool is_mpi_cuda(const SandBackend *backend) { return backend == &ranks.gpus.backend; }
#ifdef SAND_HAVE_CUDA
static const SandBackend *mpi_cuda(SandError *why) {
    return mpi(why) && sand_cuda_devices(why) ? &ranks.gpus.backend : NULL;
}
const char *backends_describe_mpi_cuda(void) {
    return "the GPUs of several machines, spheres and clumps: mpirun -n 4 sandglass run hourglass --backend mpi:cuda";
}
#endif
const char *backends_describe_mpi(void) {
    return "the cores of several machines: mpirun -n 4 sandglass run hourglass --backend mpi; the bits are those of cpu";
}
#else
static const SandBackend *mpi(SandError *why) { return sand_fail(why, "this build has no MPI backend"), NULL; }
static bool is_mpi(const SandBackend *backend) { return (void)backend, false; }
static bool is_mpi_cuda(const SandBackend *backend) { return (void)backend, false; }
const char *backends_describe_mpi(void) { return "this build has no MPI backend"; }
#endif

#if !defined(SAND_HAVE_MPI) || !defined(SAND_HAVE_CUDA)
static const SandBackend *mpi_cuda(SandError *why) {
    return sand_fail(why, "this build does not have both MPI and CUDA"), NULL;
}
const char *backends_describe_mpi_cuda(void) { return "this build does not have both MPI and CUDA"; }
#endif

// Whether the device supports this solver in this precision.
static bool suits(const SandSolveDef *solve, SandPrecision precision, SandError *error) {
    const SandSolver *solver = &sand_solver_table[solve->solver];
    if (!solver->on_cuda) return sand_fail(error, "solver %s does not run on CUDA", solver->name);
    if (solve->islands > 0) return sand_fail(error, "islands are solved on the CPU, and not on CUDA");
    return precision == SAND_FLOAT || sand_fail(error, "CUDA solves in float; --precision double needs the CPU");
}

bool backends_choose(Backend choice, const SandSolveDef *solve, SandPrecision precision, const SandBackend **backend,
                     SandError *error) {
    SandError why;
    *backend = NULL;
    if (choice == BACKEND_CPU) return true;
    if (choice == BACKEND_MPI) return (*backend = mpi(error)) != NULL && sand_solve_check_ranks(solve, error);
    if (choice == BACKEND_MPI_CUDA)
        return suits(solve, precision, error) && (*backend = mpi_cuda(error)) != NULL &&
               sand_solve_check_ranks(solve, error);
    *backend = suits(solve, precision, &why) ? cuda(&why) : NULL;
    return *backend || choice == BACKEND_AUTO || sand_fail(error, "%s", why.text);
}

Backend backends_kind(const SandBackend *backend) {
    if (is_mpi(backend)) return BACKEND_MPI;
    if (is_mpi_cuda(backend)) return BACKEND_MPI_CUDA;
    return backend && !backend->on_host ? BACKEND_CUDA : BACKEND_CPU;
}
Backend backends_bits(const SandBackend *backend) { return is_mpi(backend) ? BACKEND_CPU : backends_kind(backend); }
bool backends_several(Backend choice) { return choice == BACKEND_MPI || choice == BACKEND_MPI_CUDA; }

bool backends_describe(char *line, size_t size) {
    SandError why;
    const SandBackend *backend = cuda(&why);
    const SandDeviceDef def = {0};
    SandDevice *device = backend ? backend->create(&def, &why) : NULL;
    if (device)
        snprintf(line, size,
                 "%s; pictures are drawn from it (interop) where OpenGL runs on it too, else through the host (staged)",
                 backend->describe(device));
    else
        snprintf(line, size, "%s", why.text);
    if (device) backend->destroy(device);
    return device != NULL;
}
