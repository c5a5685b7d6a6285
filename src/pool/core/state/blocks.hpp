// The memory of one client's log: which physical block each logical block has, and when nobody
// needs its bytes any more. Each position of the log is accounted for once, as committed or
// abandoned. A block is finished when all of its positions are accounted for, and none of its bytes
// is deposited or being written; its physical block is then idle and can be leased again.
#pragma once

#include "pool/protocol/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

namespace forebay::pool {

// The ranges [begin, end) of a block's positions that are accounted for.
class AccountedRanges {
public:
    // The maximum number of separate ranges: threads cannot leave more gaps than there are entries.
    static constexpr std::size_t ranges_max = entries_max;

    // Adds [begin, end). False: a part of it was accounted for before, or there are too many
    // ranges. Both mean that the log is malformed.
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
    std::vector<Range> ranges_;  // ascending, not adjacent
};

class LogBlocks {
public:
    // Accounts for `length` bytes at `position`, which lie in one block. `later`: the block is more
    // than blocks_max ahead of the oldest unfinished one. `refused`: the log is malformed.
    enum class Answer { done, later, refused };
    enum class Use { deposited, nothing };
    [[nodiscard]] Answer account(std::uint64_t position, std::uint32_t length, Use use);
    // `length` deposited bytes at `position` were drained or overwritten.
    void free(std::uint64_t position, std::size_t length);
    // Keeps the block of `position` while its bytes are being written to the file system or the
    // journal. Pins are counted.
    void pin(std::uint64_t position);
    void unpin(std::uint64_t position);

    // The number of the first logical block that is not leased yet.
    [[nodiscard]] std::uint64_t leased_end() const noexcept { return leased_end_; }
    // The client may write to positions below this.
    [[nodiscard]] std::uint64_t credit() const noexcept { return leased_end_ * block_bytes; }
    // Whether the next block may be leased: the oldest unfinished one is less than blocks_max
    // behind.
    [[nodiscard]] bool may_lease() const noexcept { return leased_end_ - first_ < blocks_max; }
    // Whether the next block needs memory. It does not if all its positions were abandoned in
    // advance.
    [[nodiscard]] bool next_needs_memory() const noexcept;
    // Leases the next block, with physical block `physical` if it needs memory.
    void lease(std::optional<std::uint32_t> physical);

    // Physical blocks that have memory and are idle. take_idle() takes the one that became idle
    // last, whose memory is most likely mapped and cached.
    [[nodiscard]] std::size_t idle() const noexcept { return idle_.size(); }
    [[nodiscard]] std::uint32_t take_idle();
    // Whether the physical block has not been leased since its memory was provided. True once only.
    [[nodiscard]] bool take_newness(std::uint32_t physical);
    // The number of physical blocks that have memory, including idle ones.
    [[nodiscard]] std::size_t provided() const noexcept { return provided_; }
    // A physical block without memory, for which provide() is called if memory was got; nullopt:
    // none.
    [[nodiscard]] std::optional<std::uint32_t> absent() const noexcept;
    void provide(std::uint32_t physical);
    // Takes the block that has been idle longest; it has no memory from now on.
    [[nodiscard]] std::uint32_t take_coldest();

    // The client has gone: all blocks that are neither deposited nor pinned become idle.
    void close();
    // Takes back leased blocks from number `begin` on, back to the last one that has been used.
    // Contract: nobody can be about to write there.
    void revoke(std::uint64_t begin);

private:
    struct Block {
        std::optional<std::uint32_t> physical;
        AccountedRanges accounted;
        std::size_t live = 0;  // bytes that are deposited and not freed
        std::uint32_t pins = 0;
    };
    [[nodiscard]] Block& at(std::uint64_t position);
    void finish(std::uint64_t number);
    [[nodiscard]] bool finished(std::uint64_t number) const;

    std::deque<Block> blocks_;  // blocks from number first_ on
    std::uint64_t first_ = 0;   // all blocks below this one are finished
    std::uint64_t leased_end_ = 0;
    std::deque<std::uint32_t> idle_;     // the longest idle first
    std::vector<std::uint32_t> absent_;  // had memory before
    std::set<std::uint32_t> new_;        // provided, and not leased since
    std::uint32_t fresh_ = 0;            // physical blocks from this one on never had memory
    std::size_t provided_ = 0;
    bool closed_ = false;
};

}  // namespace forebay::pool
