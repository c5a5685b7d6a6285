// The checks themselves: madvise (MADV_POPULATE_READ, MADV_POPULATE_WRITE) also brings the pages
// in, which the copy would have to do otherwise, so the system call costs little.
#include "pool/capture/connection/memory.hpp"

#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/newer_linux.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace forebay::capture {

namespace {

constexpr std::uintptr_t first_address = 4096;  // no program has memory below it
// Bytes probed at a time where madvise leaves it open.
constexpr std::size_t probe_bytes_max = std::size_t{1} << 20;

// False for addresses at which no program has memory: the first page, and those of the kernel.
bool sensible(std::uintptr_t begin, std::size_t bytes) noexcept {
    return begin >= first_address &&
           KnownMemory::possible(reinterpret_cast<const void*>(begin), bytes);
}

struct PageRange {
    std::uintptr_t begin;
    std::uintptr_t end;
};

// The kernel's pages that the bytes lie in.
PageRange pages_of(std::uintptr_t begin, std::size_t bytes) noexcept {
    const std::uintptr_t page = kernel::page_bytes();
    return {begin / page * page, (begin + bytes + page - 1) / page * page};
}

// Brings the pages in. Returns 0, or the errno of madvise.
int bring_in(PageRange pages, int advice) noexcept {
    void* const at = reinterpret_cast<void*>(pages.begin);
    int done = 0;
    do {
        done = kernel::madvise(at, pages.end - pages.begin, advice);
    } while (done != 0 && (errno == EINTR || errno == EAGAIN));
    return done == 0 ? 0 : errno;
}

// Lets the kernel copy from the memory into a private memfd: the count stops where the memory does,
// as any write's would. Returns the number of bytes that can be read.
std::size_t probe_readable(std::uintptr_t begin, std::size_t bytes) noexcept {
    const int fd = kernel::memfd_create("forebay-probe", MFD_CLOEXEC);
    if (fd < 0) {
        return bytes;  // no descriptor to probe with: assume that it can be read
    }
    std::size_t done = 0;
    ssize_t moved = 1;
    while (done < bytes && moved > 0) {
        moved = kernel::pwrite(fd, reinterpret_cast<const void*>(begin + done),
                               std::min(bytes - done, probe_bytes_max), 0);
        done += static_cast<std::size_t>(std::max<ssize_t>(moved, 0));
    }
    kernel::close(fd);
    return done;
}

// The reverse of probe_readable: has the kernel copy zeros into the memory, which the caller
// overwrites anyway.
bool probe_writable(std::uintptr_t begin, std::size_t bytes) noexcept {
    const int fd = kernel::memfd_create("forebay-probe", MFD_CLOEXEC);
    if (fd < 0) {
        return true;  // no descriptor to probe with: assume that it can be written to
    }
    std::size_t done = 0;
    ssize_t moved =
        kernel::ftruncate(fd, static_cast<off_t>(probe_bytes_max)) == 0 ? ssize_t{1} : ssize_t{0};
    while (done < bytes && moved > 0) {
        moved = kernel::pread(fd, reinterpret_cast<void*>(begin + done),
                              std::min(bytes - done, probe_bytes_max), 0);
        done += static_cast<std::size_t>(std::max<ssize_t>(moved, 0));
    }
    kernel::close(fd);
    return done == bytes;
}

}  // namespace

// Remembers whole granules if they are mapped; otherwise the pages of the range; otherwise counts
// its bytes and remembers nothing.
std::size_t KnownMemory::look(std::uintptr_t begin, std::size_t bytes) noexcept {
    if (bytes == 0 || !sensible(begin, bytes)) {
        return 0;
    }
    std::uintptr_t first = begin / granule_bytes;
    const std::uintptr_t last = (begin + bytes - 1) / granule_bytes;
    while (first <= last && remembered(readable_, first)) {
        ++first;
    }
    const std::uintptr_t last_unit = (begin + bytes - 1) / unit_bytes;
    std::uintptr_t unit = begin / unit_bytes;
    while (first <= last && unit <= last_unit && remembered(readable_units_, unit)) {
        ++unit;
    }
    if (first > last || unit > last_unit) {
        return bytes;
    }
    const int before = errno;
    std::size_t there = bytes;
    if (bring_in({first * granule_bytes, (last + 1) * granule_bytes}, kernel::populate_read) == 0) {
        remember(readable_, first, last);
    } else if (const PageRange pages = pages_of(begin, bytes);
               bring_in(pages, kernel::populate_read) == 0) {
        remember(readable_units_, pages.begin / unit_bytes, (pages.end - 1) / unit_bytes);
    } else {
        there = probe_readable(begin, bytes);
    }
    errno = before;
    return there;
}

bool KnownMemory::writable(void* at, std::size_t bytes) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(at);
    if (bytes == 0) {
        return true;
    }
    if (!sensible(begin, bytes)) {
        return false;
    }
    std::uintptr_t first = begin / unit_bytes;
    const std::uintptr_t last = (begin + bytes - 1) / unit_bytes;
    while (first <= last && remembered(writable_, first)) {
        ++first;
    }
    if (first > last) {
        return true;
    }
    const int before = errno;
    const PageRange pages = pages_of(first * unit_bytes, (last - first + 1) * unit_bytes);
    bool there = bring_in(pages, kernel::populate_write) == 0;
    if (there) {
        remember(writable_, pages.begin / unit_bytes, (pages.end - 1) / unit_bytes);
    }
    there = there || probe_writable(begin, bytes);
    errno = before;
    return there;
}

void KnownMemory::remember(Places& all, std::uintptr_t first, std::uintptr_t last) noexcept {
    for (std::uintptr_t number = first; number <= last; ++number) {
        all[number % places].store(number, std::memory_order_relaxed);
    }
}

void KnownMemory::forget(Places& all, std::uintptr_t first, std::uintptr_t last) noexcept {
    // If the range has more numbers than the table has places, each place is checked once.
    const std::uintptr_t count = std::min<std::uintptr_t>(last - first + 1, places);
    for (std::uintptr_t i = 0; i < count; ++i) {
        std::atomic<std::uintptr_t>& place = all[(first + i) % places];
        const std::uintptr_t number = place.load(std::memory_order_relaxed);
        if (number >= first && number <= last) {
            place.store(0, std::memory_order_relaxed);
        }
    }
}

void KnownMemory::forget(const void* at, std::size_t bytes) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(at);
    const std::uintptr_t end = begin + bytes;
    if (bytes > 0 && end > begin) {
        const PageRange pages = pages_of(begin, bytes);
        forget(readable_, begin / granule_bytes, (end - 1) / granule_bytes);
        forget(readable_units_, pages.begin / unit_bytes, (pages.end - 1) / unit_bytes);
        forget(writable_, pages.begin / unit_bytes, (pages.end - 1) / unit_bytes);
    }
}

}  // namespace forebay::capture
