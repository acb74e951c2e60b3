// What the trampolines and the places where libc makes processes jump through: whole pages, which are read-only while the
// program runs (settled.h).

#include "libprobe/base/layout.h"

.macro WORD name
        .hidden \name
        .globl  \name
        .type   \name, @object
        .size   \name, 8
\name:  .skip   8
.endm

        .bss
        .balign RDAM_PAGE
        .hidden rdam_functions
        .globl  rdam_functions
        .type   rdam_functions, @object
        .size   rdam_functions, RDAM_MAX_FUNCTIONS << RDAM_ENTRY_SHIFT
rdam_functions:
        .skip   RDAM_MAX_FUNCTIONS << RDAM_ENTRY_SHIFT
        WORD    rdam_target_stack
        WORD    rdam_target_shadow
        WORD    rdam_target_return
        WORD    rdam_clone_back
        WORD    rdam_clone3_back
        WORD    rdam_vfork_back
        WORD    rdam_syscall_back
        .org    rdam_functions + RDAM_SETTLED_SIZE

        .section .note.GNU-stack, "", @progbits
