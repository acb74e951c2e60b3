// Started by root, becomes another user, and works before and after.
//   drops HOW ROUNDS: early, before the first call; late, after it; back, only for a while; fork, a child
//   works in its place; exec, becomes a program that does
// Says when it has done so, and waits until its standard input is closed. 77: it may not.
#define _GNU_SOURCE
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kUser = 65533, kGroup = 65532, kOther = 65531, kCalls = 1000 };

__attribute__((noinline)) int work(int i) {
    __asm__ volatile("" : "+r"(i));
    return i * 3 + 1;
}

static volatile int sum;

static void call_all(long rounds) {
    for (long i = 0; i < rounds * kCalls; ++i)
        sum += work((int)i);
}

static void drop(void) {
    const gid_t other = kOther;
    if (setgroups(1, &other) != 0 || setgid(kGroup) != 0 || setuid(kUser) != 0) exit(77);
}

static void say_and_wait(void) {
    char byte;
    puts("dropped");
    fflush(stdout);
    while (read(0, &byte, 1) > 0) {
    }
}

int main(int count, char** arguments) {
    const char* how = count > 1 ? arguments[1] : "";
    const long rounds = count > 2 ? atol(arguments[2]) : 1;
    if (geteuid() != 0) return 77;
    if (!strcmp(how, "late")) call_all(1);
    if (!strcmp(how, "back")) {
        if (seteuid(kUser) != 0) return 77;
        call_all(1);
        say_and_wait();
        return seteuid(0) == 0 ? 5 : 6;
    }
    if (!strcmp(how, "fork")) {
        const pid_t child = fork();
        if (child != 0) {
            int status = 0;
            waitpid(child, &status, 0);
            return WEXITSTATUS(status);
        }
    }
    drop();
    call_all(rounds);
    say_and_wait();
    call_all(rounds);
    if (!strcmp(how, "exec")) execl("/bin/true", "true", NULL);
    return 5;
}
