// Threads that leave no processor idle, each calling what a profiler may be told to record:
//
//   saturated_calls KIND THREADS CALLS
//
// KIND: plain (17 ns, no parameters), values (two parameters and a result), mutex (one mutex for all), list
// (seven functions of a microsecond, which call three leaves), constant (a microsecond, always the same),
// loss (every eighth call takes longer), stamps (two readings of the clock, the recorder's fence behind the
// first, and nothing else), mutex_stamps (the mutex with these before and behind each lock: less cannot be
// had). Prints the nanoseconds of wall time for each call of a thread, and for `loss` the share of the work
// that is lost.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

enum { kMaxThreads = 256, kShort = 28, kMicrosecond = 900, kOneOf = 8, kMore = 2400 };

static long calls;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/// `turns` multiplications, each of which waits for the one before.
static inline uint64_t chain(uint64_t value, long turns) {
    for (long i = 0; i < turns; ++i) {
        value *= 0x9E3779B97F4A7C15u;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

__attribute__((noinline)) void saturated_plain(void) {
    chain(3, kShort);
}

__attribute__((noinline)) long saturated_values(long first, long second) {
    return (long)chain((uint64_t)first, kShort) + second;
}

__attribute__((noinline)) void saturated_constant(void) {
    chain(3, kMicrosecond);
}

__attribute__((noinline)) void saturated_loss(long more) {
    chain(3, kMicrosecond + more);
}

__attribute__((noinline)) uint64_t leaf_a(uint64_t value) {
    return chain(value, kShort);
}
__attribute__((noinline)) uint64_t leaf_b(uint64_t value) {
    return chain(value + 1, kShort);
}
__attribute__((noinline)) uint64_t leaf_c(uint64_t value) {
    return chain(value + 2, kShort);
}

#define WORKER(name)                                               \
    __attribute__((noinline)) uint64_t name(uint64_t value) {      \
        for (int i = 0; i < 16; ++i)                               \
            value = leaf_a(value) + leaf_b(value) + leaf_c(value); \
        return value;                                              \
    }
WORKER(worker_1)
WORKER(worker_2)
WORKER(worker_3)
WORKER(worker_4)
WORKER(worker_5)
WORKER(worker_6)
WORKER(worker_7)

static void* run_plain(void* unused) {
    for (long i = 0; i < calls; ++i)
        saturated_plain();
    return unused;
}

static void* run_values(void* unused) {
    long sum = 0;
    for (long i = 0; i < calls; ++i)
        sum += saturated_values(i, sum & 0xff);
    __asm__ volatile("" : : "r"(sum));
    return unused;
}

static void* run_constant(void* unused) {
    for (long i = 0; i < calls; ++i)
        saturated_constant();
    return unused;
}

static void* run_loss(void* unused) {
    for (long i = 0; i < calls; ++i)
        saturated_loss(i % kOneOf == kOneOf - 1 ? kMore : 0);
    return unused;
}

static void* run_mutex(void* unused) {
    for (long i = 0; i < calls; ++i) {
        pthread_mutex_lock(&mutex);
        chain(3, 20);
        pthread_mutex_unlock(&mutex);
        chain(3, 600);
    }
    return unused;
}

static void* run_mutex_stamps(void* unused) {
    uint64_t sum = 0;
    unsigned processor = 0;
    for (long i = 0; i < calls; ++i) {
        sum -= __rdtscp(&processor);
        _mm_lfence();
        pthread_mutex_lock(&mutex);
        sum += __rdtscp(&processor);
        chain(3, 20);
        pthread_mutex_unlock(&mutex);
        chain(3, 600);
    }
    __asm__ volatile("" : : "r"(sum));
    return unused;
}

static void* run_list(void* unused) {
    static uint64_t (*const kWorkers[])(uint64_t) = {worker_1, worker_2, worker_3, worker_4,
                                                     worker_5, worker_6, worker_7};
    uint64_t value = 1;
    for (long i = 0; i < calls; ++i)
        value = kWorkers[i % 7](value);
    __asm__ volatile("" : : "r"(value));
    return unused;
}

static void* run_stamps(void* unused) {
    uint64_t sum = 0;
    unsigned processor = 0;
    for (long i = 0; i < calls; ++i) {
        sum += __rdtscp(&processor);
        _mm_lfence();
        sum -= __rdtscp(&processor);
    }
    __asm__ volatile("" : : "r"(sum));
    return unused;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static const struct {
    const char* name;
    void* (*run)(void*);
} kKinds[] = {{"plain", run_plain},       {"values", run_values},
              {"constant", run_constant}, {"loss", run_loss},
              {"mutex", run_mutex},       {"list", run_list},
              {"stamps", run_stamps},     {"mutex_stamps", run_mutex_stamps}};

int main(int count, char** arguments) {
    if (count != 4) return 2;
    void* (*run)(void*) = NULL;
    for (size_t i = 0; i < sizeof kKinds / sizeof kKinds[0]; ++i)
        if (strcmp(arguments[1], kKinds[i].name) == 0) run = kKinds[i].run;
    const long threads = atol(arguments[2]);
    calls = atol(arguments[3]);
    if (run == NULL || threads < 1 || threads > kMaxThreads || calls < 1) return 2;
    pthread_t all[kMaxThreads];
    const double begin = now();
    for (long i = 0; i < threads; ++i)
        if (pthread_create(&all[i], NULL, run, NULL) != 0) return 1;
    for (long i = 0; i < threads; ++i)
        pthread_join(all[i], NULL);
    printf("{\"ns\": %.3f", (now() - begin) / (double)calls);
    if (run == run_loss) printf(", \"lost\": %.4f", (double)kMore / (kOneOf * kMicrosecond + kMore));
    printf("}\n");
    return 0;
}
