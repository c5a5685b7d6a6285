// Files whose deposits were lost when the daemon died: whoever asks for them by name is told (EIO),
// until somebody writes them anew.
#pragma once

#include "pool/protocol/limits.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace forebay::capture {

// Files, by their slots in the directory, that this process has emptied or made anew after the
// daemon's death: they are plain files.
class RewrittenFiles {
public:
    // `daemon` is its process number. A forked child may have another one than its parent had, and
    // forgets the files of that.
    void add(std::uint64_t daemon, std::uint32_t slot) noexcept {
        if (daemon_.exchange(daemon, std::memory_order_relaxed) != daemon) {
            for (std::atomic<std::uint64_t>& some : slots_) {
                some.store(0, std::memory_order_relaxed);
            }
        }
        slots_[slot / 64].fetch_or(bit_of(slot), std::memory_order_relaxed);
    }
    [[nodiscard]] bool holds(std::uint64_t daemon, std::uint32_t slot) const noexcept {
        return daemon_.load(std::memory_order_relaxed) == daemon &&
               (slots_[slot / 64].load(std::memory_order_relaxed) & bit_of(slot)) != 0;
    }

private:
    [[nodiscard]] static std::uint64_t bit_of(std::uint32_t slot) noexcept {
        return std::uint64_t{1} << slot % 64;
    }

    std::atomic<std::uint64_t> daemon_{0};  // whose slots these are; 0: none
    std::array<std::atomic<std::uint64_t>, pool::files_max / 64> slots_{};
};

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): defined in process.cpp
extern constinit RewrittenFiles rewritten_files;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

// A regular file's identity and time of modification, as the file system gives them.
struct SeenFile {
    dev_t device = 0;
    ino_t inode = 0;
    std::int64_t modified_ns = 0;  // st_mtime
};

// Whether the daemon that this process has reached is dead, and the file lacks deposits; then the
// process has been told about the daemon. A forked child that reaches none asks for its parent's.
[[nodiscard]] bool is_lost(const SeenFile& seen) noexcept;
// is_lost() of an open file.
[[nodiscard]] bool is_lost(int fd) noexcept;
// The same of any file of the pool.
[[nodiscard]] bool any_is_lost() noexcept;
// Called when the file was opened after the daemon's death. `anew`: it has no bytes from before.
// Returns 0, or EIO if it is lost.
[[nodiscard]] int error_of_opening(int fd, bool anew) noexcept;

}  // namespace forebay::capture
