// The functions of CUDA, as one rank of several (cuda/part.h). Where one fails the other ranks are told.
#include "mpi/cuda_backend.h"
#include "mpi/communicator.h"
#include "mpi/steps.h"
#include "cuda/backend.h"

#include <stdio.h>

enum { WANT_STATE };
static bool give(void *device, int what, SandError *error) { return (void)what, sand_cuda_read(device, error); }

static int ghosts(SandDevice *device) { return sand_cuda_ghosts(device); }

// Ranks of a machine take its GPUs in turn, and share them where there are fewer.
static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    static const SandMpiEngine gpu = {sand_cuda_backend, ghosts, sand_cuda_broken};
    sand_mpi_compute_by(&gpu);
    int devices = sand_cuda_devices(error), here = sand_mpi_here();
    if (!devices || !sand_cuda_use(sand_mpi_rank_here() % devices, error)) return NULL;
    SandDevice *device = sand_cuda_backend()->create(def, error);
    int sharers = (here + devices - 1) / devices;
    if (device && !sand_cuda_join(device, sand_mpi_ranks(), sharers, error))
        return sand_cuda_backend()->destroy(device), NULL;
    if (device) sand_mpi_on_want(give, device);
    return device;
}

static const char *describe(const SandDevice *device) {
    static char text[240];
    snprintf(text, sizeof text, "%s, %d rank%s", sand_cuda_backend()->describe(device), sand_mpi_count(),
             sand_mpi_count() == 1 ? "" : "s");
    return text;
}

// The host's world is complete after a read, whatever part was asked for.
static bool read_bodies(SandDevice *device, SandWorld *world, int first, int count, SandError *error) {
    (void)device, (void)world, (void)first, (void)count;
    return sand_mpi_want(WANT_STATE, error);
}

static bool read_warm_start(SandDevice *device, SandWarmStart *warm_start, SandError *error) {
    (void)device, (void)warm_start;
    return sand_mpi_want(WANT_STATE, error);
}

static bool read_step(SandDevice *device, SandError *error) {
    (void)device;
    return sand_fail(error, "ranks on GPUs do not give their contacts yet; --backend mpi does");
}

static bool read_curve(SandDevice *device, SandSolution *solution, SandError *error) {
    return sand_cuda_backend()->read_curve(device, solution, error);
}

const SandBackend *sand_mpi_cuda_backend(void) {
    static const SandBackend backend = {
        .name = "mpi:cuda",
        .fails_for_all = true,
        .create = create,
        .destroy = sand_mpi_step_destroy,
        .describe = describe,
        .upload = sand_mpi_step_upload,
        .collide = sand_mpi_step_collide,
        .warm_start = sand_mpi_step_warm_start,
        .build = sand_mpi_step_build,
        .solve = sand_mpi_step_solve,
        .integrate = sand_mpi_step_integrate,
        .finish = sand_mpi_step_finish,
        .measure = sand_mpi_step_measure,
        .read_bodies = read_bodies,
        .read_warm_start = read_warm_start,
        .read_step = read_step,
        .read_curve = read_curve,
    };
    return &backend;
}
