// Which descriptors of this process are files of the pool. The kernel's words: several descriptors
// may refer to one open file description (dup, fork), which has the offset. Fixed tables of
// atomics, so that threads and signal handlers may use them at any time.
#pragma once

#include "pool/client/daemon.hpp"
#include "pool/client/readahead/read_ahead_policy.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace forebay::capture {

inline constexpr int descriptors_max = 65536;             // numbers below this can be captured
inline constexpr std::size_t descriptions_max = 1 << 13;  // open at a time
// libc's streams read and write these three, where nobody sees it.
inline constexpr int standard_streams = 3;
[[nodiscard]] constexpr bool is_standard(int fd) noexcept {
    return fd >= 0 && fd < standard_streams;
}
inline constexpr std::int64_t in_kernel = -1;  // the offset is the kernel's: others share it

// An open file description. Free while nobody holds it.
struct alignas(64) FileDescription {
    // Descriptors, calls under way and mappings.
    std::atomic<std::uint32_t> holders;
    // The connection over which the daemon learned of the file; another one after fork.
    std::atomic<std::uint32_t> connection;
    std::atomic<std::uint64_t> id;
    std::atomic<std::int64_t> offset;
    std::atomic<int> flags;    // as for open(2)
    std::atomic<bool> passes;  // its data is libc's business: it left the pool
    // It was opened by ranks of several nodes together, and never is in the pool; groups.hpp.
    std::atomic<bool> beside;
    std::atomic<bool> wrote;  // at least once
    // By its first bytes, a file that the loader or libc reads inside; inside_kind.hpp.
    std::atomic<bool> read_inside;

    [[nodiscard]] pool::FileId file() const noexcept {
        const std::uint64_t both = id.load(std::memory_order_relaxed);
        return {.slot = static_cast<std::uint32_t>(both),
                .generation = static_cast<std::uint32_t>(both >> 32U)};
    }
    void set_file(pool::FileId file) noexcept {
        id.store(std::uint64_t{file.generation} << 32U | file.slot, std::memory_order_relaxed);
    }
};

// The prediction of the reads by a description. One call at a time uses it. It is there from when
// the description is made; before that all bytes are 0, so that tables take no room in the
// library's file.
struct alignas(64) ReadPrediction {
    std::atomic<bool> taken;
    std::optional<pool::ReadAheadPolicy> ahead;
};

// While it lives, nobody else has the guess; null, where somebody else has it.
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
    // One past the highest number that ever was captured.
    [[nodiscard]] int end() const noexcept { return end_.load(std::memory_order_acquire); }

    // A description that nobody else knows, held by the caller; null where there is none left.
    [[nodiscard]] FileDescription* make() noexcept;
    // To be dropped by the caller. Null: the descriptor is not captured. Not `right`: it was closed
    // meanwhile; drop what was held instead, and try again.
    struct Try {
        FileDescription* held = nullptr;
        bool right = true;
    };
    [[nodiscard]] Try try_hold(int fd) noexcept;
    // One holder more. Contract: the caller holds it.
    static void hold(FileDescription& held) noexcept;
    // The state of a description after a hold of it was dropped.
    enum class Dropped : std::uint8_t {
        held,        // by others
        free,        // it was the last hold; the description's `file` was read before
        miscounted,  // nobody held it, which is a defect: it is not handed out any more
    };
    [[nodiscard]] static Dropped drop(FileDescription& held) noexcept;

    [[nodiscard]] ReadPrediction& guess(const FileDescription& one) noexcept {
        return guesses_[static_cast<std::size_t>(&one - descriptions_.data())];
    }

    // The caller's hold becomes the descriptor's. Returns the hold that was there before, for the
    // caller to drop. Contract: the number can be captured.
    FileDescription* put(int fd, FileDescription* held) noexcept;
    FileDescription* take(int fd) noexcept { return put(fd, nullptr); }
    // Only if it is still this one. True: its hold is the caller's to drop.
    [[nodiscard]] bool take(int fd, const FileDescription& expected) noexcept;

    // In a forked child: calls that were under way in other threads have ended.
    void recount() noexcept;

private:
    using Number = std::uint16_t;  // a description's, from 1; 0: not captured
    static_assert(descriptions_max < UINT16_MAX);
    static constexpr std::uint32_t miscounted = std::uint32_t{1} << 31U;  // never free again

    [[nodiscard]] Number number_of(const FileDescription& one) const noexcept {
        return static_cast<Number>(&one - descriptions_.data() + 1);
    }

    std::array<std::atomic<Number>, descriptors_max> table_{};
    std::array<FileDescription, descriptions_max> descriptions_{};
    std::array<ReadPrediction, descriptions_max> guesses_{};
    std::atomic<std::uint32_t> made_{0};  // descriptions that were ever in use are below it
    std::atomic<int> end_{0};
};

}  // namespace forebay::capture
