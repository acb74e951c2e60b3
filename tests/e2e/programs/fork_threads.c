/* fork_threads KIND CALLS [WAY]: work() is called CALLS times, then a child with threads calls it, made by
 * fork() or by what libc does nothing else at: _Fork, or the system call (clone). "second": another thread
 * first, CALLS times, and behind it the thread that was forked, CALLS times; "race": the forked thread and
 * three others all at once, CALLS times each; "only": another thread alone. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int work(int x) {
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}

static int calls;

static void* run(void* barrier) {
    if (barrier != NULL) pthread_barrier_wait(barrier);
    long sum = 0;
    for (int i = 0; i < calls; i++)
        sum += work(i);
    return (void*)sum;
}

static void in_child(const char* kind) {
    const int race = !strcmp(kind, "race");
    const int others = race ? 3 : 1;
    pthread_barrier_t barrier;
    pthread_t threads[3];
    pthread_barrier_init(&barrier, NULL, 4);
    for (int i = 0; i < others; i++)
        pthread_create(&threads[i], NULL, run, race ? &barrier : NULL);
    if (race) run(&barrier);
    for (int i = 0; i < others; i++)
        pthread_join(threads[i], NULL);
    if (!strcmp(kind, "second")) run(NULL);
}

static pid_t make(const char* way) {
    if (!strcmp(way, "clone")) return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    return !strcmp(way, "_Fork") ? _Fork() : fork();
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    calls = atoi(argv[2]);
    run(NULL);
    const pid_t child = make(argc > 3 ? argv[3] : "fork");
    if (child == 0) {
        in_child(argv[1]);
        return 0;
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%d\n", status);
    return status == 0 ? 0 : 1;
}
