// Threads that leave the processor in known ways.
//   switches sleeps N M       the main thread sleeps N times in `nap`, a second one M times
//   switches spins            `burn`s beside a competitor on the same processor, which it prints, until it
//   has been
//                             preempted often, and prints how often
//   switches forks N M        the process sleeps N times, a fork child of it M times
//   switches dies N           sleeps N times and is killed
//   switches bounces SECONDS  two threads on one processor wait for each other as fast as they can
//   switches refused COMMAND  runs COMMAND where nobody may ask the kernel for performance events
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) void nap(void) {
    struct timespec time = {0, 2000000};
    while (nanosleep(&time, &time) != 0) {
    }
}

static volatile long spent;

__attribute__((noinline)) void burn(void) {
    for (long i = 0; i < 300000; ++i)
        spent = spent + 1;
}

static void nap_often(long times) {
    for (long i = 0; i < times; ++i)
        nap();
}

static void* other_naps(void* times) {
    nap_often((long)(intptr_t)times);
    return NULL;
}

static int sleeps(long mine, long others) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, other_naps, (void*)(intptr_t)others) != 0) return 1;
    nap_often(mine);
    return pthread_join(thread, NULL);
}

static int pin(void) {
    cpu_set_t allowed;
    cpu_set_t one;
    sched_getaffinity(0, sizeof allowed, &allowed);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &allowed))
        ++cpu;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return cpu;
}

static volatile int done;

static void* compete(void* nothing) {
    while (!done) {
    }
    return nothing;
}

static long preemptions(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

static int spins(void) {
    enum { kWanted = 8, kMaxSeconds = 60 };
    const int cpu = pin();
    pthread_t thread;
    if (pthread_create(&thread, NULL, compete, NULL) != 0) return 1;
    const time_t begin = time(NULL);
    const long before = preemptions();
    while (preemptions() - before < kWanted && time(NULL) - begin < kMaxSeconds)
        burn();
    const long seen = preemptions() - before;
    done = 1;
    pthread_join(thread, NULL);
    printf("%d %ld\n", cpu, seen);
    return seen < kWanted ? 1 : 0;
}

static int forks(long mine, long others) {
    const pid_t child = fork();
    if (child == 0) {
        nap_often(others);
        exit(0);
    }
    nap_often(mine);
    int status = 1;
    return waitpid(child, &status, 0) == child ? status : 1;
}

static int there[2];
static int back[2];

static void* answer(void* nothing) {
    char byte;
    while (read(there[0], &byte, 1) == 1)
        if (write(back[1], &byte, 1) != 1) break;
    close(back[1]);
    return nothing;
}

static int bounces(double seconds) {
    if (pipe(there) != 0 || pipe(back) != 0) return 1;
    pin();
    pthread_t thread;
    if (pthread_create(&thread, NULL, answer, NULL) != 0) return 1;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double end = now.tv_sec + now.tv_nsec * 1e-9 + seconds;
    nap();
    char byte = 0;
    do {
        for (int i = 0; i < 100; ++i)
            if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) return 1;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec + now.tv_nsec * 1e-9 < end);
    close(there[1]);
    return pthread_join(thread, NULL);
}

static int refused(char** command) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 77;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 77;
    execv(command[0], command);
    return 127;
}

int main(int count, char** words) {
    const char* mode = count > 1 ? words[1] : "";
    const long first = count > 2 ? atol(words[2]) : 0;
    const long second = count > 3 ? atol(words[3]) : 0;
    if (strcmp(mode, "sleeps") == 0) return sleeps(first, second);
    if (strcmp(mode, "dies") == 0) {
        nap_often(first);
        return kill(getpid(), SIGKILL);
    }
    if (strcmp(mode, "spins") == 0) return spins();
    if (strcmp(mode, "forks") == 0) return forks(first, second);
    if (strcmp(mode, "bounces") == 0 && count > 2) return bounces(atof(words[2]));
    if (strcmp(mode, "refused") == 0 && count > 2) return refused(words + 2);
    return 2;
}
