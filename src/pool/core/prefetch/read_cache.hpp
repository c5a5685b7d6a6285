// The read cache: blocks of all files that were read ahead, their memory, the directory's hash
// table by which clients find them (pool/protocol/read_cache.hpp), and replacement: the block whose
// last hint is the oldest gives way (LRU). A block that is being read keeps its memory until the
// read has ended, even if the block was dropped meanwhile.
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

// Maximum number of blocks ahead of one reader.
inline constexpr std::uint32_t clean_share_max = 64;

struct PooledFile;
struct FetchedBlock;

// The bytes [begin, end) of a block.
struct CleanRange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

class ReadCache {
public:
    // Directory and ports outlive this object. `room`: maximum number of blocks.
    ReadCache(Directory& directory, const PoolPorts& ports, std::size_t room);

    // The maximum number of blocks; 0: there is no read-ahead.
    [[nodiscard]] std::size_t room() const noexcept { return blocks_max_; }
    // Bytes of memory that the cache uses.
    [[nodiscard]] std::int64_t bytes() const noexcept;

    // The number of the read-cache block with block `block` of the file; nullopt: there is none.
    [[nodiscard]] std::optional<std::uint32_t> find(const PooledFile& file,
                                                    std::int64_t block) const;
    // Whether read-cache block `number` has these bytes or will have them, as far as the file
    // reaches.
    [[nodiscard]] bool has(std::uint32_t number, const CleanRange& range) const;
    // Whether the block has been read.
    [[nodiscard]] bool ready(std::uint32_t number) const;
    // A reader has asked for the block once more: makes it the last to give way.
    void touch(std::uint32_t number);
    // Takes a block to be read for the file; clients that want it wait from now on. If necessary
    // another block gives way. Number 0: there is no memory.
    [[nodiscard]] FetchedBlock take(PooledFile& file, std::int64_t block, const CleanRange& range);

    // Begins reading a block that take() returned. Returns its number in the file and the bytes to
    // be read; nullopt: it was dropped meanwhile.
    struct Place {
        std::int64_t block = 0;
        CleanRange range;
    };
    [[nodiscard]] std::optional<Place> begin(const FetchedBlock& block);
    // Reading has ended; the block's bytes are there up to `end`. If that is less than requested,
    // the file ends there.
    void finish(const FetchedBlock& block, std::uint32_t end);

    // Drops a block: clients that copy from it notice.
    void drop(PooledFile& file, std::uint32_t number);
    // Drops all blocks of the file with bytes in `range`.
    void drop(PooledFile& file, const Extent& range);
    void drop_all(PooledFile& file);
    // Gives memory back to the system: idle memory, and used blocks if `others_need_it`. False:
    // there was nothing to give.
    bool shrink(bool others_need_it);
    // Whether there is nothing for shrink() to give back: idle memory is kept while any block is in
    // use.
    [[nodiscard]] bool tight() const noexcept { return !order_.empty() || idle_.empty(); }

private:
    struct Block {
        PooledFile* file = nullptr;  // null: the block is not in use
        bool used = false;
        bool reading = false;
        // The file ended in this block when it was read.
        bool ends_file = false;
        std::list<std::uint32_t>::iterator place;  // position in order_
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
    std::vector<std::uint32_t> idle_;  // blocks with memory that are not in use
    // Blocks without memory.
    std::vector<std::uint32_t> absent_;
    std::list<std::uint32_t> order_;  // blocks in use; the one whose last hint is the oldest first
    bool squeezed_ = false;           // writers wait for memory: no more is provided here
};

}  // namespace forebay::pool
