// The table of captured descriptors: which file descriptors of this process refer to files of the
// pool. As in POSIX, several descriptors may refer to one open file description (dup, fork), which
// has the offset. Fixed arrays of atomics, so that threads and signal handlers may use them at any
// time.
#pragma once

#include "pool/client/daemon.hpp"
#include "pool/client/readahead/read_ahead_policy.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace forebay::capture {

inline constexpr int descriptors_max = 65536;  // only descriptors below this number can be captured
inline constexpr std::size_t descriptions_max = 1 << 13;  // open file descriptions at a time
// Standard input, output and error: libc's streams use them by internal calls, which are not
// captured.
inline constexpr int standard_streams = 3;
[[nodiscard]] constexpr bool is_standard(int fd) noexcept {
    return fd >= 0 && fd < standard_streams;
}
// FileDescription::offset: the kernel has the offset, since others share it.
inline constexpr std::int64_t in_kernel = -1;

// How this process uses a file whose descriptor is one of a mount of Forebay (files/mounted.hpp).
// The kernel always has the offset of such a file, and all calls on it that are not captured are
// right.
enum class MountedUse : std::uint8_t {
    none,       // the file is not one of a mount
    counted,    // its calls go through the mount, and their bytes are counted
    joining,    // a thread asks the mount and the daemon
    joined,     // reads and writes are the pool's
    by_kernel,  // its calls go through the mount for good
};

// An open file description of the pool (POSIX); this place of the table is free while `holders` is
// 0.
struct alignas(64) FileDescription {
    // Reference count: descriptors, calls that are under way, and mappings.
    std::atomic<std::uint32_t> holders;
    // Generation of the connection (DaemonConnection::number) over which the daemon learned of the
    // file; it differs after a fork.
    std::atomic<std::uint32_t> connection;
    std::atomic<std::uint64_t> id;
    std::atomic<std::int64_t> offset;
    std::atomic<int> flags;    // open(2)'s flags
    std::atomic<bool> passes;  // the file has left the pool: reads and writes are passed on to libc
    // Opened by ranks of several nodes together, without depositing itself (group_opens in
    // calls.hpp): it never is in the pool.
    std::atomic<bool> beside;
    // Opened with O_DIRECT, and not used yet. Until then the file stays in the pool: Intel MPI
    // opens each file like this beside the descriptor that it uses.
    std::atomic<bool> unused_direct;
    std::atomic<bool> wrote;  // at least one write went through this description
    // The first bytes written mark a file that the loader or libc reads by internal calls; see
    // read_by_libc.hpp.
    std::atomic<bool> read_inside;
    std::atomic<MountedUse> mounted;
    // Another process may have the description, too, and may set O_APPEND on it.
    std::atomic<bool> shared;
    // The process that opened the mounted file.
    std::atomic<std::int32_t> opener;
    // Bytes of the mounted file that have gone through the mount, and where the serving process has
    // its descriptor of the file below.
    std::atomic<std::int64_t> moved;
    std::atomic<std::uint64_t> below;

    [[nodiscard]] pool::FileId file() const noexcept {
        const std::uint64_t both = id.load(std::memory_order_relaxed);
        return {.slot = static_cast<std::uint32_t>(both),
                .generation = static_cast<std::uint32_t>(both >> 32U)};
    }
    void set_file(pool::FileId file) noexcept {
        id.store(std::uint64_t{file.generation} << 32U | file.slot, std::memory_order_relaxed);
    }
};

// The read-ahead state of a description, used by one call at a time. `ahead` is empty until the
// description is made: an all-zero table takes no space in the library's file.
struct alignas(64) ReadPrediction {
    std::atomic<bool> taken;
    std::optional<pool::ReadAheadPolicy> ahead;
};

