// SPDX-License-Identifier: MIT
// The backends that can take the steps of a simulation, in this build and on this machine.
#pragma once
#include "sim/step/backend.h"
#include "sandglass/solver.h"

typedef enum Backend { BACKEND_AUTO, BACKEND_CPU, BACKEND_CUDA, BACKEND_MPI, BACKEND_MPI_CUDA, BACKEND_COUNT } Backend;
extern const char *const backend_names[BACKEND_COUNT + 1]; // ended by NULL

// The backend for a choice; NULL stands for the CPU. `auto` takes CUDA where there is a device that can do this solver in
// this precision, and never fails. False, with the reason, where a choice cannot be had.
bool backends_choose(Backend choice, const SandSolveDef *solve, SandPrecision precision, const SandBackend **backend,
                     SandError *error);
Backend backends_kind(const SandBackend *backend); // which of the choices it is
// The choice whose bits it gives, for what can be replayed or resumed: mpi gives those of the CPU.
Backend backends_bits(const SandBackend *backend);
bool backends_several(Backend choice); // it has several processes

// One line about the CUDA device and how its bodies get to the picture, or why there is none. True where there is one.
bool backends_describe(char *line, size_t size);
const char *backends_describe_mpi(void);      // one line about the MPI backend, or why there is none
const char *backends_describe_mpi_cuda(void); // the same about its ranks on GPUs

// The ranks that this process is one of, where the build has MPI.
typedef struct SandMpi SandMpi;
struct SandMpiBackend;
void backends_use_mpi(SandMpi *mpi);              // from now on, until MPI ends; NULL: it is one of none
SandMpi *backends_mpi(void);                      // NULL: it is one of none
struct SandMpiBackend *backends_on_threads(void); // `mpi`, for the pictures that its ranks draw
