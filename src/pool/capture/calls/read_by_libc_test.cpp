// Tests which first bytes mark a file that the loader or libc reads by internal calls.
#include "pool/capture/calls/read_by_libc.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace forebay::capture {
namespace {

bool is_known(std::string_view begin) { return is_read_by_libc(std::as_bytes(std::span{begin})); }

TEST(InsideKind, LibrariesAndCatalogsAreKnown) {
    EXPECT_TRUE(is_known("\177ELF\2\1\1"));
    EXPECT_TRUE(is_known("\xde\x12\x04\x95"));
    EXPECT_TRUE(is_known("\x95\x04\x12\xde rest"));
    EXPECT_TRUE(is_known("\xde\x08\x04\x96"));
}

TEST(InsideKind, WhatMayBecomeOneCounts) {
    EXPECT_TRUE(is_known("\177"));
    EXPECT_TRUE(is_known("\177EL"));
}

TEST(InsideKind, OthersDoNot) {
    EXPECT_FALSE(is_known(""));
    EXPECT_FALSE(is_known("\177ELG"));
    EXPECT_FALSE(is_known("text"));
    EXPECT_FALSE(is_known("\211HDF\r\n"));
    EXPECT_FALSE(is_known("CDF\1"));
}

}  // namespace
}  // namespace forebay::capture
