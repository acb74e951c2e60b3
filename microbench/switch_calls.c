// Two threads on one processor that wait for each other, of one process or of two: in a round trip each of them
// is off the processor once.
//   switch_calls TURNS ROUNDS [processes]    prints the nanoseconds of processor time of a round trip with
//                                            TURNS turns of a loop in it
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
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

static double processor_time(clockid_t of) {
    struct timespec time;
    if (clock_gettime(of, &time) != 0) exit(1);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char** words) {
    if (count != 3 && count != 4) return 2;
    const bool processes = count == 4;
    const long turns = atol(words[1]);
    const long rounds = atol(words[2]);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    pthread_t thread = 0;
    if (sched_setaffinity(0, sizeof one, &one) != 0 || pipe(there) != 0 || pipe(back) != 0) return 1;
    clockid_t others = CLOCK_PROCESS_CPUTIME_ID;
    if (processes) {
        const pid_t child = fork();
        if (child == 0) {
            close(there[1]);
            answer(NULL);
            return 0;
        }
        if (child < 0 || clock_getcpuclockid(child, &others) != 0) return 1;
    } else if (pthread_create(&thread, NULL, answer, NULL) != 0) {
        return 1;
    }
    const double begin = processor_time(CLOCK_PROCESS_CPUTIME_ID) + processor_time(others);
    for (long i = 0; i < rounds; ++i) {
        for (long turn = 0; turn < turns; ++turn)
            spent = spent + 1;
        switch_round();
    }
    const double taken = processor_time(CLOCK_PROCESS_CPUTIME_ID) + processor_time(others) - begin;
    printf("%.1f\n", taken / (processes ? 1 : 2) / (double)rounds);
    close(there[1]);
    return processes ? wait(NULL) < 0 : pthread_join(thread, NULL);
}
