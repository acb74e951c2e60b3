// How the threads of planted programs spend their time, and what the time is.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static volatile uint64_t sum;

/// Nanoseconds.
static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void rest(long microseconds) {
    const struct timespec time = {0, microseconds * 1000};
    nanosleep(&time, NULL);
}

static void compute(unsigned rounds) {
    for (unsigned i = 0; i < rounds; ++i)
        sum = sum * 3 + i;
}
