// ends HOW CALLS: calls work() CALLS times, says so, and ends in one of many ways.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) int work(int i) {
    __asm__ volatile("" : "+r"(i));
    return i * 3 + 1;
}

static volatile int sum;
static long calls;

static void call_all(void) {
    for (long i = 0; i < calls; ++i)
        sum += work((int)i);
}

static void at_end(void) {
    call_all();
}

int main(int count, char** arguments) {
    const char* how = count > 1 ? arguments[1] : "";
    calls = count > 2 ? atol(arguments[2]) : 0;
    const int rounds = count > 3 ? atoi(arguments[3]) : 0;
    if (!strcmp(how, "atexit")) atexit(at_end);
    if (!strcmp(how, "quick")) at_quick_exit(at_end);
    call_all();
    printf("called\n");
    fflush(stdout);
    if (!strcmp(how, "quick")) quick_exit(9);
    if (!strcmp(how, "pause"))
        for (;;)
            pause();
    // Work that takes its time: the rest is for somebody else to end.
    for (int i = 0; !strcmp(how, "works") && i < rounds; ++i) {
        call_all();
        usleep(1000);
    }
    if (!strcmp(how, "prints"))
        for (;;) {
            call_all();
            printf("a line\n");
            fflush(stdout);
        }
    if (!strcmp(how, "segv")) *(volatile int*)8 = 1;
    if (!strcmp(how, "trap")) __builtin_trap();
    if (!strncmp(how, "signal ", 7)) kill(getpid(), atoi(how + 7));
    return 5;
}
