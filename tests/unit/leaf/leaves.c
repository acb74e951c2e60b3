// Functions that are small leaves, and others that nearly are. `volatile` and assembly keep the compiler from
// turning one into another.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int elsewhere(int);
extern int (*through_pointer)(int);

uint64_t straight(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccd;
    return x ^ x >> 29;
}

// Branches are no loops, wherever the compiler puts what they lead to.
uint64_t branches(uint64_t x, uint64_t y) {
    if (__builtin_expect(x > y, 0)) {
        __asm__ volatile("nop");
        x += y;
    }
    if (y > 5) __asm__ volatile("nop");
    return x;
}

size_t short_loop(const char* text) {
    size_t n = 0;
    while (((const volatile char*)text)[n] != 0)
        ++n;
    return n;
}

struct list {
    struct list* volatile next;
};
int walks_list(struct list* at) {
    int n = 0;
    for (; at != NULL; at = at->next)
        __asm__ volatile("" : "+r"(n));
    return n;
}

void plain_store(volatile int* lock) {
    *lock = 0;
}

// A lock, as the catalogue knows it, though it is as simple as the one above.
int pthread_spin_unlock(volatile int* lock) {
    *lock = 0;
    return 0;
}

int checks(int x) {
    if (x < 0) abort();
    return x * 3;
}

__attribute__((cold)) int rarely(int);
int with_cold_part(int x) {
    if (x < 0) return rarely(x) + rarely(x + 1);
    return x * 3;
}

int calls(int x) {
    return elsewhere(x) + 1;
}

int calls_last(int x) {
    return elsewhere(x);
}

int calls_in_a_loop(int x) {
    for (volatile int i = 0; i < x; ++i)
        x = elsewhere(x);
    return x;
}

int too_large_and_calls(int x) {
    __asm__ volatile(".skip 600, 0x90");
    return elsewhere(x) + 1;
}

int calls_pointer(int x) {
    return through_pointer(x) + 1;
}

int jumps_through_pointer(int x) {
    return through_pointer(x);
}

int counts_atomically(int* number) {
    return __atomic_fetch_add(number, 1, __ATOMIC_RELAXED);
}

void pauses_once(void) {
    __asm__ volatile("pause");
}

int may_be_lock(int* lock) {
    return __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) == 0 ? 0 : elsewhere(1);
}

void spin_lock(int* lock) {
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0) {
    }
}

void polls(volatile int* flag) {
    while (*flag == 0) {
    }
}

void polls_bit(volatile int* flags) {
    while ((*flags & 4) == 0) {
    }
}

void pauses(volatile int* flag) {
    for (int tries = 0; *flag == 0 && tries < 100; ++tries)
        __asm__ volatile("pause");
}

void fences(volatile int* flag) {
    *flag = 1;
    __asm__ volatile("mfence");
}

long enters_kernel(void) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(39L) : "rcx", "r11", "memory");
    return result;
}

void copies(void* to, const void* from, size_t size) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size)::"memory");
}

int as_large_as_may_be(int x) {
    __asm__ volatile(".skip 500, 0x90");
    return x;
}

int too_large(int x) {
    __asm__ volatile(".skip 600, 0x90");
    return x;
}

int large_with_loop(int x) {
    __asm__ volatile(".skip 200, 0x90\n1: dec %0\njnz 1b" : "+r"(x)::"cc");
    return x;
}

void never_returns(int* x) {
    for (;;)
        __asm__ volatile("incl %0" : "+m"(*x));
}

int no_instruction(int x) {
    __asm__ volatile(".byte 0x06");  // of 32-bit code
    return x;
}

static int twin(int x) {
    return x + 1;
}
int (*volatile first_twin)(int) = twin;
