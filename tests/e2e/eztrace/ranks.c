/* Ranks that compute blocks of the same size, and wait for the last one: each time another rank is late. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

int main(int argc, char** argv) {
    int rank = 0;
    int ranks = 1;
    const int steps = argc > 1 ? atoi(argv[1]) : 100;
    struct tally tally = {0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int step = 0; step < steps; ++step) {
        const int late = step / 10 % ranks == rank;
        for (int block = 0; block < (late ? 300 : 50); ++block)
            compute_block(&tally, block);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) printf("%d steps of %d ranks\n", steps, ranks);
    MPI_Finalize();
    return 0;
}
