// Two functions of a few nanoseconds, one of a millisecond, a lock that spins and one that sleeps. argv[1]:
// rounds.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int taken;
static uint64_t shared;

__attribute__((noinline)) uint64_t mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccd;
    x ^= x >> 29;
    x *= 0xc4ceb9fe1a85ec53;
    return x ^ x >> 32;
}

__attribute__((noinline)) size_t length(const volatile char* text) {
    size_t n = 0;
    while (text[n] != 0)
        ++n;
    return n;
}

__attribute__((noinline)) uint64_t worker(uint64_t steps) {
    uint64_t x = 1;
    for (uint64_t i = 0; i < steps; ++i)
        x = x * 2862933555777941757 + i;
    return x;
}

__attribute__((noinline)) void take(void) {
    while (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE) != 0) {
    }
}

static void count(void) {
    for (int i = 0; i < 20000; ++i) {
        take();
        ++shared;
        __atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
        pthread_mutex_lock(&mutex);
        ++shared;
        pthread_mutex_unlock(&mutex);
    }
}

static void* work(void* rounds) {
    uint64_t sum = 0;
    for (long round = 0; round < (long)rounds; ++round) {
        for (uint64_t i = 0; i < 100000; ++i)
            sum += mix(sum + i) + length(i % 2 == 0 ? "five" : "twelve");
        sum += worker(600000);
        count();
    }
    return (void*)(sum | 1);
}

int main(int argc, char** argv) {
    void* const rounds = (void*)(argc > 1 ? atol(argv[1]) : 1);
    pthread_t other;
    void* result = NULL;
    if (pthread_create(&other, NULL, work, rounds) != 0) return 1;
    work(rounds);
    pthread_join(other, &result);
    printf("%ld\n", (long)rounds * 2 * 100000);
    return result == NULL;
}
