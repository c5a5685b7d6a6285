// The C++ part of captured syscall(2): system_call.S calls it.
#include "pool/capture/calls/numbers.hpp"

#include <pthread.h>

extern "C" {

bool forebay_is_ours(const long* words) noexcept;
long forebay_call_by_number(long number, long one, long two, long three, long four, long five,
                            long six) noexcept;
}

bool forebay_is_ours(const long* words) noexcept {
    return forebay::capture::is_ours(words[0], words + 1);
}

// syscall(2) is no cancellation point, even if libc's function for the same call is one.
long forebay_call_by_number(long number, long one, long two, long three, long four, long five,
                            long six) noexcept {
    const long words[] = {one, two, three, four, five, six};
    int before = 0;
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    const long result = forebay::capture::call_by_number(number, words);
    ::pthread_setcancelstate(before, nullptr);
    return result;
}
