// One thread takes a lock all the time, for a moment, and another one has it now and then for long:
// waits KIND MILLISECONDS. Prints how often and for how long the first waited, how long it lived, and how
// long it had no processor, which it takes for waits in part: "waits N waited NS life NS locks N delayed NS".
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

enum { kHoldNs = 400000, kPauseNs = 1000000, kLongNs = 20000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static omp_lock_t omp_lock;
static const char* kind;
static atomic_int ended;

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void take(void) {
    if (strcmp(kind, "mutex") == 0)
        pthread_mutex_lock(&mutex);
    else if (strcmp(kind, "rwlock") == 0)
        pthread_rwlock_wrlock(&rwlock);
    else if (strcmp(kind, "semaphore") == 0)
        sem_wait(&semaphore);
    else
        omp_set_lock(&omp_lock);
}

static void give(void) {
    if (strcmp(kind, "mutex") == 0)
        pthread_mutex_unlock(&mutex);
    else if (strcmp(kind, "rwlock") == 0)
        pthread_rwlock_unlock(&rwlock);
    else if (strcmp(kind, "semaphore") == 0)
        sem_post(&semaphore);
    else
        omp_unset_lock(&omp_lock);
}

/// On the processor, without a call that is recorded.
static void pass(uint64_t ns) {
    const uint64_t until = now_ns() + ns;
    while (now_ns() < until)
        ;
}

static void* hold(void* unused) {
    while (!atomic_load(&ended)) {
        take();
        pass(kHoldNs);
        give();
        struct timespec pause = {0, kPauseNs};
        nanosleep(&pause, NULL);
    }
    return unused;
}

/// What the calling thread has waited for a processor; 0: the kernel does not say.
static uint64_t delayed_ns(void) {
    unsigned long ran = 0, delayed = 0;
    FILE* file = fopen("/proc/thread-self/schedstat", "r");
    const int read = file != NULL ? fscanf(file, "%lu %lu", &ran, &delayed) : 0;
    if (file != NULL) fclose(file);
    return read == 2 ? delayed : 0;
}

static void* use(void* argument) {
    const uint64_t begin = now_ns();
    const uint64_t until = begin + *(uint64_t*)argument;
    const uint64_t ticks = __rdtsc();
    uint64_t waits = 0, waited = 0, locks = 0;
    while (now_ns() < until) {
        for (int i = 0; i < 50; ++i) {
            const uint64_t from = __rdtsc();
            take();
            const uint64_t took = __rdtsc() - from;
            give();
            if (took > kLongNs) {  // a tick is less than a nanosecond
                ++waits;
                waited += took;
            }
        }
        locks += 50;
    }
    const double ns_per_tick = (double)(now_ns() - begin) / (double)(__rdtsc() - ticks);
    printf("waits %lu waited %.0f life %lu locks %lu delayed %lu\n", waits, (double)waited * ns_per_tick,
           now_ns() - begin, locks, delayed_ns());
    atomic_store(&ended, 1);
    return NULL;
}

int main(int count, char** arguments) {
    if (count < 3) return 2;
    kind = arguments[1];
    uint64_t ns = strtoull(arguments[2], NULL, 10) * 1000000u;
    sem_init(&semaphore, 0, 1);
    omp_init_lock(&omp_lock);
    pthread_t holder, user;
    pthread_create(&holder, NULL, hold, NULL);
    pthread_create(&user, NULL, use, &ns);
    pthread_join(user, NULL);
    pthread_join(holder, NULL);
    return 0;
}
