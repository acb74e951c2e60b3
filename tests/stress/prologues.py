"""Functions in assembly whose first instructions are as awkward as a compiler, or a person, may write them.

Each takes two integers in rdi and rsi, and returns one. They do not count their calls: who calls them does."""

import random

PRELUDE = """        .data
        .balign 8
raw_number:  .quad 1000
raw_pointer: .quad raw_helper
        .text
        .type   raw_helper, @function
raw_helper:
        .cfi_startproc
        add     $5, %rsi
        ret
        .cfi_endproc
        .size   raw_helper, . - raw_helper
"""

NOPS = ["nop", "xchg %ax, %ax", "nopl (%rax)", "nopl 0(%rax,%rax)", ".byte 0x66, 0x0f, 0x1f, 0x44, 0, 0", ".byte 0x0f, 0x1f, 0x80, 0, 0, 0, 0",
        "nopw 512(%rax,%rax)"]
# Label 7 is behind the branch, whichever way it goes.
SIMPLE = ["add raw_number(%rip), %rsi", "mov raw_number(%rip), %eax\n add %rax, %rdi", "lea raw_number(%rip), %rcx\n add (%rcx), %rdi",
          "cmpl $1000, raw_number(%rip)\n jne 7f\n inc %rsi\n7:", "imul $77, %rsi, %rsi", "movabs $0x123456789a, %rax\n xor %rax, %rdi",
          "test %edi, %edi\n je 7f\n add $3, %rsi\n7:", "test %edi, %edi\n .byte 0x0f, 0x84\n .long 7f - . - 4\n add $3, %rsi\n7:",
          "jmp 7f\n .byte 0xe8, 0x0f, 0xc3\n7:", ".byte 0xe9\n .long 7f - . - 4\n .skip 5, 0xcc\n7:", "xor %ecx, %ecx\n jrcxz 7f\n ud2\n7:",
          "mov $3, %ecx\n7: inc %rdi\n dec %ecx\n jnz 7b", "mov $2, %ecx\n7: inc %rsi\n loop 7b", "xchg %rdi, %rsi", "bswap %rsi",
          "pushf\n popf", "call raw_helper", "call *raw_pointer(%rip)", "movslq %edi, %rdi", "cmp %rdi, %rsi\n cmovb %rsi, %rdi",
          "mov %fs:0, %rax\n mov %fs:(0), %rcx\n cmp %rax, %rcx\n jne 7f\n inc %rdi\n7:", "movq %rdi, %xmm0\n movq %xmm0, %rax\n xor %rax, %rsi"]
FRAMES = [("", ""), ("", ""), ("", ""),
          ("push %rbx\n .cfi_adjust_cfa_offset 8\n mov %rdi, %rbx", "pop %rbx\n .cfi_adjust_cfa_offset -8"),
          ("push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset 6, -16\n mov %rsp, %rbp\n .cfi_def_cfa_register 6", "leave\n .cfi_def_cfa 7, 8"),
          ("sub $24, %rsp\n .cfi_adjust_cfa_offset 24\n mov %rdi, 16(%rsp)", "add $24, %rsp\n .cfi_adjust_cfa_offset -24"),
          ("sub $1032, %rsp\n .cfi_adjust_cfa_offset 1032", "add $1032, %rsp\n .cfi_adjust_cfa_offset -1032"),
          ("push %r15\n .cfi_adjust_cfa_offset 8\n push %r14\n .cfi_adjust_cfa_offset 8\n sub $8, %rsp\n .cfi_adjust_cfa_offset 8",
           "add $8, %rsp\n .cfi_adjust_cfa_offset -8\n pop %r14\n .cfi_adjust_cfa_offset -8\n pop %r15\n .cfi_adjust_cfa_offset -8"),
          ("lea -40(%rsp), %rsp\n .cfi_adjust_cfa_offset 40", "lea 40(%rsp), %rsp\n .cfi_adjust_cfa_offset -40")]
# The first instruction of all, to which something goes back.
TO_THE_ENTRY = ["shr $7, %rsi\n jnz {entry}", "sub $100, %edi\n jg {entry}", "inc %edi\n test $3, %edi\n jnz {entry}"]
# Shorter than a patch, or not much longer.
SHORT = ["mov %rdi, %rax\n ret", "lea 1(%rsi), %eax\n ret", "xor %eax, %eax\n ret", "mov raw_number(%rip), %rax\n ret", "push %rdi\n pop %rax\n ret"]


def text(pick: random.Random, name: str, door: str | None) -> str:
    """The function `name`; where `door` is given that is a label within the first bytes, to which `name`_door jumps."""
    before = pick.choice([".balign 16, 0x90", ".balign 16, 0x90", ".balign 32, 0xcc", ".skip 9, 0x90", ""])
    lines = [before, f".globl {name}", f".type {name}, @function", f"{name}:", ".cfi_startproc"]
    if pick.random() < 0.3:
        lines.append("endbr64")
    if door is not None:
        lines += ["add $1, %rsi" if pick.random() < 0.5 else "xor %eax, %eax", f"{door}:"]
    if door is None and pick.random() < 0.08:
        lines.append(pick.choice(SHORT))
    else:
        if door is None and pick.random() < 0.15:
            lines.append(pick.choice(TO_THE_ENTRY).format(entry=name))
        enter, leave = pick.choice(FRAMES)
        pieces = [pick.choice(NOPS) if pick.random() < 0.15 else pick.choice(SIMPLE) for _ in range(pick.randint(1, 4))]
        lines += [enter, *pieces] if pick.random() < 0.5 else [pieces[0], enter, *pieces[1:]]
        lines += ["lea 3(%rdi,%rsi,2), %rax", leave, "ret"]
    lines += [".cfi_endproc", f".size {name}, . - {name}", pick.choice(["", "", ".skip 7, 0xcc", ".skip 12, 0x90"])]
    if door is not None:
        lines += [f".type {name}_door, @function", f".globl {name}_door", f"{name}_door:", ".cfi_startproc", "add $9, %rdi", f"jmp {door}",
                  ".cfi_endproc", f".size {name}_door, . - {name}_door"]
    return "\n".join(lines) + "\n"


def source(pick: random.Random, functions: list) -> str:
    parts = [PRELUDE]
    for function in functions:
        parts.append(text(pick, function.name, f".Linside_{function.number}" if function.has_door else None))
    return "".join(parts) + '        .skip   16, 0x90\n        .section .note.GNU-stack, "", @progbits\n'
