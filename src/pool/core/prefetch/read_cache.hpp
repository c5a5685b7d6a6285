// The blocks that were read ahead, of all files: their memory, where clients find them
// (pool/protocol/read_cache.hpp), and which of them gives way to another. A block that is being
// read keeps its memory until that has ended, even if it was dropped meanwhile.
#pragma once

#include "foundation/base/contracts.hpp"
#include "foundation/base/units.hpp"
#include "pool/core/ports.hpp"
#include "pool/core/types.hpp"

#include <cstdint>
#include <list>
#include <optional>
#include <vector>

namespace forebay::pool {

inline constexpr std::uint32_t clean_share_max = 64;  // blocks ahead of one reader

struct PooledFile;
struct FetchedBlock;

// Bytes of a block.
struct CleanRange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

class ReadCache {
public:
    // Directory and ports outlive it.
    ReadCache(Directory& directory, const PoolPorts& ports, std::size_t room);

    // Blocks that there may be at a time; 0: nothing is read ahead.
    [[nodiscard]] std::size_t room() const noexcept { return blocks_max_; }
    // Bytes of memory that are there.
    [[nodiscard]] std::int64_t bytes() const noexcept;

    // The file's block `block`; nullopt: there is none.
    [[nodiscard]] std::optional<std::uint32_t> find(const PooledFile& file,
                                                    std::int64_t block) const;
    // Whether these bytes of it are there or will be, as far as the file has them.
    [[nodiscard]] bool has(std::uint32_t number, const CleanRange& range) const;
    [[nodiscard]] bool ready(std::uint32_t number) const;
    // A reader asked for it once more.
    void touch(std::uint32_t number);
    // A block that is to be read; clients that want it wait from now on. The one asked for longest
    // ago gives way. Number 0: there is no room.
    [[nodiscard]] FetchedBlock take(PooledFile& file, std::int64_t block, const CleanRange& range);

    // Its reading begins: the block's number in the file and the bytes; nullopt: it was dropped.
    struct Place {
        std::int64_t block = 0;
        CleanRange range;
    };
    [[nodiscard]] std::optional<Place> begin(const FetchedBlock& block);
    // It has ended, with the bytes up to `end` of the block. Less than what was to be read: the
    // file ends there.
    void finish(const FetchedBlock& block, std::uint32_t end);

    void drop(PooledFile& file, std::uint32_t number);
    // Whatever lies in the range.
    void drop(PooledFile& file, const Extent& range);
    void drop_all(PooledFile& file);
    // Gives memory back to the system: idle memory, and, where others need it, blocks. False: there
    // was nothing to be given.
    bool shrink(bool others_need_it);
    // No memory is there that nobody uses.
    [[nodiscard]] bool tight() const noexcept { return !order_.empty() || idle_.empty(); }

private:
    struct Block {
        PooledFile* file = nullptr;  // whose it is, as long as it is used
        bool used = false;
        bool reading = false;
        bool ends_file = false;
        std::list<std::uint32_t>::iterator place;  // in order_
    };

    [[nodiscard]] CleanSlot& slot(std::uint32_t number) const noexcept {
        expects(number > 0 && number <= blocks_max_, "there is such a block");
        return directory_.clean[number];
    }
    [[nodiscard]] std::uint32_t memory();
    bool give_way();
    void link(std::uint32_t number) noexcept;
    void unlink(std::uint32_t number) noexcept;
    void set_state(std::uint32_t number, CleanState state);

    Directory& directory_;
    CleanMemory* memory_;
    WordSleepers& sleepers_;
    std::size_t blocks_max_;
    std::vector<Block> blocks_;        // by number
    std::vector<std::uint32_t> idle_;  // memory is there, nobody uses it
    std::vector<std::uint32_t> absent_;
    std::list<std::uint32_t> order_;  // in use: the one asked for longest ago first
    bool squeezed_ = false;           // others need memory
};

}  // namespace forebay::pool
