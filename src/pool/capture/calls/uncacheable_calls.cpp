// Captured calls whose effect the pool cannot see (kernel copies, asynchronous I/O): the file
// leaves the pool first. A file that the kernel's copy only reads is drained instead, so that its
// writers stay fast.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/calls/copying.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"

#include <sys/mman.h>

#include <cerrno>

namespace forebay::capture {

// For the source of a copy by the kernel: drains it and puts its offset into the kernel.
int prepare_source(int fd) noexcept {
    const int error = drain_if_captured(fd);
    if (error == 0 && descriptors.captured(fd)) {
        const int before = errno;
        const HeldDescription held{fd};
        if (held) {
            put_offset_into_kernel({*held, fd});
        }
        errno = before;
    }
    return error;
}

int prepare_copy(int from, int to) noexcept {
    if (!descriptors.captured(from) && !descriptors.captured(to)) [[likely]] {
        return 0;
    }
    const int error = prepare_source(from);
    return error != 0 ? error : leave_if_captured(to, pool::ThroughReason::copied);
}

// For io_uring and libaio, which may use any descriptor: all captured files leave, and those opened
// later are written through.
void leave_for_good() noexcept {
    if (!capturing()) {
        return;
    }
    state.asynchronous.store(true, std::memory_order_release);
    for (int fd = 0; fd < descriptors.end(); ++fd) {
        leave_if_captured(fd, pool::ThroughReason::async);
    }
}

namespace captured {

ssize_t sendfile(int to, int from, off_t* at, size_t bytes) noexcept {
    const int error = prepare_copy(from, to);
    return error != 0 ? fail(error) : real::sendfile(to, from, at, bytes);
}

ssize_t copy_file_range(int from, off_t* from_at, int to, off_t* to_at, size_t bytes,
                        unsigned flags) noexcept {
    const int error = prepare_copy(from, to);
    return error != 0 ? fail(error) : real::copy_file_range(from, from_at, to, to_at, bytes, flags);
}

ssize_t splice(int from, off_t* from_at, int to, off_t* to_at, size_t bytes,
               unsigned flags) noexcept {
    const int error = prepare_copy(from, to);
    return error != 0 ? fail(error) : real::splice(from, from_at, to, to_at, bytes, flags);
}

int aio_read(aiocb* block) noexcept {
    const int error = leave_if_captured(block->aio_fildes, pool::ThroughReason::async);
    return error != 0 ? fail(error) : real::aio_read(block);
}

int aio_write(aiocb* block) noexcept {
    const int error = leave_if_captured(block->aio_fildes, pool::ThroughReason::async);
    return error != 0 ? fail(error) : real::aio_write(block);
}

int aio_fsync(int operation, aiocb* block) noexcept {
    const int error = leave_if_captured(block->aio_fildes, pool::ThroughReason::async);
    return error != 0 ? fail(error) : real::aio_fsync(operation, block);
}

int lio_listio(int mode, aiocb* const* blocks, int count, sigevent* event) noexcept {
    for (int i = 0; i < count; ++i) {
        const int error =
            blocks[i] == nullptr || blocks[i]->aio_lio_opcode == LIO_NOP
                ? 0
                : leave_if_captured(blocks[i]->aio_fildes, pool::ThroughReason::async);
        if (error != 0) {
            return fail(error);
        }
    }
    return real::lio_listio(mode, blocks, count, event);
}

int io_setup(int events, void* context) noexcept {
    leave_for_good();
    return real::io_setup(events, context);
}

int io_queue_init(int events, void* context) noexcept {
    leave_for_good();
    return real::io_queue_init(events, context);
}

int io_uring_queue_init(unsigned entries, void* ring, unsigned flags) noexcept {
    leave_for_good();
    return real::io_uring_queue_init(entries, ring, flags);
}

int io_uring_queue_init_params(unsigned entries, void* ring, void* parameters) noexcept {
    leave_for_good();
    return real::io_uring_queue_init_params(entries, ring, parameters);
}

int io_uring_queue_init_mem(unsigned entries, void* ring, void* parameters, void* memory,
                            size_t bytes) noexcept {
    leave_for_good();
    return real::io_uring_queue_init_mem(entries, ring, parameters, memory, bytes);
}

}  // namespace captured

}  // namespace forebay::capture
