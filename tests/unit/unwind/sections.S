# A description in each of two sections, which are both named .eh_frame once they are renamed. Never run.
        .text
        .globl  first
        .type   first, @function
first:
        .cfi_startproc
        mov     %edi, %eax
        mov     %edi, %ecx
        mov     %edi, %edx
        ret
        .cfi_endproc
        .size   first, . - first

        .balign 16
        .globl  second
        .type   second, @function
second:
.Lsecond:
        push    %rbx
        mov     %edi, %ecx
        mov     %edi, %edx
        pop     %rbx
        ret
.Lsecond_end:
        .size   second, . - second

        .section .eh_frame_2, "a", @progbits
        .balign 8
.Lkind:
        .long   .Lkind_end - .Lkind - 4
        .long   0
        .byte   1
        .asciz  "zR"
        .uleb128 1
        .sleb128 -8
        .byte   16
        .uleb128 1
        .byte   0x1b
        .byte   0x0c, 7, 8, 0x90, 1     # rsp + 8, and the return address below it
        .balign 8, 0
.Lkind_end:
        .long   .Lfunction_end - .Lkind_end - 4
        .long   . - .Lkind
        .long   .Lsecond - .
        .long   .Lsecond_end - .Lsecond
        .uleb128 0
        .byte   0x41, 0x0e, 16, 0x83, 2 # from +1 on rsp + 16, and rbx below that
        .balign 8, 0
.Lfunction_end:
        .long   0
        .section .note.GNU-stack, "", @progbits
