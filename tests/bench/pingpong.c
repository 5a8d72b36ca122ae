// SPDX-License-Identifier: MIT
// Latency and bandwidth of messages between two ranks, for tests/bench/scaling: a message goes there and back, and half of
// the median time is printed, as JSON. mpicc pingpong.c -o pingpong && mpirun -n 2 pingpong
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 200, LARGE = 1 << 20 };

// One way of a message of so many bytes between ranks 0 and 1, in seconds.
static double one_way(char *bytes, int count, int rank) {
    double begin = MPI_Wtime();
    if (rank == 0) MPI_Send(bytes, count, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(bytes, count, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(bytes, count, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    return (MPI_Wtime() - begin) / 2;
}

// The median of many rounds: on cores that other work shares the mean says little.
static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_way(char *bytes, int count, int rank) {
    static double times[ROUNDS];
    for (int k = 0; k < ROUNDS; k++) times[k] = one_way(bytes, count, rank);
    qsort(times, ROUNDS, sizeof *times, compare_times);
    return times[ROUNDS / 2];
}

int main(int argc, char **argv) {
    static char bytes[LARGE];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    median_way(bytes, LARGE, rank); // the first messages are slower
    double latency = median_way(bytes, 8, rank), large = median_way(bytes, LARGE, rank);
    if (rank == 0) printf("{\"message_us\": %.3f, \"gb_s\": %.3f}\n", 1e6 * latency, LARGE / (large - latency) / 1e9);
    MPI_Finalize();
    return 0;
}
