/* Two threads that compute, each by itself, and add up under one lock. */
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static int g_blocks;

static void* run(void* argument) {
    struct tally tally = {0, 0};
    for (int block = 0; block < g_blocks; ++block) {
        compute_block(&tally, block);
        add_under_lock(&g_lock, 20000, 0.5);
    }
    (void)argument;
    return NULL;
}

int main(int argc, char** argv) {
    pthread_t other;
    g_blocks = argc > 1 ? atoi(argv[1]) : 2000;
    pthread_create(&other, NULL, run, NULL);
    run(NULL);
    pthread_join(other, NULL);
    printf("%d blocks each\n", g_blocks);
    return 0;
}
