// Functions whose first bytes are awkward to move. Each is a `std::uint64_t f(a, b, memory, d)` in the C convention:
// rdi, rsi, rdx, rcx; memory[0] points to return_address_plus. They are patched one at a time, in place.

        .section .relocate_cases, "ax", @progbits
        .balign 4096

// `needs` names a feature of the processor (see execution_test.cpp); `pad` is what belongs to nobody behind the end.
.macro begin_case name
        .balign 16
        .type \name, @function
\name:
.endm

.macro end_case name, needs="", pad=0
.L\name\()_end:
        .size \name, . - \name
        .fill \pad, 1, 0x90
        .pushsection .rodata.str1.1, "aMS", @progbits, 1
.L\name\()_text:
        .asciz "\name"
.L\name\()_needs:
        .asciz "\needs"
        .popsection
        .pushsection .data.rel.ro, "aw", @progbits
        .quad .L\name\()_text, .L\name\()_needs, \name, .L\name\()_end - \name, \pad
        .popsection
.endm

        .pushsection .data.rel.ro, "aw", @progbits
        .balign 8
        .globl kRelocateCases
kRelocateCases:
        .popsection

// ---- called by the cases -------------------------------------------------------------------------------------------

        .text
        .globl return_address_plus
        .type return_address_plus, @function
return_address_plus:                    // no argument: the address it returns to, as an unwinder would see it
        mov     (%rsp), %rax
        ret
        .size return_address_plus, . - return_address_plus

        .type far_away, @function
far_away:
        lea     100(%rdi), %rax
        ret
        .size far_away, . - far_away

        .data
        .balign 64
value:  .quad   0x1122334455667788, 5, 6, 7, 8, 9, 10, 11
scratch: .quad  0
helper: .quad   return_address_plus

        .section .relocate_cases

// ---- nothing to rewrite --------------------------------------------------------------------------------------------

begin_case endbr_and_frame
        endbr64
        push    %rbp
        mov     %rsp, %rbp
        lea     (%rdi,%rsi,2), %rax
        pop     %rbp
        ret
end_case endbr_and_frame

begin_case exactly_five_bytes
        mov     $0x1234567, %eax
        add     %rdi, %rax
        ret
end_case exactly_five_bytes

begin_case last_moved_instruction_is_long
        nop
        nop
        nop
        nop
        movabs  $0x1122334455667788, %rax
        add     %rdi, %rax
        ret
end_case last_moved_instruction_is_long

begin_case locked_and_stack_relative
        mov     %rdi, -8(%rsp)
        lock addq $3, -8(%rsp)
        mov     -8(%rsp), %rax
        ret
end_case locked_and_stack_relative

begin_case string_instruction
        push    %rdi
        mov     %rdx, %rdi
        push    %rcx
        xor     %eax, %eax
        mov     $2, %ecx
        add     $8, %rdi
        rep stosq
        pop     %rcx
        pop     %rax
        ret
end_case string_instruction

// ---- relative to rip -----------------------------------------------------------------------------------------------

begin_case rip_load
        mov     value(%rip), %rax
        add     %rdi, %rax
        ret
end_case rip_load

begin_case rip_compare_imm8
        cmpl    $0x55, value(%rip)
        setg    %al
        movzbl  %al, %eax
        ret
end_case rip_compare_imm8

begin_case rip_compare_imm32
        cmpq    $0x12345678, value+8(%rip)
        setg    %al
        movzbl  %al, %eax
        ret
end_case rip_compare_imm32

begin_case rip_store_imm16
        movw    $0x4321, scratch(%rip)
        mov     scratch(%rip), %rax
        ret
end_case rip_store_imm16

begin_case rip_store_imm8
        movb    $0x42, scratch(%rip)
        mov     scratch(%rip), %rax
        ret
end_case rip_store_imm8

begin_case rip_multiply_imm8
        imul    $7, value+16(%rip), %rax
        ret
end_case rip_multiply_imm8

begin_case rip_multiply_imm32
        imul    $0x1234567, value+16(%rip), %rax
        ret
end_case rip_multiply_imm32

begin_case rip_test_imm32
        testl   $0x8000000, value(%rip)
        setz    %al
        movzbl  %al, %eax
        ret
end_case rip_test_imm32

begin_case own_address
        lea     own_address(%rip), %rax
        ret
end_case own_address

begin_case base_of_the_large_model
        endbr64
1:      lea     1b(%rip), %rax
        sub     %rdi, %rax
        ret
end_case base_of_the_large_model

