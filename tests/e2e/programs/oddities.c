// See oddities.S.
#include <stdio.h>
#include <stdlib.h>

unsigned long odd_all(unsigned long);

int main(int count, char** arguments) {
    if (count != 2) return 2;
    printf("%lu\n", odd_all(strtoul(arguments[1], NULL, 10)));
    return 0;
}
