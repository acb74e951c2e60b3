// children KIND ROUNDS: makes children in one of many ways; in each round work() is called 5 times here, and
// 7 times by a child that runs code of this program. Children that record on their own do it in a trace of
// theirs.
#include <dlfcn.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int work(int i) {
    __asm__ volatile("" : "+r"(i));
    return i * 3 + 1;
}

static volatile int sum;
static volatile long in_handler;
static char stack[65536] __attribute__((aligned(16)));

static int child_works(void* unused) {
    (void)unused;
    for (int i = 0; i < 7; ++i)
        sum += work(i);
    _exit(4);
}

static int status_of(pid_t pid) {
    int status = 0;
    if (waitpid(pid, &status, __WALL) != pid) return 99;
    return WEXITSTATUS(status);
}

static char* const kShell[] = {"sh", "-c", "exit 3", NULL};

/// With everything that a child can be told to do before it turns into another program.
static int spawns(int by_path) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t set;
    pid_t pid = 0;
    sigfillset(&set);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigdefault(&attributes, &set);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attributes, &set);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 9, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&actions, 9, 10);
    posix_spawn_file_actions_adddup2(&actions, 9, 11);
    posix_spawn_file_actions_addclose(&actions, 9);
    const int failed = by_path ? posix_spawnp(&pid, "sh", &actions, &attributes, kShell, environ)
                               : posix_spawn(&pid, "/bin/sh", &actions, &attributes, kShell, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed ? 98 : status_of(pid);
}

static int pipes(void) {
    char text[8] = "";
    FILE* pipe = popen("echo 3", "r");
    const int read = pipe != NULL && fgets(text, sizeof text, pipe) != NULL;
    if (pclose(pipe) != 0) return 97;
    return read ? atoi(text) : 96;
}

/// By the system call itself, on a stack of the child's own: `syscall` returns there to child_works.
static int calls_the_kernel(int vm, int three) {
    uint64_t* top = (uint64_t*)(stack + sizeof stack - 64);
    top[0] = (uint64_t)child_works;
    const uint64_t flags = vm ? CLONE_VM | CLONE_VFORK : 0;
    if (!three) return status_of((pid_t)syscall(SYS_clone, flags | SIGCHLD, top, NULL, NULL, 0));
    struct clone_args arguments;
    memset(&arguments, 0, sizeof arguments);
    arguments.flags = flags;
    arguments.exit_signal = SIGCHLD;
    arguments.stack = (uint64_t)stack;
    arguments.stack_size = sizeof stack - 64;
    return status_of((pid_t)syscall(SYS_clone3, &arguments, sizeof arguments));
}

static int clones(int flags) {
    return status_of(clone(child_works, stack + sizeof stack - 64, flags | SIGCHLD, NULL));
}

static int nests(void) {
    const pid_t pid = vfork();
    if (pid != 0) return status_of(pid);
    for (int i = 0; i < 3; ++i)
        sum += work(i);
    pid_t inner = 0;
    if (posix_spawn(&inner, "/bin/sh", NULL, NULL, kShell, environ) != 0 || status_of(inner) != 3) _exit(95);
    if (clones(CLONE_VM | CLONE_VFORK) != 4) _exit(94);
    for (int i = 0; i < 3; ++i)
        sum += work(i);
    _exit(4);
}

/// The child of a child that runs on borrowed memory has memory of its own again.
static int forks_inside(void) {
    const pid_t pid = vfork();
    if (pid != 0) return status_of(pid);
    sum += work(1);
    const pid_t inner = fork();
    if (inner == 0) child_works(NULL);
    _exit(status_of(inner));
}

static void on_alarm(int signal) {
    (void)signal;
    ++in_handler;
    work(1);
}

static int loads_in_child(const char* plugin) {
    const pid_t pid = fork();
    if (pid != 0) return status_of(pid);
    void* library = dlopen(plugin, RTLD_NOW);
    if (library == NULL) _exit(93);
    unsigned (*plugged)(unsigned, unsigned) = (unsigned (*)(unsigned, unsigned))dlsym(library, "plugin_work");
    for (int i = 0; i < 11; ++i)
        sum += plugged(i, i);
    child_works(NULL);
    return 0;
}

static int child(const char* kind, const char* argument) {
    if (!strcmp(kind, "spawn")) return spawns(0);
    if (!strcmp(kind, "spawnp")) return spawns(1);
    if (!strcmp(kind, "system")) return WEXITSTATUS(system("exit 3"));
    if (!strcmp(kind, "popen")) return pipes();
    if (!strcmp(kind, "clone_vfork")) return clones(CLONE_VM | CLONE_VFORK);
    if (!strcmp(kind, "clone_vm")) return clones(CLONE_VM);
    if (!strcmp(kind, "clone")) return clones(0);
    if (!strcmp(kind, "kernel_vm")) return calls_the_kernel(1, 0) + calls_the_kernel(1, 1);
    if (!strcmp(kind, "kernel")) return calls_the_kernel(0, 0) + calls_the_kernel(0, 1);
    if (!strcmp(kind, "nested")) return nests();
    if (!strcmp(kind, "forks_inside")) return forks_inside();
    if (!strcmp(kind, "fork") || !strcmp(kind, "fork_exec")) {
        const pid_t pid = fork();
        if (pid != 0) return status_of(pid);
        if (!strcmp(kind, "fork_exec")) execlp("sh", "sh", "-c", argument, NULL);
        child_works(NULL);
    }
    if (!strcmp(kind, "loads")) return loads_in_child(argument);
    if (!strcmp(kind, "alarm")) {
        const pid_t pid = vfork();
        if (pid != 0) return status_of(pid);
        child_works(NULL);
    }
    return 92;
}

int main(int count, char** arguments) {
    const char* kind = count > 1 ? arguments[1] : "";
    const int rounds = count > 2 ? atoi(arguments[2]) : 1;
    if (!strcmp(kind, "alarm")) {
        const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
        const struct itimerval often = {{0, 70}, {0, 70}};
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &often, NULL);
    }
    int statuses = 0;
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < 5; ++i)
            sum += work(i);
        close(dup(1));
        statuses += child(kind, count > 3 ? arguments[3] : "");
    }
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%d %ld\n", statuses, (long)in_handler);
    return 6;
}
