/* Calls work() 10 times, forks a child that calls it 20 times and executes itself, which calls it 30 times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int work(int x) {
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}

static void call(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += work(i);
    printf("%d\n", sum);
    fflush(stdout);
}

int main(int argc, char** argv) {
    if (argc > 1) {
        call(30);
        usleep(50000); /* so long that an agent sees that this is another program */
        return 0;
    }
    call(10);
    if (fork() == 0) {
        call(20);
        execl(argv[0], argv[0], "again", (char*)NULL);
        _exit(1);
    }
    int status = 0;
    wait(&status);
    return WEXITSTATUS(status);
}
