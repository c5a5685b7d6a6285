// Port to the storage of the pool's journal (write-ahead log): a head and numbered segments of one
// size, on a device that outlives the node.
#pragma once

#include "foundation/base/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace forebay::ports {

// A secret that is stored as durably as the journal, and readable only by the user who keeps it.
using JournalKey = std::array<std::byte, 32>;

class JournalDevice {
public:
    // The number that stands for the head, and the head's size.
    static constexpr std::uint32_t head = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::int64_t head_bytes = 8192;

    // Write offsets and lengths, and memory addresses, must be multiples of this (for O_DIRECT).
    static constexpr std::size_t alignment = 4096;

    struct Write {
        std::uint32_t segment = 0;
        std::int64_t at = 0;  // in the segment
        std::span<const std::byte> bytes;
    };

    virtual ~JournalDevice() = default;

    [[nodiscard]] virtual std::int64_t segment_bytes() const noexcept = 0;
    [[nodiscard]] virtual const JournalKey& key() const noexcept = 0;
    // The numbers of the segments that exist, whatever they contain.
    [[nodiscard]] virtual std::vector<std::uint32_t> segments() = 0;
    // The content of a segment, or of the head (empty if there is no head). Valid until the segment
    // is written to or removed.
    [[nodiscard]] virtual Result<std::span<const std::byte>> look(std::uint32_t segment) = 0;
    // Makes everything durable that has been read so far, so that a second crash cannot bring back
    // older content. 0, or an errno.
    [[nodiscard]] virtual int settle() = 0;

    // Starts a durable write. Its memory must live until the write has ended. At most `writes_max`
    // may be queued; each starts when the one before is durable. If one fails, those queued after
    // it are not written and end with ECANCELED.
    static constexpr std::size_t writes_max = 5;
    virtual void begin_writing(const Write& write) = 0;
    // The errno of the oldest write that has ended (0: success), each once; nullopt if none has
    // ended.
    [[nodiscard]] virtual std::optional<int> ended() = 0;
    // As ended(), but blocks until it has.
    [[nodiscard]] virtual int wait() = 0;

    // Starts creating a segment, or the head, concurrently with writes: zeros whose every block is
    // allocated on the device. One at a time; it may be written to when added() has returned 0.
    virtual void begin_adding(std::uint32_t segment) = 0;
    [[nodiscard]] virtual std::optional<int> added() = 0;
    [[nodiscard]] virtual int wait_until_added() = 0;

    // Contract: no write and no creation is in progress. 0, or an errno.
    [[nodiscard]] virtual int remove(std::uint32_t segment) = 0;
};

}  // namespace forebay::ports
