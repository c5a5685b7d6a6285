// Tests NextSymbols on the libraries loaded after this program.
#include "pool/capture/symbols/symbols.hpp"

#include "capture/real.hpp"

#include <algorithm>
#include <cerrno>
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <iterator>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace forebay::capture {
namespace {

NextSymbols behind_this_program() {
    NextSymbols symbols;
    EXPECT_TRUE(symbols.learn());
    return symbols;
}

TEST(NextSymbols, AreThoseThatTheLoaderFinds) {
    const NextSymbols symbols = behind_this_program();
    for (const char* const name : function_names) {
        EXPECT_EQ(symbols.find(name), ::dlsym(RTLD_NEXT, name)) << name;
    }
}

TEST(NextSymbols, OfSeveralVersionsTheDefaultOneIsFound) {
    const NextSymbols symbols = behind_this_program();
    for (const char* const name : {"fmemopen", "pthread_cond_wait", "regexec", "nftw"}) {
        EXPECT_EQ(symbols.find(name), ::dlsym(RTLD_NEXT, name)) << name;
    }
}

TEST(NextSymbols, WhatNobodyHasIsNotFound) {
    const NextSymbols symbols = behind_this_program();
    EXPECT_EQ(symbols.find("forebay_nobody_has_this"), nullptr);
    EXPECT_EQ(symbols.find(""), nullptr);
}

TEST(NextSymbols, AreFoundWithoutBeingLearnt) {
    for (const char* const name : {"dlsym", "dlopen", "write", "strcmpx", ""}) {
        EXPECT_EQ(NextSymbols::find_behind(name), ::dlsym(RTLD_NEXT, name)) << name;
    }
}

TEST(NextSymbols, NothingIsFoundBeforeAnythingIsKnown) {
    const NextSymbols symbols;
    EXPECT_EQ(symbols.find("open"), nullptr);
}

TEST(NextSymbols, WhatTheLoaderChoosesForTheProcessorIsLeftToIt) {
    const NextSymbols symbols = behind_this_program();
#if defined(__x86_64__)
    const char* const chosen = "rawmemchr";  // for strlen a sanitizer has a function of its own
#else
    const char* const chosen = "strlen";
#endif
    EXPECT_EQ(symbols.find(chosen), nullptr);
}

TEST(NextSymbols, OfOneObjectAreThoseThatItsHandleFinds) {
    ObjectSymbols libc;
    EXPECT_EQ(libc.find("write"), nullptr);
    ASSERT_TRUE(libc.learn(reinterpret_cast<const void*>(&::gnu_get_libc_version)));
    void* const handle = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    ASSERT_NE(handle, nullptr);
    for (const char* const name : {"write", "dlsym", "syscall", "nftw", "posix_spawn"}) {
        EXPECT_EQ(libc.find(name), ::dlsym(handle, name)) << name;
    }
    EXPECT_EQ(libc.find("forebay_nobody_has_this"), nullptr);
    EXPECT_EQ(libc.find("main"), nullptr);
    ::dlclose(handle);
}

// glibc before 2.33 has no fstat: syscall(2) failed there by ENOSYS under the capture.
TEST(RealFunctions, AreSystemCallsWhereAnOlderLibcLacksThem) {
    const auto* const place = std::ranges::find(function_names, std::string_view{"fstat"});
    ASSERT_NE(place, std::end(function_names));
    void* const found = by_system_call(static_cast<std::size_t>(place - function_names));
    ASSERT_NE(found, nullptr);
    const auto call = reinterpret_cast<int (*)(int, struct stat*)>(found);
    struct stat ours{};
    struct stat theirs{};
    EXPECT_EQ(call(STDERR_FILENO, &ours), 0);
    EXPECT_EQ(::fstat(STDERR_FILENO, &theirs), 0);
    EXPECT_EQ(ours.st_ino, theirs.st_ino);
    errno = 0;
    EXPECT_EQ(call(-1, &ours), -1);
    EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace forebay::capture
