// Retries io_uring_enter after temporary errors; others would be defects of ours.
#include "storage/uring/ring.hpp"

#include "foundation/base/contracts.hpp"

#include <cerrno>
#include <sched.h>

namespace forebay::adapters {

namespace {

// Completions set a flag instead of interrupting the computing thread (Linux 5.19).
constexpr unsigned quiet = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG;

bool temporary(int status) noexcept {
    return status == -EINTR || status == -EAGAIN || status == -EBUSY;
}

}  // namespace

tl::expected<std::unique_ptr<KernelRing>, int> KernelRing::create(unsigned entries) {
    std::unique_ptr<KernelRing> made{new KernelRing};  // NOLINT: the constructor is private
    int status = ::io_uring_queue_init(entries, &made->ring_, quiet);
    if (status == -EINVAL) {
        status = ::io_uring_queue_init(entries, &made->ring_, 0);
    }
    if (status < 0) {
        return tl::unexpected<int>(-status);
    }
    made->made_ = true;
    return made;
}

KernelRing::~KernelRing() {
    if (made_) {
        ::io_uring_queue_exit(&ring_);
    }
}

bool KernelRing::knows_transfers() {
    io_uring_probe* probe = ::io_uring_get_probe_ring(&ring_);
    if (probe == nullptr) {
        return false;
    }
    bool all = true;
    for (const int operation :
         {IORING_OP_READ, IORING_OP_WRITE, IORING_OP_READV, IORING_OP_WRITEV}) {
        all = all && ::io_uring_opcode_supported(probe, operation) != 0;
    }
    ::io_uring_free_probe(probe);
    return all;
}

io_uring_sqe& KernelRing::entry() {
    io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);
    invariant(entry != nullptr, "the ring has an entry for each request that is allowed");
    return *entry;
}

void KernelRing::submit() {
    while (::io_uring_sq_ready(&ring_) > 0) {
        const int status = ::io_uring_submit(&ring_);
        invariant(status >= 0 || temporary(status), "the kernel takes entries of an open ring");
        if (status < 0) {
            ::sched_yield();
        }
    }
}

bool KernelRing::take(Answer& answer) {
    io_uring_cqe* found = nullptr;
    if (::io_uring_peek_cqe(&ring_, &found) != 0 || found == nullptr) {
        return false;
    }
    answer = {::io_uring_cqe_get_data64(found), found->res};
    ::io_uring_cqe_seen(&ring_, found);
    return true;
}

KernelRing::Answer KernelRing::wait() {
    io_uring_cqe* found = nullptr;
    int status = 0;
    do {
        status = ::io_uring_wait_cqe(&ring_, &found);
    } while (temporary(status));
    invariant(status == 0, "the kernel answers on an open ring");
    const Answer answer{::io_uring_cqe_get_data64(found), found->res};
    ::io_uring_cqe_seen(&ring_, found);
    return answer;
}

}  // namespace forebay::adapters
