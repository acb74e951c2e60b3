/* Functions with and without an effect, and with and without a cause that other tools find:
 *
 *   locked_update  waits for a lock that others hold for long      effect, cause (DRD)
 *   naps           sleeps now and then                             effect, no cause that these tools know
 *   walks          misses the cache, evenly and seldom             no effect, cause (callgrind)
 *   races          shares a counter without a lock, and is short   no effect, cause (DRD)
 *   steady         computes                                        neither
 *
 * What takes long sleeps, so that it takes as long on a busy machine. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { kThreads = 3, kAlone = 3, kTogether = 25, kNaps = 40, kCacheLine = 64, kArray = 1 << 21 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t turn;
static volatile long updates;
static volatile long races_seen;
static volatile char* array;

static void sleep_us(long microseconds) {
    const struct timespec time = {0, microseconds * 1000};
    nanosleep(&time, NULL);
}

__attribute__((noinline)) long locked_update(void) {
    pthread_mutex_lock(&lock);
    sleep_us(2000);
    const long seen = ++updates;
    pthread_mutex_unlock(&lock);
    return seen + 1;
}

__attribute__((noinline)) long naps(int number) {
    sleep_us(number % 2 == 0 ? 100 : 6000);
    return number;
}

__attribute__((noinline)) long walks(void) {
    long sum = 0;
    for (long i = 0; i < kArray; i += kCacheLine)
        sum += array[i]; /* each misses */
    return sum;
}

__attribute__((noinline)) long races(void) {
    for (int i = 0; i < 20; i++)
        races_seen += i;
    return races_seen;
}

__attribute__((noinline)) long steady(long from) {
    volatile long sum = from;
    for (int i = 0; i < 2000; i++)
        sum += i;
    return sum;
}

/* First each thread alone, so that its fastest call is one without contention; then all. */
static void* updater(void* argument) {
    const long me = (long)argument;
    long sum = 0;
    for (long thread = 0; thread < kThreads; thread++) {
        pthread_barrier_wait(&turn);
        for (int i = 0; thread == me && i < kAlone; i++)
            sum += locked_update();
    }
    pthread_barrier_wait(&turn);
    for (int i = 0; i < kTogether; i++)
        sum += locked_update() + races() + steady(i);
    return (void*)sum;
}

static void* napper(void* argument) {
    long sum = 0;
    for (int i = 0; i < kNaps; i++)
        sum += naps(i);
    return (void*)(sum + (long)argument);
}

int main(void) {
    pthread_t threads[kThreads + 1];
    array = calloc(1, kArray);
    pthread_barrier_init(&turn, NULL, kThreads);
    for (long i = 0; i < kThreads; i++)
        pthread_create(&threads[i], NULL, updater, (void*)i);
    pthread_create(&threads[kThreads], NULL, napper, NULL);
    for (int i = 0; i <= kThreads; i++)
        pthread_join(threads[i], NULL);
    long sum = 0;
    for (int i = 0; i < 10; i++)
        sum += walks();
    return sum == 0 ? 0 : 1;
}
