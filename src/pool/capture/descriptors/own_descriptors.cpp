// A descriptor stays open if the limit later falls below its number, so the limit need only be
// raised for the moment of the dup.
#include "pool/capture/descriptors/own_descriptors.hpp"

#include "foundation/kernel/calls.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <sys/resource.h>

namespace forebay::capture {

namespace {

// Upper bound of the limit for which this is done: the kernel's table of descriptors is as long as
// its highest number, and each fork copies it.
constexpr rlim_t beyond_max = rlim_t{1} << 16;
constexpr rlim_t own_max = 8;
constexpr std::array<long, 3> high_numbers{512, 100, 3};

}  // namespace

int duplicate_above_limit(int fd) noexcept {
    rlimit before{};
    if (kernel::prlimit(RLIMIT_NOFILE, nullptr, &before) != 0 || before.rlim_cur > beyond_max) {
        return -1;
    }
    const rlim_t more = before.rlim_cur + own_max;
    const rlimit raised{.rlim_cur = more, .rlim_max = std::max(before.rlim_max, more)};
    if (kernel::prlimit(RLIMIT_NOFILE, &raised, nullptr) != 0) {
        return -1;
    }
    const int high = kernel::fcntl(fd, F_DUPFD_CLOEXEC, static_cast<long>(before.rlim_cur));
    kernel::prlimit(RLIMIT_NOFILE, &before, nullptr);
    return high;
}

int duplicate_to_high_number(int fd) noexcept {
    int high = duplicate_above_limit(fd);
    for (const long number : high_numbers) {
        if (high >= 0) {
            break;
        }
        high = kernel::fcntl(fd, F_DUPFD_CLOEXEC, number);
    }
    return high;
}

}  // namespace forebay::capture
