// One system call, made by the processor's own instruction: libc's syscall(2) is itself a function
// that a preloaded library may interpose, as libforebay_posix.so does.
#pragma once

#include <cerrno>
#include <type_traits>

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "system calls are made on x86-64 and aarch64 only: add another's instruction here"
#endif

namespace forebay::kernel {

// Behaves as syscall(2): the result, or -1 and errno.
inline long system_call(long number, long one = 0, long two = 0, long three = 0, long four = 0,
                        long five = 0, long six = 0) noexcept {
#if defined(__x86_64__)
    register long fourth asm("r10") = four;
    register long fifth asm("r8") = five;
    register long sixth asm("r9") = six;
    long result = 0;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(one), "S"(two), "d"(three), "r"(fourth), "r"(fifth), "r"(sixth)
                 : "rcx", "r11", "memory");
#else
    register long by_number asm("x8") = number;
    register long result asm("x0") = one;
    register long second asm("x1") = two;
    register long third asm("x2") = three;
    register long fourth asm("x3") = four;
    register long fifth asm("x4") = five;
    register long sixth asm("x5") = six;
    asm volatile("svc #0"
                 : "+r"(result)
                 : "r"(by_number), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                 : "memory");
#endif
    constexpr long errors_max = 4095;
    if (result < 0 && result >= -errors_max) {
        errno = static_cast<int>(-result);
        return -1;
    }
    return result;
}

// Converts an argument to the register that carries it.
template <class Argument>
long word_of(Argument argument) noexcept {
    if constexpr (std::is_pointer_v<Argument>) {
        return reinterpret_cast<long>(argument);
    } else if constexpr (std::is_null_pointer_v<Argument>) {
        return 0;
    } else {
        return static_cast<long>(argument);
    }
}

}  // namespace forebay::kernel
