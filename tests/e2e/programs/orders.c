/* orders THREADS ORDERS: a shop whose every call is known. Each thread serves ORDERS orders, numbered from 0;
 * an order is parsed once and stored on id % 3 shelves. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

NOINLINE bool parse(unsigned char letter, const char* text) {
    __asm__ volatile("" : : "r"(text) : "memory");
    return letter % 2 == 0;
}

NOINLINE short store(short shelf, unsigned long amount, float weight) {
    __asm__ volatile("" : : "r"(amount), "x"(weight) : "memory");
    return (short)(shelf - 100);
}

NOINLINE double serve(int id, double price) {
    parse((unsigned char)('a' + id % 26), "an order");
    for (int i = 0; i < id % 3; i++)
        store((short)(-i), (unsigned long)id << 33, (float)i + 0.5F);
    __asm__ volatile("" : : : "memory");
    return price * 2;
}

static long orders;

static void* shop(void* unused) {
    (void)unused;
    for (long i = 0; i < orders; i++)
        serve((int)i - 5, (double)i / 4);
    return NULL;
}

int main(int argc, char** argv) {
    const int threads = argc > 1 ? atoi(argv[1]) : 1;
    orders = argc > 2 ? atol(argv[2]) : 1000;
    pthread_t others[16];
    for (int i = 1; i < threads && i < 16; i++)
        pthread_create(&others[i], NULL, shop, NULL);
    shop(NULL);
    for (int i = 1; i < threads && i < 16; i++)
        pthread_join(others[i], NULL);
    return 0;
}
