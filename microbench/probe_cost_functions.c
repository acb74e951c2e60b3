#include "microbench/probe_cost_functions.h"

#define EMPTY __attribute__((noipa, patchable_function_entry(5)))

EMPTY void empty_call(void) {
    __asm__ volatile("");
}

EMPTY void empty_call_ints(int first, int second, int third) {
    __asm__ volatile("" : : "r"(first), "r"(second), "r"(third));
}
