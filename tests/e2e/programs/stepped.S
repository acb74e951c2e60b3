# Calls that a signal handler may leave by an exception behind each of their instructions. Compilers cover only those
# that may fail by themselves.
        .text

.macro begin name, table
        .balign 16
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        .cfi_personality 0x9b, personality
        .cfi_lsda 0x1b, \table
.endm
.macro end name
        .cfi_endproc
        .size   \name, . - \name
.endm

# Sites by where they begin, up to the next one; a type that is any.
.macro table name
        .section .gcc_except_table, "a", @progbits
        .balign 4
.L\name\()_table:
        .byte   0xff, 0x9b
        .uleb128 .L\name\()_types - .L\name\()_from
.L\name\()_from:
        .byte   0x01
        .uleb128 .L\name\()_actions - .L\name\()_sites
.L\name\()_sites:
.endm
.macro site name, from, to, pad
        .uleb128 .L\name\()_\from - \name, .L\name\()_\to - .L\name\()_\from, .L\name\()_\pad - \name, 1
.endm
.macro end_table name
.L\name\()_actions:
        .sleb128 1, 0
        .balign 4
        .long   0
.L\name\()_types:
        .text
.endm

# long run_stepped(long (*call)(long), long argument, long trap): what it returns, or -99 if an exception comes as far as
# here, or -2000 if a register that is its own has changed. `trap` is 0x100 to stop behind each instruction, or 0.
        begin   run_stepped, .Lrun_stepped_table
        push    %rbx
        .cfi_def_cfa_offset 16
        .cfi_offset %rbx, -16
.Lrun_stepped_1:
        movl    $0, stepped_enough(%rip)
        mov     $0x1234, %ebx
        mov     %rdi, %rax
        mov     %rsi, %rdi
        pushfq
        or      %rdx, (%rsp)
        popfq
        call    *%rax
        movl    $1, stepped_enough(%rip)
.Lrun_stepped_2:
        cmp     $0x1234, %rbx
        je      1f
        mov     $-2000, %rax
1:      pop     %rbx
        .cfi_def_cfa_offset 8
        ret
        .cfi_def_cfa_offset 16
.Lrun_stepped_pad:
        movl    $1, stepped_enough(%rip)
        mov     %rax, %rdi
        call    __cxa_begin_catch@plt
        call    __cxa_end_catch@plt
        mov     $-99, %rax
        jmp     .Lrun_stepped_2
        end     run_stepped
        table   run_stepped
        site    run_stepped, 1, 2, pad
        end_table run_stepped

# long calls(long x): 3 * x + 1, or -1 if an exception comes, or -1000 if the stack is elsewhere then.
        begin   calls, .Lcalls_table
.Lcalls_1:
        push    %rbx
        .cfi_def_cfa_offset 16
        .cfi_offset %rbx, -16
.Lcalls_2:
        call    leaf@plt
        add     $1, %rax
        pop     %rbx
        .cfi_def_cfa_offset 8
        .cfi_restore %rbx
.Lcalls_3:
        ret
.Lcalls_4:
.Lcalls_pad_pushed:
        .cfi_def_cfa_offset 16
        .cfi_offset %rbx, -16
        pop     %rbx
        .cfi_def_cfa_offset 8
        .cfi_restore %rbx
.Lcalls_pad:
        jmp     landed
        end     calls
        table   calls
        site    calls, 1, 2, pad
        site    calls, 2, 3, pad_pushed
        site    calls, 3, 4, pad
        end_table calls

# The same with a frame pointer, and through one: long calls_through(long (**call)(long)).
        begin   calls_through, .Lcalls_through_table
.Lcalls_through_1:
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
.Lcalls_through_2:
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        call    *(%rdi)
        add     $1, %rax
        pop     %rbp
        .cfi_def_cfa %rsp, 8
        .cfi_restore %rbp
.Lcalls_through_3:
        ret
.Lcalls_through_4:
.Lcalls_through_pad_pushed:
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        pop     %rbp
        .cfi_def_cfa_offset 8
        .cfi_restore %rbp
.Lcalls_through_pad:
        jmp     landed
        end     calls_through
        table   calls_through
        site    calls_through, 1, 2, pad
        site    calls_through, 2, 3, pad_pushed
        site    calls_through, 3, 4, pad
        end_table calls_through

# long lands_within(const long* p): *p, or -1; its landing pad is within the five bytes that a jump would overwrite.
        .p2align 6
        .fill   32, 1, 0x90
        begin   lands_within, .Llands_within_table
.Llands_within_1:
        mov     (%rdi), %rax
        ret
.Llands_within_pad:
        jmp     landed
.Llands_within_2:
        end     lands_within
        table   lands_within
        site    lands_within, 1, 2, pad
        end_table lands_within

        .type   landed, @function
landed:
        .cfi_startproc
        lea     8(%rsp), %rcx
        and     $15, %ecx
        sub     $8, %rsp
        .cfi_def_cfa_offset 16
        mov     $-1000, %rdx
        test    %ecx, %ecx
        jne     1f
        mov     %rax, %rdi
        call    __cxa_begin_catch@plt
        call    __cxa_end_catch@plt
        mov     $-1, %rdx
1:      mov     %rdx, %rax
        add     $8, %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   landed, . - landed

        .data
        .balign 8
personality:
        .quad   __gxx_personality_v0
        .globl  stepped_enough
stepped_enough:
        .long   0
        .section .note.GNU-stack, "", @progbits
