// SPDX-License-Identifier: MIT
// The functions of SandRanks by MPI, and the agreement of ranks. Outside a solve ranks come to an agreement (`meet`), where
// each says whether it goes on, before a collective operation that one of them might not reach. A rank that fails goes to
// `meet` from wherever it is: the others learn of the failure at their next agreement, and none waits forever.
#include "mpi/communicator.h"
#include "sim/core/array.h"
#include "sim/core/assert.h"
#include "sim/core/limits.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

// What a rank says in an agreement: its own number if it has failed, IS_OVER where rank 0 ends the run, REQUESTS - k to
// request a service of a server (k = service * MOST_SERVERS + server), or GOES_ON. The least of all ranks decides.
enum {
    GOES_ON = INT_MAX,
    REQUESTS = INT_MAX - 1,
    MOST_SERVICES = 8,
    MOST_SERVERS = 1 << 20,
    IS_OVER = REQUESTS - MOST_SERVICES * MOST_SERVERS
};

enum { MOST_AT_ONCE = 1 << 24 }; // numbers in one call of a reduction, whose count is an int
enum { ITEM_SIZES = 9 };         // items of 1 to 8 doubles have a type that is made once

typedef struct Server {
    SandMpiServe *serve;
    void *server;
} Server;

struct SandMpi {
    bool failed, over;
    int rank, count, here, rank_here;
    SandError why; // the sentence of the failure
    MPI_Datatype item[ITEM_SIZES];
    SandMpiTraffic traffic;
    MPI_Request requests[2 * SAND_MAX_RANKS]; // of the exchange that is under way
    int open;
    SandRanks ranks;
    SAND_ARRAY(Server) servers; // in the order of their creation, which is the same on all ranks
    int server_count;
};

// --- agreement ----------------------------------------------------------------------------------------------

// Broadcasts the sentence of the lowest rank that failed.
static void share_failure(SandMpi *mpi, int first, const SandError *error) {
    if (first == mpi->rank) mpi->why = *error;
    MPI_Bcast(mpi->why.text, sizeof mpi->why.text, MPI_CHAR, first, MPI_COMM_WORLD);
    mpi->failed = true;
    SandError sentence = mpi->why;
    if (first > 0) sand_fail(&mpi->why, "rank %d: %s", first, sentence.text);
}

static bool serve(SandMpi *mpi, int request, SandError *error) {
    const Server *s = &mpi->servers.data[request % MOST_SERVERS];
    if (!s->serve) return sand_fail(error, "another rank still asks for bodies of a simulation that is freed on this one");
    return s->serve(s->server, request / MOST_SERVERS, error);
}

