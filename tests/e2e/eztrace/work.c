#define _GNU_SOURCE
#include "work.h"

#include <time.h>

static volatile double g_sink;

/* More than 128 bytes of code, so that rdam hot does not take it for a small leaf where perf has few samples.
 */
void compute_block(struct tally* tally, int block) {
    double sums[4] = {1, 2, 3, 4};
    for (int i = 0; i < 600; ++i) {
        sums[0] += 1.0 / (i + block % 7 + 1);
        sums[1] += 1.0 / (i + block % 5 + 1);
        sums[2] += sums[0] / (sums[3] + 1);
        sums[3] += sums[1] / (sums[2] + 1);
    }
    tally->sum += sums[0] + sums[1] + sums[2] + sums[3];
    ++tally->count;
}

void smooth_rows(struct tally* tally, int rows) {
    double sums[4] = {1, 2, 3, 4};
    for (int row = 0; row < rows; ++row) {
        sums[0] += sums[1] / (row + 3);
        sums[1] += sums[2] / (row + 5);
        sums[2] += sums[3] / (sums[0] + 1);
        sums[3] += sums[0] / (sums[2] + 1);
    }
    tally->sum += sums[0] + sums[1] + sums[2] + sums[3];
    ++tally->count;
}

long add_under_lock(pthread_mutex_t* lock, int rounds, double scale) {
    /* Long enough that who waits for it loses most to the lock, however busy the machine is. */
    const struct timespec held = {0, 500000};
    pthread_mutex_lock(lock);
    nanosleep(&held, NULL);
    for (int i = 0; i < rounds; ++i)
        g_sink += scale * i;
    pthread_mutex_unlock(lock);
    return rounds;
}
