// Makes children that outlive it: outlives CHILDREN FILE [5]
// Each calls work() 10 times at once, and 20 times when FILE is there; with a third argument the program
// itself calls it 5 times before. Or outlives itself who has started it: outlives 0 FILE READY It makes the
// file READY, and calls work() 20 times when FILE is there.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) unsigned work(unsigned i) {
    __asm__ volatile("" : "+r"(i));
    return i * 3 + 1;
}

static unsigned sum;

static void calls(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
        sum += work(i);
}

static void go_on(const char* file) {
    while (access(file, F_OK) != 0)
        usleep(10000);
    calls(20);
}

static void be_daemon(const char* file, int ready) {
    setsid();
    // Who waits for the end of these would wait for us.
    for (int fd = 0; fd < 3; ++fd)
        close(fd);
    calls(10);
    if (write(ready, "", 1) != 1) _exit(1);
    go_on(file);
}

int main(int count, char** arguments) {
    int ready[2];
    if (count < 3 || pipe(ready) != 0) return 1;
    const int children = atoi(arguments[1]);
    if (children == 0 && count > 3) {
        close(creat(arguments[3], 0600));
        go_on(arguments[2]);
        return 0;
    }
    if (count > 3) calls(5);
    for (int i = 0; i < children; ++i)
        if (fork() == 0) {
            be_daemon(arguments[2], ready[1]);
            return 0;
        }
    char byte;
    for (int i = 0; i < children; ++i)
        if (read(ready[0], &byte, 1) != 1) return 1;
    return 0;
}
