// A program for rdam check whose loss is planted: `serve` sleeps for 2 ms, and every second time EXTRA microseconds longer; `refill` does so
// every tenth time; `parse` computes. Sleeping is what a busy machine disturbs least.
//
//     check_calls CALLS EXTRA
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kBaseMicroseconds = 2000, kRounds = 20000 };

static void sleep_for(long microseconds) {
    const struct timespec time = {0, microseconds * 1000};
    nanosleep(&time, NULL);
}

__attribute__((noipa)) void serve(long microseconds) {
    sleep_for(microseconds);
}

__attribute__((noipa)) void refill(long microseconds) {
    sleep_for(microseconds);
}

__attribute__((noipa)) uint64_t parse(uint64_t value) {
    for (int i = 0; i < kRounds; ++i)
        value = value * 6364136223846793005u + 1442695040888963407u;
    return value;
}

int main(int argc, char** argv) {
    const long calls = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    const long extra = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    if (calls <= 0 || extra < 0 || extra > 900000) {
        fputs("usage: check_calls CALLS EXTRA\n", stderr);
        return 2;
    }
    uint64_t value = 1;
    for (long i = 0; i < calls; ++i) {
        serve(kBaseMicroseconds + (i % 2 == 0 ? extra : 0));
        if (i % 10 == 0) refill(i % 20 == 0 ? kBaseMicroseconds : 2 * kBaseMicroseconds);
        value = parse(value);
    }
    printf("%llu\n", (unsigned long long)value);
    return 0;
}
