/* Captured dlsym, dlvsym, dlopen and dlmopen. libc's functions derive from their return address
 * which library calls them: that decides which library comes next (RTLD_NEXT), which namespace is
 * used, and where libraries are searched. So no frame of ours may lie between them and their
 * caller: these functions end in jumps. loading.cpp has the C++ part. */
#if !defined(__x86_64__) || !defined(__linux__)
#error "dlsym is captured on x86-64 Linux only: add its registers to loader.S"
#endif

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

    .macro begin_function name
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
    .endm

    .macro end_function name
    .cfi_endproc
    .size \name, .-\name
    .endm

    /* Jumps to libc's function, which is looked up first if our constructor has not run yet. */
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

    /* Passes RTLD_NEXT (-1) on to libc, and the handle of one library to \ours. RTLD_DEFAULT (0) is
     * also passed on, unless the code in \default jumps elsewhere. */
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

    /* Our functions have no symbol versions, so the loader never returns them for a version. */
    .macro default_of_dlvsym
    keep rdi, rsi, rdx
    movq %rsi, %rdi
    call forebay_captures_name
    restore rdx, rsi, rdi
    testb %al, %al
    jne forebay_look_up_version
    .endm

    /* Calls \before with the same arguments, and then jumps to libc's function. */
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

    .text
    look_up dlsym, 0, forebay_look_up,
    look_up dlvsym, 1, forebay_look_up_version, default_of_dlvsym
    open_library dlopen, 2, forebay_before_dlopen
    open_library dlmopen, 3, forebay_before_dlmopen
    .section .note.GNU-stack,"",@progbits
