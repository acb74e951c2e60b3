/* counts THREADS CALLS [how it ends: return exit _exit abort kill stop]: each thread calls work() CALLS
 * times. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static int step(int x) {
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}

__attribute__((noinline)) int work(int x, double scale, const char* name) {
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += step(x + i);
    __asm__ volatile("" : : "r"(name));
    return (int)(sum * scale);
}

static long calls;

static void* run(void* unused) {
    (void)unused;
    long sum = 0;
    for (long i = 0; i < calls; i++)
        sum += work((int)(i % 4), 1.0, "name");
    return (void*)sum;
}

int main(int argc, char** argv) {
    const int threads = argc > 1 ? atoi(argv[1]) : 1;
    calls = argc > 2 ? atol(argv[2]) : 1000;
    const char* how = argc > 3 ? argv[3] : "return";
    pthread_t others[64];
    for (int i = 1; i < threads && i < 64; i++)
        pthread_create(&others[i], NULL, run, NULL);
    long sum = (long)run(NULL);
    for (int i = 1; i < threads && i < 64; i++)
        pthread_join(others[i], NULL);
    printf("%ld\n", sum);
    fflush(stdout);
    if (!strcmp(how, "exit")) exit(7);
    if (!strcmp(how, "_exit")) _exit(8);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(how, "stop")) pause();
    return 3;
}
