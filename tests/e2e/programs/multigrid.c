/* Levels of a multigrid: what a parallel region has to do differs by a factor of 4,096, and both threads do
 * the same level. Built by the test, for each OpenMP runtime there is. */
#include <stdio.h>

enum { largest = 1 << 18 };
static double grid[largest];

__attribute__((noinline)) static void relax(long begin, long end) {
    for (int sweep = 0; sweep < 64; sweep++)
        for (long i = begin; i < end; i++)
            grid[i] = 0.5 * grid[i] + 1;
}

int main(void) {
    for (int cycle = 0; cycle < 60; cycle++)
        for (long size = 64; size <= largest; size *= 4) {
#pragma omp parallel for num_threads(2) schedule(static)
            for (int half = 0; half < 2; half++)
                relax(half * size / 2, (half + 1) * size / 2);
        }
    printf("%.3f\n", grid[0]);
    return 0;
}
