// Calls a function of so many TURNS of an empty loop CALLS times, ROUNDS times over, and prints the seconds
// of each round: budget_calls TURNS CALLS ROUNDS.
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile long sink;

__attribute__((noinline)) void budget_call(long turns) {
    long sum = 0;
    for (long i = 0; i < turns; ++i) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    sink = sum;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int count, char** arguments) {
    if (count != 4) return 2;
    const long turns = atol(arguments[1]);
    const long calls = atol(arguments[2]);
    const long rounds = atol(arguments[3]);
    for (long round = 0; round < rounds; ++round) {
        const double begin = now();
        for (long i = 0; i < calls; ++i)
            budget_call(turns);
        printf("%.9f\n", now() - begin);
    }
    return 0;
}
