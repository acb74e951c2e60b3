// Takes in orphans from some moment on, and counts the children that it did not make.
// usage: subreaper HOW CHILDREN [PROGRAM [CHANGE [WHEN]]]
// HOW its children end: return, _exit, kill, or exec of PROGRAM.
//
// CHANGE what is different about its children: none, user (nobody), root (the directory "root"), mounts,
// network (namespaces), undumpable, group (the control group whose directory is in GROUP); or about itself:
// unserved (its maker has ended, and it has called nothing that is recorded).
//
// WHEN it begins to take in orphans: first (before its children are made; the default), syscall (likewise, by
// syscall()), between (children have been made, and have called nothing), last (they have called everything),
// or never (it may do so from the start).
//
// It makes its children when there is something to read.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_CHILDREN = 100, NOBODY = 65534, CANNOT = 77 };

__attribute__((noinline)) unsigned work(unsigned i) {
    __asm__ volatile("" : "+r"(i));
    return i * 3 + 1;
}

static void end_as(const char* how, const char* program) {
    if (strcmp(how, "_exit") == 0) _exit(0);
    if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(how, "exec") == 0) execl(program, program, "1", "100", NULL);
    exit(strcmp(how, "return") == 0 ? 0 : 1);
}

static int joins_group(const char* directory) {
    char path[4096];
    snprintf(path, sizeof path, "%s/cgroup.procs", directory == NULL ? "" : directory);
    const int fd = open(path, O_WRONLY);
    const int done = fd >= 0 && write(fd, "0", 1) == 1;
    close(fd);
    return done;
}

static int changes(const char* what) {
    if (strcmp(what, "user") == 0)
        return setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
               setresuid(NOBODY, NOBODY, NOBODY) == 0;
    if (strcmp(what, "root") == 0) return chroot("root") == 0 && chdir("/") == 0;
    if (strcmp(what, "mounts") == 0) return unshare(CLONE_NEWNS) == 0;
    if (strcmp(what, "network") == 0) return unshare(CLONE_NEWNET) == 0;
    if (strcmp(what, "undumpable") == 0) return prctl(PR_SET_DUMPABLE, 0) == 0;
    if (strcmp(what, "group") == 0) return joins_group(getenv("GROUP"));
    return 1;
}

static void take_in_orphans(const char* when) {
    if (strcmp(when, "syscall") == 0) {
        syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    } else if (strcmp(when, "never") != 0) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    }
}

static void await_end_of(int fd) {
    char byte;
    while (read(fd, &byte, 1) > 0) {
    }
}

int main(int count, char** arguments) {
    const int children = atoi(arguments[2]);
    const char* const program = count > 3 ? arguments[3] : NULL;
    const char* const change = count > 4 ? arguments[4] : "none";
    const char* const when = count > 5 ? arguments[5] : "first";
    const int between = strcmp(when, "between") == 0;
    const int last = strcmp(when, "last") == 0;
    int may_go[2];
    int are_there[2];
    if (pipe(may_go) != 0 || pipe(are_there) != 0) return 1;
    unsigned sum = work(0);
    if (strcmp(change, "unserved") == 0) {
        const pid_t maker = getpid();
        if (fork() > 0) _exit(0);
        while (getppid() == maker)
            usleep(1000);
    }
    if (!between && !last) take_in_orphans(when);
    char line[16];
    if (fgets(line, sizeof line, stdin) == NULL) return 1;
    pid_t made[MOST_CHILDREN];
    for (int i = 0; i < children; ++i) {
        made[i] = fork();
        if (made[i] == 0) {
            close(may_go[1]);
            close(are_there[0]);
            if (!changes(change)) _exit(CANNOT);
            if (between) close(are_there[1]);
            if (between) await_end_of(may_go[0]);
            for (unsigned j = 0; j < 1000; ++j)
                sum += work(j);
            if (last) close(are_there[1]);
            if (last) await_end_of(may_go[0]);
            end_as(arguments[1], program);
        }
    }
    close(are_there[1]);
    if (between || last) {
        await_end_of(are_there[0]);
        take_in_orphans(when);
    }
    close(may_go[1]);
    int strangers = 0;
    int own = 0;
    int unable = 0;
    // What the recorder does after its process has ended takes a while.
    for (int quiet = 0; quiet < 20;) {
        int status = 0;
        const pid_t child = waitpid(-1, &status, WNOHANG);
        if (child > 0) {
            int known = 0;
            for (int i = 0; i < children; ++i)
                known |= made[i] == child;
            own += known;
            strangers += !known;
            unable |= WIFEXITED(status) && WEXITSTATUS(status) == CANNOT;
            continue;
        }
        if (own == children) ++quiet;
        usleep(20000);
    }
    const pid_t left = waitpid(-1, NULL, WNOHANG);
    printf("%d own, %d strangers, %d\n", own, strangers, left < 0 && errno == ECHILD);
    return unable ? CANNOT : 0;
}
