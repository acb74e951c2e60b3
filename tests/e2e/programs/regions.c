// Regions in C: values, nesting, two threads, a loop whose iterations are taken by the hundred, a child that
// goes on.
#include <pthread.h>
#include <rdam/rdam.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static long work(long i) {
    __asm__ volatile("" : "+r"(i));
    return i * 3 + 1;
}

static void* run(void* argument) {
    long* sum = argument;
    for (int i = 0; i < 500; ++i) {
        RDAM_BEGIN("outer", i % 5, (rdam_value)sum);
        RDAM_BEGIN("inner");
        *sum += work(i);
        RDAM_END("inner");
        RDAM_END("outer");
    }
    RDAM_LOOP(rows, "100 rows", 100);
    for (int i = 0; i < 1050; ++i) {
        RDAM_STEP(rows);
        *sum += work(i);
    }
    RDAM_LOOP_END(rows);
    return NULL;
}

int main(int count, char** arguments) {
    (void)arguments;
    long sums[2] = {0, 0};
    pthread_t thread;
    pthread_create(&thread, NULL, run, &sums[1]);
    run(&sums[0]);
    pthread_join(thread, NULL);
    printf("%ld %ld\n", sums[0], sums[1]);
    fflush(stdout);
    if (count > 1 && fork() == 0) {
        run(&sums[0]);
        printf("%ld\n", sums[0]);
        return 0;
    }
    wait(NULL);
    return 0;
}
