// The copy of a reader (sequence lock): the owner of the bytes may write to them meanwhile, because
// their block may be leased anew. The reader checks afterwards whether the bytes are still the same
// deposit, and drops the copy if not. By the language's rules this is a data race, as in every
// sequence lock; it is the only intended one, so ThreadSanitizer is silenced here and nowhere else.
#pragma once

#include <cstddef>
#include <cstring>

namespace forebay::pool {

#ifdef FOREBAY_THREAD_SANITIZER
// ThreadSanitizer intercepts memcpy wherever it is called from; `volatile` keeps the compiler from
// making a memcpy of this loop.
[[clang::no_sanitize("thread"), gnu::noinline]]
inline void copy_changing(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    const volatile std::byte* const begin = from;
    for (std::size_t i = 0; i < bytes; ++i) {
        to[i] = begin[i];
    }
}
#else
inline void copy_changing(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    std::memcpy(to, from, bytes);
}
#endif

}  // namespace forebay::pool
