// One object of each runtime, with the sections and symbols that its compiler writes, and in each a function in C.
// RUNTIME says which.

#define OCAML 1
#define OCAML5 2
#define GHC 3
#define MONO 4
#define MONO_LINKED 5
#define NATIVE_AOT 6
#define GRAAL 7
#define GRAAL_STRIPPED 8
#define DART 9
#define SBCL 10
#define MLTON 11
#define LUAJIT 12
#define SWIFT 13
#define STACK_MAPS 14
#define CHICKEN 15
#define GO 16
#define PLAIN 17
#define JULIA 18
#define JULIA_STRIPPED 19
#define POLY_ML 20
#define GNU_PROLOG 21

.macro function name
        .globl  \name
        .type   \name, @function
\name:  lea     1(%rdi), %rax
        lea     2(%rax), %rax
        ret
        .size   \name, . - \name
.endm
.macro mark name
        .globl  \name
\name:
.endm
.macro data name
        .data
        .globl  \name
        .type   \name, @object
\name:  .quad   0
        .size   \name, 8
        .text
.endm

        .text
#if RUNTIME == OCAML
        data    caml_frametable
        mark    caml_startup__code_begin
        function camlStartup__entry
        mark    caml_startup__code_end
        mark    camlEx__code_begin
        function camlEx__cat_12
        mark    camlEx__code_end
        function caml_alloc_shr
        mark    caml_system__code_begin
        function caml_call_gc
        mark    caml_system__code_end
#elif RUNTIME == OCAML5
        data    caml_frametable
        mark    camlEx.code_begin
        function camlEx.cat_12
        mark    camlEx.code_end
        function caml_alloc_shr
        mark    caml_system.code_begin
        function caml_call_gc
        mark    caml_system.code_end
#elif RUNTIME == GHC
        function stg_upd_frame_info
        data    Main_work_closure
        .quad   0
        .globl  Main_work_info
        .type   Main_work_info, @object
Main_work_info:
        lea     1(%rbx), %rax
        jmp     *(%rbp)
        .size   Main_work_info, . - Main_work_info
        function Main_zdwgo_info
        function Main_zdwgo_slow
        function stg_ap_v_fast
        function stg_exit
        function print_info
        function scheduleWaitThread
#elif RUNTIME == MONO
        data    mono_aot_file_info
        function M_Cat_int
#elif RUNTIME == MONO_LINKED
        data    mono_aot_module_M_info
        function mono_jit_exec
        .type   jit_code_start, @notype
jit_code_start:
        function M_Cat_int
jit_code_end:
        function mono_main
#elif RUNTIME == NATIVE_AOT
        .section __managedcode, "ax", @progbits
        function Program__Main
        .section __unbox, "ax", @progbits
        function unbox_Program__Main
        .text
        function RhpNewFast
#elif RUNTIME == GRAAL
        .section .svm_heap, "a", @progbits
        .quad   1
        .text
        mark    __svm_code_section
        function String_concat_1234
        mark    __svm_text_end
        function JNI_OnLoad
#elif RUNTIME == GRAAL_STRIPPED
        .section .svm_heap, "a", @progbits
        .quad   1
        .text
        function graal_create_isolate
#elif RUNTIME == DART
        .globl  _kDartIsolateSnapshotInstructions
        .type   _kDartIsolateSnapshotInstructions, @object
_kDartIsolateSnapshotInstructions:
        function precompiled_main
        .size   _kDartIsolateSnapshotInstructions, . - _kDartIsolateSnapshotInstructions
        function in_c
#elif RUNTIME == SBCL
        mark    __lisp_code_start
        function lisp_function
        mark    __lisp_code_end
        function collect_garbage
#elif RUNTIME == MLTON
        function MLton_jumpToSML
L_12:   lea     1(%rbp), %rax
        jmp     *(%rbp)
        function GC_collect
#elif RUNTIME == LUAJIT
        mark    lj_vm_asm_begin
        function lj_BC_ADD
        function lj_ff_print
        function lj_vm_call
        function lj_gc_step
        function lj_vm_foldarith
#elif RUNTIME == SWIFT
        function swift_task_create
        data    $s4main4workyyYaFTu
        function $s4main4workyyYaF
        function $s4main4workyyYaFTY1_
        function $s4main4workyyYaFTQ0_
        function $s4main5plainyyF
#elif RUNTIME == STACK_MAPS
        function collected
        function also_collected
        function in_c
        .section .llvm_stackmaps, "a", @progbits
.macro table function_name
        .byte   3, 0, 0, 0
        .long   1, 1, 1
        .quad   \function_name, 8, 1
        .quad   42                      // a constant
        .quad   0                       // a record: its number
        .long   4                       // the offset of the call
        .short  0, 2                    // two locations
        .long   0, 0, 0, 0, 0, 0
        .balign 8
        .short  0, 1                    // one live register
        .long   0
        .balign 8
.endm
        table   collected
        table   also_collected
#elif RUNTIME == CHICKEN
        function C_toplevel_entry
        function C_toplevel
        function f_123
        function va343
        function main
        function f_printer
#elif RUNTIME == GO
        .section .gopclntab, "a", @progbits
        .quad   1
        .text
        function _cgo_wrapper
        mark    runtime.text
        function main.work
        mark    runtime.etext
        function in_c
#elif RUNTIME == JULIA
        data    jl_image_pointers
        function julia_fib_123
        function julia_fib_123.clone_1
        function jfptr_fib_124
        function jlcapi_exported_7
        .globl  exported
        .type   exported, @function
        .set    exported, jlcapi_exported_7
        function tojlinvoke42
        function init_julia
        function julia_main
#elif RUNTIME == JULIA_STRIPPED
        data    jl_system_image_data
        function exported
#elif RUNTIME == POLY_ML
        data    poly_exports
        .type   area1, @object
area1:  function main_loop
        function after_area
        data    area2
#elif RUNTIME == GNU_PROLOG
fail:   nop
        function X0_insert__a3
Lpred1_1:
        function X1_2464__a2
        function Prolog_Object_Initializer
        function Pl_Unify
        function X_not__a
#elif RUNTIME == PLAIN
        // Names of several runtimes, without what their objects have.
        function camlEx__cat_12
        function Main_work_info
        function f_123
        function lj_BC_ADD
        function jit_code_start
        function julia_fib_123
        function X0_insert__a3
#endif
        .section .note.GNU-stack, "", @progbits
