// Independent I/O in the engine: one rank moves its own request within the call, without any other
// rank. It writes or reads its pieces one after the other; many short pieces that lie close
// together are read by data sieving.
#pragma once

#include "foundation/pattern/copy.hpp"
#include "foundation/ports/clock.hpp"
#include "foundation/ports/storage.hpp"
#include "storage/policy/failure.hpp"
#include "storage/transfer/channel.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace forebay::transfer {

// A rank's request. The objects that it points to outlive the move.
struct OwnRequest {
    const pattern::View* view = nullptr;
    pattern::ViewRange range;
    pattern::RankMemory memory;
};

// The result of a move.
struct OwnMove {
    std::int64_t bytes = 0;  // bytes moved, below the first failure and the file's end
    plan::FirstFailure failure;
    std::int64_t requests = 0;
    std::int64_t busy_ns = 0;
};

class OwnMover {
public:
    // Data sieving reads ranges of this many bytes, with the holes between the pieces.
    static constexpr std::int64_t window_bytes = std::int64_t{1} << 20;
    // Data sieving is for pieces shorter than short_bytes, if the request has at least one byte in
    // `sparsest` bytes of its span.
    static constexpr std::int64_t short_bytes = 4096;
    static constexpr std::int64_t sparsest = 16;

    // Both outlive the mover. `storage` completes requests within submit(), or soon after.
    OwnMover(ports::FileStorage& storage, const ports::TimeSource& clock)
        : storage_{storage}, clock_{clock} {}

    // Contract: the request is not empty.
    OwnMove write(const OwnRequest& request);
    OwnMove read(const OwnRequest& request);

private:
    OwnMove by_pieces(const OwnRequest& request, IoDirection direction);
    OwnMove by_windows(const OwnRequest& request, const Extent& span);

    ports::FileStorage& storage_;
    const ports::TimeSource& clock_;
    std::vector<std::byte> window_;  // buffer for data sieving, kept from read to read
};

// Whether a read should be done by data sieving: a read of `bytes` bytes in pieces, the shortest of
// `shortest` bytes, within `span` bytes of the file.
[[nodiscard]] bool reads_by_windows(std::int64_t bytes, std::int64_t shortest,
                                    std::int64_t span) noexcept;

}  // namespace forebay::transfer
