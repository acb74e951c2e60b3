// Functions whose entry has no room for the patch, with padding before them, in the C convention. What follows each is
// somebody else's. They are patched one at a time, in place.

        .section .relocate_padding_cases, "ax", @progbits
        .balign 4096

// Tells padding_test.cpp of a function: its entry, how long it is, and where the padding before it begins.
.macro entry name
        .globl \name
        .type \name, @function
\name:
.endm

.macro end_entry name, place, padding
        .size \name, . - \name
.L\name\()_end:
        .pushsection .data.rel.ro, "aw", @progbits
        .balign 8
        .globl \place
\place:
        .quad \name, .L\name\()_end - \name, \padding
        .popsection
.endm

// Nobody's neighbour runs into what follows it.
.macro neighbour
        mov     $-1, %rax
        ret
.endm

// ---- memmove and those that lead into it ---------------------------------------------------------------------------

        .balign 16
        .globl sum_and_one
        .type sum_and_one, @function
sum_and_one:                            // like mempcpy: its own result, then behind the first instruction
        lea     1(%rdi), %rax
        jmp     sum + 3
        .size sum_and_one, . - sum_and_one

        .balign 16
        .globl checked_sum
        .type checked_sum, @function
checked_sum:                            // like __memmove_chk: on through the padding
        cmp     $100, %rsi
        ja      .Ltoo_large
        .size checked_sum, . - checked_sum
.Lbefore_sum:
        .byte   0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
        .byte   0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
        .byte   0x66, 0x0f, 0x1f, 0x44, 0, 0
entry sum
        mov     %rdi, %rax
        add     %rsi, %rax
        ret
end_entry sum, kSum, .Lbefore_sum
.Ltoo_large:
        neighbour

// ---- short functions -----------------------------------------------------------------------------------------------

        .balign 16
        neighbour
.Lbefore_two_bytes:
        .fill   5, 1, 0xcc
entry two_bytes
        jmp     1f
end_entry two_bytes, kTwoBytes, .Lbefore_two_bytes
1:      lea     2(%rdi), %rax
        ret

        .balign 16
        neighbour
.Lbefore_two_bytes_running_on:
        .fill   7, 1, 0x90
entry two_bytes_running_on
        mov     %edi, %eax
end_entry two_bytes_running_on, kTwoBytesRunningOn, .Lbefore_two_bytes_running_on
        add     $7, %eax
        ret

        .balign 16
        neighbour
.Lbefore_two_bytes_calling:
        .fill   130, 1, 0x90
entry two_bytes_calling
        call    *%rdi                   // comes back right behind the patch
end_entry two_bytes_calling, kTwoBytesCalling, .Lbefore_two_bytes_calling
        inc     %rax
        ret

        .balign 16
        neighbour
.Lbefore_three_bytes:
        .byte   0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
entry three_bytes
        xor     %eax, %eax
        ret
end_entry three_bytes, kThreeBytes, .Lbefore_three_bytes
        neighbour

        .balign 16
        neighbour
.Lbefore_four_bytes:
        .byte   0x0f, 0x1f, 0x40, 0x00, 0x66, 0x90, 0xcc
entry four_bytes
        mov     %rdi, %rax
        ret
end_entry four_bytes, kFourBytes, .Lbefore_four_bytes
        neighbour

// ---- loops ---------------------------------------------------------------------------------------------------------

        .balign 16
        neighbour
.Lbefore_long_loop:
        .fill   9, 1, 0x90
entry long_loop                         // too long to be moved as a whole, and back to right behind the patch
        xor     %eax, %eax
1:      add     %rdi, %rax
        .fill   80, 1, 0x90
        dec     %rdi
        jnz     1b
        ret
end_entry long_loop, kLongLoop, .Lbefore_long_loop

        .pushsection .text
        .globl return_forty
        .type return_forty, @function
return_forty:
        mov     $40, %eax
        ret
        .size return_forty, . - return_forty
        .popsection

        .balign 4096
        .section .note.GNU-stack, "", @progbits
