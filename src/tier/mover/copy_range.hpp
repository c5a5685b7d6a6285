// Copies bytes between two open files: reads ahead of writing, with requests that end where stripes
// do, as many at a time as the gate admits.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/base/stripes.hpp"
#include "foundation/base/units.hpp"
#include "foundation/ports/clock.hpp"
#include "foundation/ports/storage.hpp"
#include "storage/transfer/gate.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace forebay::tier {

// Buffers of a copy, and the bytes of each, which a request does not exceed.
inline constexpr std::size_t copy_buffers = 4;
inline constexpr std::int64_t copy_request_bytes = std::int64_t{4} << 20;

// The memory of copies, taken when the first buffer is used, and used for one copy at a time. It is
// not cleared: a copy of a small file touches no more than the file's size.
class CopyMemory {
public:
    explicit CopyMemory(std::int64_t request_bytes = copy_request_bytes)
        : request_bytes_{request_bytes} {}

    [[nodiscard]] std::int64_t request_bytes() const noexcept { return request_bytes_; }
    [[nodiscard]] std::span<std::byte> buffer(std::size_t number) noexcept {
        const auto size = static_cast<std::size_t>(request_bytes_);
        if (!bytes_) {
            bytes_.reset(new std::byte[copy_buffers * size]);
        }
        return std::span{bytes_.get() + number * size, size};
    }

private:
    std::int64_t request_bytes_;
    std::unique_ptr<std::byte[]> bytes_;
};

struct CopyRoute {
    ports::FileStorage& from;
    ports::FileStorage& to;
    FileStripes stripes{};  // of `to`
    transfer::Gate& gate;   // of `to`, with a place for each of its targets
    const ports::TimeSource& clock;
    // Asked when the first bytes are read and nothing is written yet. False: nothing is written.
    std::function<bool()> may_write{};
};

struct CopyEnd {
    bool source_ended = false;  // the source is shorter than the extent
    bool refused = false;       // by CopyRoute::may_write
    int read_error = 0;         // errno, or 0
    int write_error = 0;

    [[nodiscard]] bool whole() const noexcept {
        return !source_ended && !refused && read_error == 0 && write_error == 0;
    }
};

// Copies the bytes of an extent; blocks until nothing is in flight. The written bytes are not
// durable yet.
[[nodiscard]] CopyEnd copy_range(const CopyRoute& route, const Extent& extent, CopyMemory& memory);

}  // namespace forebay::tier
