// Calls a function that does the same work each time, or now and then a known piece more:
//
//   floor_calls work TURNS THREADS CALLS [MORE]
//   floor_calls truth TURNS CALLS MORE
//   floor_calls stamps TURNS CALLS
//
// The work is a chain of TURNS multiplications, each of which waits for the one before. It goes on where the
// last call ended, so that calls do not overlap. Every eighth call does MORE of them besides. Prints JSON.
//
// work: the nanoseconds of a call, mean of all threads. To be recorded, or not.
// truth: what MORE costs, by calls that nobody records: batches with and without it, in turn. The nanoseconds
// of a call with and without, and the share of the time that is lost; medians of the batches and of their
// pairs. stamps: the nanoseconds of a call without time-stamps, and of two time-stamps alone and around a
// call, for each clock; medians of batches, in turn.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#define MOST_THREADS 256
#define ONE_OF 8
#define BATCHES 200L  // an even number

static long turns;
static long calls;
static long more;
static pthread_barrier_t start;

// Each thread has its own: threads share no data that anybody writes.
static _Thread_local long length;
static _Thread_local uint64_t value = 3;

// Aligned: where a short loop stands changes what it costs. Without parameters: they would be recorded, too.
__attribute__((noinline, aligned(64))) void recorded_work(void) {
    uint64_t product = value;
    for (long i = 0; i < length; ++i) {
        product *= 0x9E3779B97F4A7C15u;
        __asm__ volatile("" : "+r"(product));
    }
    value = product;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void work(long count, long extra) {
    for (long i = 0; i < count; ++i) {
        length = i % ONE_OF == ONE_OF - 1 ? turns + extra : turns;
        recorded_work();
    }
}

static void* run_thread(void* result) {
    pthread_barrier_wait(&start);
    const double begin = now();
    work(calls, more);
    *(double*)result = (now() - begin) / (double)calls;
    return NULL;
}

static int run_work(long threads) {
    pthread_t all[MOST_THREADS];
    double took[MOST_THREADS];
    if (pthread_barrier_init(&start, NULL, (unsigned)threads) != 0) return 1;
    for (long i = 0; i < threads; ++i)
        if (pthread_create(&all[i], NULL, run_thread, &took[i]) != 0) return 1;
    double sum = 0;
    for (long i = 0; i < threads; ++i) {
        pthread_join(all[i], NULL);
        sum += took[i];
    }
    printf("{\"ns\": %.3f}\n", sum / (double)threads);
    return 0;
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a;
    const double y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(double* values) {
    qsort(values, BATCHES, sizeof *values, compare);
    return (values[BATCHES / 2 - 1] + values[BATCHES / 2]) / 2;
}

/// Nanoseconds of a call.
static double batch(long count, long extra) {
    const double begin = now();
    work(count, extra);
    return (now() - begin) / (double)count;
}

static int run_truth(void) {
    static double with[BATCHES];
    static double without[BATCHES];
    static double lost[BATCHES];
    // Whole groups of calls of which one does more, so that each batch has as many.
    const long count = (calls / (2 * BATCHES) / ONE_OF + 1) * ONE_OF;
    for (long i = 0; i < BATCHES; ++i) {
        // Now the one first, now the other: a processor that becomes slower or faster is nobody's loss.
        if (i % 2 == 0) with[i] = batch(count, more);
        without[i] = batch(count, 0);
        if (i % 2 != 0) with[i] = batch(count, more);
        lost[i] = 1 - without[i] / with[i];
    }
    printf("{\"ns\": %.3f, \"without\": %.3f, \"lost\": %.5f}\n", median(with), median(without),
           median(lost));
    return 0;
}

static uint64_t sum;

static inline uint64_t rdtscp(void) {
    unsigned processor = 0;
    return __rdtscp(&processor);
}

static inline uint64_t rdtscp_lfence(void) {
    const uint64_t time = rdtscp();
    _mm_lfence();
    return time;
}

static inline uint64_t rdtsc(void) {
    return __rdtsc();
}

#define STAMPS(name, first, second)        \
    static void name##_alone(long count) { \
        uint64_t spent = 0;                \
        for (long i = 0; i < count; ++i) { \
            spent -= first();              \
            spent += second();             \
        }                                  \
        sum += spent;                      \
    }                                      \
    static void name##_call(long count) {  \
        uint64_t spent = 0;                \
        for (long i = 0; i < count; ++i) { \
            length = turns;                \
            spent -= first();              \
            recorded_work();               \
            spent += second();             \
        }                                  \
        sum += spent;                      \
    }
STAMPS(fenced, rdtscp_lfence, rdtscp)
STAMPS(unfenced, rdtscp, rdtscp)
STAMPS(bare, rdtsc, rdtsc)

static void no_stamps(long count) {
    work(count, 0);
}

static const struct {
    const char* name;
    void (*run)(long count);
} kStamps[] = {{"plain", no_stamps},
               {"rdtscp_alone", fenced_alone},
               {"rdtscp_call", fenced_call},
               {"unfenced_alone", unfenced_alone},
               {"unfenced_call", unfenced_call},
               {"rdtsc_alone", bare_alone},
               {"rdtsc_call", bare_call}};

#define KINDS (sizeof kStamps / sizeof kStamps[0])

static int run_stamps(void) {
    static double took[KINDS][BATCHES];
    const long count = calls / BATCHES + 1;
    for (long i = 0; i < BATCHES; ++i)
        for (size_t kind = 0; kind < KINDS; ++kind) {
            const double begin = now();
            kStamps[kind].run(count);
            took[kind][i] = (now() - begin) / (double)count;
        }
    __asm__ volatile("" : : "r"(sum));
    for (size_t kind = 0; kind < KINDS; ++kind)
        printf("%s\"%s\": %.3f", kind == 0 ? "{" : ", ", kStamps[kind].name, median(took[kind]));
    printf("}\n");
    return 0;
}

static long number(int count, char** arguments, int at) {
    return at < count ? atol(arguments[at]) : 0;
}

int main(int count, char** arguments) {
    if (count < 4 || count > 6) return 2;
    const char* kind = arguments[1];
    turns = number(count, arguments, 2);
    if (strcmp(kind, "work") == 0 && count >= 5) {
        const long threads = number(count, arguments, 3);
        calls = number(count, arguments, 4);
        more = number(count, arguments, 5);
        return threads < 1 || threads > MOST_THREADS || calls < 1 ? 2 : run_work(threads);
    }
    calls = number(count, arguments, 3);
    more = number(count, arguments, 4);
    if (calls < 1) return 2;
    if (strcmp(kind, "truth") == 0 && count == 5) return run_truth();
    if (strcmp(kind, "stamps") == 0 && count == 4) return run_stamps();
    return 2;
}
