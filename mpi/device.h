// SPDX-License-Identifier: MIT
// The device of the MPI backends: that of the engine, and what a rank asks of the others for it.
#pragma once
#include "mpi/backend.h"

struct SandDevice {
    SandMpi *mpi;
    const SandMpiBackend *backend;
    const SandRankEngine *engine; // that of the backend
    SandDevice *inner;            // of the engine
    int server;                   // its number as a server of collective services
    SandTraffic traffic;          // of the last solve
    char about[240];
    // What rank 0 requests, and gets.
    const SandCheckpointRequest *checkpoint; // NULL on other ranks
    SandError fault;                         // why it was not written; empty: it was
    int body;
    SandBodyState state; // of that body
};

// The stages of a step (mpi/steps.c), as rows of the table.
void sand_mpi_step_rows(SandBackend *backend);
