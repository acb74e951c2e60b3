// Takes in orphans from the middle of its run on, and counts the children that it did not make.
// usage: subreaper HOW CHILDREN [PROGRAM]
// HOW its children end: return, _exit, kill, or exec of PROGRAM. It goes on when there is something to read.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

int main(int count, char** arguments) {
    const int children = atoi(arguments[2]);
    unsigned sum = work(0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    char line[16];
    if (fgets(line, sizeof line, stdin) == NULL) return 1;
    pid_t made[100];
    for (int i = 0; i < children; ++i) {
        made[i] = fork();
        if (made[i] == 0) {
            for (unsigned j = 0; j < 1000; ++j)
                sum += work(j);
            end_as(arguments[1], count > 3 ? arguments[3] : NULL);
        }
    }
    int strangers = 0;
    int own = 0;
    // What the recorder does after its process has ended takes a while.
    for (int quiet = 0; quiet < 20;) {
        const pid_t child = waitpid(-1, NULL, WNOHANG);
        if (child > 0) {
            int known = 0;
            for (int i = 0; i < children; ++i)
                known |= made[i] == child;
            own += known;
            strangers += !known;
            continue;
        }
        if (own == children) ++quiet;
        usleep(20000);
    }
    const pid_t left = waitpid(-1, NULL, WNOHANG);
    printf("%d own, %d strangers, %d\n", own, strangers, left < 0 && errno == ECHILD);
    return 0;
}
