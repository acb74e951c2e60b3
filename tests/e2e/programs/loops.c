// Loops of 1 to 250 iterations of the same work each, taken by the hundred.
#include <rdam/rdam.h>

enum { LOOPS = 1500, MOST = 250, STEPS = 40 };

__attribute__((noinline)) static void work(void) {
    for (int i = 0; i < STEPS; ++i)
        __asm__ volatile("" : "+r"(i));
}

int main(void) {
    for (int loop = 0; loop < LOOPS; ++loop) {
        const int iterations = loop % 6 == 0 ? MOST : 1 + loop * 7 % 5 * 30;
        RDAM_LOOP(rows, "100 rows", 100);
        for (int i = 0; i < iterations; ++i) {
            RDAM_STEP(rows);
            work();
        }
        RDAM_LOOP_END(rows);
    }
    return 0;
}
