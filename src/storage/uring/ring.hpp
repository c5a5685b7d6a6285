// The kernel's ring with one owner. Used by one thread at a time, not always the same one, which
// is why the flags that bind a ring to its thread are not used.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/ports/storage.hpp"

#include <liburing.h>
#include <memory>

namespace forebay::adapters {

class KernelRing {
public:
    // errno where the kernel refuses.
    [[nodiscard]] static tl::expected<std::unique_ptr<KernelRing>, int> create(unsigned entries);
    ~KernelRing();
    KernelRing(const KernelRing&) = delete;
    KernelRing& operator=(const KernelRing&) = delete;

    // The kernel knows read, write, readv and writev (5.6 and newer).
    [[nodiscard]] bool knows_transfers();

    // A free entry; contract: fewer than `entries` are in flight.
    [[nodiscard]] io_uring_sqe& entry();
    // Hands what was entered to the kernel.
    void submit();

    struct Answer {
        std::uint64_t data = 0;
        int result = 0;
    };
    // Takes one answer that is there; false: there is none.
    bool take(Answer& answer);
    // As take, but sleeps until there is one. Contract: something is in flight.
    Answer wait();

private:
    KernelRing() noexcept = default;

    io_uring ring_{};
    bool made_ = false;
};

}  // namespace forebay::adapters
