// The expected content of a file after a point: the data stream where a rank writes, the gap stream
// elsewhere. Both depend on the offset only, so the check detects bytes that are missing,
// misplaced, from another repetition, or written into a gap.
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
    std::optional<Rank> owner;  // nullopt: a gap was overwritten
};

// "offset 4096 (data of rank 3): expected 0x1f, found 0x00"
[[nodiscard]] std::string describe(const ByteDifference& difference);

struct ContentDifferences {
    std::int64_t data_bytes = 0;
    std::int64_t gap_bytes = 0;
    // The first byte of each run of wrong bytes, `shown_max` runs at most.
    std::vector<ByteDifference> first;

    static constexpr std::size_t shown_max = 8;

    [[nodiscard]] bool none() const noexcept { return data_bytes == 0 && gap_bytes == 0; }
};

class FileContent {
public:
    // Bytes of the file that are generated or compared at once.
    static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

    struct Key {
        std::uint64_t seed = 0;
        std::string file;
        std::uint64_t repetition = 0;
    };

    FileContent(ResolvedPattern job, const Key& key);

    // Generates [at, at + to.size()) of the file: data and gaps.
    void fill(std::int64_t at, std::span<std::byte> to) const;
    // Generates the gap stream everywhere: the content of a file before ranks write to it.
    void fill_gaps(std::int64_t at, std::span<std::byte> to) const;
    // Compares [at, at + got.size()) and adds the differences; gaps are compared only if `gaps`.
    void compare(std::int64_t at, std::span<const std::byte> got, bool gaps,
                 ContentDifferences& to) const;

    // Fills a rank's memory before a write: data in its pieces, memory_gap around them.
    void fill_memory(Rank rank, std::span<std::byte> memory) const;
    // Compares a rank's memory after a read.
    void compare_memory(Rank rank, std::span<const std::byte> memory, ContentDifferences& to) const;
    // The value of bytes between the pieces in memory.
    static constexpr std::byte memory_gap{0xa5};

private:
    ResolvedPattern job_;
    measure::DataStream data_;
    measure::DataStream gaps_;
};

}  // namespace forebay::hpio
