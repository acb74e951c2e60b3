// Two threads allocate and compute. Built with AddressSanitizer too; with an argument it uses what it has
// freed.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noipa)) int work(const int* numbers, int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i)
        sum += numbers[i] * i;
    return sum;
}

static void* run(void* argument) {
    long sum = 0;
    for (int i = 0; i < 1000; ++i) {
        int* numbers = malloc(10 * sizeof *numbers);
        for (int k = 0; k < 10; ++k)
            numbers[k] = i;
        sum += work(numbers, 10);
        free(numbers);
    }
    *(long*)argument = sum;
    return NULL;
}

int main(int count, char** arguments) {
    (void)arguments;
    long sums[2];
    pthread_t thread;
    pthread_create(&thread, NULL, run, sums);
    run(sums + 1);
    pthread_join(thread, NULL);
    printf("%ld %ld\n", sums[0], sums[1]);
    fflush(stdout);
    if (count == 1) return 0;
    char* volatile gone = malloc(8);
    free(gone);
    return gone[0];
}
