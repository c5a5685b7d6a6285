// The memory of one client's log: which of its logical blocks lie where, and when nobody needs one
// any more. Each position is accounted for once, as committed or abandoned; a block whose positions
// all are, and of which no byte is deposited or on its way, is finished, and its memory idle.
#pragma once

#include "pool/protocol/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

namespace forebay::pool {

// Positions [begin, end) of a block that are accounted for.
class AccountedRanges {
public:
    // More gaps between them than threads could have left.
    static constexpr std::size_t ranges_max = entries_max;

    // False: some of it was accounted for before, or there are too many gaps.
    [[nodiscard]] bool add(std::uint32_t begin, std::uint32_t end);
    [[nodiscard]] bool complete() const noexcept {
        return ranges_.size() == 1 && ranges_[0].end - ranges_[0].begin == block_bytes;
    }

    [[nodiscard]] bool empty() const noexcept { return ranges_.empty(); }

private:
    struct Range {
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
    };
    std::vector<Range> ranges_;  // in order, apart
};

class LogBlocks {
public:
    // Positions of one block; see AccountedRanges. `later`: too far ahead of the oldest unfinished
    // block.
    enum class Answer { done, later, refused };
    enum class Use { deposited, nothing };
    [[nodiscard]] Answer account(std::uint64_t position, std::uint32_t length, Use use);
    // So many deposited bytes of the block are needed no longer.
    void free(std::uint64_t position, std::size_t length);
    // The bytes at `position` are being written to the file system.
    void pin(std::uint64_t position);
    void unpin(std::uint64_t position);

    // The number of the first block that is not leased yet.
    [[nodiscard]] std::uint64_t leased_end() const noexcept { return leased_end_; }
    [[nodiscard]] std::uint64_t credit() const noexcept { return leased_end_ * block_bytes; }
    // Another block may be leased: the oldest unfinished one is not too far behind.
    [[nodiscard]] bool may_lease() const noexcept { return leased_end_ - first_ < blocks_max; }
    // The next block needs memory: not all of it was abandoned.
    [[nodiscard]] bool next_needs_memory() const noexcept;
    // Leases the next block; `physical` is its memory, if it needs any.
    void lease(std::optional<std::uint32_t> physical);

    // Memory that is there and idle; the last one that became so first.
    [[nodiscard]] std::size_t idle() const noexcept { return idle_.size(); }
    [[nodiscard]] std::uint32_t take_idle();
    // Whether the block was never taken since it was provided; once.
    [[nodiscard]] bool take_newness(std::uint32_t physical);
    // Physical blocks that are there, idle ones included.
    [[nodiscard]] std::size_t provided() const noexcept { return provided_; }
    // A physical block that is not there yet; nullopt: all are. To be confirmed by provide().
    [[nodiscard]] std::optional<std::uint32_t> absent() const noexcept;
    void provide(std::uint32_t physical);
    // The idle block that was so longest is not there any more.
    [[nodiscard]] std::uint32_t take_coldest();

    // The client has gone: what is not deposited or pinned is idle.
    void close();
    // Leased blocks from number `begin` on are taken back, as far as nobody has begun to use them.
    void revoke(std::uint64_t begin);

private:
    struct Block {
        std::optional<std::uint32_t> physical;
        AccountedRanges accounted;
        std::size_t live = 0;  // deposited bytes
        std::uint32_t pins = 0;
    };
    [[nodiscard]] Block& at(std::uint64_t position);
    void finish(std::uint64_t number);
    [[nodiscard]] bool finished(std::uint64_t number) const;

    std::deque<Block> blocks_;  // from number first_ on
    std::uint64_t first_ = 0;   // all below are finished
    std::uint64_t leased_end_ = 0;
    std::deque<std::uint32_t> idle_;     // coldest first
    std::vector<std::uint32_t> absent_;  // were there once
    std::set<std::uint32_t> new_;        // nobody has been told yet
    std::uint32_t fresh_ = 0;            // physical blocks from here on were never there
    std::size_t provided_ = 0;
    bool closed_ = false;
};

}  // namespace forebay::pool
