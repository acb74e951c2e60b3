// To be preloaded: no thread may be bound to the processor that the environment names.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t* set) {
    (void)thread;
    if (CPU_ISSET(atoi(getenv("REFUSED_PROCESSOR")), set)) return EINVAL;
    return sched_setaffinity(0, bytes, set) == 0 ? 0 : errno;
}
