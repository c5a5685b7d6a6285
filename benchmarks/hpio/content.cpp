// Generates and compares the content of files and of ranks' memory.
#include "benchmarks/hpio/content.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace forebay::hpio {

namespace {

// Compares the bytes of one owner; counts differences and keeps the first ones.
void compare_run(std::int64_t at, std::span<const std::byte> expected,
                 std::span<const std::byte> found, std::optional<Rank> owner,
                 ContentDifferences& to) {
    if (std::equal(expected.begin(), expected.end(), found.begin())) {
        return;
    }
    bool first = true;
    for (std::size_t byte = 0; byte < expected.size(); ++byte) {
        if (expected[byte] == found[byte]) {
            continue;
        }
        ++(owner ? to.data_bytes : to.gap_bytes);
        if (first && to.first.size() < ContentDifferences::shown_max) {
            to.first.push_back(
                {at + static_cast<std::int64_t>(byte), expected[byte], found[byte], owner});
        }
        first = false;
    }
}

// Visits the pieces of a rank's memory together with their places in the file.
template <class Visit>
void each_bit(const ResolvedPattern& job, Rank rank, const Visit& visit) {
    LayoutWalk memory(job.memory_layout(rank));
    LayoutWalk file(job.file_layout(rank));
    while (!memory.done() && !file.done()) {
        const std::int64_t bytes = std::min({memory.piece().bytes, file.piece().bytes,
                                             static_cast<std::int64_t>(FileContent::chunk_bytes)});
        visit(memory.take(bytes), file.take(bytes));
    }
}

}  // namespace

std::string describe(const ByteDifference& difference) {
    const std::string owner = difference.owner
                                  ? fmt::format("data of rank {}", difference.owner->value())
                                  : std::string("a gap that nobody writes");
    return fmt::format("offset {} ({}): expected 0x{:02x}, found 0x{:02x}", difference.offset,
                       owner, std::to_integer<unsigned>(difference.expected),
                       std::to_integer<unsigned>(difference.found));
}

FileContent::FileContent(ResolvedPattern job, const Key& key)
    : job_(std::move(job)),
      data_({key.seed, measure::file_number(key.file, 0), key.repetition}),
      gaps_({key.seed, measure::file_number(key.file, -1), key.repetition}) {}

void FileContent::fill_gaps(std::int64_t at, std::span<std::byte> to) const {
    gaps_.fill(Offset{at}, to);
}

void FileContent::fill(std::int64_t at, std::span<std::byte> to) const {
    std::size_t done = 0;
    while (done < to.size()) {
        const std::int64_t now = at + static_cast<std::int64_t>(done);
        const ByteOwner owner = owner_at(job_, now);
        const std::size_t bytes = std::min(to.size() - done, static_cast<std::size_t>(owner.bytes));
        (owner.rank ? data_ : gaps_).fill(Offset{now}, to.subspan(done, bytes));
        done += bytes;
    }
}

void FileContent::compare(std::int64_t at, std::span<const std::byte> got, bool gaps,
                          ContentDifferences& to) const {
    std::vector<std::byte> expected(got.size());
    fill(at, expected);
    std::size_t done = 0;
    while (done < got.size()) {
        const std::int64_t now = at + static_cast<std::int64_t>(done);
        const ByteOwner owner = owner_at(job_, now);
        const std::size_t bytes =
            std::min(got.size() - done, static_cast<std::size_t>(owner.bytes));
        if (owner.rank || gaps) {
            compare_run(now, std::span(expected).subspan(done, bytes), got.subspan(done, bytes),
                        owner.rank, to);
        }
        done += bytes;
    }
}

void FileContent::fill_memory(Rank rank, std::span<std::byte> memory) const {
    std::fill(memory.begin(), memory.end(), memory_gap);
    each_bit(job_, rank, [&](const LayoutPiece& in_memory, const LayoutPiece& in_file) {
        data_.fill(Offset{in_file.offset},
                   memory.subspan(static_cast<std::size_t>(in_memory.offset),
                                  static_cast<std::size_t>(in_memory.bytes)));
    });
}

void FileContent::compare_memory(Rank rank, std::span<const std::byte> memory,
                                 ContentDifferences& to) const {
    std::vector<std::byte> expected;
    std::int64_t end = 0;
    const auto look_at_gap = [&](std::int64_t begin, std::int64_t until) {
        for (std::int64_t at = begin; at < until; ++at) {
            const std::byte found = memory[static_cast<std::size_t>(at)];
            if (found != memory_gap) {
                compare_run(at, {&memory_gap, 1}, {&found, 1}, std::nullopt, to);
            }
        }
    };
    each_bit(job_, rank, [&](const LayoutPiece& in_memory, const LayoutPiece& in_file) {
        look_at_gap(end, in_memory.offset);
        end = in_memory.offset + in_memory.bytes;
        expected.resize(static_cast<std::size_t>(in_memory.bytes));
        data_.fill(Offset{in_file.offset}, expected);
        compare_run(in_file.offset, expected,
                    memory.subspan(static_cast<std::size_t>(in_memory.offset), expected.size()),
                    rank, to);
    });
    look_at_gap(end, static_cast<std::int64_t>(memory.size()));
}

}  // namespace forebay::hpio
