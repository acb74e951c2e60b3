// Two threads on one processor that wait for each other: each round trip is two context switches of each
// thread.
//   switch_calls TURNS ROUNDS    prints the nanoseconds of processor time of a round trip with TURNS turns of
//   a
//                                loop in it
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int there[2];
static int back[2];
static volatile long spent;

__attribute__((noinline)) void switch_round(void) {
    char byte = 0;
    if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) exit(1);
}

static void* answer(void* nothing) {
    char byte = 0;
    while (read(there[0], &byte, 1) == 1)
        if (write(back[1], &byte, 1) != 1) break;
    return nothing;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char** words) {
    if (count != 3) return 2;
    const long turns = atol(words[1]);
    const long rounds = atol(words[2]);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    pthread_t thread = 0;
    if (sched_setaffinity(0, sizeof one, &one) != 0 || pipe(there) != 0 || pipe(back) != 0 ||
        pthread_create(&thread, NULL, answer, NULL) != 0)
        return 1;
    const double begin = now();
    for (long i = 0; i < rounds; ++i) {
        for (long turn = 0; turn < turns; ++turn)
            spent = spent + 1;
        switch_round();
    }
    printf("%.1f\n", (now() - begin) / (double)rounds);
    close(there[1]);
    return pthread_join(thread, NULL);
}
