/* Three phases with pauses between them in which nothing is called: work() A times, then B times in a forked
 * child, then C times. The child's two threads share its calls. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) int step(int x) {
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

__attribute__((noinline)) int work(int x) {
    return step(x) * 3;
}

static long call(long times) {
    long sum = 0;
    for (long i = 0; i < times; i++)
        sum += work((int)i);
    return sum;
}

static void* run(void* times) {
    pthread_setname_np(pthread_self(), "second-thread");
    return (void*)call((long)times);
}

__attribute__((noinline)) void rest(void) {
    const struct timespec time = {.tv_nsec = 50000000};
    nanosleep(&time, NULL);
}

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    const long in_child = atol(argv[2]);
    long sum = call(atol(argv[1]));
    rest();
    const pid_t child = fork();
    if (child == 0) {
        pthread_t second;
        void* result = NULL;
        pthread_create(&second, NULL, run, (void*)(in_child / 2));
        sum += call(in_child - in_child / 2);
        pthread_join(second, &result);
        return sum == (long)result ? 4 : 0;
    }
    int status = 0;
    waitpid(child, &status, 0);
    rest();
    sum += call(atol(argv[3]));
    printf("%ld\n", sum);
    return status == 0 ? 0 : 1;
}
