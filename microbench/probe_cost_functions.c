#include "microbench/probe_cost_functions.h"

#define EMPTY __attribute__((noipa, patchable_function_entry(5)))

EMPTY void empty_call(void) {
    __asm__ volatile("");
}

EMPTY void empty_call_ints(int first, int second, int third) {
    __asm__ volatile("" : : "r"(first), "r"(second), "r"(third));
}

// More of them than there are counters in a thread's own storage (libprobe/event/call_counts.h). Nobody calls them.
__asm__(
    ".text\n"
    ".altmacro\n"
    ".macro another number\n"
    ".globl another_\\number\n"
    ".type another_\\number, @function\n"
    "another_\\number:\n"
    ".cfi_startproc\n"
    ".nops 5\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size another_\\number, . - another_\\number\n"
    ".endm\n"
    ".set made, 0\n"
    ".rept 600\n"
    "another %made\n"
    ".set made, made + 1\n"
    ".endr\n"
    ".noaltmacro\n");
