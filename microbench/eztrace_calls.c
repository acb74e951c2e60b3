/* eztrace_calls CALLS STEPS: calls constant_work(STEPS), and prints the nanoseconds of processor time that a
 * call took. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void constant_work(long steps);

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
    const long calls = argc > 1 ? atol(argv[1]) : 1000000;
    const long steps = argc > 2 ? atol(argv[2]) : 0;
    const double begin = seconds();
    for (long call = 0; call < calls; ++call)
        constant_work(steps);
    printf("%.1f\n", (seconds() - begin) / calls * 1e9);
    return 0;
}
