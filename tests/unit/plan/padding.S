// Functions of three bytes with nothing behind them that could be overwritten: whether they can be patched depends on
// what is before them.

        .text
.macro function name
        .globl \name
        .type \name, @function
\name:
.endm
.macro end_function name
        .size \name, . - \name
.endm

.macro three_bytes name
function \name
        xor     %eax, %eax
        ret
end_function \name
.endm

.macro six_bytes name
function \name
        mov     $1, %eax
        ret
end_function \name
.endm

        .fill   12, 1, 0x90             // nobody knows where the padding before the first function begins
three_bytes first_of_all
six_bytes before_padded
        .byte   0x0f, 0x1f, 0x44, 0, 0  // nopl 0(%rax,%rax,1)
        .byte   0x0f, 0x1f, 0x40, 0     // nopl 0(%rax)
        .byte   0x66, 0x90
three_bytes padded
six_bytes before_entered
        .fill   12, 1, 0x90
.Linto_padding:
        .fill   2, 1, 0x90
three_bytes entered
function jumps_into_padding
        mov     %edi, %eax
        test    %edi, %edi
        jz      .Linto_padding
        ret
end_function jumps_into_padding
six_bytes before_crowded
        .fill   4, 1, 0x90
three_bytes crowded
        .byte   0xc3                    // what is before the next belongs to this one as far as anybody knows
        .type   unsized, @function
unsized:
        .fill   12, 1, 0x90
three_bytes behind_unsized
three_bytes tiny                        // may itself be patched, into what is behind it
        .fill   12, 1, 0x90
three_bytes behind_tiny
six_bytes before_cut_nop
three_bytes tiny_before_nop             // its patch would end within the long nop
        .byte   0x0f, 0x1f, 0x80, 0, 0, 0, 0
        .byte   0x0f, 0x1f, 0           // nopl (%rax)
three_bytes behind_cut_nop
six_bytes before_unlabelled
        mov     %rax, %rax              // code without a name
        .fill   12, 1, 0x90
three_bytes behind_unlabelled
six_bytes last

        .section .note.GNU-stack, "", @progbits
