// The file descriptor of this process' own deposit log (shared memory, not a text log). pwrite on
// it fills newly allocated memory without mapping it first
// (docs/decisions/0035-new-memory-is-written-without-being-mapped.md). Four ways lead away from the
// descriptor: close(), drop_unclosed(), yield_number() and move_to_duplicate().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/types.h>

namespace forebay::capture {

class LogDescriptor {
public:
    LogDescriptor() noexcept = default;
    LogDescriptor(const LogDescriptor&) = delete;
    LogDescriptor& operator=(const LogDescriptor&) = delete;
    ~LogDescriptor() = default;

    // Takes ownership of `fd`, the descriptor of a log of `bytes` bytes. Closes `fd` if it cannot
    // be examined; fd() is -1 then.
    void take(int fd, std::size_t bytes) noexcept;
    // Closes the descriptor, and resets the count of writes under way: also for a forked child, in
    // which those are its parent's.
    void close() noexcept;
    // Drops the number but leaves the descriptor open: for a child that shares the table of
    // descriptors (CLONE_FILES) with its parent, which goes on writing.
    void drop_unclosed() noexcept;
    [[nodiscard]] int fd() const noexcept { return fd_.load(std::memory_order_relaxed); }
    // Gives up the number because the program is about to use it for a file of its own, which
    // closes the descriptor. Returns once no thread writes by it any more, or after about a second.
    void yield_number() noexcept;
    // Moves the descriptor to the number that `duplicate` makes (a duplicate of its argument, or
    // -1), and closes the old one; keeps it if `duplicate` fails. Only for a process with a single
    // thread.
    void move_to_duplicate(int (*duplicate)(int fd)) noexcept;
    // Writes `bytes` at byte `place` of the log. False: nothing counts as written, and the caller
    // has to copy the bytes into mapped memory. Keeps errno.
    [[nodiscard]] bool write(std::size_t place, std::span<const std::byte> bytes) noexcept;

private:
    [[nodiscard]] bool is_still_the_log(int fd) const noexcept;

    std::atomic<int> fd_{-1};
    std::atomic<std::uint32_t> writes_in_flight_{0};  // calls of write() that are under way
    std::size_t bytes_ = 0;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

}  // namespace forebay::capture
