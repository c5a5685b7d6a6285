// Tests FileExtents against an oracle: an array that holds the last writer of each byte.
#include "pool/protocol/extents.hpp"

#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>

namespace forebay::pool {
namespace {

// A directory in sparse memory, as the daemon's is.
struct Unmap {
    void operator()(Directory* directory) const { ::munmap(directory, sizeof(Directory)); }
};
std::unique_ptr<Directory, Unmap> make_directory() {
    void* const memory = ::mmap(nullptr, sizeof(Directory), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return std::unique_ptr<Directory, Unmap>{static_cast<Directory*>(memory)};
}

Deposit deposit(std::int64_t begin, std::int64_t length, std::uint64_t position,
                std::uint32_t client = 1) {
    return {.extent = {Offset{begin}, Length{length}}, .client = client, .position = position};
}

// The last writer of each byte: client and position.
using Bytes = std::map<std::int64_t, std::pair<std::uint32_t, std::uint64_t>>;

void put(Bytes& bytes, const Deposit& one) {
    for (std::int64_t i = 0; i < one.extent.length.bytes(); ++i) {
        bytes[one.extent.begin.bytes() + i] = {one.client,
                                               one.position + static_cast<std::uint64_t>(i)};
    }
}

Bytes seen(const Directory& directory, const FileSlot& file, const Extent& range) {
    std::vector<Deposit> found(4096);
    const DepositSearch search = find(directory, file, range, found);
    EXPECT_EQ(search.seen, SearchResult::whole);
    Bytes bytes;
    std::int64_t end = range.begin.bytes();
    for (std::size_t i = 0; i < search.found; ++i) {
        EXPECT_GE(found[i].extent.begin.bytes(), end) << "in order, and apart";
        end = found[i].extent.end().bytes();
        put(bytes, found[i]);
    }
    EXPECT_LE(end, range.end().bytes());
    return bytes;
}

struct OneFile {
    decltype(make_directory()) directory = make_directory();
    FileExtents extents{*directory};
    FileSlot& file = directory->files[0];
    std::vector<Deposit> gone;
};

RC_GTEST_PROP(FileExtents, HoldWhoWroteEachByteLast, ()) {
    const auto directory = make_directory();
    FileExtents extents{*directory};
    FileSlot& file = directory->files[3];
    Bytes oracle;
    std::uint64_t position = 0;
    const auto steps = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
        rc::gen::tuple(rc::gen::inRange(0, 10), rc::gen::inRange(0, 300), rc::gen::inRange(1, 60)));
    for (const auto& [what, begin, length] : steps) {
        std::vector<Deposit> gone;
        const Extent range{Offset{begin}, Length{length}};
        std::size_t freed = 0;
        if (what < 8) {
            const Deposit one = deposit(begin, length, position, what % 3 == 0 ? 2 : 1);
            position += static_cast<std::uint64_t>(length);
            RC_ASSERT(extents.put(file, one, gone));
            for (std::int64_t at = begin; at < begin + length; ++at) {
                freed += oracle.count(at);
            }
            put(oracle, one);
        } else {
            RC_ASSERT(extents.cut(file, range, gone));
            for (std::int64_t at = begin; at < begin + length; ++at) {
                freed += oracle.erase(at);
            }
        }
        std::size_t said = 0;
        for (const Deposit& one : gone) {
            said += one.extent.length.size();
        }
        RC_ASSERT(said == freed);
        RC_ASSERT(seen(*directory, file, {Offset{0}, Length{400}}) == oracle);
    }
    for (std::int64_t at = 0; at < 400; at += 37) {
        const auto next = extents.next(file, Offset{at});
        const auto expected = oracle.lower_bound(at);
        RC_ASSERT(next.has_value() == (expected != oracle.end()));
        RC_ASSERT(!next || std::max(next->extent.begin.bytes(), at) == expected->first);
    }
}

TEST(FileExtents, WhatFollowsInFileAndLogIsOneExtent) {
    OneFile one;
    auto& [directory, extents, file, gone] = one;
    for (std::int64_t i = 0; i < 1000; ++i) {
        ASSERT_TRUE(extents.put(file, deposit(i * 8, 8, static_cast<std::uint64_t>(i) * 8), gone));
    }
    EXPECT_EQ(file.extents.load(), 1U);
    EXPECT_TRUE(gone.empty());
}

TEST(FileExtents, AnExtentEndsWithItsBlock) {
    OneFile one;
    auto& [directory, extents, file, gone] = one;
    ASSERT_TRUE(extents.put(file, deposit(0, 8, block_bytes - 8), gone));
    ASSERT_TRUE(extents.put(file, deposit(8, 8, block_bytes), gone));
    EXPECT_EQ(file.extents.load(), 2U);
}

TEST(FileExtents, TakingLeavesWhatCameLater) {
    OneFile one;
    auto& [directory, extents, file, gone] = one;
    const Deposit drained = deposit(0, 100, 0);
    ASSERT_TRUE(extents.put(file, drained, gone));
    ASSERT_TRUE(extents.put(file, deposit(40, 10, 100), gone));
    gone.clear();
    ASSERT_TRUE(extents.take(file, drained, gone));
    ASSERT_EQ(gone.size(), 2U);
    EXPECT_EQ(gone[0], deposit(0, 40, 0));
    EXPECT_EQ(gone[1], deposit(50, 50, 50));
    EXPECT_EQ(extents.next(file, Offset{0}), deposit(40, 10, 100));
    EXPECT_EQ(file.extents.load(), 1U);
}

TEST(DepositSearch, StopsInAListThatIsACircle) {
    const auto directory = make_directory();
    FileSlot& file = directory->files[0];
    ExtentNode& node = directory->extents[1];
    node.begin = 0;
    node.length = -5;
    node.next[0] = 1;
    file.heads[0] = 1;
    std::array<Deposit, 4> found;
    const DepositSearch search = find(*directory, file, {Offset{10}, Length{10}}, found);
    EXPECT_EQ(search.seen, SearchResult::changed);
}

TEST(DepositSearch, SaysWhenThereIsMore) {
    OneFile one;
    auto& [directory, extents, file, gone] = one;
    for (std::int64_t i = 0; i < 5; ++i) {
        ASSERT_TRUE(extents.put(file, deposit(i * 10, 3, static_cast<std::uint64_t>(i) * 3), gone));
    }
    std::array<Deposit, 4> found;
    const DepositSearch search = find(*directory, file, {Offset{1}, Length{100}}, found);
    EXPECT_EQ(search.seen, SearchResult::more);
    EXPECT_EQ(search.found, 4U);
    EXPECT_EQ(found[0], deposit(1, 2, 1));
}

}  // namespace
}  // namespace forebay::pool
