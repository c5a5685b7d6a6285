// Captured mmap, munmap, mprotect and mremap, and those of System V's shared memory: a file leaves
// the pool before it is mapped, and KnownMemory drops ranges that may no longer be mapped. Each
// call exists twice, as libc's function and by number (syscall(2)): a library that uses numbers may
// have patched libc's function to call itself, as UCX does, so that calling libc's function would
// recurse.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/system_call.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"

#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>
#include <span>

namespace forebay::capture {

namespace {

struct WantedMapping {
    void* at;
    size_t bytes;
    int flags;
    int fd;
};

FileMappings::Range pages_of(const void* at, std::size_t bytes) noexcept {
    const std::uintptr_t page = kernel::page_bytes();
    const auto begin = reinterpret_cast<std::uintptr_t>(at);
    return {.begin = begin, .end = (begin + bytes + page - 1) / page * page};
}

template <class Map>
void* map(const WantedMapping& wanted, const Map& make) noexcept {
    if ((wanted.flags & MAP_FIXED) != 0) {
        state.memory.forget(wanted.at, wanted.bytes);
    }
    if ((wanted.flags & MAP_ANONYMOUS) != 0 || !descriptors.captured(wanted.fd)) [[likely]] {
        return make();
    }
    const int error = leave_if_captured(wanted.fd, pool::ThroughReason::mapped);
    if (error != 0) {
        errno = error;
        return MAP_FAILED;
    }
    const HeldDescription held{wanted.fd};
    void* const mapped = make();
    if (mapped != MAP_FAILED && held) {
        DescriptorTable::hold(*held);
        FileMappings::Change{state.mappings}.add(pages_of(mapped, wanted.bytes), *held);
    }
    return mapped;
}

void let_go(const FileMappings::Dropped& dropped) noexcept {
    for (FileDescription* const one : std::span{dropped.held}.first(dropped.count)) {
        let_go(*one);
    }
}

// A part of a mapping may go before the rest: its file stays mapped.
template <class Unmap>
int unmap(void* at, size_t bytes, const Unmap& take) noexcept {
    state.memory.forget(at, bytes);
    if (state.mappings.none()) [[likely]] {
        return take();
    }
    const std::uint64_t end = state.mappings.added();
    const int done = take();
    if (done == 0) {
        const InsideCall inside;
        FileMappings::Dropped dropped;
        FileMappings::Change{state.mappings}.remove(pages_of(at, bytes), end, dropped);
        let_go(dropped);
    }
    return done;
}

struct WantedMove {
    void* at;
    size_t bytes;
    size_t new_bytes;
    int flags;
};

template <class Move>
void* move(const WantedMove& wanted, const Move& make) noexcept {
    state.memory.forget(wanted.at, wanted.bytes);
    if (state.mappings.none()) [[likely]] {
        return make();
    }
    const std::uint64_t end = state.mappings.added();
    void* const moved = make();
    if (moved != MAP_FAILED) {
        const InsideCall inside;
        FileMappings::Dropped dropped;
        {
            FileMappings::Change change{state.mappings};
            if (FileDescription* const held = change.at(pages_of(wanted.at, 0).begin)) {
                DescriptorTable::hold(*held);
                if ((wanted.flags & MREMAP_DONTUNMAP) == 0) {
                    change.remove(pages_of(wanted.at, wanted.bytes), end, dropped);
                }
                change.remove(pages_of(moved, wanted.new_bytes), end, dropped);
                change.add(pages_of(moved, wanted.new_bytes), *held);
            }
        }
        let_go(dropped);
    }
    return moved;
}

// With SHM_REMAP a segment takes the place of what was there.
template <class Attach>
auto attach(int flags, const Attach& make) noexcept {
    if ((flags & SHM_REMAP) != 0) {
        state.memory.forget_all();
    }
    return make();
}

void* pointer(long word) noexcept { return reinterpret_cast<void*>(word); }

}  // namespace

namespace captured {

void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
    return map({at, bytes, flags, fd},
               [&]() noexcept { return real::mmap(at, bytes, protection, flags, fd, offset); });
}

void* mmap_by_number(void* at, size_t bytes, int protection, int flags, int fd,
                     off_t offset) noexcept {
    return map({at, bytes, flags, fd}, [&]() noexcept {
        return pointer(kernel::system_call(SYS_mmap, kernel::word_of(at), kernel::word_of(bytes),
                                           protection, flags, fd, offset));
    });
}

int mprotect(void* at, size_t bytes, int protection) noexcept {
    state.memory.forget(at, bytes);
    return real::mprotect(at, bytes, protection);
}

int mprotect_by_number(void* at, size_t bytes, int protection) noexcept {
    state.memory.forget(at, bytes);
    return static_cast<int>(
        kernel::system_call(SYS_mprotect, kernel::word_of(at), kernel::word_of(bytes), protection));
}

void* mremap(void* at, size_t bytes, size_t more, int flags, void* other) noexcept {
    return move({at, bytes, more, flags},
                [&]() noexcept { return real::mremap(at, bytes, more, flags, other); });
}

void* mremap_by_number(void* at, size_t bytes, size_t more, int flags, void* other) noexcept {
    return move({at, bytes, more, flags}, [&]() noexcept {
        return pointer(kernel::system_call(SYS_mremap, kernel::word_of(at), kernel::word_of(bytes),
                                           kernel::word_of(more), flags, kernel::word_of(other)));
    });
}

int munmap(void* at, size_t bytes) noexcept {
    return unmap(at, bytes, [&]() noexcept { return real::munmap(at, bytes); });
}

int munmap_by_number(void* at, size_t bytes) noexcept {
    return unmap(at, bytes, [&]() noexcept {
        return static_cast<int>(
            kernel::system_call(SYS_munmap, kernel::word_of(at), kernel::word_of(bytes)));
    });
}

int pkey_mprotect(void* at, size_t bytes, int protection, int key) noexcept {
    state.memory.forget(at, bytes);
    return real::pkey_mprotect(at, bytes, protection, key);
}

int pkey_mprotect_by_number(void* at, size_t bytes, int protection, int key) noexcept {
    state.memory.forget(at, bytes);
    return static_cast<int>(kernel::system_call(SYS_pkey_mprotect, kernel::word_of(at),
                                                kernel::word_of(bytes), kernel::word_of(protection),
                                                kernel::word_of(key)));
}

// The length of the segment is not known here.
int shmdt(const void* at) noexcept {
    state.memory.forget_all();
    return real::shmdt(at);
}

int shmdt_by_number(const void* at) noexcept {
    state.memory.forget_all();
    return static_cast<int>(kernel::system_call(SYS_shmdt, kernel::word_of(at)));
}

void* shmat(int segment, const void* at, int flags) noexcept {
    return attach(flags, [&]() noexcept { return real::shmat(segment, at, flags); });
}

long shmat_by_number(int segment, const void* at, int flags) noexcept {
    return attach(flags, [&]() noexcept {
        return kernel::system_call(SYS_shmat, segment, kernel::word_of(at), flags);
    });
}

}  // namespace captured

}  // namespace forebay::capture
