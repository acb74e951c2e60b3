/* What both programs call: functions of a library, the only ones that EZTrace wraps. */
#pragma once

#include <pthread.h>

struct tally {
    long count;
    double sum;
};

/* Always the same work. */
void compute_block(struct tally* tally, int block);
/* Takes as long as there are rows. */
void smooth_rows(struct tally* tally, int rows);
/* Adds up under a lock that all threads share: waits while another one holds it. */
long add_under_lock(pthread_mutex_t* lock, int rounds, double scale);
