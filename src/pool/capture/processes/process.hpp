// State of the process, the only thing here that changes outside of functions.
#pragma once

#include "pool/capture/calls/libc.hpp"
#include "pool/capture/connection/connection.hpp"
#include "pool/capture/connection/memory.hpp"
#include "pool/capture/descriptors/descriptors.hpp"
#include "pool/capture/files/mappings.hpp"
#include "pool/capture/files/other_names.hpp"
#include "pool/capture/files/paths.hpp"
#include "pool/capture/streams/pooled_stream.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <sys/types.h>

namespace forebay::capture {

// File systems, by the numbers that the kernel gives them; looked for when they are first needed.
struct PoolDevices {
    std::atomic<bool> known;
    dev_t root;
    std::array<dev_t, PoolPaths::folders_max> folders;
};

// Where relative paths begin; looked for again after chdir.
enum class WorkingFolder : std::uint32_t { unknown, outside, pooled };

struct CaptureState {
    std::atomic<bool> captures{false};          // there is a pool
    std::atomic<bool> moving_offset{false};     // a thread puts one into the kernel
    std::atomic<bool> asynchronous{false};      // io_uring or libaio may use any descriptor
    std::atomic<bool> many_tables{false};       // so no descriptor is tracked; tables.hpp
    std::atomic<bool> many_processes{false};    // with this memory and this table of descriptors
    std::atomic<bool> spawns_elsewhere{false};  // it has asked for children in other folders
    bool under_valgrind = false;
    std::atomic<std::int64_t> limit_asked_ns{0};  // size_limit.hpp
    std::atomic<WorkingFolder> folder{WorkingFolder::unknown};
    PoolPaths paths;
    PoolDevices devices{};
    OtherNames other_names;
    FileMappings mappings;
    KnownMemory memory;
    PooledStreams streams;
};

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a process has no other place
// NOLINTBEGIN(bugprone-dynamic-static-initializers): process.cpp has them constinit
extern CaptureState state;
extern DescriptorTable descriptors;
extern DaemonConnection connection;
// NOLINTEND(bugprone-dynamic-static-initializers)
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

// The group that a thread's newly opened files belong to; see pool/client/calls.hpp.
struct FileGrouping {
    std::uint64_t group = 0;  // 0: to none
    bool part = false;        // its writes are deposits
};
// The calling thread's.
[[nodiscard]] FileGrouping& grouping() noexcept;

// A walk through a tree of files by nftw (`visit_with_flags`) or ftw (`visit`).
struct TreeWalk {
    NftwVisit* visit_with_flags = nullptr;
    FtwVisit* visit = nullptr;
    bool follows = true;          // links
    bool changes_folder = false;  // FTW_CHDIR
};
// The calling thread's.
[[nodiscard]] TreeWalk& own_walk() noexcept;

[[nodiscard]] inline bool capturing() noexcept {
    return state.captures.load(std::memory_order_relaxed);
}

// libc's; null: it has none of this name.
[[nodiscard]] void* real_function(const char* name) noexcept;
// The function for a program that has `found` one of this name in one library: ours, if `found` is
// libc's and no other library stands between. One that does may have asked itself.
[[nodiscard]] void* ours_for(void* found, const char* name) noexcept;
// There is one of ours.
[[nodiscard]] bool is_captured(const char* name) noexcept;

// Around every fork: before it, and in the child.
void before_fork() noexcept;
void in_child() noexcept;
// In a child that has a copy of the memory, and shares the descriptors (CLONE_FILES).
void in_child_with_our_descriptors() noexcept;

}  // namespace forebay::capture
