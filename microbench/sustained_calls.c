// Calls an empty function argv[1] times.
#include <stdlib.h>

__attribute__((noinline)) void sustained_call(void) {
    __asm__ volatile("nop; nop; nop; nop; nop");
}

int main(int count, char** arguments) {
    const long calls = count > 1 ? atol(arguments[1]) : 1;
    for (long i = 0; i < calls; ++i)
        sustained_call();
    return 0;
}
