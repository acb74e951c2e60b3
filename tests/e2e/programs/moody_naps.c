// About half of its runs take longer: every other call of nap() does then. In each run others are as fast as
// ever.
#include <stdbool.h>
#include <time.h>

static void sleep_ms(long ms) {
    const struct timespec time = {0, ms * 1000000};
    nanosleep(&time, NULL);
}

__attribute__((noinline)) void nap(long ms) {
    sleep_ms(ms);
    __asm__ volatile("");  // a call, not a jump
}

__attribute__((noinline)) void steady(void) {
    sleep_ms(2);
    __asm__ volatile("");
}

int main(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const bool moody = now.tv_nsec / 1024 % 2 == 1;
    for (int i = 0; i < 8; ++i) {
        nap(moody && i % 2 == 1 ? 30 : 2);
        steady();
    }
    return 0;
}
