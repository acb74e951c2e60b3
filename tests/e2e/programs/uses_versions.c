/* Calls both versions of a function, as programs that were linked years apart do. */
#include <stdio.h>

__asm__(".symver of_old_days, versioned@VERSIONS_1");
int of_old_days(int);
int versioned(int);
int chosen_in_library(int);

int main(void) {
    long sum = 0;
    for (int i = 0; i < 100; ++i) {
        sum = sum * 3 + versioned(i) + chosen_in_library(i);
        if (i % 4 == 0) sum += of_old_days(i);
    }
    printf("%ld\n", sum);
    return 5;
}
