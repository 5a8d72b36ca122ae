// The ranks of an MPI run, as the solver knows them (sim/core/ranks.h), and how a run ends: all ranks go on together, or all
// stop with one sentence. Rank 0 leads: it decides when the run is over, and it alone speaks and writes.
#pragma once
#include "sim/core/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

// Starts MPI. False, with a sentence, when there are more ranks than the solver can have.
bool sand_mpi_begin(SandError *error);
bool sand_mpi_running(void); // between begin and end
int sand_mpi_rank(void);     // 0 where MPI does not run
int sand_mpi_count(void);
int sand_mpi_here(void);      // ranks on this machine, which share its cores
int sand_mpi_rank_here(void); // which of them this one is

const SandRanks *sand_mpi_ranks(void);

// Waits until all ranks are at the same point with the same key, as SandRanks.agree.
bool sand_mpi_agree(uint64_t key, SandError *error);
// This rank has failed, for the reason in `error`: every rank learns it where it next agrees. Returns false, with the
// sentence of the first rank that failed.
bool sand_mpi_fail(SandError *error);
// The same where the others are not about to agree: all processes end at once.
void sand_mpi_abort(const SandError *error);
// Requests a collective service, a number from 0 to 7: every rank serves it, at its next sand_mpi_agree, or at once where it
// requests the same.
typedef bool SandMpiServe(void *server, int service, SandError *error);
void sand_mpi_on_request(SandMpiServe *serve, void *server);
bool sand_mpi_request(int service, SandError *error);
// Collective operations of a picture, which every rank calls in the same order. A rank where something failed before says so
// in sand_mpi_together, which then fails on all of them; else the others would wait for it forever.
bool sand_mpi_together(bool ok, SandError *error);
void sand_mpi_broadcast(void *bytes, size_t count);  // from rank 0
void sand_mpi_maximum(float *values, int64_t count); // of all ranks, to all of them
// Brings the items of all ranks to rank 0, one rank behind the other: first[r] is where those of rank r begin, and has an
// entry for the end.
void sand_mpi_gather_at_0(const void *items, size_t item_bytes, void *to, const int *first);

bool sand_mpi_over(void); // rank 0 has ended the run, and nobody has failed

// Ends MPI. Rank 0 thereby ends the run; `ok`: this rank has not failed. False, with its sentence, when any has.
bool sand_mpi_end(bool ok, SandError *error);

// What this rank has sent to its neighbors since the start, and the operations that all ranks took part in.
typedef struct SandMpiTraffic {
    int64_t exchanges, messages, bytes; // of ghosts
    int64_t allgathers;                 // of partial sums and of solutions
} SandMpiTraffic;
SandMpiTraffic sand_mpi_traffic(void);
// Adds up numbers over all ranks.
void sand_mpi_sum(int64_t *numbers, int count);

#ifdef __cplusplus
}
#endif
