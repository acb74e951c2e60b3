// Looks for children that it did not make. With an argument it first becomes a subreaper and starts itself
// anew.
#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int work(int i) {
    __asm__ volatile("" : "+r"(i));
    return i * 3 + 1;
}

int main(int count, char** arguments) {
    if (count > 1) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        execl(arguments[0], arguments[0], NULL);
        return 1;
    }
    unsigned sum = 0;
    for (int i = 0; i < 1000; ++i)
        sum += work(i);
    const pid_t child = waitpid(-1, NULL, 0);
    printf("%u %d %d\n", sum, (int)child, child < 0 && errno == ECHILD);
    return 5;
}
