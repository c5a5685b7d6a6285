// The expected content of a file after a point: the data stream where a rank writes, the gap stream
// elsewhere. Both are made from the offset alone, so the check sees a byte that is missing,
// misplaced, of another repetition or written where nothing belongs.
#pragma once

#include "benchmarks/hpio/pattern.hpp"
#include "benchmarks/measure/data_stream.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace forebay::hpio {

struct ByteDifference {
    std::int64_t offset = 0;
    std::byte expected{};
    std::byte found{};
    std::optional<Rank> owner;  // nobody: a gap was touched
};

// "offset 4096 (data of rank 3): expected 0x1f, found 0x00"
[[nodiscard]] std::string describe(const ByteDifference& difference);

struct ContentDifferences {
    std::int64_t data_bytes = 0;
    std::int64_t gap_bytes = 0;
    std::vector<ByteDifference> first;  // of each run of wrong bytes, at most `shown_max`

    static constexpr std::size_t shown_max = 8;

    [[nodiscard]] bool none() const noexcept { return data_bytes == 0 && gap_bytes == 0; }
};

class FileContent {
public:
    // Bytes of the file that are made or compared at a time.
    static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

    struct Key {
        std::uint64_t seed = 0;
        std::string file;
        std::uint64_t repetition = 0;
    };

    FileContent(ResolvedPattern job, const Key& key);

    // The whole file [at, at + to.size()): data and gaps.
    void fill(std::int64_t at, std::span<std::byte> to) const;
    // The gap stream everywhere: what a file holds before ranks write to it.
    void fill_gaps(std::int64_t at, std::span<std::byte> to) const;
    // Adds what differs in [at, at + got.size()); gaps only where `gaps` says so.
    void compare(std::int64_t at, std::span<const std::byte> got, bool gaps,
                 ContentDifferences& to) const;

    // A rank's memory before it writes: data in its pieces, gap bytes around them.
    void fill_memory(Rank rank, std::span<std::byte> memory) const;
    // A rank's memory after it has read.
    void compare_memory(Rank rank, std::span<const std::byte> memory, ContentDifferences& to) const;
    // Around the pieces in memory.
    static constexpr std::byte memory_gap{0xa5};

private:
    ResolvedPattern job_;
    measure::DataStream data_;
    measure::DataStream gaps_;
};

}  // namespace forebay::hpio
