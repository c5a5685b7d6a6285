// The process-wide state of the capture library (its only mutable globals), and functions around it
// that other folders need: libc's own functions, fork handlers, state of the calling thread.
#pragma once

#include "pool/capture/calls/libc.hpp"
#include "pool/capture/connection/connection.hpp"
#include "pool/capture/connection/memory.hpp"
#include "pool/capture/descriptors/descriptors.hpp"
#include "pool/capture/descriptors/offset_lock.hpp"
#include "pool/capture/files/mappings.hpp"
#include "pool/capture/files/other_names.hpp"
#include "pool/capture/files/paths.hpp"
#include "pool/capture/streams/pooled_stream.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <sys/types.h>

namespace forebay::capture {

// Device numbers (st_dev) of the root and of the pool's directories; looked up when first needed.
struct PoolDevices {
    std::atomic<bool> known;
    dev_t root;
    // A directory of the pool is on the root's file system, or will be when a mount over it ends.
    bool are_on_root;
    std::array<dev_t, PoolPaths::folders_max> folders;
};

// Where the working directory is; looked up again after chdir.
enum class WorkingFolder : std::uint32_t { unknown, outside, pooled };

// File systems that are known to be mounts of Forebay.
struct KnownMount {
    std::atomic<dev_t> device{0};     // st_dev; 0: free
    std::atomic<bool> is_own{false};  // mounted by this user, or by root
};
using KnownMounts = std::array<KnownMount, PoolPaths::folders_max>;
using KnownDevices = std::array<std::atomic<dev_t>, PoolPaths::folders_max>;

struct CaptureState {
    std::atomic<bool> captures{false};  // there is a pool, and captured calls use it
    // Spin lock: a thread is moving an offset into the kernel.
    std::atomic<bool> moving_offset{false};
    std::atomic<bool> asynchronous{false};  // io_uring or libaio may use any descriptor
    std::atomic<bool> many_tables{false};   // descriptors are no longer tracked; tables.hpp
    // Another process shares this memory and descriptor table.
    std::atomic<bool> many_processes{false};
    // A posix_spawn file action changes the working directory.
    std::atomic<bool> spawns_elsewhere{false};
    bool under_valgrind = false;
    bool containers_join = false;                 // setting pool_containers_join
    std::atomic<std::int64_t> limit_asked_ns{0};  // size_limit.hpp
    std::atomic<WorkingFolder> folder{WorkingFolder::unknown};
    PoolPaths paths;
    PoolDevices devices{};
    KnownMounts mounts{};
    KnownDevices not_fuse{};  // file systems that cannot be mounts of Forebay; 0: free
    OtherNames other_names;
    FileMappings mappings;
    KnownMemory memory;
    PooledStreams streams;
    OffsetLocks offset_locks{};
    // Those of this process and of its relatives by fork, in place of the others; null: none yet.
    std::atomic<OffsetLocks*> shared_offset_locks{nullptr};
};

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a process has no other place
// NOLINTBEGIN(bugprone-dynamic-static-initializers): process.cpp has them constinit
extern CaptureState state;
extern DescriptorTable descriptors;
extern DaemonConnection connection;
// NOLINTEND(bugprone-dynamic-static-initializers)
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

// The group that the calling thread's newly opened files belong to; see pool/client/calls.hpp.
struct FileGrouping {
    std::uint64_t group = 0;  // 0: none
    bool part = false;        // true: their writes are deposits
};
// The calling thread's grouping.
[[nodiscard]] FileGrouping& grouping() noexcept;

// A walk through a directory tree by nftw (`visit_with_flags`) or ftw (`visit`).
struct TreeWalk {
    NftwVisit* visit_with_flags = nullptr;
    FtwVisit* visit = nullptr;
    bool follows = true;          // follows symbolic links
    bool changes_folder = false;  // FTW_CHDIR
};
// The calling thread's walk.
[[nodiscard]] TreeWalk& own_walk() noexcept;

[[nodiscard]] inline bool capturing() noexcept {
    return state.captures.load(std::memory_order_relaxed);
}

// libc's function of that name; null if it has none.
[[nodiscard]] void* real_function(const char* name) noexcept;
// The function that a dlsym of `name`, which has `found` this address, should return: ours if
// `found` is libc's and no other library interposes it; otherwise `found` itself.
[[nodiscard]] void* ours_for(void* found, const char* name) noexcept;
// Whether we have a function of that name.
[[nodiscard]] bool is_captured(const char* name) noexcept;

// Fork handlers: before every fork, and in the child.
void before_fork() noexcept;
void in_child() noexcept;
// For a child that has a copy of the memory but shares the descriptor table (CLONE_FILES).
void in_child_with_our_descriptors() noexcept;

}  // namespace forebay::capture
