#include "microbench/probe_cost_functions.h"

__attribute__((noipa, patchable_function_entry(5))) void empty_call_shared(void) {
    __asm__ volatile("");
}
