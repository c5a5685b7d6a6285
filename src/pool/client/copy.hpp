// A reader's copy of bytes whose owner may write to them meanwhile: their block may be leased anew
// while it is being read. The reader checks afterwards whether the bytes are still the same, and
// forgets them if not. By the letter this is a data race, as in every sequence lock; it is the only
// one, so ThreadSanitizer learns of it here and nowhere else.
#pragma once

#include <cstddef>
#include <cstring>

namespace forebay::pool {

#ifdef FOREBAY_THREAD_SANITIZER
// memcpy is looked at wherever it is called from; volatile keeps this from becoming one.
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
