// Functions and threads whose names are markup, or mean something to scripts, lists and terminals.
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

#define NAMED(function, name)                          \
    void function(int number) __asm__("\"" name "\""); \
    __attribute__((noinline)) void function(int number)

static volatile int sum;

NAMED(script, "<script>alert(1)</script>") {
    for (int i = 0; i < 100 * number; ++i)
        sum += i;
}
NAMED(ending, "</script><img src=x onerror=alert(1)>") {
    script(number % 3);
}
NAMED(prototype, "__proto__") {
    ending(number % 5);
}
NAMED(constructor, "constructor") {
    prototype(number);
}
NAMED(separators, "=a;b,c d'e") {
    constructor(number);
}
NAMED(reversing, "x\xe2\x80\xaey") {
    separators(number);
}

static void* work(void* name) {
    pthread_setname_np(pthread_self(), name);
    for (int i = 0; i < 300; ++i)
        reversing(i);
    return NULL;
}

int main(void) {
    char* names[] = {"<b>&\"'</b>", "=1+1,;"};
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i)
        pthread_create(&threads[i], NULL, work, names[i]);
    for (int i = 0; i < 2; ++i)
        pthread_join(threads[i], NULL);
    return 0;
}
