// SPDX-License-Identifier: MIT
// MPI as the table of functions that the solver knows (sim/core/ranks.h), and agreement between ranks: all go on together,
// or all end with the same sentence. Rank 0 leads: it decides when the run is over, and it alone prints.
#pragma once
#include "sim/core/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

// Starts MPI. False, with a sentence, where there are more ranks than the solver supports.
bool sand_mpi_begin(SandError *error);
bool sand_mpi_running(void); // between begin and end
int sand_mpi_rank(void);     // 0 where MPI does not run
int sand_mpi_count(void);
int sand_mpi_here(void);      // number of ranks on this machine, which share its cores
int sand_mpi_rank_here(void); // index of this one among them

const SandRanks *sand_mpi_ranks(void);

// SandRanks.agree: waits until all ranks have come to the same point, with the same key.
bool sand_mpi_agree(uint64_t key, SandError *error);
// Ends the run because this rank has failed, for the reason in `error`: the agreement of the other ranks fails. Waits for
// all of them. Returns false, with the sentence of the lowest rank that failed.
bool sand_mpi_fail(SandError *error);
// The same where the others cannot come to an agreement: ends all processes at once.
void sand_mpi_abort(const SandError *error);
// Requests a collective service, a number from 0 to 7. Every rank serves it: at its next sand_mpi_agree, or at once where it
// requests the same.
typedef bool SandMpiServe(void *server, int service, SandError *error);
void sand_mpi_on_request(SandMpiServe *serve, void *server);
bool sand_mpi_request(int service, SandError *error);
// Collective operations of a picture. Every rank first calls sand_mpi_together with whether its own work succeeded: where
// one failed it returns false on all ranks, which would otherwise wait for that rank forever.
bool sand_mpi_together(bool ok, SandError *error);
void sand_mpi_broadcast(void *bytes, size_t count);  // from rank 0
void sand_mpi_maximum(float *values, int64_t count); // each over all ranks, on all of them
// Gathers the items of all ranks on rank 0, in rank order: those of rank r are first[r] .. first[r + 1] - 1.
void sand_mpi_gather_at_0(const void *items, size_t item_bytes, void *to, const int *first);

bool sand_mpi_over(void); // rank 0 has ended the run, and no rank has failed

// Ends MPI, and on rank 0 the run. `ok`: this rank has not failed. False, with the sentence of the rank, where one has.
bool sand_mpi_end(bool ok, SandError *error);

// What this rank has sent to other ranks since the start, for any purpose, and the allgathers that it took part in. The
// difference over a solve is the traffic of the solve (mpi/steps.c).
typedef struct SandMpiTraffic {
    int64_t exchanges, messages, bytes; // in a solve: of ghosts
    int64_t allgathers;                 // in a solve: of partial sums and of solutions
} SandMpiTraffic;
SandMpiTraffic sand_mpi_traffic(void);
// Replaces each number by its sum over all ranks.
void sand_mpi_sum(int64_t *numbers, int count);

#ifdef __cplusplus
}
#endif
