// A child of vfork calls the function 1000 times before it turns into another program or ends: argv[1]
// rounds of both. The parent calls it 5 times in each round.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int work(int i) {
    __asm__ volatile("" : "+r"(i));
    return i * 3 + 1;
}

static volatile int sum;

static int child(int executes) {
    int status = 0;
    const pid_t pid = vfork();
    if (pid == 0) {
        for (int i = 0; i < 1000; ++i)
            sum += work(i);
        if (executes) execl("/bin/sh", "sh", "-c", "exit 3", NULL);
        _exit(4);
    }
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

int main(int count, char** arguments) {
    const int rounds = count > 1 ? atoi(arguments[1]) : 1;
    int statuses = 0;
    for (int round = 0; round < rounds; ++round) {
        statuses += child(0) + child(1);
        for (int i = 0; i < 5; ++i)
            sum += work(i);
    }
    printf("%d %d\n", statuses, sum);
    return 0;
}
