// A sparse file in memory shared by several handles, with faults injected from a seed, so that a
// failed run can be repeated. Large offsets cost no memory.
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

// Makes one storage target slower than the others; the file is striped over `targets`.
struct SlowTargetFault {
    std::int64_t stripe_bytes = 1 << 20;
    std::int32_t targets = 1;
    std::int32_t target = 0;
    std::int32_t polls = 0;  // its completions come this many polls later
};

// Faults to inject. Probabilities are percentages of requests.
struct StorageFaults {
    std::uint64_t seed = 1;
    std::int32_t short_percent = 0;        // short: fewer bytes than asked, at least one
    std::int32_t interrupted_percent = 0;  // EINTR before the first byte
    std::int32_t again_percent = 0;        // EAGAIN before the first byte
    std::int32_t delay_polls_max = 0;      // a completion comes up to this many polls later
    std::optional<SlowTargetFault> slow_target;

    // `error` stops a request at this byte, after moving the bytes before it, or stops the request
    // with this number, counted from 0 over all handles.
    int error = 5;  // EIO
    std::optional<Offset> error_at;
    std::optional<std::int64_t> error_at_request;
    std::vector<Extent> bad;        // ranges in which `error` stops a request, too
    std::optional<Offset> full_at;  // writes fail with ENOSPC from this offset on
    // Total number of bytes that can be written, whoever writes them, as on a disk that fills up.
    std::optional<std::int64_t> room;

    int open_error = 0;  // errno of opening
    int sync_error = 0;
    int close_error = 0;
};

class MemoryFile {
public:
    explicit MemoryFile(StorageFaults faults = {});

    // Access past the handles and without faults; bytes never written are zero.
    void put(Offset at, std::span<const std::byte> bytes);
    [[nodiscard]] std::vector<std::byte> get(const Extent& extent) const;
    [[nodiscard]] Length size() const;
    // As ftruncate.
    void truncate(Length bytes);
    // Replaces the faults: from now on the disk fails, or works again.
    void set_faults(const StorageFaults& faults);
    // The contiguous runs of all requests in the order in which they were done, for tests of the
    // access pattern.
    [[nodiscard]] std::vector<Extent> log(IoDirection direction) const;

    [[nodiscard]] const StorageFaults& faults() const noexcept { return faults_; }
    [[nodiscard]] ports::FileIdentity identity() const noexcept;

    // Does one request, with faults. `attempt` distinguishes repetitions at one offset.
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
    std::int64_t taken_ = 0;  // bytes written, counted against the room
    std::vector<Extent> written_;
    std::vector<Extent> read_;
};

// A hash of its arguments (splitmix64), used for faults that must not depend on the order of
// threads.
[[nodiscard]] std::uint64_t scramble(std::uint64_t seed, std::uint64_t a, std::uint64_t b) noexcept;

}  // namespace forebay::adapters
