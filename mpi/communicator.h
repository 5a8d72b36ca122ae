// SPDX-License-Identifier: MIT
// MPI as the table of functions that the solver knows (sim/core/ranks.h), and agreement between ranks: all go on together,
// or all end with the same sentence. Rank 0 leads: it decides when the run is over, and it alone prints.
#pragma once
#include "sim/core/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

// MPI in this process, from begin to end. Any number of simulations share it.
typedef struct SandMpi SandMpi;

// Starts MPI. False, with a sentence, where there are more ranks than the solver supports; *mpi must be ended then as well,
// unless it is NULL.
bool sand_mpi_begin(SandMpi **mpi, SandError *error);
int sand_mpi_rank(const SandMpi *mpi);
int sand_mpi_count(const SandMpi *mpi);
int sand_mpi_here(const SandMpi *mpi);      // number of ranks on this machine, which share its cores
int sand_mpi_rank_here(const SandMpi *mpi); // index of this one among them

const SandRanks *sand_mpi_ranks(const SandMpi *mpi);

// SandRanks.agree: waits until all ranks have come to the same point, with the same key.
bool sand_mpi_agree(SandMpi *mpi, uint64_t key, SandError *error);
// Ends the run because this rank has failed, for the reason in `error`: the agreement of the other ranks fails. Waits for
// all of them. Returns false, with the sentence of the lowest rank that failed.
bool sand_mpi_fail(SandMpi *mpi, SandError *error);
// Ends the run on all ranks if this one has failed (`ok` is false). Returns `ok`.
bool sand_mpi_told(SandMpi *mpi, bool ok, SandError *error);
// The same where the others cannot come to an agreement: ends all processes at once.
void sand_mpi_abort(const SandMpi *mpi, const SandError *error);

// A server of collective services, numbers from 0 to 7; every simulation is one. All ranks add their servers in the same
// order, and their numbers are not used again.
typedef bool SandMpiServe(void *server, int service, SandError *error);
bool sand_mpi_add_server(SandMpi *mpi, SandMpiServe *serve, void *server, int *number, SandError *error);
void sand_mpi_drop_server(SandMpi *mpi, int number);
// Requests a service. Every rank serves it: at its next sand_mpi_agree, for whichever simulation that is, or at once where
// it requests the same.
bool sand_mpi_request(SandMpi *mpi, int server, int service, SandError *error);

// Collective operations of a picture. Every rank first calls sand_mpi_together with whether its own work succeeded: where
// one failed it returns false on all ranks, which would otherwise wait for that rank forever.
bool sand_mpi_together(SandMpi *mpi, bool ok, SandError *error);
void sand_mpi_broadcast(void *bytes, size_t count);  // from rank 0
void sand_mpi_maximum(float *values, int64_t count); // each over all ranks, on all of them
// Gathers the items of all ranks on rank 0, in rank order: those of rank r are first[r] .. first[r + 1] - 1.
void sand_mpi_gather_at_0(const SandMpi *mpi, const void *items, size_t item_bytes, void *to, const int *first);

bool sand_mpi_over(const SandMpi *mpi); // rank 0 has ended the run, and no rank has failed

// Ends MPI, and on rank 0 the run, and frees `mpi`. `ok`: this rank has not failed. False, with the sentence of the rank,
// where one has.
bool sand_mpi_end(SandMpi *mpi, bool ok, SandError *error);

// What this rank has sent to other ranks since the start, for any purpose, and the allgathers that it took part in. The
// difference over a solve is the traffic of the solve (mpi/steps.c).
typedef struct SandMpiTraffic {
    int64_t exchanges, messages, bytes; // in a solve: of ghosts
    int64_t allgathers;                 // in a solve: of partial sums and of solutions
} SandMpiTraffic;
SandMpiTraffic sand_mpi_traffic(const SandMpi *mpi);
// Replaces each number by its sum over all ranks.
void sand_mpi_sum(int64_t *numbers, int count);

#ifdef __cplusplus
}
#endif
