// Tests that every FileStorage adapter must pass. An adapter's own test file includes this and
// instantiates the suite with its worlds:
//
//   INSTANTIATE_TEST_SUITE_P(Posix, StorageContract, testing::Values(…), world_name);
#pragma once

#include "foundation/ports/storage.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace forebay::ports {

using Bytes = std::vector<std::byte>;

// A place for files, with one empty file in it.
class StorageWorld {
public:
    virtual ~StorageWorld() = default;
    virtual Result<std::unique_ptr<FileStorage>> open(IoDirection direction) = 0;
    // The file's bytes, read without the adapter; zero in holes and beyond the end.
    virtual Bytes contents(const Extent& extent) = 0;
    virtual std::int64_t size() = 0;
};

struct StorageWorldMaker {
    std::string name;
    std::function<std::unique_ptr<StorageWorld>()> make;
    bool threads = true;  // whether several threads may use it
};

inline std::string world_name(const testing::TestParamInfo<StorageWorldMaker>& info) {
    return info.param.name;
}

// A byte determined by its offset, so that misplaced data is detected.
inline std::byte byte_at(std::int64_t offset) noexcept {
    return static_cast<std::byte>((offset * 31 + offset / 251) & 0xff);
}

inline Bytes bytes_at(const Extent& extent) {
    Bytes bytes(extent.length.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = byte_at(extent.begin.bytes() + static_cast<std::int64_t>(i));
    }
    return bytes;
}

// Several pieces that own their memory.
class Batch {
public:
    explicit Batch(const std::vector<Extent>& extents, bool filled = true) {
        for (const Extent& extent : extents) {
            memory_.push_back(filled ? bytes_at(extent) : Bytes(extent.length.size()));
            pieces_.push_back({extent.begin, memory_.back()});
        }
    }
    [[nodiscard]] const std::vector<Piece>& pieces() const noexcept { return pieces_; }
    [[nodiscard]] const Bytes& memory(std::size_t piece) const { return memory_.at(piece); }
    [[nodiscard]] std::int64_t total() const noexcept {
        std::int64_t sum = 0;
        for (const Bytes& one : memory_) {
            sum += static_cast<std::int64_t>(one.size());
        }
        return sum;
    }

private:
    std::vector<Bytes> memory_;
    std::vector<Piece> pieces_;
};

inline RequestCompletion wait_one(FileStorage& storage) {
    RequestCompletion completion;
    EXPECT_EQ(storage.wait({&completion, 1}), 1U);
    return completion;
}

// Removes the first `bytes` bytes from `pieces`.
inline void drop_front(std::vector<Piece>& pieces, std::int64_t bytes) {
    while (bytes > 0 && !pieces.empty()) {
        Piece& front = pieces.front();
        const auto take = std::min(bytes, static_cast<std::int64_t>(front.bytes.size()));
        front.at += Length{take};
        front.bytes = front.bytes.subspan(static_cast<std::size_t>(take));
        bytes -= take;
        if (front.bytes.empty()) {
            pieces.erase(pieces.begin());
        }
    }
}

// Resubmits short and interrupted requests, as a caller must. Returns the sum of the moved bytes,
// and the errno that ended the request.
inline RequestCompletion finish(FileStorage& storage, IoDirection direction,
                                std::vector<Piece> pieces, bool at_once = false) {
    RequestCompletion sum;
    while (!pieces.empty()) {
        storage.submit({direction, 7, pieces, at_once});
        const RequestCompletion one = wait_one(storage);
        EXPECT_EQ(one.ticket, 7U);
        sum.bytes += one.bytes;
        drop_front(pieces, one.bytes.bytes());
        const bool again = one.system == EINTR || one.system == EAGAIN;
        if (!again && (one.system != 0 || one.bytes.bytes() == 0)) {
            sum.system = one.system;
            return sum;
        }
    }
    return sum;
}

class StorageContract : public testing::TestWithParam<StorageWorldMaker> {
protected:
    std::unique_ptr<FileStorage> open(IoDirection direction) {
        auto storage = world_->open(direction);
        EXPECT_TRUE(storage.has_value());
        return storage ? std::move(*storage) : nullptr;
    }
    // Writes the extents in one request and checks that it succeeds.
    void write(FileStorage& storage, const std::vector<Extent>& extents) {
        const Batch batch{extents};
        const RequestCompletion done = finish(storage, IoDirection::write, batch.pieces());
        EXPECT_EQ(done.system, 0);
        EXPECT_EQ(done.bytes.bytes(), batch.total());
    }
    void expect_written(const Extent& extent) {
        EXPECT_TRUE(world_->contents(extent) == bytes_at(extent))
            << "at " << extent.begin.bytes() << " + " << extent.length.bytes();
    }
    void expect_zero(const Extent& extent) {
        EXPECT_TRUE(world_->contents(extent) == Bytes(extent.length.size()))
            << "at " << extent.begin.bytes() << " + " << extent.length.bytes();
    }
    StorageWorld& world() { return *world_; }

private:
    std::unique_ptr<StorageWorld> world_ = GetParam().make();
};

