// Tests KnownMemory on addresses that a program may pass, against what the kernel would answer.
#include "pool/capture/connection/memory.hpp"

#include "foundation/kernel/calls.hpp"

#include <sys/mman.h>

#include <gtest/gtest.h>

namespace forebay::capture {
namespace {

constexpr std::size_t granule = std::size_t{1} << 16;
const std::size_t page_bytes = kernel::page_bytes();

// Four granules of mapped memory, with unmapped memory before and after them.
class PageRange {
public:
    PageRange() {
        void* const all =
            ::mmap(nullptr, 6 * granule, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT_NE(all, MAP_FAILED);
        base_ = static_cast<std::byte*>(all) + granule;
        protect(0, 4 * granule, PROT_READ | PROT_WRITE);
    }
    PageRange(const PageRange&) = delete;
    PageRange& operator=(const PageRange&) = delete;
    ~PageRange() { ::munmap(base_ - granule, 6 * granule); }

    [[nodiscard]] std::byte* at(std::size_t offset) const { return base_ + offset; }
    void protect(std::size_t offset, std::size_t bytes, int protection) const {
        EXPECT_EQ(::mprotect(at(offset), bytes, protection), 0);
    }

private:
    std::byte* base_ = nullptr;
};

TEST(KnownMemory, NothingIsOnTheFirstPageOrBeyondTheLast) {
    KnownMemory memory;
    for (const std::uintptr_t wrong :
         {std::uintptr_t{0}, std::uintptr_t{16}, ~std::uintptr_t{0}, std::uintptr_t{1} << 62U}) {
        auto* const at = reinterpret_cast<void*>(wrong);
        EXPECT_EQ(memory.readable(at, 1), 0U) << wrong;
        EXPECT_FALSE(memory.writable(at, 1)) << wrong;
    }
}

TEST(KnownMemory, WhatIsReadableEndsWhereTheKernelSaysSo) {
    const PageRange pages;
    KnownMemory memory;
    EXPECT_EQ(memory.readable(pages.at(0), 4 * granule), 4 * granule);
    pages.protect(granule, granule, PROT_NONE);
    memory.forget(pages.at(granule), granule);
    EXPECT_EQ(memory.readable(pages.at(100), 2 * granule), granule - 100);
    EXPECT_EQ(memory.readable(pages.at(granule + 100), 10), 0U);
    EXPECT_EQ(memory.readable(pages.at(2 * granule), granule), granule);
}

TEST(KnownMemory, WhatIsReadOnlyCanBeReadAndNotWrittenTo) {
    const PageRange pages;
    KnownMemory memory;
    EXPECT_TRUE(memory.writable(pages.at(10), 3 * granule));
    pages.protect(granule, page_bytes, PROT_READ);
    memory.forget(pages.at(granule), page_bytes);
    EXPECT_EQ(memory.readable(pages.at(10), 3 * granule), 3 * granule);
    EXPECT_FALSE(memory.writable(pages.at(10), 3 * granule));
    EXPECT_TRUE(memory.writable(pages.at(10), granule - 10));
}

TEST(KnownMemory, LookingDoesNotChangeWhatIsThere) {
    const PageRange pages;
    KnownMemory memory;
    *pages.at(5) = std::byte{7};
    EXPECT_TRUE(memory.writable(pages.at(0), granule));
    EXPECT_EQ(memory.readable(pages.at(0), granule), granule);
    EXPECT_EQ(*pages.at(5), std::byte{7});
}

TEST(KnownMemory, ForgetsALongerRangeThanItRemembers) {
    const PageRange pages;
    KnownMemory memory;
    EXPECT_EQ(memory.readable(pages.at(0), granule), granule);
    pages.protect(0, granule, PROT_NONE);
    memory.forget(pages.at(0) - (std::size_t{1} << 30), std::size_t{1} << 31);
    EXPECT_EQ(memory.readable(pages.at(0), 1), 0U);
}

// Regression: a buffer without mapped neighbours cost two system calls for each write.
TEST(KnownMemory, RemembersAPageOfAGranuleThatIsNotAllThere) {
    const PageRange pages;
    KnownMemory memory;
    pages.protect(page_bytes, granule - page_bytes, PROT_NONE);
    EXPECT_EQ(memory.readable(pages.at(0), page_bytes), page_bytes);
    pages.protect(0, page_bytes, PROT_NONE);  // by a call that is not captured
    EXPECT_EQ(memory.readable(pages.at(0), page_bytes), page_bytes);
    memory.forget(pages.at(0), page_bytes);
    EXPECT_EQ(memory.readable(pages.at(0), page_bytes), 0U);
}

TEST(KnownMemory, AsksNothingWhereThereIsNothing) {
    KnownMemory memory;
    EXPECT_EQ(memory.readable(nullptr, 0), 0U);
    EXPECT_TRUE(memory.writable(nullptr, 0));
}

}  // namespace
}  // namespace forebay::capture
