/* Binds what users get to functions that glibc 2.28 has, where it was compiled and linked with a
 * newer glibc: our own objects, and those of libstdc++.a and other archives, which older_libc.hpp
 * does not reach. The linker takes these names, which no other library sees, before libc's.
 *
 * `moved`: glibc gave the function a newer version, mostly when it moved from libpthread or libdl
 * into libc. We jump to the function as it was before. `replaced`: glibc 2.28 does not have the
 * function. We jump to ours (older_functions.hpp). tools/checks/needed.py finds what is missing.
 */
#include <features.h>

#if defined(__x86_64__)

.macro moved name, version=GLIBC_2.2.5
    .symver older_\name, \name@\version
    .globl \name
    .hidden \name
    .type \name, @function
    .p2align 4
\name:
    endbr64
    jmp *older_\name@GOTPCREL(%rip)
    .size \name, . - \name
.endm

.macro replaced name, by
    .globl \name
    .hidden \name
    .hidden \by
    .type \name, @function
    .p2align 4
\name:
    endbr64
    jmp \by
    .size \name, . - \name
.endm

#elif defined(__aarch64__)

/* There is no version before 2.17, which was the first for this processor. */
.macro moved name, version
    .symver older_\name, \name@GLIBC_2.17
    .globl \name
    .hidden \name
    .type \name, %function
    .p2align 2
\name:
    hint #34  /* bti c */
    adrp x16, :got:older_\name
    ldr x16, [x16, :got_lo12:older_\name]
    br x16
    .size \name, . - \name
.endm

.macro replaced name, by
    .globl \name
    .hidden \name
    .hidden \by
    .type \name, %function
    .p2align 2
\name:
    hint #34  /* bti c */
    b \by
    .size \name, . - \name
.endm

#else
#error "functions are bound to an older libc on x86-64 and aarch64 only: add jumps for this one"
#endif

    .text
#if __GLIBC_PREREQ(2, 29)
    moved exp
    moved exp2
    moved log
    moved log2
    moved pow
#endif

#if __GLIBC_PREREQ(2, 30)
    replaced pthread_cond_clockwait, forebay_cond_clockwait
#endif

#if __GLIBC_PREREQ(2, 32)
    moved pthread_sigmask
#endif

#if __GLIBC_PREREQ(2, 33)
    replaced stat, forebay_stat
    replaced stat64, forebay_stat
    replaced lstat, forebay_lstat
    replaced lstat64, forebay_lstat
    replaced fstat, forebay_fstat
    replaced fstat64, forebay_fstat
    replaced fstatat, forebay_fstatat
    replaced fstatat64, forebay_fstatat
    replaced mknod, forebay_mknod
    replaced mknodat, forebay_mknodat
#endif

#if __GLIBC_PREREQ(2, 34)
    moved __pthread_key_create
    moved dladdr
    moved dlclose
    moved dlerror
    moved dlopen
    moved dlsym
    moved pthread_attr_setstacksize
    moved pthread_cancel
    moved pthread_create
    moved pthread_detach
    moved pthread_getspecific
    moved pthread_join
    moved pthread_key_create
    moved pthread_key_delete
    moved pthread_kill
    moved pthread_mutex_trylock
    moved pthread_mutexattr_destroy
    moved pthread_mutexattr_init
    moved pthread_mutexattr_setpshared
    moved pthread_mutexattr_setrobust, GLIBC_2.12
    moved pthread_mutexattr_settype
    moved pthread_once
    moved pthread_rwlock_rdlock
    moved pthread_rwlock_trywrlock
    moved pthread_rwlock_unlock
    moved pthread_rwlock_wrlock
    moved pthread_setspecific
    moved sem_destroy
    moved sem_init
    moved sem_post
    moved sem_wait
#endif

#if __GLIBC_PREREQ(2, 35)
    replaced _dl_find_object, forebay_find_object
#endif

#if __GLIBC_PREREQ(2, 36)
    replaced arc4random, forebay_arc4random
#endif

#if __GLIBC_PREREQ(2, 32)
/* Whether the process has one thread: "no" is always right, and costs atomic operations. */
    .section .rodata
    .globl __libc_single_threaded
    .hidden __libc_single_threaded
    .type __libc_single_threaded, %object
__libc_single_threaded:
    .byte 0
    .size __libc_single_threaded, 1
#endif
    .section .note.GNU-stack, "", %progbits
