// Calls `work`, makes the folder DIR its root, and creates a child in a PID namespace of its own, as a
// browser does for what shows its pages. The child calls `work` a thousand times in each of two threads, the
// second named "inner", which live for a tenth of a second; then it ends, or (kill) is killed. The status is
// the child's, or 77 where no namespace can be made.
//   nests DIR return|kill
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) long work(long i) {
    __asm__ volatile("" : "+r"(i));
    return i * 3;
}

static void* calls(void* name) {
    if (name != NULL) prctl(PR_SET_NAME, name);
    long sum = 0;
    for (long i = 0; i < 1000; ++i)
        sum += work(i);
    usleep(100000);
    return (void*)sum;
}

static int child(const char* how) {
    pthread_t other;
    void* sum = NULL;
    if (pthread_create(&other, NULL, calls, "inner") != 0) return 1;
    const long own = (long)calls(NULL);
    pthread_join(other, &sum);
    // The first process of a namespace cannot kill itself.
    if (strcmp(how, "kill") == 0) pause();
    return own == 1498500 && (long)sum == own && getpid() == 1 ? 4 : 1;
}

int main(int count, char** words) {
    if (count < 3 || work(1) != 3) return 2;
    if (chroot(words[1]) != 0 || chdir("/") != 0) return 77;
    const long pid = syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
    if (pid < 0) return 77;
    if (pid == 0) _exit(child(words[2]));
    if (strcmp(words[2], "kill") == 0) {
        usleep(300000);
        kill((pid_t)pid, SIGKILL);
    }
    int status = 0;
    waitpid((pid_t)pid, &status, 0);
    printf("%ld\n", work(2));
    return WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
}
