// A file in memory that several handles share: sparse, so that offsets beyond 4 GiB cost nothing,
// and with faults that come from a seed, so that a failed run can be run again.
#pragma once

#include "foundation/base/units.hpp"
#include "foundation/ports/storage.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace forebay::adapters {

// One storage target that is slower than the others, of a file striped over `targets`.
struct SlowTargetFault {
    std::int64_t stripe_bytes = 1 << 20;
    std::int32_t targets = 1;
    std::int32_t target = 0;
    std::int32_t polls = 0;  // by which its completions come later
};

// Faults to inject. Chances are in percent of requests; none at first.
struct StorageFaults {
    std::uint64_t seed = 1;
    std::int32_t short_percent = 0;        // fewer bytes than asked, at least one
    std::int32_t interrupted_percent = 0;  // EINTR before the first byte
    std::int32_t again_percent = 0;        // EAGAIN before the first byte
    std::int32_t delay_polls_max = 0;      // a completion comes up to so many polls later
    std::optional<SlowTargetFault> slow_target;

    // `error` stops a request at this byte (the bytes before it are moved), or at this request of
    // the file, counted from 0 over all handles.
    int error = 5;  // EIO
    std::optional<Offset> error_at;
    std::optional<std::int64_t> error_at_request;
    std::vector<Extent> bad;        // `error` stops requests here, too
    std::optional<Offset> full_at;  // no byte can be written from here on: ENOSPC
    // As many bytes can be written in all, by whoever comes first, like on a disk that fills up.
    std::optional<std::int64_t> room;

    int open_error = 0;  // errno that opening fails with
    int sync_error = 0;
    int close_error = 0;
};

class MemoryFile {
public:
    explicit MemoryFile(StorageFaults faults = {});

    // Behind the handles' back, without faults; what was never written is zero.
    void put(Offset at, std::span<const std::byte> bytes);
    [[nodiscard]] std::vector<std::byte> get(const Extent& extent) const;
    [[nodiscard]] Length size() const;
    // As ftruncate: shorter or longer.
    void truncate(Length bytes);
    // From now on: a disk that heals, or fails.
    void set_faults(const StorageFaults& faults);
    // Every request's contiguous runs in the order in which they were done, for tests of how the
    // file was asked.
    [[nodiscard]] std::vector<Extent> log(IoDirection direction) const;

    [[nodiscard]] const StorageFaults& faults() const noexcept { return faults_; }
    [[nodiscard]] ports::FileIdentity identity() const noexcept;

    // Does one request, faults included. `attempt` tells repetitions at the same place apart.
    [[nodiscard]] ports::RequestCompletion perform(const ports::Request& request,
                                                   std::uint64_t attempt);

private:
    static constexpr std::int64_t block_bytes = 1 << 16;
    using Block = std::array<std::byte, block_bytes>;

    void put_locked(Offset at, std::span<const std::byte> bytes);
    void get_locked(Offset at, std::span<std::byte> bytes) const;
    std::int64_t move(IoDirection direction, const ports::Piece& piece, std::int64_t bytes);
    [[nodiscard]] std::optional<Offset> full_at(Offset begin) const noexcept;
    ports::RequestCompletion move_all(const ports::Request& request, std::int64_t bytes_max);

    StorageFaults faults_;
    mutable std::mutex mutex_;
    std::unordered_map<std::int64_t, std::unique_ptr<Block>> blocks_;
    std::int64_t size_ = 0;
    std::int64_t requests_ = 0;
    std::int64_t taken_ = 0;  // of the room
    std::vector<Extent> written_;
    std::vector<Extent> read_;
};

// A number that depends on nothing but its arguments (splitmix64), for faults that do not depend
// on which thread comes first.
[[nodiscard]] std::uint64_t scramble(std::uint64_t seed, std::uint64_t a, std::uint64_t b) noexcept;

}  // namespace forebay::adapters
