// `handler_forks WAY COUNT`: calls work() all the time, while a handler of a timer forks COUNT times. The
// child goes on with what the handler has interrupted, and ends. WAY: plain, filtered (under a filter that
// allows everything).
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t is_child;
static volatile long sum;
static volatile int forks;
static int count, crashed;

__attribute__((noinline)) long work(long x) {
    __asm__ volatile("");
    return x * 3 + 1;
}

static void on_tick(int signal) {
    (void)signal;
    if (is_child || forks == count) return;
    const pid_t child = fork();
    if (child == 0) {
        is_child = 1;
        return;
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) ++crashed;
    ++forks;
}

int main(int argc, char** arguments) {
    if (argc < 3) return 2;
    count = atoi(arguments[2]);
    for (int i = 0; i < 2000; ++i)
        sum = work(sum);
    if (strcmp(arguments[1], "filtered") == 0) {
        struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        struct sock_fprog program = {1, allow};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) return 10;
    }
    signal(SIGALRM, on_tick);
    struct itimerval often = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &often, NULL);
    long calls = 0;
    while (forks < count && !is_child)
        sum = work(++calls);
    if (is_child) {
        for (int i = 0; i < 1000; ++i)
            sum = work(sum);
        _exit(0);
    }
    printf("%d of %d children crashed\n", crashed, count);
    return crashed != 0;
}
