// One rank's request by itself, where no other rank has a part in it: its pieces go to storage, or
// come from it, one after the other, within the call.
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

// A rank's request; the objects that it points to outlive the move.
struct OwnRequest {
    const pattern::View* view = nullptr;
    pattern::ViewRange range;
    pattern::RankMemory memory;
};

struct OwnMove {
    std::int64_t bytes = 0;  // below the first failure and the file's end
    plan::FirstFailure failure;
    std::int64_t requests = 0;
    std::int64_t busy_ns = 0;
};

class OwnMover {
public:
    // Short pieces that lie close together are read as one range of so many bytes at a time.
    static constexpr std::int64_t window_bytes = std::int64_t{1} << 20;
    // How short, and how close: at least one byte in so many is asked for.
    static constexpr std::int64_t short_bytes = 4096;
    static constexpr std::int64_t sparsest = 16;

    // Both outlive it. `storage` does requests within submit(), or soon.
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
    std::vector<std::byte> window_;  // kept from read to read
};

// Whether a read of `bytes` in pieces, the shortest of `shortest`, that lie in `span` bytes of the
// file should be done by windows.
[[nodiscard]] bool reads_by_windows(std::int64_t bytes, std::int64_t shortest,
                                    std::int64_t span) noexcept;

}  // namespace forebay::transfer
