// Functions of newer glibc, made of system calls and of functions that glibc 2.28 has.
#include "foundation/kernel/older_functions.hpp"

#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/random.hpp"
#include "foundation/kernel/system_call.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>

namespace kernel = forebay::kernel;

int forebay_stat(const char* path, struct stat* out) noexcept {
    return kernel::fstatat(AT_FDCWD, path, out, 0);
}

int forebay_lstat(const char* path, struct stat* out) noexcept {
    return kernel::fstatat(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

int forebay_fstat(int fd, struct stat* out) noexcept { return kernel::fstat(fd, out); }

int forebay_fstatat(int folder, const char* path, struct stat* out, int flags) noexcept {
    return kernel::fstatat(folder, path, out, flags);
}

int forebay_mknod(const char* path, mode_t mode, dev_t device) noexcept {
    return forebay_mknodat(AT_FDCWD, path, mode, device);
}

int forebay_mknodat(int folder, const char* path, mode_t mode, dev_t device) noexcept {
    const auto number = static_cast<std::uint32_t>(device);  // as much as the kernel takes
    if (number != device) {
        errno = EINVAL;
        return -1;
    }
    return static_cast<int>(kernel::system_call(SYS_mknodat, folder, kernel::word_of(path),
                                                kernel::word_of(mode), number));
}

std::uint32_t forebay_arc4random() noexcept {
    return static_cast<std::uint32_t>(kernel::random_number());
}

namespace {

constexpr std::int64_t ns_of_second = 1'000'000'000;

std::int64_t ns_of(const timespec& time) noexcept {
    return std::int64_t{time.tv_sec} * ns_of_second + time.tv_nsec;
}

std::int64_t now_ns(clockid_t clock) noexcept {
    timespec now{};
    ::clock_gettime(clock, &now);
    return ns_of(now);
}

}  // namespace

int forebay::kernel::wait_by_calendar(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                      clockid_t clock, const timespec& until) {
    const std::int64_t left = std::max<std::int64_t>(ns_of(until) - now_ns(clock), 0);
    const std::int64_t end = now_ns(CLOCK_REALTIME) + left;
    const timespec by_calendar{end / ns_of_second, end % ns_of_second};
    const int error = ::pthread_cond_timedwait(condition, mutex, &by_calendar);
    return error == ETIMEDOUT && now_ns(clock) < ns_of(until) ? 0 : error;
}

int forebay_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
    using ClockWait = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
    // Within what users get, the name itself stands for this function.
    void* const newer = ::dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
    if (newer != nullptr) {
        return reinterpret_cast<ClockWait>(newer)(condition, mutex, clock, until);
    }
    return kernel::wait_by_calendar(condition, mutex, clock, *until);
}

namespace {

struct ObjectSearch {
    ElfW(Addr) address;
    ForebayFoundObject* out;
};

// For dl_iterate_phdr(3): 1, which ends it, for the object that has the address.
int keep_object(dl_phdr_info* info, std::size_t, void* data) noexcept {
    const auto& search = *static_cast<const ObjectSearch*>(data);
    ElfW(Addr) begin = ~ElfW(Addr){0};
    ElfW(Addr) end = 0;
    ElfW(Addr) frames = 0;
    bool has_address = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        const ElfW(Addr) first = info->dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD) {
            begin = std::min(begin, first);
            end = std::max(end, first + part.p_memsz);
            has_address |= search.address >= first && search.address - first < part.p_memsz;
        } else if (part.p_type == PT_GNU_EH_FRAME) {
            frames = first;
        }
    }
    if (!has_address) {
        return 0;
    }
    // NOLINTBEGIN(performance-no-int-to-ptr): the loader tells numbers
    *search.out = {.flags = 0,
                   .begin = reinterpret_cast<void*>(begin),
                   .end = reinterpret_cast<void*>(end),
                   .link_map = nullptr,
                   .frames = reinterpret_cast<void*>(frames),
                   .reserved = {}};
    // NOLINTEND(performance-no-int-to-ptr)
    return 1;
}

}  // namespace

int forebay_find_object(void* address, ForebayFoundObject* out) noexcept {
    ObjectSearch search{reinterpret_cast<ElfW(Addr)>(address), out};
    return ::dl_iterate_phdr(&keep_object, &search) == 1 && out->frames != nullptr ? 0 : -1;
}
