// syscall(2) by its number: from system_call.S to the handlers.
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

// syscall is no cancellation point, whatever libc's function of that name may be.
long forebay_call_by_number(long number, long one, long two, long three, long four, long five,
                            long six) noexcept {
    const long words[] = {one, two, three, four, five, six};
    int before = 0;
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    const long result = forebay::capture::call_by_number(number, words);
    ::pthread_setcancelstate(before, nullptr);
    return result;
}
