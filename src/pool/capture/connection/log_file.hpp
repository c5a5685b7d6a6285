// The descriptor of this process' own log, by which new memory of it is written to without being
// mapped (docs/decisions/0035-new-memory-is-written-without-being-mapped.md).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/types.h>

namespace forebay::capture {

class LogFile {
public:
    LogFile() noexcept = default;
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;
    ~LogFile() = default;

    // Takes the descriptor. `bytes`: how long the log is.
    void take(int fd, std::size_t bytes) noexcept;
    // Also in a forked child: what is under way is the parent's.
    void close() noexcept;
    // In a child that shares the descriptor with its parent, which goes on writing.
    void forget() noexcept;
    [[nodiscard]] int number() const noexcept { return fd_.load(std::memory_order_relaxed); }
    // The program wants the number, and will have it once this returns: nothing is written here any
    // more.
    void give_up() noexcept;
    // It has another number, which `doubled` makes of the present one, or the same where that
    // fails. For a process without threads.
    void move_to_double(int (*doubled)(int fd)) noexcept;
    // At a place of the log. False: nothing that matters was written, and it has to be copied.
    // Leaves errno alone.
    [[nodiscard]] bool write(std::size_t place, std::span<const std::byte> bytes) noexcept;

private:
    [[nodiscard]] bool is_still_the_log(int fd) const noexcept;

    std::atomic<int> fd_{-1};
    std::atomic<std::uint32_t> writings_{0};  // under way
    std::size_t bytes_ = 0;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

}  // namespace forebay::capture
