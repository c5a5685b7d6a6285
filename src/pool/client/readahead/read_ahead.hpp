// Predicts a process' next reads of a file from its earlier ones: sequential, backward, strided,
// and nested strides (rows of a plane of an array). A read that fits the prediction raises the
// confidence and lengthens the window ahead of the reader; one that does not lowers both, so that
// random reads fetch nothing. Pure: it neither fetches nor measures.
//
//   distances between reads   s s s J s s s J   step s, three in a row, then the jump J
#pragma once

#include "foundation/base/units.hpp"
#include "pool/protocol/limits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace forebay::pool {

// Ranges to fetch, in the order in which they will be read.
struct PrefetchHints {
    static constexpr std::size_t most = 8;
    std::array<Extent, most> ranges;
    std::size_t count = 0;
};

class ReadAhead {
public:
    static constexpr std::int64_t block = static_cast<std::int64_t>(block_bytes);
    static constexpr std::int64_t grain = 64 << 10;  // bytes; smaller ranges are rounded up
    static constexpr std::int32_t window_max = 16;   // blocks ahead of a reader

    constexpr ReadAhead() noexcept = default;

    // From now on every read is worth fetching, also the first and the random ones, because a few
    // nodes read the file for all of them.
    void leave_to_daemon() noexcept { left_to_daemon_ = true; }
    // To be called when a read begins. Returns the ranges to fetch for it and beyond it, at most
    // `share` blocks ahead.
    [[nodiscard]] PrefetchHints note(const Extent& read, std::int32_t share) noexcept;
    // Notes a read from the file system that took `took_ns`. Returns whether it was slow, so that
    // the bytes were not in the kernel's page cache and fetching them ahead would have helped.
    bool direct(std::int64_t bytes, std::int64_t took_ns) noexcept;
    [[nodiscard]] bool worthwhile() const noexcept {
        return left_to_daemon_ || worth_ >= worth_enough;
    }
    // Notes that a read found its bytes in a read-cache block.
    void found() noexcept { worth_ = worth_max; }
    // Whether the byte was asked for, so that a reader should wait for it.
    [[nodiscard]] bool asked(std::int64_t at) const noexcept {
        return at >= asked_.begin.bytes() && at - asked_.begin.bytes() < asked_.length.bytes();
    }

private:
    // A distance between the offsets of two reads in bytes, or one of the following two.
    using Step = std::int64_t;
    static constexpr Step onwards = INT64_MAX;    // begins where the last read ended
    static constexpr Step backwards = INT64_MIN;  // ends where the last read began
    static constexpr std::int32_t confidence_max = 8;
    static constexpr std::int32_t worth_max = 8;
    static constexpr std::int32_t worth_enough = 2;

    // A predicted read: its offset, and how many steps of its row come before it.
    struct Coming {
        std::int64_t begin = 0;
        std::int32_t run = 0;
    };

    // How the next read was reached from the last one.
    [[nodiscard]] Step step_to(const Extent& read) const noexcept;
    // The step that the next read will be, by what was learnt.
    [[nodiscard]] Step expected() const noexcept;
    // Takes the step into the pattern.
    void learn(Step step) noexcept;
    // The last read was not predicted: less confidence, and the smallest window.
    void doubt() noexcept;
    // Whether the confidence is enough to ask for anything.
    [[nodiscard]] bool sure() const noexcept;
    // 1 or -1: consecutive blocks in this direction; 0: steps that skip blocks.
    [[nodiscard]] int direction() const noexcept;
    // Asks for the read itself.
    void ask_for_itself(PrefetchHints& wishes) noexcept;
    // Asks for consecutive blocks in `direction`.
    void ask_along(int direction, std::int64_t window, PrefetchHints& wishes) noexcept;
    // Asks for strided reads.
    void ask_in_steps(std::int64_t window, PrefetchHints& wishes) noexcept;
    // The read after `coming`. False: it lies outside of any file.
    [[nodiscard]] bool next_of(Coming& coming) const noexcept;

    std::int64_t begin_ = 0;       // of the last read
    std::int64_t end_ = -1;        // of the last read; -1: there was none
    Step step_ = 0;                // 0: not known
    Step jump_ = 0;                // step between rows; 0: not known
    std::int32_t run_ = 0;         // equal steps so far
    std::int32_t row_ = 0;         // equal steps before the last jump
    std::int32_t rows_ = 0;        // how often a row of this length recurred
    std::int32_t confidence_ = 0;  // 0 to confidence_max
    std::int32_t window_ = 1;      // blocks
    std::int32_t worth_ = 0;  // 0 to worth_max: how often reads of the file system were slow lately
    bool left_to_daemon_ = false;
    Extent asked_;           // contiguous range; in steps, the first range
    Coming coming_;          // the first predicted read that was not asked for
    std::int32_t left_ = 0;  // reads asked for and not read yet
    // Reads asked for at a time when `left_` was last filled up.
    std::int32_t depth_ = 0;
};

}  // namespace forebay::pool