// The agreement of all ranks. A requested service is served at once; ranks that requested something else, or nothing, then
// come back. After a failure or the end of the run no rank waits for another.
static bool meet(SandMpi *mpi, int says, uint64_t key, SandError *error) {
    if (mpi->over) return sand_fail(error, "the run is over");
    if (!mpi->failed) {
        int64_t said[3] = {says, (int64_t)(key >> 1), -(int64_t)(key >> 1)}, least[3];
        MPI_Allreduce(said, least, 3, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
        if (least[0] < mpi->count) {
            share_failure(mpi, (int)least[0], error);
        } else if (least[0] > IS_OVER && least[0] <= REQUESTS) {
            bool served = serve(mpi, (int)(REQUESTS - least[0]), error);
            return says == least[0] ? served : meet(mpi, served ? says : mpi->rank, key, error);
        } else if (least[0] == IS_OVER) {
            mpi->over = true;
            return meet(mpi, says, key, error);
        } else if (least[1] != -least[2]) {
            mpi->failed = true;
            sand_fail(&mpi->why, "the ranks do not do the same: give all of them the same scene and options");
        }
    }
    if (mpi->failed) *error = mpi->why;
    return !mpi->failed;
}

bool sand_mpi_agree(SandMpi *mpi, uint64_t key, SandError *error) { return meet(mpi, GOES_ON, key, error); }
bool sand_mpi_fail(SandMpi *mpi, SandError *error) { return meet(mpi, mpi->rank, 0, error), false; }
bool sand_mpi_told(SandMpi *mpi, bool ok, SandError *error) { return ok || sand_mpi_fail(mpi, error); }
void sand_mpi_abort(const SandMpi *mpi, const SandError *error) {
    fprintf(stderr, "sandglass: rank %d: %s\n", mpi->rank, error->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
bool sand_mpi_over(const SandMpi *mpi) { return mpi->over; }

bool sand_mpi_add_server(SandMpi *mpi, SandMpiServe *serve, void *server, int *number, SandError *error) {
    *number = mpi->server_count;
    if (mpi->server_count == MOST_SERVERS)
        return sand_fail(error, "ranks support at most %d simulations, one after the other or at once", MOST_SERVERS);
    if (!SAND_RESERVE(mpi->servers, mpi->server_count + 1, "simulations", error)) return false;
    mpi->servers.data[mpi->server_count++] = (Server){serve, server};
    return true;
}

void sand_mpi_drop_server(SandMpi *mpi, int number) { mpi->servers.data[number] = (Server){NULL, NULL}; }

bool sand_mpi_request(SandMpi *mpi, int server, int service, SandError *error) {
    return meet(mpi, REQUESTS - (service * MOST_SERVERS + server), 0, error);
}

// --- the functions of SandRanks -----------------------------------------------------------------------------

static bool agree(void *user, uint64_t key, SandError *error) { return sand_mpi_agree(user, key, error); }

// A type of this many bytes, which the caller frees.
static MPI_Datatype item_of(size_t bytes) {
    MPI_Datatype item;
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &item);
    MPI_Type_commit(&item);
    return item;
}

static void allgather(void *user, void *items, const int *first, size_t item_bytes) {
    SandMpi *mpi = user;
    int counts[SAND_MAX_RANKS] = {0};
    bool small = item_bytes % sizeof(double) == 0 && item_bytes / sizeof(double) < ITEM_SIZES;
    MPI_Datatype item = small ? mpi->item[item_bytes / sizeof(double)] : item_of(item_bytes);
    for (int r = 0; r < mpi->count; r++) counts[r] = first[r + 1] - first[r];
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, items, counts, first, item, MPI_COMM_WORLD);
    if (!small) MPI_Type_free(&item);
    mpi->traffic.allgathers++;
}

// A length as MPI takes it. Counts are int: a message longer than INT_MAX bytes is sent in units of eight.
typedef struct Units {
    int count;
    MPI_Datatype type;
} Units;

static Units units_of(const SandMpi *mpi, size_t bytes) {
    if (bytes <= INT_MAX) return (Units){(int)bytes, MPI_BYTE};
    SAND_ASSERT(bytes % sizeof(double) == 0);
    return (Units){(int)(bytes / sizeof(double)), mpi->item[1]};
}

static void begin_exchange(void *user, const SandMessage *messages, int count) {
    SandMpi *mpi = user;
    mpi->open = 0;
    for (int j = 0; j < count; j++) {
        Units u = units_of(mpi, messages[j].receive_bytes);
        if (u.count)
            MPI_Irecv(messages[j].receive, u.count, u.type, messages[j].rank, 0, MPI_COMM_WORLD,
                      &mpi->requests[mpi->open++]);
    }
    for (int j = 0; j < count; j++) {
        Units u = units_of(mpi, messages[j].send_bytes);
        if (!u.count) continue;
        MPI_Isend(messages[j].send, u.count, u.type, messages[j].rank, 0, MPI_COMM_WORLD, &mpi->requests[mpi->open++]);
        mpi->traffic.messages++;
        mpi->traffic.bytes += (int64_t)messages[j].send_bytes;
    }
    mpi->traffic.exchanges++;
}

static void end_exchange(void *user) {
    SandMpi *mpi = user;
    MPI_Waitall(mpi->open, mpi->requests, MPI_STATUSES_IGNORE);
}

static void exchange(void *user, const SandMessage *messages, int count) {
    begin_exchange(user, messages, count);
    end_exchange(user);
}

static void sum(void *user, int64_t *numbers, int64_t count) {
    (void)user;
    for (int64_t i = 0; i < count; i += MOST_AT_ONCE)
        MPI_Allreduce(MPI_IN_PLACE, numbers + i, (int)(count - i < MOST_AT_ONCE ? count - i : MOST_AT_ONCE), MPI_INT64_T,
                      MPI_SUM, MPI_COMM_WORLD);
}

const SandRanks *sand_mpi_ranks(const SandMpi *mpi) { return &mpi->ranks; }
SandMpiTraffic sand_mpi_traffic(const SandMpi *mpi) { return mpi->traffic; }

void sand_mpi_sum(int64_t *numbers, int count) { sum(NULL, numbers, count); }

// --- pictures -----------------------------------------------------------------------------------------------

bool sand_mpi_together(SandMpi *mpi, bool ok, SandError *error) {
    return ok ? sand_mpi_agree(mpi, 0, error) : sand_mpi_fail(mpi, error);
}

void sand_mpi_broadcast(void *bytes, size_t count) { MPI_Bcast(bytes, (int)count, MPI_BYTE, 0, MPI_COMM_WORLD); }

void sand_mpi_maximum(float *values, int64_t count) {
    for (int64_t i = 0; i < count; i += MOST_AT_ONCE)
        MPI_Allreduce(MPI_IN_PLACE, values + i, (int)(count - i < MOST_AT_ONCE ? count - i : MOST_AT_ONCE), MPI_FLOAT,
                      MPI_MAX, MPI_COMM_WORLD);
}

void sand_mpi_gather_at_0(const SandMpi *mpi, const void *items, size_t item_bytes, void *to, const int *first) {
    int counts[SAND_MAX_RANKS] = {0};
    MPI_Datatype item = item_of(item_bytes);
    for (int r = 0; r < mpi->count; r++) counts[r] = first[r + 1] - first[r];
    MPI_Gatherv(items, counts[mpi->rank], item, to, counts, first, item, 0, MPI_COMM_WORLD);
    MPI_Type_free(&item);
}

// --- begin and end ------------------------------------------------------------------------------------------

static void count_here(SandMpi *mpi) {
    MPI_Comm machine;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &mpi->here);
    MPI_Comm_rank(machine, &mpi->rank_here);
    MPI_Comm_free(&machine);
}

