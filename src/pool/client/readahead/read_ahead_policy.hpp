// Read-ahead of one open file description: the pool's policy (ReadAhead, ScatteredReads) or the
// paper's (PaperReadAhead), as the daemon's consistency mode demands.
#pragma once

#include "pool/client/readahead/paper_read_ahead.hpp"
#include "pool/client/readahead/read_ahead.hpp"
#include "pool/client/readahead/scattered_reads.hpp"
#include "pool/protocol/directory.hpp"

#include <cstdint>

namespace forebay::pool {

class ReadAheadPolicy {
public:
    constexpr ReadAheadPolicy() noexcept = default;

    // To be called first at each read. The mode of a daemon is constant, but a process may get
    // another daemon.
    void use(CacheConsistency way) noexcept { paper_way_ = way == CacheConsistency::paper; }
    void leave_to_daemon() noexcept { own_.leave_to_daemon(); }

    // The following are as in ReadAhead.
    [[nodiscard]] PrefetchHints note(const Extent& read, std::int32_t share) noexcept {
        return paper_way_ ? paper_.note(read, share) : own_.note(read, share);
    }
    // True: the whole block of the read is worth fetching. `fetch_ns` is as in ScatteredReads.
    [[nodiscard]] bool direct(const Extent& read, std::int64_t took_ns,
                              std::int64_t fetch_ns) noexcept {
        const bool slow = own_.direct(read.length.bytes(), took_ns);
        return slow && !paper_way_ && read.length.bytes() <= ReadAhead::grain &&
               scattered_.direct(read.begin.bytes(), took_ns, fetch_ns);
    }
    [[nodiscard]] bool worthwhile() const noexcept { return paper_way_ || own_.worthwhile(); }
    void found() noexcept {
        own_.found();
        scattered_.found();
    }
    [[nodiscard]] bool asked(std::int64_t at) const noexcept {
        return paper_way_ ? paper_.asked(at) : own_.asked(at);
    }

private:
    ReadAhead own_;
    ScatteredReads scattered_;
    PaperReadAhead paper_;
    bool paper_way_ = false;
};

}  // namespace forebay::pool
