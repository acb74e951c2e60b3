// Programs that count their memory: tight thread SIZE (a thread with a stack of SIZE bytes), tight locked
// (all memory locked). Prints a number; the latter also, on stderr, the kilobytes that are in memory.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long sum;

__attribute__((noinline)) long work(long i) {
    __asm__ volatile("" : "+r"(i));
    sum += i;
    return i * 3 + 1;
}

__attribute__((noinline)) long nested(long i, int depth) {
    long below = depth == 0 ? work(i) : nested(i, depth - 1);
    __asm__ volatile("" : "+r"(below));
    return below + 1;
}

static void* run(void* unused) {
    for (long i = 0; i < 1000; ++i)
        nested(i, 9);
    return unused;
}

static pthread_barrier_t all_done;

static void* run_and_stay(void* unused) {
    static pthread_mutex_t one_by_one = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one_by_one);
    run(unused);
    pthread_mutex_unlock(&one_by_one);
    pthread_barrier_wait(&all_done);
    for (;;)
        pause();
}

static long resident(void) {
    char line[256];
    long kilobytes = -1;
    FILE* file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmRSS: %ld", &kilobytes) == 1) break;
    if (file != NULL) fclose(file);
    return kilobytes;
}

static int small_stack(long size) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, (size_t)size) != 0) return 2;
    if (pthread_create(&thread, &attributes, run, NULL) != 0) return 3;
    pthread_join(thread, NULL);
    return 0;
}

static int one_after_the_other(long count) {
    for (long i = 0; i < count; ++i) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run, NULL) != 0) return 3;
        pthread_join(thread, NULL);
    }
    return 0;
}

static int detached(long count) {
    pthread_barrier_init(&all_done, NULL, (unsigned)count + 1);
    for (long i = 0; i < count; ++i) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run_and_stay, NULL) != 0) return 3;
        pthread_detach(thread);
    }
    pthread_barrier_wait(&all_done);
    return 0;
}

static int locked(void) {
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 77;
    run(NULL);
    return 0;
}

static int closed(void) {
    int status = 0;
    syscall(SYS_close_range, 3, ~0u, 0);
    const int out = dup(1);
    const int err = dup(2);
    if (out != 3 || err != 4) return 5;  // somebody has kept one
    syscall(SYS_close_range, 0, 2, 0);
    run(NULL);
    const pid_t child = fork();
    if (child == 0) {
        run(NULL);
        _exit(9);
    }
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 9) return 6;
    dup2(out, 1);
    dup2(err, 2);
    return 0;
}

int main(int count, char** words) {
    const char* way = count > 1 ? words[1] : "";
    const long number = count > 2 ? atol(words[2]) : 0;
    int status = 1;
    if (strcmp(way, "thread") == 0) status = small_stack(number);
    if (strcmp(way, "threads") == 0) status = one_after_the_other(number);
    if (strcmp(way, "detached") == 0) status = detached(number);
    if (strcmp(way, "locked") == 0) status = locked();
    if (strcmp(way, "closed") == 0) status = closed();
    if (status != 0) return status;
    fprintf(stderr, "resident: %ld\n", resident());
    printf("%ld\n", sum);
    return 4;
}