inline Extent extent(std::int64_t begin, std::int64_t length) {
    return {Offset{begin}, Length{length}};
}

TEST_P(StorageContract, WritesOnePiece) {
    const auto storage = open(IoDirection::write);
    write(*storage, {extent(100, 5000)});
    EXPECT_TRUE(storage->close().has_value());
    EXPECT_EQ(world().size(), 5100);
    expect_zero(extent(0, 100));
    expect_written(extent(100, 5000));
}

TEST_P(StorageContract, LeavesGapsBetweenPiecesAsTheyAre) {
    const auto storage = open(IoDirection::write);
    write(*storage, {extent(0, 10), extent(20, 10), extent(30, 5), extent(100'000, 200'000),
                     extent(400'000, 1)});
    for (const Extent& gap : {extent(10, 10), extent(35, 99'965), extent(300'000, 100'000)}) {
        expect_zero(gap);
    }
    for (const Extent& piece :
         {extent(0, 10), extent(20, 15), extent(100'000, 200'000), extent(400'000, 1)}) {
        expect_written(piece);
    }
    EXPECT_EQ(world().size(), 400'001);
}

TEST_P(StorageContract, WritesMorePiecesThanOneSystemCallTakes) {
    std::vector<Extent> pieces;
    pieces.reserve(3000);
    for (std::int64_t i = 0; i < 3000; ++i) {
        pieces.push_back(extent(i * 16 + (i >= 1500 ? 8 : 0), 16));  // one gap
    }
    const auto storage = open(IoDirection::write);
    write(*storage, pieces);
    expect_written(extent(0, 24'000));
    expect_zero(extent(24'000, 8));
    expect_written(extent(24'008, 24'000));
}

TEST_P(StorageContract, WritesManyLargePiecesOfOneRequest) {
    std::vector<Extent> pieces;
    pieces.reserve(3000);
    for (std::int64_t i = 0; i < 9; ++i) {
        pieces.push_back(extent(i * 200'000, i % 2 == 0 ? 200'000 : 100'000));
    }
    const auto storage = open(IoDirection::write);
    write(*storage, pieces);
    for (const Extent& piece : pieces) {
        expect_written(piece);
    }
    expect_zero(extent(300'000, 100'000));
}

TEST_P(StorageContract, WritesEightMebibytesInOnePiece) {
    const auto storage = open(IoDirection::write);
    write(*storage, {extent(3, 8 << 20)});
    expect_written(extent(3, 8 << 20));
}

TEST_P(StorageContract, DoesRequestsAtOnceWhenAsked) {
    const std::vector<Extent> pieces{extent(0, 1 << 20), extent(1 << 20, 70'000)};
    const Batch batch{pieces};
    const auto storage = open(IoDirection::write);
    EXPECT_EQ(finish(*storage, IoDirection::write, batch.pieces(), true).system, 0);
    // The asynchronous path, mixed with the synchronous one.
    write(*storage, {extent(3 << 20, 1 << 20)});
    expect_written(pieces[0]);
    expect_written(pieces[1]);
    const Batch back{pieces, false};
    finish(*open(IoDirection::read), IoDirection::read, back.pieces(), true);
    EXPECT_TRUE(back.memory(1) == batch.memory(1));
}

TEST_P(StorageContract, WritesBeyondFourGibibytes) {
    const std::int64_t far = (std::int64_t{5} << 30) + 17;
    const auto storage = open(IoDirection::write);
    write(*storage, {extent(far, 100'000)});
    expect_written(extent(far, 100'000));
    EXPECT_EQ(world().size(), far + 100'000);
}

TEST_P(StorageContract, CompletesEveryTicketOnceAtFullDepth) {
    const auto storage = open(IoDirection::write);
    const auto depth = static_cast<std::int64_t>(storage->depth());
    ASSERT_GT(depth, 0);
    std::vector<Batch> batches;
    for (std::int64_t i = 0; i < depth; ++i) {
        const std::int64_t size = i % 3 == 0 ? 100'000 : 100;
        batches.emplace_back(
            std::vector{extent(i * 300'000, size), extent(i * 300'000 + 150'000, size)});
    }
    std::map<std::uint64_t, std::vector<Piece>> left;
    for (std::size_t i = 0; i < batches.size(); ++i) {
        left[1000 + i] = batches[i].pieces();
        storage->submit({IoDirection::write, 1000 + i, left[1000 + i]});
    }
    std::vector<RequestCompletion> done(3);
    while (!left.empty()) {
        std::size_t count = storage->poll(done);
        count = count > 0 ? count : storage->wait(done);
        ASSERT_GT(count, 0U);
        for (std::size_t i = 0; i < count; ++i) {
            const auto found = left.find(done[i].ticket);
            ASSERT_NE(found, left.end()) << "an unknown ticket, or one twice";
            drop_front(found->second, done[i].bytes.bytes());
            if (found->second.empty()) {
                left.erase(found);
            } else {
                storage->submit({IoDirection::write, found->first, found->second});
            }
        }
    }
    EXPECT_EQ(storage->poll(done), 0U);
    for (const Batch& batch : batches) {
        for (const Piece& piece : batch.pieces()) {
            expect_written({piece.at, Length{static_cast<std::int64_t>(piece.bytes.size())}});
        }
    }
}

TEST_P(StorageContract, ReadsWhatWasWrittenAndZeroInHoles) {
    const std::vector<Extent> pieces{extent(0, 1000), extent(5000, 70'000), extent(300'000, 3)};
    write(*open(IoDirection::write), pieces);
    const std::vector<Extent> asked{extent(500, 4500), extent(5000, 60'000), extent(299'000, 1003)};
    const Batch batch{asked, false};
    const auto storage = open(IoDirection::read);
    const RequestCompletion done = finish(*storage, IoDirection::read, batch.pieces());
    EXPECT_EQ(done.system, 0);
    EXPECT_EQ(done.bytes.bytes(), batch.total());
    Bytes first(4500);
    std::ranges::copy(bytes_at(extent(500, 500)), first.begin());
    Bytes last(1003);
    std::ranges::copy(bytes_at(extent(300'000, 3)), last.begin() + 1000);
    EXPECT_TRUE(batch.memory(0) == first);
    EXPECT_TRUE(batch.memory(1) == bytes_at(asked[1]));
    EXPECT_TRUE(batch.memory(2) == last);
}

TEST_P(StorageContract, ReadEndsAtEndOfFileWithoutError) {
    write(*open(IoDirection::write), {extent(0, 100'000)});
    const Batch batch{{extent(10, 10), extent(50'000, 80'000), extent(200'000, 10)}, false};
    const auto storage = open(IoDirection::read);
    const RequestCompletion done = finish(*storage, IoDirection::read, batch.pieces());
    EXPECT_EQ(done.system, 0);
    EXPECT_EQ(done.bytes.bytes(), 10 + 50'000);
    const Batch beyond{{extent(100'000, 1)}, false};
    EXPECT_EQ(finish(*storage, IoDirection::read, beyond.pieces()).bytes.bytes(), 0);
}

TEST_P(StorageContract, AnErrorComesAsCompletion) {
    const auto storage = open(IoDirection::read);
    for (const std::int64_t size : {10, 1'000'000}) {
        const Batch batch{{extent(0, size)}};
        const RequestCompletion done = finish(*storage, IoDirection::write, batch.pieces());
        EXPECT_EQ(done.system, EBADF);
        EXPECT_EQ(done.bytes.bytes(), 0);
    }
    EXPECT_EQ(world().size(), 0);
}

TEST_P(StorageContract, PollOfAnIdleHandleReturnsNothing) {
    const auto storage = open(IoDirection::write);
    RequestCompletion completion;
    EXPECT_EQ(storage->poll({&completion, 1}), 0U);
}

TEST_P(StorageContract, TwoHandlesAreTheSameFile) {
    const auto one = open(IoDirection::write);
    const auto two = open(IoDirection::read);
    const auto other = GetParam().make();
    const auto three = other->open(IoDirection::read);
    ASSERT_TRUE(one->identity() && two->identity() && three && (*three)->identity());
    EXPECT_EQ(*one->identity(), *two->identity());
    EXPECT_FALSE(*one->identity() == *(*three)->identity());
}

TEST_P(StorageContract, SyncsAndCloses) {
    const auto storage = open(IoDirection::write);
    write(*storage, {extent(0, 100'000)});
    EXPECT_TRUE(storage->sync().has_value());
    EXPECT_TRUE(storage->close().has_value());
}

TEST_P(StorageContract, DestructionFinishesWhatIsInFlight) {
    const Batch batch{{extent(0, 1 << 20)}};
    auto storage = open(IoDirection::write);
    storage->submit({IoDirection::write, 1, batch.pieces()});
    storage.reset();
    EXPECT_LE(world().size(), 1 << 20);
    expect_written(extent(0, world().size()));
}

TEST_P(StorageContract, HandlesOfSeveralThreadsDoNotDisturbOneAnother) {
    if (!GetParam().threads) {
        GTEST_SKIP() << "a world of one thread";
    }
    const auto work = [this](std::int64_t number) {
        const auto storage = open(IoDirection::write);
        for (std::int64_t i = number; i < 40; i += 2) {
            write(*storage, {extent(i * 70'000, 70'000)});
        }
    };
    std::thread other{work, 1};
    work(0);
    other.join();
    expect_written(extent(0, 2'800'000));
}

TEST_P(StorageContract, HasAName) {
    const auto storage = open(IoDirection::write);
    const std::set<std::string> names{"direct", "posix", "uring", "memory"};
    EXPECT_TRUE(names.contains(storage->name()));
}

}  // namespace forebay::ports
