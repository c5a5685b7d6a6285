// Independent requests of one rank, compared byte by byte with what view and memory say, on a file
// with short, interrupted and failing requests.
#include "collective/engine/alone.hpp"

#include "storage/posix/clock.hpp"
#include "worlds/memory/storage.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>

namespace forebay::transfer {
namespace {

constexpr std::byte untouched{0xEE};
constexpr std::int64_t most = 300'000;  // maximum bytes of a request

struct Shape {
    const char* name;
    std::int64_t block;
    std::int64_t stride;        // in the file
    std::int64_t memory_block;  // 0: memory is one piece
    pattern::ViewRange range;
};

constexpr std::array shapes{
    Shape{"one byte", 1, 7, 0, {3, 1}},
    Shape{"one piece", 1, 1, 0, {100, most}},
    Shape{"short pieces, close together", 256, 1024, 0, {100, most}},
    Shape{"short pieces, far apart", 256, 100'000, 0, {5, 20'000}},
    Shape{"long pieces", 8192, 16384, 0, {1, most}},
    Shape{"pieces of memory, too", 48, 64, 20, {17, 100'003}},
    Shape{"pieces of memory only", 1, 1, 16, {17, 100'003}},
};

class Rank {
public:
    explicit Rank(const Shape& shape)
        : shape_{shape},
          memory_nest_{pattern::Nest::run(std::max<std::int64_t>(shape.memory_block, 1))},
          memory_extent_{shape.memory_block == 0 ? 1 : 2 * shape.memory_block},
          bytes(static_cast<std::size_t>(2 * most + 64), untouched) {
        if (shape.stride > 1) {
            view_ = *pattern::View::make(Offset{11}, pattern::Nest::run(shape.block),
                                         Length{shape.stride}, Length{1});
        }
    }
    [[nodiscard]] OwnRequest request() {
        return {&view_, shape_.range, {bytes.data(), &memory_nest_, memory_extent_}};
    }
    // The file offset of the request's byte `i`.
    [[nodiscard]] Offset offset(std::int64_t i) const {
        return view_.offset_of(shape_.range.position + i);
    }
    std::byte& byte(std::int64_t i) {
        const std::int64_t size = memory_nest_.size();
        return bytes[static_cast<std::size_t>(i / size * memory_extent_ + i % size)];
    }
    [[nodiscard]] std::int64_t length() const { return shape_.range.length; }
    [[nodiscard]] Offset end() const { return offset(length() - 1) + Length{1}; }

private:
    Shape shape_;
    pattern::View view_;
    pattern::Nest memory_nest_;
    std::int64_t memory_extent_;

public:
    std::vector<std::byte> bytes;
};

std::byte data_byte(std::int64_t i) { return static_cast<std::byte>(i % 127 + i / 1000); }

adapters::StorageFaults trouble() {
    adapters::StorageFaults faults;
    faults.seed = 7;
    faults.short_percent = faults.interrupted_percent = faults.again_percent = 20;
    faults.delay_polls_max = 3;
    return faults;
}

class Alone : public testing::Test {
protected:
    OwnMove move(Rank& rank, adapters::MemoryFile& file, IoDirection direction) {
        const auto storage = *adapters::open_memory(file, direction);
        OwnMover mover{*storage, clock_};
        return direction == IoDirection::write ? mover.write(rank.request())
                                               : mover.read(rank.request());
    }

private:
    adapters::SteadyClock clock_;
};

TEST_F(Alone, WritesItsPiecesAndNothingElse) {
    for (const Shape& shape : shapes) {
        Rank rank{shape};
        adapters::MemoryFile file{trouble()};
        std::vector<std::byte> before(static_cast<std::size_t>(rank.end().bytes()), untouched);
        file.put(Offset{0}, before);
        for (std::int64_t i = 0; i < rank.length(); ++i) {
            rank.byte(i) = data_byte(i);
            before[static_cast<std::size_t>(rank.offset(i).bytes())] = data_byte(i);
        }
        const OwnMove moved = move(rank, file, IoDirection::write);
        EXPECT_EQ(moved.bytes, rank.length()) << shape.name;
        EXPECT_TRUE(file.get({Offset{0}, rank.end() - Offset{0}}) == before) << shape.name;
    }
}

// The file has all bytes of the request, or ends within it.
TEST_F(Alone, ReadsItsPiecesUpToTheEndOfTheFile) {
    for (const Shape& shape : shapes) {
        for (const std::int64_t part : {1, 2}) {
            Rank rank{shape};
            adapters::MemoryFile file{trouble()};
            const std::int64_t there = (rank.length() + part - 1) / part;
            std::vector<std::byte> image(
                static_cast<std::size_t>(rank.offset(there - 1).bytes() + 1));
            for (std::int64_t i = 0; i < there; ++i) {
                image[static_cast<std::size_t>(rank.offset(i).bytes())] = data_byte(i);
            }
            file.put(Offset{0}, image);
            const OwnMove moved = move(rank, file, IoDirection::read);
            EXPECT_EQ(moved.bytes, there) << shape.name;
            EXPECT_FALSE(moved.failure.happened()) << shape.name;
            std::vector<std::byte> wanted(rank.bytes.size(), untouched);
            wanted.swap(rank.bytes);
            for (std::int64_t i = 0; i < there; ++i) {
                rank.byte(i) = data_byte(i);
            }
            EXPECT_TRUE(wanted == rank.bytes) << shape.name << ", 1/" << part;
        }
    }
}

TEST_F(Alone, TellsTheFirstFailureAndWhatLiesBelowIt) {
    for (const Shape& shape : shapes) {
        for (const auto direction : {IoDirection::write, IoDirection::read}) {
            Rank rank{shape};
            const std::int64_t good = rank.length() / 2;
            adapters::MemoryFile file;
            const std::byte last{1};
            file.put(rank.end(), {&last, 1});
            adapters::StorageFaults faults;
            faults.error_at = rank.offset(good);
            file.set_faults(faults);
            const OwnMove moved = move(rank, file, direction);
            EXPECT_EQ(moved.failure.at, rank.offset(good).bytes()) << shape.name;
            EXPECT_EQ(moved.bytes, good) << shape.name;
        }
    }
}

TEST(AloneByWindows, ForShortPiecesThatLieCloseTogether) {
    struct Row {
        std::int64_t bytes, shortest, span;
        bool windows;
    };
    for (const Row& row : {Row{1 << 20, 256, 4 << 20, true}, Row{1 << 20, 256, 16 << 20, true},
                           Row{1 << 20, 256, 17 << 20, false}, Row{1 << 20, 4096, 4 << 20, false},
                           Row{256, 256, 256, false}}) {
        EXPECT_EQ(reads_by_windows(row.bytes, row.shortest, row.span), row.windows)
            << row.bytes << " " << row.shortest << " " << row.span;
    }
}

}  // namespace
}  // namespace forebay::transfer
