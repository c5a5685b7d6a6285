// For tests: a simulation in a process of its own, since SimGrid allows one per process.
#pragma once

#include <array>
#include <cstddef>
#include <gtest/gtest.h>
#include <span>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>

namespace forebay::sim {

// Calls `simulate` in a child process and returns its result. The test fails if the child dies.
template <class Simulate>
auto in_own_process(const Simulate& simulate) {
    using Outcome = std::invoke_result_t<Simulate>;
    static_assert(std::is_trivially_copyable_v<Outcome>);
    Outcome outcome;
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span{&outcome, 1});
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        outcome = simulate();
        _exit(write(ends[1], bytes.data(), bytes.size()) > 0 ? 0 : 1);
    }
    close(ends[1]);
    EXPECT_EQ(read(ends[0], bytes.data(), bytes.size()), std::ssize(bytes)) << "the world ended";
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return outcome;
}

}  // namespace forebay::sim
