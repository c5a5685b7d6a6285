// An io_uring with one owner. One thread uses it at a time, but not always the same one, so the
// setup flags that bind a ring to a thread are not used.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/ports/storage.hpp"

#include <liburing.h>
#include <memory>

namespace forebay::adapters {

class KernelRing {
public:
    // The errno if the kernel refuses.
    [[nodiscard]] static tl::expected<std::unique_ptr<KernelRing>, int> create(unsigned entries);
    ~KernelRing();
    KernelRing(const KernelRing&) = delete;
    KernelRing& operator=(const KernelRing&) = delete;

    // Whether the kernel supports the operations read, write, readv and writev (Linux 5.6).
    [[nodiscard]] bool knows_transfers();

    // A free submission entry. Contract: fewer than `entries` are in flight.
    [[nodiscard]] io_uring_sqe& entry();
    // Submits the prepared entries to the kernel.
    void submit();

    struct Answer {
        std::uint64_t data = 0;
        int result = 0;
    };
    // Takes one completion; false if none has arrived.
    bool take(Answer& answer);
    // As take(), but sleeps until one arrives. Contract: something is in flight.
    Answer wait();

private:
    KernelRing() noexcept = default;

    io_uring ring_{};
    bool made_ = false;
};

}  // namespace forebay::adapters
