// Writes that the file system's client of one node holds back, as Lustre's does (osc_cache.c).
// Bytes that follow one another in an object gather until they are as many as an RPC may have, or
// somebody waits for room, or the file is synced. For each target it holds a bounded number of
// bytes: a rank that has more to write waits, in line. Knows no time, and sends nothing itself.
#pragma once

#include "worlds/simgrid/platform.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace forebay::adapters {

// Bytes of a rank, consecutive in one object.
struct DirtyRun {
    std::int32_t rank = 0;
    std::int32_t target = 0;
    std::int64_t object = 0;
    std::int64_t at = 0;
    std::int64_t bytes = 0;

    bool operator==(const DirtyRun&) const noexcept = default;
};

class WriteBack {
public:
    WriteBack(const ClientPlatform& client, std::int32_t targets, std::int32_t ranks)
        : rpc_bytes_{client.rpc_bytes},
          dirty_bytes_max_{client.dirty_bytes},
          targets_(static_cast<std::size_t>(targets)),
          dirty_(static_cast<std::size_t>(ranks)) {}

    [[nodiscard]] bool has_room(const DirtyRun& run) const;
    // Room for bytes of the rank, which are put() next. False: there is none; sent() will say when.
    [[nodiscard]] bool reserve(const DirtyRun& run);
    // They have been copied. They are no more than an RPC has, and within one of its multiples.
    void put(const DirtyRun& run);
    // Nothing of the rank's is held back any more.
    void flush(std::int32_t rank);
    // The run to send to the target next.
    [[nodiscard]] std::optional<DirtyRun> next(std::int32_t target);
    // The run is there. Returns the ranks that have room now.
    [[nodiscard]] std::vector<std::int32_t> sent(const DirtyRun& run);
    // Bytes of the rank that are not there yet.
    [[nodiscard]] std::int64_t dirty(std::int32_t rank) const { return dirty_.at(position(rank)); }

private:
    struct Waiting {
        std::int32_t rank = 0;
        std::int64_t bytes = 0;
    };
    struct Target {
        std::int64_t dirty = 0;
        std::vector<DirtyRun> gathering;  // one of each rank at most
        std::vector<DirtyRun> ready;      // oldest first
        std::vector<Waiting> waiting;
    };

    [[nodiscard]] static std::size_t position(std::int32_t number) noexcept {
        return static_cast<std::size_t>(number);
    }
    [[nodiscard]] bool fits(const Target& target, std::int64_t bytes) const noexcept {
        return target.dirty == 0 || target.dirty + bytes <= dirty_bytes_max_;
    }

    std::int64_t rpc_bytes_;
    std::int64_t dirty_bytes_max_;
    std::vector<Target> targets_;
    std::vector<std::int64_t> dirty_;  // of each rank of the node
};

}  // namespace forebay::adapters
