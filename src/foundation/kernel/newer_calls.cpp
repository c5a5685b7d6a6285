// Tries the newer system call each time: an ENOSYS takes less time than whatever follows it.
#include "foundation/kernel/newer_calls.hpp"

#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/newer_linux.hpp"
#include "foundation/kernel/system_call.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <dirent.h>
#include <fcntl.h>
#include <optional>
#include <sys/syscall.h>

namespace forebay::kernel {

namespace {

template <class... Arguments>
int status(long number, Arguments... arguments) noexcept {
    return static_cast<int>(system_call(number, word_of(arguments)...));
}

// Some containers' filters refuse unknown calls by EPERM.
bool is_missing(int error) noexcept { return error == ENOSYS || error == EPERM; }

// The number that a name in /proc/self/fd stands for; nullopt for "." and "..".
std::optional<unsigned> number_of(const char* name) noexcept {
    unsigned number = 0;
    for (; *name >= '0' && *name <= '9'; ++name) {
        number = number * 10 + static_cast<unsigned>(*name - '0');
    }
    return *name == '\0' ? std::optional<unsigned>{number} : std::nullopt;
}

// False if not all of them are known: there is no /proc, or no descriptor left to read it by. The
// kernel lists by number, so that closing in between makes it leave out nothing.
bool close_listed(unsigned first, unsigned last) noexcept {
    const int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        return false;
    }
    alignas(dirent64) std::array<char, 4096> entries;
    int got = 0;
    while ((got = status(SYS_getdents64, folder, entries.data(), entries.size())) > 0) {
        for (int at = 0; at < got;) {
            const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
            at += entry->d_reclen;
            const std::optional<unsigned> number = number_of(&entry->d_name[0]);
            const auto fd = static_cast<int>(number.value_or(0));
            if (number && *number >= first && *number <= last && fd != folder) {
                close(fd);
            }
        }
    }
    close(folder);
    return got == 0;
}

}  // namespace

int epoll_wait(int epoll, epoll_event* events, int count, const timespec& wait_max) noexcept {
    const int got = status(number::epoll_pwait2, epoll, events, count, &wait_max, nullptr, 0);
    if (got >= 0 || !is_missing(errno)) {
        return got;
    }
    constexpr long ms_of_second = 1'000;
    constexpr long ns_of_ms = 1'000'000;
    const long ms = wait_max.tv_sec * ms_of_second + (wait_max.tv_nsec + ns_of_ms - 1) / ns_of_ms;
    return status(SYS_epoll_pwait, epoll, events, count, std::min<long>(ms, INT_MAX), nullptr, 0);
}

void close_range(unsigned first, unsigned last) noexcept {
    if (status(number::close_range, first, last, 0) == 0 || close_listed(first, last)) {
        return;
    }
    constexpr rlim_t numbers_max = 1U << 20U;
    const rlim_t end = std::min({limit_of(RLIMIT_NOFILE), numbers_max, rlim_t{last} + 1});
    for (rlim_t fd = first; fd < end; ++fd) {
        close(static_cast<int>(fd));
    }
}

int pidfd_open(pid_t process) noexcept { return status(number::pidfd_open, process, 0); }

}  // namespace forebay::kernel