bool sand_mpi_begin(SandMpi **to, SandError *error) {
    SandMpi *mpi = *to = calloc(1, sizeof *mpi);
    int provided;
    if (!mpi) return sand_fail(error, "out of memory for MPI");
    // Open MPI polls while it waits. Where others want the cores, a rank that keeps polling burns the very time slice that
    // the one it waits for needs, so it gives its own away; the user's setting wins.
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    // Ghosts of two ranks of a machine take some ten kB. Up to this size Open MPI copies a message at once, and its sender
    // goes on; a larger message is fetched by the receiver with a system call, while the sender waits.
    setenv("OMPI_MCA_btl_vader_eager_limit", "65536", 0);
    setenv("OMPI_MCA_btl_sm_eager_limit", "65536", 0);           // its name from Open MPI 5 on
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided); // only the first worker of a pool calls MPI
    MPI_Comm_rank(MPI_COMM_WORLD, &mpi->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mpi->count);
    count_here(mpi);
    for (int k = 1; k < ITEM_SIZES; k++) {
        MPI_Type_contiguous(k, MPI_DOUBLE, &mpi->item[k]);
        MPI_Type_commit(&mpi->item[k]);
    }
    mpi->ranks = (SandRanks){mpi, mpi->rank, mpi->count, agree, allgather, exchange, sum, begin_exchange, end_exchange};
    return mpi->count <= SAND_MAX_RANKS ||
           sand_fail(error, "%d ranks are too many: at most %d are supported", mpi->count, SAND_MAX_RANKS);
}

int sand_mpi_rank(const SandMpi *mpi) { return mpi->rank; }
int sand_mpi_count(const SandMpi *mpi) { return mpi->count; }
int sand_mpi_here(const SandMpi *mpi) { return mpi->here; }
int sand_mpi_rank_here(const SandMpi *mpi) { return mpi->rank_here; }

bool sand_mpi_end(SandMpi *mpi, bool ok, SandError *error) {
    SandError ended;
    if (!mpi->over && !mpi->failed) meet(mpi, ok ? IS_OVER : mpi->rank, 0, ok ? &ended : error);
    if (mpi->failed) *error = mpi->why;
    for (int k = 1; k < ITEM_SIZES; k++) MPI_Type_free(&mpi->item[k]);
    MPI_Finalize();
    ok = !mpi->failed;
    SAND_FREE_ARRAYS(&mpi->servers);
    free(mpi);
    return ok;
}
