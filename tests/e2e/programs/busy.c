// Has work for every processor: argv[1] threads, each of which makes argv[2] calls of constant work. With
// argv[3] the main thread meanwhile loads that library, and prints for how many milliseconds that took; else
// it joins them.
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long calls;
static atomic_int ready;

__attribute__((noinline)) long constant_work(long value) {
    for (int i = 0; i < 200; ++i)
        __asm__ volatile("" : "+r"(value));
    return value + 1;
}

static void* run(void* unused) {
    (void)unused;
    atomic_fetch_add(&ready, 1);
    long value = 0;
    for (long i = 0; i < calls; ++i)
        value = constant_work(value);
    return (void*)value;
}

static double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

int main(int count, char** arguments) {
    const int threads = atoi(arguments[1]);
    calls = atol(arguments[2]);
    pthread_t* all = calloc((size_t)threads, sizeof *all);
    for (int i = 0; i < threads; ++i)
        pthread_create(&all[i], NULL, run, NULL);
    if (count > 3) {
        while (atomic_load(&ready) < threads) {
        }
        // The agent is out of the way by then.
        const struct timespec pause = {.tv_nsec = 300000000};
        nanosleep(&pause, NULL);
        const double begin = now_ms();
        if (dlopen(arguments[3], RTLD_NOW) == NULL) return 1;
        fprintf(stderr, "loaded in %.0f ms\n", now_ms() - begin);
    }
    long sum = 0;
    for (int i = 0; i < threads; ++i) {
        void* value = NULL;
        pthread_join(all[i], &value);
        sum += (long)value;
    }
    printf("%ld\n", sum);
    return 0;
}
