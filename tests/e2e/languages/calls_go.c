#include <stdio.h>
#include <stdlib.h>
long GoWork(long n);
int main(int argc, char** argv) {
    long sum = 0;
    for (int i = 0; i < 100; i++)
        sum += GoWork(atol(argv[argc - 1]));
    printf("%ld\n", sum);
}
