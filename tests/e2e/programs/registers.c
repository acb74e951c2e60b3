/* Every register must be after a call of a function that changes none what it was before. */
#include <stdio.h>
#include <string.h>

struct Registers {
    unsigned long general[16];
    unsigned char vectors[32][64];
    unsigned long masks[8];
};

void call_and_compare(void (*callee)(void), const struct Registers* before, struct Registers* after,
                      int level);
/* Described, so that it gets a stack frame; the variadic one gets a shadow frame. */
__attribute__((naked, noipa)) void untouched(void) {
    __asm__("nopl 0(%rax,%rax); nopl 0(%rax,%rax); ret");
}
__attribute__((naked, noipa)) void untouched_side(int n, ...) {
    __asm__("nopl 0(%rax,%rax); nopl 0(%rax,%rax); ret");
}

static int differences(const char* what, void (*callee)(void), int level, int round) {
    struct Registers before, after;
    unsigned char* bytes = (unsigned char*)&before;
    unsigned long random = 0x9E3779B97F4A7C15ul * (unsigned long)(round + 1);
    for (size_t i = 0; i < sizeof before; i++) {
        random = random * 6364136223846793005ul + 1442695040888963407ul;
        bytes[i] = (unsigned char)(random >> 56);
    }
    after = before;
    /* So that a register that is not stored shows. */
    memset(after.general, 0x55, 15 * sizeof(long));
    after.general[15] = before.general[15];
    const int registers = level == 2 ? 32 : 16, size = 16 << level;
    for (int i = 0; i < registers; i++)
        memset(after.vectors[i], 0x55, size);
    call_and_compare(callee, &before, &after, level);
    int wrong = 0;
    for (int i = 0; i < 15; i++)
        if (before.general[i] != after.general[i]) wrong += printf("%s: general register %d\n", what, i) > 0;
    for (int i = 0; i < registers; i++)
        if (memcmp(before.vectors[i], after.vectors[i], size) != 0)
            wrong += printf("%s: vector register %d\n", what, i) > 0;
    if (level == 2 && memcmp(before.masks, after.masks, sizeof before.masks) != 0)
        wrong += printf("%s: mask registers\n", what) > 0;
    return wrong;
}

int main(void) {
    const int level = __builtin_cpu_supports("avx512bw") ? 2 : __builtin_cpu_supports("avx") ? 1 : 0;
    int wrong = 0;
    for (int round = 0; round < 1000; round++) {
        wrong += differences("untouched", untouched, level, round);
        wrong += differences("untouched_side", (void (*)(void))untouched_side, level, round);
    }
    printf("level %d, %d registers changed\n", level, wrong);
    return wrong != 0;
}
