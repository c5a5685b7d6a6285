// What a process will read next of a file, in the way that the daemon caches.
#pragma once

#include "pool/client/paper_read_ahead.hpp"
#include "pool/client/read_ahead.hpp"
#include "pool/shared/directory.hpp"

#include <cstdint>

namespace forebay::pool {

class Foresight {
public:
    constexpr Foresight() noexcept = default;

    // Before anything else, at each read: a daemon does not change its way, but there may be
    // another one.
    void use(Consistency way) noexcept { paper_way_ = way == Consistency::paper; }

    // As in ReadAhead.
    [[nodiscard]] Wishes note(const Extent& read, std::int32_t share) noexcept {
        return paper_way_ ? paper_.note(read, share) : own_.note(read, share);
    }
    void direct(std::int64_t bytes, std::int64_t took_ns) noexcept { own_.direct(bytes, took_ns); }
    [[nodiscard]] bool worthwhile() const noexcept { return paper_way_ || own_.worthwhile(); }
    void found() noexcept { own_.found(); }
    [[nodiscard]] bool asked(std::int64_t at) const noexcept {
        return paper_way_ ? paper_.asked(at) : own_.asked(at);
    }

private:
    ReadAhead own_;
    PaperReadAhead paper_;
    bool paper_way_ = false;
};

}  // namespace forebay::pool
