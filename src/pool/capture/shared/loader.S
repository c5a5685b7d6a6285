/* Captured dlsym, dlvsym, dlopen and dlmopen. libc's functions derive from their return address
 * which library calls them: that decides which library comes next (RTLD_NEXT), which namespace is
 * used, and where libraries are searched. So no frame of ours may lie between them and their
 * caller: these functions end in jumps. loading.cpp has the C++ part. */
#if !defined(__linux__) || !defined(__x86_64__) && !defined(__aarch64__)
#error "dlsym is captured on Linux on x86-64 and aarch64 only: add another's registers to loader.S"
#endif

    .macro begin_function name
    .globl \name
    .type \name, %function
    .p2align 4
\name:
    .cfi_startproc
#if defined(__x86_64__)
    endbr64
#else
    hint #34  /* bti c */
#endif
    .endm

    .macro end_function name
    .cfi_endproc
    .size \name, .-\name
    .endm

    /* What the macros of each processor do:
     *   pass_on     jumps to libc's function, which is looked up first if our constructor has not
     *               run yet
     *   look_up     passes RTLD_NEXT (-1) on to libc, and the handle of one library to \ours.
     *               RTLD_DEFAULT (0) is also passed on, unless the code in \default jumps elsewhere
     *   default_of_dlvsym
     *               our functions have no symbol versions, so the loader never returns them for a
     *               version
     *   open_library
     *               calls \before with the same arguments, and then jumps to libc's function
     */
#if defined(__x86_64__)

    .macro keep registers:vararg
    .irp register, \registers
    pushq %\register
    .cfi_adjust_cfa_offset 8
    .endr
    .endm

    .macro restore registers:vararg
    .irp register, \registers
    popq %\register
    .cfi_adjust_cfa_offset -8
    .endr
    .endm

    .macro pass_on number
    movq forebay_real_loader+8*\number(%rip), %rax
    testq %rax, %rax
    jne 1f
    keep rdi, rsi, rdx
    movl $\number, %edi
    call forebay_find_loader
    restore rdx, rsi, rdi
1:
    jmp *%rax
    .endm

    .macro look_up name, number, ours, default
    begin_function \name
    cmpl $0, forebay_captures_calls(%rip)
    je .Lpass_on_\name
    cmpq $-1, %rdi
    je .Lpass_on_\name
    testq %rdi, %rdi
    jne \ours
    \default
.Lpass_on_\name:
    pass_on \number
    end_function \name
    .endm

    .macro default_of_dlvsym
    keep rdi, rsi, rdx
    movq %rsi, %rdi
    call forebay_captures_name
    restore rdx, rsi, rdi
    testb %al, %al
    jne forebay_look_up_version
    .endm

    .macro open_library name, number, before
    begin_function \name
    cmpl $0, forebay_captures_calls(%rip)
    je 3f
    keep rdi, rsi, rdx
    call \before
    restore rdx, rsi, rdi
3:
    pass_on \number
    end_function \name
    .endm

#else

    .macro keep
    stp x29, x30, [sp, #-48]!
    .cfi_def_cfa_offset 48
    .cfi_offset x29, -48
    .cfi_offset x30, -40
    stp x0, x1, [sp, #16]
    str x2, [sp, #32]
    .endm

    .macro restore
    ldr x2, [sp, #32]
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #48
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    .endm

    .macro pass_on number
    adrp x16, forebay_real_loader
    add x16, x16, :lo12:forebay_real_loader
    ldr x16, [x16, #8*\number]
    cbnz x16, 1f
    keep
    mov w0, #\number
    bl forebay_find_loader
    mov x16, x0
    restore
1:
    br x16
    .endm

    .macro look_up name, number, ours, default
    begin_function \name
    adrp x16, forebay_captures_calls
    ldr w16, [x16, :lo12:forebay_captures_calls]
    cbz w16, .Lpass_on_\name
    cmn x0, #1
    b.eq .Lpass_on_\name
    cbz x0, 2f
    b \ours
2:
    \default
.Lpass_on_\name:
    pass_on \number
    end_function \name
    .endm

    .macro default_of_dlvsym
    keep
    mov x0, x1
    bl forebay_captures_name
    and w16, w0, #1
    restore
    cbz w16, .Lpass_on_dlvsym
    b forebay_look_up_version
    .endm

    .macro open_library name, number, before
    begin_function \name
    adrp x16, forebay_captures_calls
    ldr w16, [x16, :lo12:forebay_captures_calls]
    cbz w16, 3f
    keep
    bl \before
    restore
3:
    pass_on \number
    end_function \name
    .endm

#endif

    .text
    look_up dlsym, 0, forebay_look_up,
    look_up dlvsym, 1, forebay_look_up_version, default_of_dlvsym
    open_library dlopen, 2, forebay_before_dlopen
    open_library dlmopen, 3, forebay_before_dlmopen
    .section .note.GNU-stack,"",%progbits
