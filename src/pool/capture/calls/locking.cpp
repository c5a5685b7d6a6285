// Captured mlockall. The kernel counts all mapped memory: a log alone (16 GiB) exceeds what most
// users may lock, and its pages are the daemon's anyway; our tables exceed the usual limit of 8
// MiB. So everything else is locked range by range, as in a program without a pool. Since large
// mappings fail under MCL_FUTURE, the connection is made before.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/base/atomics.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <linux/capability.h>
#include <span>
#include <sys/mman.h>

extern "C" {
// Defined by the linker: the first byte of this library, and one past its last.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
[[gnu::visibility("hidden")]] extern const std::byte __ehdr_start;
[[gnu::visibility("hidden")]] extern const std::byte _end;
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
}

namespace forebay::capture {

namespace {

struct AddressRange {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};

// The range of the library or of the connection with the lowest address among those that end above
// `at`; empty if there is none.
AddressRange own_behind(std::uintptr_t at) noexcept {
    const std::uintptr_t page = kernel::page_bytes();
    const AddressRange library{
        .begin = reinterpret_cast<std::uintptr_t>(&__ehdr_start) / page * page,
        .end = (reinterpret_cast<std::uintptr_t>(&_end) + page - 1) / page * page};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it is compared only
    const auto mapped =
        connection.first_mapping_ending_after(reinterpret_cast<const std::byte*>(at));
    const auto begin = reinterpret_cast<std::uintptr_t>(mapped.data());
    const bool library_first = library.end > at && (mapped.empty() || library.begin < begin);
    return library_first ? library : AddressRange{.begin = begin, .end = begin + mapped.size()};
}

// Calls `act` for each part of `range` that is not ours.
template <class Act>
void for_others(AddressRange range, Act act) noexcept {
    while (range.begin < range.end) {
        const AddressRange own = own_behind(range.begin);
        const bool none = own.begin == own.end || own.begin >= range.end;
        const std::uintptr_t end = none ? range.end : std::max(own.begin, range.begin);
        if (end > range.begin) {
            act(AddressRange{.begin = range.begin, .end = end});
        }
        range.begin = none ? range.end : own.end;
    }
}

// Takes a hexadecimal number and the character after it off the front of `text`.
std::uintptr_t take_number(std::span<const char>& text) noexcept {
    std::uintptr_t number = 0;
    while (!text.empty()) {
        const char one = text.front();
        text = text.subspan(1);
        if (one >= '0' && one <= '9') {
            number = number * 16 + static_cast<std::uintptr_t>(one - '0');
        } else if (one >= 'a' && one <= 'f') {
            number = number * 16 + static_cast<std::uintptr_t>(one - 'a' + 10);
        } else {
            break;
        }
    }
    return number;
}

// Calls `act` for each mapped range that is not ours. False if /proc/self/maps cannot be read.
template <class Act>
bool for_mapped(Act act) noexcept {
    const int fd = kernel::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    std::array<char, 4096> text;
    std::size_t held = 0;
    bool in_line = false;  // the next bytes belong to a line that was parsed already
    for (;;) {
        const ssize_t got = kernel::read(fd, text.data() + held, text.size() - held);
        if (got <= 0) {
            break;
        }
        std::span<const char> left{text.data(), held + static_cast<std::size_t>(got)};
        while (!left.empty()) {
            const auto line_end = std::ranges::find(left, '\n');
            if (!in_line) {
                if (line_end == left.end() && left.size() < text.size()) {
                    break;  // the rest of the line has not been read
                }
                std::span<const char> numbers = left;
                const std::uintptr_t begin = take_number(numbers);
                for_others({.begin = begin, .end = take_number(numbers)}, act);
            }
            in_line = line_end == left.end();
            left = in_line ? std::span<const char>{}
                           : left.subspan(static_cast<std::size_t>(line_end - left.begin()) + 1);
        }
        held = left.size();
        std::copy(left.begin(), left.end(), text.begin());
    }
    kernel::close(fd);
    return true;
}

// The errno with which the kernel would refuse to lock what is not ours (EPERM, ENOMEM); 0: none.
int refusal() noexcept {
    if (kernel::is_capable(CAP_IPC_LOCK)) {
        return 0;
    }
    rlim_t bytes = 0;
    for_mapped([&](AddressRange range) noexcept { bytes += range.end - range.begin; });
    const rlim_t limit = kernel::limit_of(RLIMIT_MEMLOCK);
    if (limit == 0) {
        return EPERM;
    }
    return bytes > limit ? ENOMEM : 0;
}

// As the kernel does, goes on after a range that cannot be locked.
void lock_current(bool on_fault) noexcept {
    for_mapped([&](AddressRange range) noexcept {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): of /proc/self/maps
        kernel::mlock2(reinterpret_cast<const void*>(range.begin), range.end - range.begin,
                       on_fault ? MLOCK_ONFAULT : 0);
    });
}

}  // namespace

namespace captured {

int mlockall(int flags) noexcept {
    constexpr int known = MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT;
    if (!capturing() || (flags & ~known) != 0 || (flags & (MCL_CURRENT | MCL_FUTURE)) == 0) {
        return real::mlockall(flags);
    }
    const int before = errno;
    static_cast<void>(connection.reach());
    errno = before;
    if ((flags & MCL_CURRENT) == 0) {
        return real::mlockall(flags);
    }
    if (const int error = refusal(); error != 0) {
        return fail(error);
    }
    const int done = (flags & MCL_FUTURE) != 0 ? real::mlockall(flags & ~MCL_CURRENT)
                                               : ::munlockall();  // MCL_FUTURE is switched off
    if (done == 0) {
        lock_current((flags & MCL_ONFAULT) != 0);
        errno = before;
    }
    return done;
}

}  // namespace captured

}  // namespace forebay::capture
