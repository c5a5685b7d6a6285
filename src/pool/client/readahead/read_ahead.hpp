// Predicts a process' next reads of a file from its earlier ones: onwards, backwards, in steps, and
// in steps within steps (rows of a plane of an array). A read that fits makes it confident, and the
// window ahead of the reader longer; one that does not makes it doubt, so that random reads ask for
// nothing. Values only: other parts fetch, and decide whether it is worth while.
//
//   distances between reads   s s s J s s s J   step s, three in a row, then the jump J
#pragma once

#include "foundation/base/units.hpp"
#include "pool/protocol/limits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace forebay::pool {

// Ranges to be fetched, in the order in which they will be read.
struct PrefetchHints {
    static constexpr std::size_t most = 8;
    std::array<Extent, most> ranges;
    std::size_t count = 0;
};

class ReadAhead {
public:
    static constexpr std::int64_t block = static_cast<std::int64_t>(block_bytes);
    static constexpr std::int64_t grain = 64 << 10;  // nothing smaller is fetched
    static constexpr std::int32_t window_max = 16;   // blocks ahead of a reader

    constexpr ReadAhead() noexcept = default;

    // From now on everything is worth it, also what is read for the first time or here and there: a
    // few nodes read the file for all of them.
    void leave_to_daemon() noexcept { left_to_daemon_ = true; }
    // A read begins. Returns the ranges to fetch for it and behind it, at most `share` blocks
    // ahead.
    [[nodiscard]] PrefetchHints note(const Extent& read, std::int32_t share) noexcept;
    // The reader has read from the file system itself, in so many nanoseconds. Bytes that the
    // kernel had in its cache are not worth fetching. True: it did not have them.
    bool direct(std::int64_t bytes, std::int64_t took_ns) noexcept;
    [[nodiscard]] bool worthwhile() const noexcept {
        return left_to_daemon_ || worth_ >= worth_enough;
    }
    // Somebody had it fetched.
    void found() noexcept { worth_ = worth_max; }
    // The policy has asked for it.
    [[nodiscard]] bool asked(std::int64_t at) const noexcept {
        return at >= asked_.begin.bytes() && at - asked_.begin.bytes() < asked_.length.bytes();
    }

private:
    // A distance from read to read: bytes between their beginnings, or one of these.
    using Step = std::int64_t;
    static constexpr Step onwards = INT64_MAX;    // where the last read ended
    static constexpr Step backwards = INT64_MIN;  // up to where the last read began
    static constexpr std::int32_t confidence_max = 8;
    static constexpr std::int32_t worth_max = 8;
    static constexpr std::int32_t worth_enough = 2;

    // A read that is still to come: where, and how many steps of its row are done.
    struct Coming {
        std::int64_t begin = 0;
        std::int32_t run = 0;
    };

    [[nodiscard]] Step step_to(const Extent& read) const noexcept;
    [[nodiscard]] Step expected() const noexcept;
    void learn(Step step) noexcept;
    void doubt() noexcept;
    [[nodiscard]] bool sure() const noexcept;
    // 1, -1: from block to block in this direction; 0: in steps that leave blocks out.
    [[nodiscard]] int direction() const noexcept;
    void ask_for_itself(PrefetchHints& wishes) noexcept;
    void ask_along(int direction, std::int64_t window, PrefetchHints& wishes) noexcept;
    void ask_in_steps(std::int64_t window, PrefetchHints& wishes) noexcept;
    [[nodiscard]] bool next_of(Coming& coming) const noexcept;

    std::int64_t begin_ = 0;  // the last read
    std::int64_t end_ = -1;   // -1: there was none
    Step step_ = 0;           // 0: not known
    Step jump_ = 0;           // behind a row of steps; 0: not known
    std::int32_t run_ = 0;    // steps in a row
    std::int32_t row_ = 0;    // … that there were before the last jump
    std::int32_t rows_ = 0;   // how often that came again
    std::int32_t confidence_ = 0;
    std::int32_t window_ = 1;  // blocks
    std::int32_t worth_ = 0;
    bool left_to_daemon_ = false;
    Extent asked_;           // what was asked for along, or lastly in steps
    Coming coming_;          // the first read that was not asked for
    std::int32_t left_ = 0;  // reads before it; 0: none was asked for
    std::int32_t depth_ = 0;
};

}  // namespace forebay::pool
