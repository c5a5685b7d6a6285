// Functions that are loaded behind this program.
#include "pool/capture/symbols/symbols.hpp"

#include "capture/real.hpp"

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <gtest/gtest.h>

namespace forebay::capture {
namespace {

Symbols behind_this_program() {
    Symbols symbols;
    EXPECT_TRUE(symbols.learn());
    return symbols;
}

TEST(Symbols, AreThoseThatTheLoaderFinds) {
    const Symbols symbols = behind_this_program();
    for (const char* const name : function_names) {
        EXPECT_EQ(symbols.find(name), ::dlsym(RTLD_NEXT, name)) << name;
    }
}

TEST(Symbols, OfSeveralVersionsTheDefaultOneIsFound) {
    const Symbols symbols = behind_this_program();
    for (const char* const name : {"fmemopen", "pthread_cond_wait", "regexec", "nftw"}) {
        EXPECT_EQ(symbols.find(name), ::dlsym(RTLD_NEXT, name)) << name;
    }
}

TEST(Symbols, WhatNobodyHasIsNotFound) {
    const Symbols symbols = behind_this_program();
    EXPECT_EQ(symbols.find("forebay_nobody_has_this"), nullptr);
    EXPECT_EQ(symbols.find(""), nullptr);
}

TEST(Symbols, AreFoundWithoutBeingLearnt) {
    for (const char* const name : {"dlsym", "dlopen", "write", "strcmpx", ""}) {
        EXPECT_EQ(Symbols::find_behind(name), ::dlsym(RTLD_NEXT, name)) << name;
    }
}

TEST(Symbols, NothingIsFoundBeforeAnythingIsKnown) {
    const Symbols symbols;
    EXPECT_EQ(symbols.find("open"), nullptr);
}

TEST(Symbols, WhatTheLoaderChoosesForTheProcessorIsLeftToIt) {
    const Symbols symbols = behind_this_program();
    EXPECT_EQ(symbols.find("rawmemchr"), nullptr);
}

TEST(Symbols, OfOneObjectAreThoseThatItsHandleFinds) {
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

}  // namespace
}  // namespace forebay::capture
