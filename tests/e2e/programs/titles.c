// Children that write over their command line what they are for, as servers do; arguments: how many, and
// something long to make room.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static long work(long i) {
    __asm__ volatile("" : "+r"(i));
    return i * 3 + 1;
}

int main(int count, char** arguments) {
    if (count != 3) return 2;
    const int children = atoi(arguments[1]);
    const size_t room = (size_t)(arguments[2] + strlen(arguments[2]) - arguments[0]);
    long sum = work(1);
    for (int child = 0; child < children; ++child) {
        if (fork() == 0) {
            memset(arguments[0], 0, room);
            snprintf(arguments[0], room, "titles: writer %d", child);
            for (int i = 0; i < 1000; ++i)
                sum += work(i);
            return sum == 0;
        }
    }
    while (wait(NULL) > 0) {
    }
    return sum == 0;
}
