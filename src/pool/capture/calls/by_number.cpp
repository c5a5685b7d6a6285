// Handlers of system calls that are captured only by number (syscall(2)), or that mean something
// else than libc's function of that name.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/newer_linux.hpp"
#include "pool/capture/calls/numbers.hpp"
#include "pool/capture/descriptors/tables.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"

#include <sys/syscall.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>

namespace forebay::capture {

namespace {

// A fork by number; if the child shares the descriptor table, tracking stops first, as in
// captured::clone.
long forked(long number, const long* words, bool shares_descriptors) noexcept {
    const int error = shares_descriptors && capturing() ? stop_tracking() : 0;
    if (error != 0) {
        return fail(error);
    }
    before_fork();
    const long child =
        kernel::system_call(number, words[0], words[1], words[2], words[3], words[4]);
    if (child == 0 && shares_descriptors) {
        in_child_with_our_descriptors();
    } else if (child == 0) {
        in_child();
    }
    return child;
}

// The flags of a clone_args block, which has been checked to be readable.
std::uint64_t flags_of(const void* block) noexcept {
    std::uint64_t flags = 0;
    std::memcpy(&flags, block, sizeof flags);
    return flags;
}

}  // namespace

bool concerns(long fd) noexcept {
    const int number = static_cast<int>(fd);
    return descriptors.captured(number) || connection.owns(number);
}

// F_GETOWN is left out, because libc's function asks in another way than the kernel's. A duplicate
// may get the number of a descriptor that was closed by a call that is not captured.
bool is_own_fcntl(const long* words) noexcept {
    const int command = static_cast<int>(words[1]);
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ||
           (command != F_GETOWN && concerns(words[0]));
}

// Whether the child has its own memory and returns on the parent's stack, as after fork. A child
// with another stack would return there below frames of ours that do not exist.
bool is_fork(const long* words) noexcept { return (words[0] & CLONE_VM) == 0 && words[1] == 0; }

bool is_fork_by_block(const long* words) noexcept {
    kernel::CloneArguments block;
    const auto* const from = as<const void*>(words[0]);
    const auto bytes = static_cast<std::size_t>(words[1]);
    if (bytes < sizeof block || state.memory.readable(from, sizeof block) != sizeof block) {
        return false;
    }
    std::memcpy(&block, from, sizeof block);
    return (block.flags & CLONE_VM) == 0 && block.stack == 0;
}

namespace captured {

ssize_t preadv2_by_number(int fd, const iovec* pieces, int count, off_t at, long,
                          int flags) noexcept {
    return captured::preadv2(fd, pieces, count, at, flags);
}

ssize_t pwritev2_by_number(int fd, const iovec* pieces, int count, off_t at, long,
                           int flags) noexcept {
    return captured::pwritev2(fd, pieces, count, at, flags);
}

int fchmodat_by_number(int folder, const char* path, mode_t mode) noexcept {
    return captured::fchmodat(folder, path, mode, 0);
}

long io_setup_by_number(unsigned events, void* context) noexcept {
    leave_for_good();
    return kernel::system_call(SYS_io_setup, kernel::word_of(events), kernel::word_of(context));
}

long io_uring_setup(unsigned entries, void* parameters) noexcept {
    leave_for_good();
    return kernel::system_call(kernel::number::io_uring_setup, kernel::word_of(entries),
                               kernel::word_of(parameters));
}

// As the kernel's fork, which not every machine has as a system call of its own.
long fork_by_number() noexcept {
    constexpr long words[5] = {SIGCHLD};
    return forked(SYS_clone, words, false);
}

long clone_by_number(long flags, void* stack, void* parent, void* child, long storage) noexcept {
    const long words[] = {flags, kernel::word_of(stack), kernel::word_of(parent),
                          kernel::word_of(child), storage};
    return forked(SYS_clone, words, (flags & CLONE_FILES) != 0);
}

long clone3_by_number(void* block, size_t bytes) noexcept {
    const long words[] = {kernel::word_of(block), kernel::word_of(bytes), 0, 0, 0};
    return forked(kernel::number::clone3, words, (flags_of(block) & CLONE_FILES) != 0);
}

// The kernel reads the module from the file system.
long finit_module(int fd, const char* parameters, int flags) noexcept {
    const int error = drain_if_captured(fd);
    return error != 0
               ? fail(error)
               : kernel::system_call(SYS_finit_module, fd, kernel::word_of(parameters), flags);
}

}  // namespace captured

}  // namespace forebay::capture
