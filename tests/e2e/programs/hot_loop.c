/* One long function, called a few times: most of its time is in one line of its second loop. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t table[64];

__attribute__((noinline, noclone)) uint64_t bake(uint64_t rounds) {
    uint64_t sum = rounds;
    for (int i = 0; i < 64; ++i)
        sum += table[i] ^ (sum << 7);
    for (uint64_t i = 0; i < rounds; ++i) {
        sum = ((sum ^ i) * 0x9e3779b97f4a7c15u ^ sum >> 29) * 0xbf58476d1ce4e5b9u; /* hot */
    }
    table[sum % 64] = sum;
    return sum;
}

/* Every third call takes three times as long. */
int main(int argc, char** argv) {
    const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    uint64_t sum = 0;
    for (int i = 0; i < 12; ++i)
        sum += bake(i % 3 == 0 ? 3 * rounds : rounds);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
