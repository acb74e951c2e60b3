#include "work.h"

static volatile double g_sink;

void compute_block(struct tally* tally, int block) {
    for (int i = 0; i < 6000; ++i)
        tally->sum += 1.0 / (i + block % 7 + 1);
    ++tally->count;
}

long add_under_lock(pthread_mutex_t* lock, int rounds, double scale) {
    pthread_mutex_lock(lock);
    for (int i = 0; i < rounds; ++i)
        g_sink += scale * i;
    pthread_mutex_unlock(lock);
    return rounds;
}
