// Lets a preloaded library that was linked with glibc 2.34 or newer load with an older one, down to
// 2.28. glibc 2.34 moved these functions from libdl and libpthread into libc, under a new version;
// here they are bound to the version that they had before, which all of them still have.
//
// They are weak: with an older glibc, a program without threads or without the loader's functions
// has not loaded the library that they are in, and must start nevertheless. So a null address is
// checked for before a call. Every source of a preloaded library that uses one of them includes
// this file (tools/checks/needed.py).
#pragma once

#include <dlfcn.h>
#include <features.h>
#include <pthread.h>

#pragma weak dladdr
#pragma weak dlclose
#pragma weak dlerror
#pragma weak dlopen
#pragma weak dlsym
#pragma weak pthread_once
#pragma weak pthread_testcancel

#if __GLIBC_PREREQ(2, 34) && defined(__x86_64__)
asm(".symver dladdr, dladdr@GLIBC_2.2.5");
asm(".symver dlclose, dlclose@GLIBC_2.2.5");
asm(".symver dlerror, dlerror@GLIBC_2.2.5");
asm(".symver dlopen, dlopen@GLIBC_2.2.5");
asm(".symver dlsym, dlsym@GLIBC_2.2.5");
asm(".symver pthread_once, pthread_once@GLIBC_2.2.5");
asm(".symver pthread_testcancel, pthread_testcancel@GLIBC_2.2.5");
#elif __GLIBC_PREREQ(2, 34) && defined(__aarch64__)
asm(".symver dladdr, dladdr@GLIBC_2.17");
asm(".symver dlclose, dlclose@GLIBC_2.17");
asm(".symver dlerror, dlerror@GLIBC_2.17");
asm(".symver dlopen, dlopen@GLIBC_2.17");
asm(".symver dlsym, dlsym@GLIBC_2.17");
asm(".symver pthread_once, pthread_once@GLIBC_2.17");
asm(".symver pthread_testcancel, pthread_testcancel@GLIBC_2.17");
#endif

namespace forebay::kernel {

// Whether this process has the loader's functions.
inline bool has_loader() noexcept { return &::dlopen != nullptr && &::dlsym != nullptr; }

// pthread_testcancel(3). A program without libpthread has nobody who cancels.
inline void test_cancel() {
    if (&::pthread_testcancel != nullptr) {
        ::pthread_testcancel();
    }
}

// Calls `function` the first time. A program without libpthread has one thread.
template <class Function>
void call_once(pthread_once_t& once, Function* function) noexcept {
    if (&::pthread_once != nullptr) {
        ::pthread_once(&once, function);
    } else if (once == PTHREAD_ONCE_INIT) {
        once = ~PTHREAD_ONCE_INIT;
        function();
    }
}

}  // namespace forebay::kernel
