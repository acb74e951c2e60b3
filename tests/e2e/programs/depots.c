/* deliver() is called from two places: 40 times from city(), where its work depends on its parameter, and 20
 * times from country(), where it is always much. */
#include <stdio.h>
#include <stdlib.h>

static int far_away;

__attribute__((noinline, noclone)) void drive(void) {
    for (int i = 0; i < 50; i++)
        __asm__ volatile("" : "+r"(i));
}

__attribute__((noinline, noclone)) int deliver(int parcels) {
    const int stops = far_away ? 40 : parcels + 1;
    for (int i = 0; i < stops * 10000; i++)
        __asm__ volatile("" : "+r"(i));
    drive();
    return parcels;
}

__attribute__((noinline, noclone)) int city(void) {
    far_away = 0;
    int sum = 0;
    for (int i = 0; i < 40; i++)
        sum += deliver(i % 4);
    return sum;
}

__attribute__((noinline, noclone)) int country(void) {
    far_away = 1;
    int sum = 0;
    for (int i = 0; i < 20; i++)
        sum += deliver(i % 2);
    return sum;
}

int main(void) {
    printf("%d\n", city() + country());
    return 0;
}
