// late_phase: a calm phase, then one in which two threads call leaf() all the time, until standard input
// ends.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static atomic_int ended;

__attribute__((noipa)) unsigned leaf(unsigned value) {
    return value * 1664525u + 1013904223u;
}

__attribute__((noipa)) void rest(void) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void* call(void* unused) {
    (void)unused;
    unsigned value = 1;
    while (!ended)
        for (int i = 0; i < 1000; i++)
            value = leaf(value);
    return NULL;
}

int main(void) {
    for (int i = 0; i < 300; i++)
        rest();
    fputs("hot\n", stderr);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, call, NULL);
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    ended = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
