// In about half of its runs every other call of nap() takes longer, and each run's calls of noise() all take
// another while: of the spread between runs a known share is time that nap() loses.
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "microbench/variation/common.h"

static const char kProgram[] = "moods";

static void sleep_us(int64_t us) {
    const struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

// Something is left to do behind each sleep: a call, not a jump.
__attribute__((noinline)) void nap(int64_t us) {
    sleep_us(us);
    __asm__ volatile("");
}

__attribute__((noinline)) void noise(int64_t us) {
    sleep_us(us);
    __asm__ volatile("");
}

/// Another number in each run (the finalizer of MurmurHash3 on the time).
static uint64_t draw(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    uint64_t bits = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    bits = (bits ^ bits >> 33) * UINT64_C(0xff51afd7ed558ccd);
    bits = (bits ^ bits >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return bits ^ bits >> 33;
}

int main(int argc, char** argv) {
    int64_t calls = 20, least = 1000, mood = 1000, most_noise = 300;
    const struct Option options[] = {
        {.name = "calls", .value = "N", .help = "calls of each function", .whole = &calls},
        {.name = "least", .value = "US", .help = "µs of each call, at least", .whole = &least},
        {.name = "mood",
         .value = "US",
         .help = "µs more of every other nap(), in half of the runs",
         .whole = &mood},
        {.name = "noise", .value = "US", .help = "µs more of every noise(), at most", .whole = &most_noise},
        {.name = NULL}};
    const struct Usage usage = {
        .program = kProgram,
        .arguments = "",
        .about = "Sleeps in nap() and noise(); runs take different times. Prints a JSON object.\n"};
    read_options(argc, argv, &usage, options, 0);
    const uint64_t drawn = draw();
    const bool moody = drawn % 2 == 1;
    const int64_t besides = (int64_t)(drawn / 2 % (uint64_t)(most_noise + 1));
    int64_t naps_ns = 0;
    const int64_t begin = now_ns();
    for (int64_t i = 0; i < calls; ++i) {
        const int64_t at = now_ns();
        nap(least + (moody && i % 2 == 1 ? mood : 0));
        naps_ns += now_ns() - at;
        noise(least + besides);
    }
    print_begin(kProgram, 1);
    printf(", \"moody\": %s, \"naps_ns\": %" PRId64 ", \"all_ns\": %" PRId64 "}\n", moody ? "true" : "false",
           naps_ns, now_ns() - begin);
    return 0;
}
