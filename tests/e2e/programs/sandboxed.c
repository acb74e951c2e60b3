// A program that puts itself under a filter which allows every system call but those whose instruction lies
// in librdam.so, and then does what makes a recorder want one: threads that begin and end, signals, chunks
// that are full, call stacks, a library, a fork. A call of the recorder's ends it with status 77 and a line.
//
//   sandboxed WAY CALLS PLUGIN    WAY: prctl, seccomp, tsync (two threads are there already), raw (the
//   program's
//                                 own instruction), before (executes itself under the filter's like)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
enum { THREADS = 6, SHORT_THREADS = 40, DEPTH = 600, AFTERWARDS = 3 };

static uint64_t low, high;
static long calls, ticks_seen;
static volatile long sink;
static sem_t go;

NOINLINE long work(long x) {
    for (int i = 0; i < 30; ++i)
        x = x * 3 + i;
    sink = x;
    return x;
}
NOINLINE long tiny(long x) {
    sink = x;
    return x + 1;
}
NOINLINE void tick(int signal) {
    sink = signal;
    __atomic_add_fetch(&ticks_seen, 1, __ATOMIC_RELAXED);
}
NOINLINE long mix(int depth, ...) {
    va_list more;
    va_start(more, depth);
    const long last = va_arg(more, long);
    va_end(more);
    return depth == 0 ? last : mix(depth - 1, last + 1) + 1;
}
NOINLINE void brief(void) {
    sink = 1;
}

static void on_bad_call(int signal, siginfo_t* info, void* context) {
    char text[64];
    (void)signal, (void)context;
    const int size = snprintf(text, sizeof text, "the recorder made system call %d at +%lx\n",
                              info->si_syscall, (unsigned long)((uint64_t)info->si_call_addr - low));
    if (write(2, text, (size_t)size)) {
    }
    _exit(77);
}

static int find_recorder(struct dl_phdr_info* info, size_t size, void* data) {
    (void)size, (void)data;
    if (strstr(info->dlpi_name, "librdam.so") == NULL) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) != 0) {
            low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            high = low + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

static void filter(const char* way) {
    const uint32_t page = (uint32_t)(low >> 32);
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, page, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)low, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)high, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    // The question whether there are filters, as sandboxes ask it.
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) != -1) exit(9);
    if (strcmp(way, "prctl") == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        exit(10);
    if (strcmp(way, "seccomp") == 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
        exit(11);
    if (strcmp(way, "tsync") == 0 &&
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        exit(12);
    if (strcmp(way, "raw") == 0) {
        long result = SYS_prctl;
        register long r10 __asm__("r10") = 0;
        // One that forbids nothing, so that the recorder can learn of it, and then this one.
        struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        struct sock_fprog open = {1, allow};
        __asm__ volatile("syscall"
                         : "+a"(result)
                         : "D"((long)PR_SET_SECCOMP), "S"((long)SECCOMP_MODE_FILTER), "d"(&open), "r"(r10)
                         : "rcx", "r11", "memory");
        usleep(500000);
        work(0);
        result = SYS_prctl;
        __asm__ volatile("syscall"
                         : "+a"(result)
                         : "D"((long)PR_SET_SECCOMP), "S"((long)SECCOMP_MODE_FILTER), "d"(&program), "r"(r10)
                         : "rcx", "r11", "memory");
        if (result != 0) exit(13);
    }
}

static void* run(void* data) {
    long sum = (long)data;
    for (long i = 0; i < calls; ++i) {
        sum += work(sum);
        sum += tiny(sum);
    }
    sum += mix(DEPTH, sum);
    return (void*)sum;
}
static void* run_later(void* data) {
    while (sem_wait(&go) != 0) {
    }
    return run(data);
}
static void* run_briefly(void* data) {
    brief();
    return data;
}
static int run_past_pthread_create(void* data) {
    (void)data;
    brief();
    return 0;
}

int main(int count, char** arguments) {
    if (count < 4) return 2;
    calls = atol(arguments[2]);
    dl_iterate_phdr(find_recorder, NULL);
    if (low >> 32 != high >> 32) return 3;
    struct sigaction action = {.sa_sigaction = on_bad_call, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &action, NULL);
    struct sigaction on_tick = {.sa_handler = tick, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &on_tick, NULL);
    sem_init(&go, 0, 0);
    pthread_t threads[THREADS];
    int begun = 0;
    if (strcmp(arguments[1], "tsync") == 0)
        for (; begun < 2; ++begun)
            pthread_create(&threads[begun], NULL, run_later, NULL);
    for (int i = 0; i < 5000; ++i)
        work(i);
    filter(arguments[1]);
    sem_post(&go);
    sem_post(&go);
    struct itimerval often = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_PROF, &often, NULL);
    for (; begun < THREADS; ++begun)
        pthread_create(&threads[begun], NULL, run, NULL);
    for (int i = 0; i < SHORT_THREADS; ++i) {
        pthread_t one;
        pthread_create(&one, NULL, run_briefly, NULL);
        pthread_join(one, NULL);
        thrd_t other;
        if (thrd_create(&other, run_past_pthread_create, NULL) != thrd_success) return 8;
        thrd_join(other, NULL);
    }
    void* plugin = dlopen(arguments[3], RTLD_NOW);
    if (plugin == NULL) return 4;
    dlclose(plugin);
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 100; ++i)
            work(i);
        _exit(5);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 5) return 6;
    // A child on borrowed memory, made by libc.
    if (system("exit 7") != 7 << 8) return 7;
    for (int i = 0; i < AFTERWARDS; ++i)
        brief();
    for (int i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &never, NULL);
    printf("work %ld tiny %ld mix %d brief %d tick %ld\n",
           5000 + (strcmp(arguments[1], "raw") == 0) + THREADS * calls, THREADS * calls,
           THREADS * (DEPTH + 1), 2 * SHORT_THREADS + AFTERWARDS, ticks_seen);
    return 0;
}