begin_case two_rip_operands
        push    value+24(%rip)
        pop     scratch(%rip)
        mov     scratch(%rip), %rax
        ret
end_case two_rip_operands

begin_case sse_rip
        movsd   value(%rip), %xmm0
        movq    %xmm0, %rax
        ret
end_case sse_rip

begin_case sse_rip_imm8
        pshufd  $0x4e, value(%rip), %xmm0
        movq    %xmm0, %rax
        ret
end_case sse_rip_imm8

begin_case vex_rip
        vmovdqu value+8(%rip), %ymm0
        vmovq   %xmm0, %rax
        vzeroupper
        ret
end_case vex_rip, avx

begin_case vex_rip_imm8
        vpshufd $0x4e, value(%rip), %xmm0
        vmovq   %xmm0, %rax
        ret
end_case vex_rip_imm8, avx

begin_case evex_rip
        vmovdqu64 value(%rip), %zmm0
        vmovq   %xmm0, %rax
        vzeroupper
        ret
end_case evex_rip, avx512f

begin_case evex_rip_broadcast_imm8
        vpternlogq $0xaa, value(%rip){1to8}, %zmm0, %zmm0
        vmovq   %xmm0, %rax
        vzeroupper
        ret
end_case evex_rip_broadcast_imm8, avx512f

// ---- jumps ---------------------------------------------------------------------------------------------------------

begin_case short_jcc
        test    %edi, %edi
        jz      1f
        mov     %rsi, %rax
        ret
1:      mov     $77, %eax
        ret
end_case short_jcc

begin_case near_jcc
        cmp     %edi, %esi
        jg      far_away
        mov     $78, %eax
        ret
end_case near_jcc

begin_case every_second_condition
        nop
        cmp     %esi, %edi
        jb      1f
        mov     $79, %eax
        jo      1f
        mov     $80, %eax
        ret
1:      add     %rdi, %rax
        ret
end_case every_second_condition

begin_case short_jmp
        jmp     1f
        nop
        nop
        nop
1:      lea     3(%rdi), %rax
        ret
end_case short_jmp

begin_case tail_jump
        jmp     far_away
end_case tail_jump

begin_case jump_with_hint
        test    %edi, %edi
        .byte   0x3e                    // the hint "taken"
        jz      1f
        mov     %rsi, %rax
        ret
1:      mov     $77, %eax
        ret
end_case jump_with_hint

begin_case jrcxz_out
        jrcxz   1f
        lea     (%rdi,%rcx), %rax
        ret
1:      mov     $81, %eax
        ret
end_case jrcxz_out

begin_case jecxz_out
        nop
        jecxz   1f
        lea     (%rdi,%rcx), %rax
        ret
1:      mov     $82, %eax
        ret
end_case jecxz_out

begin_case jrcxz_inside
        jrcxz   1f
        cld
1:      lea     5(%rdi,%rcx), %rax
        ret
end_case jrcxz_inside

begin_case loop_out
        loop    1f
        lea     (%rdi,%rcx), %rax
        ret
1:      lea     1000(%rcx), %rax
        ret
end_case loop_out

begin_case loope_out
        test    %edi, %edi
        loope   1f
        lea     (%rdi,%rcx), %rax
        ret
1:      lea     1000(%rcx), %rax
        ret
end_case loope_out

begin_case loopne_out
        test    %edi, %edi
        loopne  1f
        lea     (%rdi,%rcx), %rax
        ret
1:      lea     1000(%rcx), %rax
        ret
end_case loopne_out

begin_case ret_inside
        mov     %edi, %eax
        ret
        .byte   0x90, 0x90, 0x90
        mov     $1, %eax
        ret
end_case ret_inside

begin_case jump_over_ret
        test    %edi, %edi
        jnz     1f
        ret
1:      mov     $83, %eax
        ret
end_case jump_over_ret

begin_case transaction
        xbegin  1f
        xend
1:      mov     $84, %eax
        ret
end_case transaction, rtm

// ---- loops to the entry: their turns are no calls ------------------------------------------------------------------

begin_case loop_to_entry
        addq    $1, 16(%rdx)
        shr     $1, %rdi
        jnz     loop_to_entry
        mov     16(%rdx), %rax
        ret
end_case loop_to_entry

begin_case loop_into_patch
        nop
1:      addq    $1, 16(%rdx)
        shr     $1, %rdi
        jnz     1b
        mov     16(%rdx), %rax
        ret
end_case loop_into_patch

