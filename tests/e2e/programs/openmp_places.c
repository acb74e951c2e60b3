/* Prints the processors of each thread of OpenMP, in the order of omp_get_thread_num(), a line each: first of
 * all threads, then of half as many, rounded up. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>

int main(void) {
    const int most = omp_get_max_threads();
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(round == 0 ? most : (most + 1) / 2)
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < omp_get_num_threads(); i++) {
            cpu_set_t mask;
            sched_getaffinity(0, sizeof mask, &mask);
#pragma omp ordered
            {
                printf("%d", omp_get_thread_num());
                for (int k = 0; k < CPU_SETSIZE; k++)
                    if (CPU_ISSET(k, &mask)) printf(" %d", k);
                printf("\n");
            }
        }
    }
    return 0;
}
