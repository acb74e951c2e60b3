/* threads BLOCKS IMAGES: two threads that compute blocks, each by itself, and add up under one lock. Before,
 * one thread smoothes images, every fourth of which is larger. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "work.h"

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static int g_blocks;

static void* run(void* argument) {
    struct tally tally = {0, 0};
    /* The other one takes the lock meanwhile, so that both wait for it again and again. */
    const struct timespec between = {0, 100000};
    for (int block = 0; block < g_blocks; ++block) {
        compute_block(&tally, block);
        add_under_lock(&g_lock, 20000, 0.5);
        nanosleep(&between, NULL);
    }
    (void)argument;
    return NULL;
}

int main(int argc, char** argv) {
    pthread_t other;
    struct tally tally = {0, 0};
    const int images = argc > 2 ? atoi(argv[2]) : 0;
    g_blocks = argc > 1 ? atoi(argv[1]) : 2000;
    for (int image = 0; image < images; ++image)
        smooth_rows(&tally, image % 4 == 0 ? 8000 : 1000);
    pthread_create(&other, NULL, run, NULL);
    run(NULL);
    pthread_join(other, NULL);
    printf("%d blocks each\n", g_blocks);
    return 0;
}