// Try-lock on a description's read-ahead state. get() is null if another call has it.
class PredictionLock {
public:
    explicit PredictionLock(ReadPrediction& guess) noexcept
        : guess_{guess}, got_{!guess.taken.exchange(true, std::memory_order_acquire)} {}
    PredictionLock(const PredictionLock&) = delete;
    PredictionLock& operator=(const PredictionLock&) = delete;
    ~PredictionLock() {
        if (got_) {
            guess_.taken.store(false, std::memory_order_release);
        }
    }
    [[nodiscard]] pool::ReadAheadPolicy* get() const noexcept {
        return got_ ? &*guess_.ahead : nullptr;
    }

private:
    ReadPrediction& guess_;
    bool got_;
};

class DescriptorTable {
public:
    constexpr DescriptorTable() noexcept = default;
    DescriptorTable(const DescriptorTable&) = delete;
    DescriptorTable& operator=(const DescriptorTable&) = delete;
    ~DescriptorTable() = default;

    [[nodiscard]] bool captured(int fd) const noexcept {
        return static_cast<unsigned>(fd) < descriptors_max &&
               table_[static_cast<std::size_t>(fd)].load(std::memory_order_acquire) != 0;
    }
    // Whether `fd` refers to this description: another thread may have closed or replaced it.
    [[nodiscard]] bool refers(int fd, const FileDescription& one) const noexcept {
        return static_cast<unsigned>(fd) < descriptors_max &&
               table_[static_cast<std::size_t>(fd)].load(std::memory_order_acquire) ==
                   number_of(one);
    }
    // One past the highest number that was ever captured.
    [[nodiscard]] int end() const noexcept { return end_.load(std::memory_order_acquire); }

    // A new description with one hold, which is the caller's; null if none is free.
    [[nodiscard]] FileDescription* make() noexcept;
    // Takes a hold of the description behind `fd`, for the caller to drop. `held` is null if `fd`
    // is not captured. If `right` is false, `fd` was closed meanwhile: drop `held` and try again.
    struct Try {
        FileDescription* held = nullptr;
        bool right = true;
    };
    [[nodiscard]] Try try_hold(int fd) noexcept;
    // Adds a hold. Contract: the caller has one already.
    static void hold(FileDescription& held) noexcept;
    // The state of a description after a hold was dropped.
    enum class Dropped : std::uint8_t {
        held,        // others have holds
        free,        // that was the last hold: the description may be reused at once
        miscounted,  // it had no hold, which is a defect: it is never reused
    };
    [[nodiscard]] static Dropped drop(FileDescription& held) noexcept;

    // Which description of the table it is. A child of a fork has the same ones.
    [[nodiscard]] std::size_t index_of(const FileDescription& one) const noexcept {
        return static_cast<std::size_t>(&one - descriptions_.data());
    }
    [[nodiscard]] ReadPrediction& guess(const FileDescription& one) noexcept {
        return guesses_[index_of(one)];
    }

    // Stores `held` for descriptor `fd`, which takes over the caller's hold; null clears the entry.
    // Returns the description that was stored before, for the caller to drop. Contract: `fd` is
    // below descriptors_max.
    FileDescription* put(int fd, FileDescription* held) noexcept;
    FileDescription* take(int fd) noexcept { return put(fd, nullptr); }
    // Clears the entry if it still is `expected`. Returns whether it did; the hold is then the
    // caller's to drop.
    [[nodiscard]] bool take(int fd, const FileDescription& expected) noexcept;

    // In a forked child: counts only the holds of descriptors, since calls that were under way in
    // other threads do not exist here.
    void recount() noexcept;

private:
    using Number = std::uint16_t;  // index of a description plus 1; 0: not captured
    static_assert(descriptions_max < UINT16_MAX);
    // A hold count that never becomes 0 again.
    static constexpr std::uint32_t miscounted = std::uint32_t{1} << 31U;

    [[nodiscard]] Number number_of(const FileDescription& one) const noexcept {
        return static_cast<Number>(index_of(one) + 1);
    }

    std::array<std::atomic<Number>, descriptors_max> table_{};
    std::array<FileDescription, descriptions_max> descriptions_{};
    std::array<ReadPrediction, descriptions_max> guesses_{};
    // One past the highest index of a description that was ever used.
    std::atomic<std::uint32_t> made_{0};
    std::atomic<int> end_{0};
};

}  // namespace forebay::capture
