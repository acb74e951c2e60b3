/* 50 parallel regions of two threads, in each 10 times a critical section and a barrier for each thread.
 * Built by the test, for each OpenMP runtime there is. */
#include <stdio.h>

int main(void) {
    long sum = 0;
    long entered = 0;
    for (int round = 0; round < 50; round++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp for schedule(dynamic, 100) reduction(+ : sum)
            for (long i = 0; i < 1000; i++) {
                sum += i;
                if (i % 100 != 0) continue;
#pragma omp critical
                entered++;
            }
#pragma omp barrier
        }
    }
    printf("%ld %ld\n", sum, entered);
    return 0;
}
