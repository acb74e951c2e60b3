// Programs that count their memory: tight thread SIZE (a thread with a stack of SIZE bytes), tight locked
// (all memory locked). Prints a number; the latter also, on stderr, the kilobytes that are in memory.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static long sum;

__attribute__((noinline)) long work(long i) {
    __asm__ volatile("" : "+r"(i));
    sum += i;
    return i * 3 + 1;
}

__attribute__((noinline)) long nested(long i, int depth) {
    long below = depth == 0 ? work(i) : nested(i, depth - 1);
    __asm__ volatile("" : "+r"(below));
    return below + 1;
}

static void* run(void* unused) {
    for (long i = 0; i < 1000; ++i)
        nested(i, 9);
    return unused;
}

static long resident(void) {
    char line[256];
    long kilobytes = -1;
    FILE* file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmRSS: %ld", &kilobytes) == 1) break;
    if (file != NULL) fclose(file);
    return kilobytes;
}

int main(int count, char** words) {
    if (count == 3 && strcmp(words[1], "thread") == 0) {
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        if (pthread_attr_setstacksize(&attributes, (size_t)atol(words[2])) != 0) return 2;
        if (pthread_create(&thread, &attributes, run, NULL) != 0) return 3;
        pthread_join(thread, NULL);
    } else {
        if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 77;
        run(NULL);
        fprintf(stderr, "resident: %ld\n", resident());
    }
    printf("%ld\n", sum);
    return 4;
}
