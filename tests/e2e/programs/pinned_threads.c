/* pinned_threads [WORD...]: prints a line for each thread: its name, its number in the system, and the
 * processors that sched_getaffinity() gives it. Starts a thread at once and three more when it reads a line;
 * ends, with all of them, at the end of its input. Words: "failing" creates, before any other, a thread for
 * which there is no memory, and checks that it fails as ever; "placed" one whose attributes have an affinity,
 * all that the process has; "errno" checks that errno is the program's own. The first word may be "forks",
 * "executes", "spawns" or "titles": when all threads have started, a child prints lines for its main thread
 * and for one more, after fork(), after fork() and exec, after posix_spawn() of this program with the word
 * "child", or after fork() by a program that has written a title over its environment, which it must find
 * unchanged. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

static int checks_errno;
static pthread_barrier_t said;
static pthread_barrier_t ends;

static void say(const char* name) {
    cpu_set_t mask;
    char line[4096];
    int length = snprintf(line, sizeof line, "%s %ld", name, (long)syscall(SYS_gettid));
    sched_getaffinity(0, sizeof mask, &mask);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &mask)) length += snprintf(line + length, sizeof line - length, " %d", i);
    line[length++] = '\n';
    write(STDOUT_FILENO, line, length);
}

static void* run(void* name) {
    if (checks_errno && errno != 0) name = "spoilt";
    say(name);
    pthread_barrier_wait(&said);
    pthread_barrier_wait(&ends);
    return NULL;
}

static int run_c11(void* name) {
    run(name);
    return 0;
}

static void* run_once(void* name) {
    say(name);
    return NULL;
}

static int create(const char* name) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)1 << 18);
    errno = 77;
    const int result = pthread_create(&thread, *name == '2' ? &attributes : NULL, run, (void*)name);
    return result != 0 || errno != 77;
}

static int create_placed(void) {
    cpu_set_t mask;
    pthread_attr_t attributes;
    pthread_t thread;
    sched_getaffinity(0, sizeof mask, &mask);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof mask, &mask);
    return pthread_create(&thread, &attributes, run_once, "placed") || pthread_join(thread, NULL);
}

static int fails(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)1 << 46);
    return pthread_create(&thread, &attributes, run, "never") == EAGAIN;
}

static void be_child(void) {
    pthread_t thread;
    say("child");
    pthread_create(&thread, NULL, run_once, "child's");
    pthread_join(thread, NULL);
}

static void start_child(char** argv) {
    char* const again[] = {argv[0], "child", NULL};
    char* const root = getenv("RDAM_PIN_ROOT");
    const char* how = argv[1];
    const int titles = !strcmp(how, "titles");
    pid_t child;
    if (titles) memcpy(root, "0my title0", strlen(root));
    if (!strcmp(how, "spawns")) {
        posix_spawn(&child, argv[0], NULL, NULL, again, environ);
    } else if ((!strcmp(how, "forks") || !strcmp(how, "executes") || titles) && fork() == 0) {
        if (!strcmp(how, "executes")) execv(argv[0], again);
        if (titles && strcmp(root, "0my title0") != 0) _exit(1);
        be_child();
        _exit(0);
    }
    wait(NULL);
}

static int has_word(int argc, char** argv, const char* word) {
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], word)) return 1;
    return 0;
}

int main(int argc, char** argv) {
    char line[16];
    thrd_t thread;
    if (has_word(argc, argv, "child")) {
        be_child();
        return 0;
    }
    checks_errno = has_word(argc, argv, "errno");
    pthread_barrier_init(&said, NULL, 2);
    pthread_barrier_init(&ends, NULL, 5);
    say("before");
    if (has_word(argc, argv, "failing") && !fails()) return 3;
    if (has_word(argc, argv, "placed") && create_placed()) return 9;
    if (create("1")) return 4;
    pthread_barrier_wait(&said);
    if (read(STDIN_FILENO, line, sizeof line) < 1) return 5;
    if (create("2")) return 6;
    pthread_barrier_wait(&said);
    if (thrd_create(&thread, run_c11, "3") != thrd_success) return 7;
    pthread_barrier_wait(&said);
    if (create("4")) return 8;
    pthread_barrier_wait(&said);
    say("main");
    if (argc > 1) start_child(argv);
    write(STDOUT_FILENO, "all\n", 4);
    while (read(STDIN_FILENO, line, sizeof line) > 0) {
    }
    pthread_barrier_wait(&ends);
    return 0;
}
