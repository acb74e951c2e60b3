// Compiled without debug information.
__attribute__((noipa, patchable_function_entry(5))) void empty_call_undescribed(void);

void empty_call_undescribed(void) {
    __asm__ volatile("");
}