begin_case jrcxz_to_entry
        lea     (%rdi,%rcx,2), %rax
        mov     %rsi, %rcx
        shr     $1, %rsi
        add     $1, %rdi
        cmp     $40, %rdi
        ja      1f
        jrcxz   jrcxz_to_entry
1:      ret
end_case jrcxz_to_entry

begin_case like_a_spin_lock
        addl    $1, 16(%rdx)
        shr     $1, %rdi
        jnz     1f
        mov     16(%rdx), %rax
        ret
        nopl    0(%rax,%rax,1)
1:      pause
        sub     $1, %rsi
        jg      like_a_spin_lock
        shr     $1, %rdi
        jz      like_a_spin_lock
        jmp     1b
end_case like_a_spin_lock

// ---- calls: the return address is the original one -----------------------------------------------------------------

begin_case call_first
        call    return_address_plus
        add     %rdi, %rax
        ret
end_case call_first

begin_case call_behind_endbr
        endbr64
        call    return_address_plus
        add     %rdi, %rax
        ret
end_case call_behind_endbr

begin_case call_as_last_moved
        sub     $8, %rsp
        call    return_address_plus
        add     $8, %rsp
        ret
end_case call_as_last_moved

begin_case call_with_addr32
        .byte   0x67
        call    return_address_plus
        ret
end_case call_with_addr32

begin_case call_as_for_tls
        .byte   0x66, 0x66, 0x48
        call    return_address_plus
        ret
end_case call_as_for_tls

begin_case get_pc
        call    1f
1:      pop     %rax
        ret
end_case get_pc

begin_case call_register
        mov     (%rdx), %rax
        call    *%rax
        ret
end_case call_register

begin_case call_high_register
        mov     (%rdx), %r11
        notrack call *%r11
        ret
end_case call_high_register

begin_case call_memory
        sub     $8, %rsp
        call    *(%rdx)
        add     $8, %rsp
        ret
end_case call_memory

begin_case call_indexed_memory
        xor     %r9d, %r9d
        call    *(%rdx,%r9,8)
        ret
end_case call_indexed_memory

begin_case call_rip_memory
        call    *helper(%rip)
        ret
end_case call_rip_memory

begin_case call_stack_memory
        push    (%rdx)
        call    *(%rsp)
        pop     %rcx
        ret
end_case call_stack_memory

begin_case call_stack_memory_far_up
        push    (%rdx)
        sub     $0x100, %rsp
        nop
        jmp     1f
        nop
1:      call    *0x100(%rsp)
        add     $0x108, %rsp
        ret
end_case call_stack_memory_far_up

begin_case call_stack_memory_disp8
        push    (%rdx)
        push    (%rdx)
        call    *8(%rsp)
        pop     %rcx
        pop     %rcx
        ret
end_case call_stack_memory_disp8

begin_case recursion_in_the_moved_bytes
        incl    8(%rdx)
        dec     %edi
        jle     1f
        call    recursion_in_the_moved_bytes
1:      mov     8(%rdx), %eax
        ret
end_case recursion_in_the_moved_bytes

begin_case recursion_at_once
        dec     %dil
        jle     1f
        call    recursion_at_once
        incl    8(%rdx)
1:      incl    8(%rdx)
        mov     8(%rdx), %eax
        ret
end_case recursion_at_once

// ---- shorter than the patch ----------------------------------------------------------------------------------------

begin_case just_ret
        ret
end_case just_ret, "", 15

begin_case return_zero
        xor     %eax, %eax
        ret
end_case return_zero, "", 2

begin_case repz_ret
        repz ret
end_case repz_ret, "", 3

begin_case short_tail_jump
        jmp     just_ret
end_case short_tail_jump, "", 3

        .pushsection .data.rel.ro, "aw", @progbits
        .globl kRelocateCasesEnd
kRelocateCasesEnd:
        .popsection

// ---- not in the table: called on their own -------------------------------------------------------------------------

        .balign 16
        .globl call_that_throws
        .type call_that_throws, @function
call_that_throws:
        .cfi_startproc
        sub     $8, %rsp
        .cfi_def_cfa_offset 16
        call    throw_for_relocate
        add     $8, %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
.Lcall_that_throws_end:
        .size call_that_throws, . - call_that_throws
        .pushsection .rodata
        .balign 8
        .globl kCallThatThrowsSize
kCallThatThrowsSize:
        .quad .Lcall_that_throws_end - call_that_throws
        .popsection
        .balign 4096

        .section .note.GNU-stack, "", @progbits
