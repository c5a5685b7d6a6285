// Where a journal lies: a head and segments of one size, by number, on a device that outlives the
// node.
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

// Only the user who keeps the journal can read it; it is as durable as the journal.
using JournalKey = std::array<std::byte, 32>;

class JournalDevice {
public:
    // In place of a segment's number: the head, of so many bytes.
    static constexpr std::uint32_t head = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::int64_t head_bytes = 8192;

    // Where writes begin, and what their lengths are multiples of; so is the memory's address.
    static constexpr std::size_t alignment = 4096;

    struct Write {
        std::uint32_t segment = 0;
        std::int64_t at = 0;  // in the segment
        std::span<const std::byte> bytes;
    };

    virtual ~JournalDevice() = default;

    [[nodiscard]] virtual std::int64_t segment_bytes() const noexcept = 0;
    [[nodiscard]] virtual const JournalKey& key() const noexcept = 0;
    // Those that are there, of whatever content.
    [[nodiscard]] virtual std::vector<std::uint32_t> segments() = 0;
    // A segment's bytes as they are, or the head's (none: it is not there); valid until it is
    // written to or removed.
    [[nodiscard]] virtual Result<std::span<const std::byte>> look(std::uint32_t segment) = 0;
    // Makes durable what was read so far, so that it cannot turn older again. 0, or an errno.
    [[nodiscard]] virtual int settle() = 0;

    // Writes and makes durable. The memory lives until that has ended. Others may wait behind it,
    // and are begun when it is durable; where it fails, they are not written (ECANCELED).
    static constexpr std::size_t writes_max = 5;
    virtual void begin_writing(const Write& write) = 0;
    // The errno of the write that was begun first, once; 0: it is done.
    [[nodiscard]] virtual std::optional<int> ended() = 0;
    // As ended(), but waits for it.
    [[nodiscard]] virtual int wait() = 0;

    // Beside it, one segment at a time (or the head) is made, of zeros, of which every byte has its
    // place on the device.
    // It is written to when it is there.
    virtual void begin_adding(std::uint32_t segment) = 0;
    [[nodiscard]] virtual std::optional<int> added() = 0;
    [[nodiscard]] virtual int wait_until_added() = 0;

    // Nothing is under way. 0, or an errno.
    [[nodiscard]] virtual int remove(std::uint32_t segment) = 0;
};

}  // namespace forebay::ports
