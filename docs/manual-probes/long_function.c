// One long function, which somebody disturbs unless there is an argument. Probed: the two lines with RDAM_.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#ifndef WITHOUT_PROBES
#include <rdam/rdam.h>
#else
#define RDAM_BEGIN(name) ((void)0)
#define RDAM_END(name) ((void)0)
#endif

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static double entry = 1;
static atomic_int finished;

__attribute__((noinline)) double solve(int steps) {
    double x = 1;
    for (int i = 0; i < steps; ++i) {
        if (i % 10 == 0) RDAM_BEGIN("ten steps");
        for (int k = 0; k < 2000; ++k)
            x = x * 0.999 + 1;
        pthread_mutex_lock(&table);
        x += entry;
        pthread_mutex_unlock(&table);
        if (i % 10 == 9) RDAM_END("ten steps");
    }
    return x;
}

// Keeps the table for itself, now and then.
static void* update(void* unused) {
    while (!finished) {
        pthread_mutex_lock(&table);
        usleep(2000);
        entry = 1;
        pthread_mutex_unlock(&table);
        usleep(2000);
    }
    return unused;
}

int main(int arguments, char** unused) {
    (void)unused;
    const bool alone = arguments > 1;
    pthread_t other;
    if (!alone) pthread_create(&other, NULL, update, NULL);
    printf("%.3f\n", solve(20000));
    finished = 1;
    return alone ? 0 : pthread_join(other, NULL);
}
