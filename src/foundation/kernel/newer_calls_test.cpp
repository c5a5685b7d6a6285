// Tests the replacements of newer system calls in a child process whose kernel seems to have none
// of them: a seccomp filter refuses them.
#include "foundation/kernel/newer_calls.hpp"

#include "foundation/kernel/newer_linux.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace forebay::kernel {
namespace {

constexpr int no_filters = 77;

// Lets two system calls fail in this process from now on. False: the kernel has no filters.
bool refuse(long one, long other, unsigned error) {
    std::array<sock_filter, 5> steps{{
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
        {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, static_cast<unsigned>(one)},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<unsigned>(other)},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | error},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    }};
    const sock_fprog filter{steps.size(), steps.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// The exit status of a child in which epoll_pwait2 and close_range fail with `error`; 0 if `holds`.
template <class Check>
int in_older_kernel(int error, const Check& holds) {
    const pid_t child = ::fork();
    if (child == 0) {
        if (!refuse(number::epoll_pwait2, number::close_range, static_cast<unsigned>(error))) {
            ::_exit(no_filters);
        }
        ::_exit(holds() ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

// Waits for an event that is there, then for none.
bool waits_for_events() {
    const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    const int bell = ::eventfd(1, EFD_CLOEXEC);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = 5;
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, bell, &event);
    std::array<epoll_event, 2> events{};
    const bool heard = epoll_wait(epoll, events.data(), 2, {3600, 0}) == 1;
    const bool is_it = events[0].data.u64 == 5;
    ::epoll_ctl(epoll, EPOLL_CTL_DEL, bell, nullptr);
    const bool none = epoll_wait(epoll, events.data(), 2, {0, 200'000}) == 0;
    const bool none_at_once = epoll_wait(epoll, events.data(), 2, {0, 0}) == 0;
    ::close(bell);
    ::close(epoll);
    return heard && is_it && none && none_at_once;
}

// Opens descriptors far apart, and closes those in the middle.
bool closes_what_lies_between() {
    for (const int fd : {40, 41, 45, 200, 201}) {
        if (::dup2(STDERR_FILENO, fd) != fd) {
            return false;
        }
    }
    close_range(41, 200);
    return is_open(40) && !is_open(41) && !is_open(45) && !is_open(200) && is_open(201);
}

bool closes_many() {
    for (int fd = 100; fd < 900; ++fd) {
        if (::dup2(STDERR_FILENO, fd) != fd) {
            return false;
        }
    }
    close_range(STDERR_FILENO + 1, ~0U);
    for (int fd = STDERR_FILENO + 1; fd < 1000; ++fd) {
        if (is_open(fd)) {
            return false;
        }
    }
    return is_open(STDERR_FILENO);
}

// All numbers are taken, so that /proc/self/fd cannot be opened.
bool closes_without_a_list() {
    const rlimit limit{64, 64};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return false;
    }
    while (::dup(STDERR_FILENO) >= 0) {
    }
    close_range(10, 20);
    return is_open(9) && !is_open(10) && !is_open(20) && is_open(21);
}

class NewerCalls : public testing::TestWithParam<int> {};

TEST_P(NewerCalls, AreReplacedInAnOlderKernel) {
    for (const auto check :
         {waits_for_events, closes_what_lies_between, closes_many, closes_without_a_list}) {
        const int status = in_older_kernel(GetParam(), check);
        if (status == no_filters) {
            GTEST_SKIP() << "this kernel has no seccomp filters";
        }
        EXPECT_EQ(status, 0);
    }
}
INSTANTIATE_TEST_SUITE_P(All, NewerCalls, testing::Values(ENOSYS, EPERM));

TEST(NewerCallsHere, WaitAndCloseAlike) {
    EXPECT_TRUE(waits_for_events());
    EXPECT_TRUE(closes_what_lies_between());
    ::close(40);
    ::close(201);
}

TEST(NewerCallsHere, AProcessIsWatched) {
    const int fd = pidfd_open(::getpid());
    EXPECT_TRUE(fd >= 0 || errno == ENOSYS);
    if (fd >= 0) {
        ::close(fd);
    }
}

}  // namespace
}  // namespace forebay::kernel
