// The write-back cache of a node's file system client, modelled after Lustre's (osc_cache.c).
// Consecutive bytes of an object are gathered until they fill an RPC, a rank waits for room, or the
// file is synced. The dirty bytes of each target are bounded; a rank with more to write waits in
// FIFO order. It has no clock, and sends nothing itself.
#pragma once

#include "worlds/simgrid/platform.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace forebay::adapters {

// Bytes written by a rank, consecutive in one object.
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
    // Reserves room for bytes that put() adds next. False: there is none; sent() returns the rank
    // when there is.
    [[nodiscard]] bool reserve(const DirtyRun& run);
    // Adds bytes that have been copied, after reserve(). They do not cross a multiple of the RPC
    // size.
    void put(const DirtyRun& run);
    // Makes all gathered bytes of the rank ready to be sent.
    void flush(std::int32_t rank);
    // Removes and returns the next run to send to the target.
    [[nodiscard]] std::optional<DirtyRun> next(std::int32_t target);
    // Frees the room of a run that has arrived. Returns the ranks that have room now.
    [[nodiscard]] std::vector<std::int32_t> sent(const DirtyRun& run);
    // Bytes of the rank that have not arrived yet.
    [[nodiscard]] std::int64_t dirty(std::int32_t rank) const { return dirty_.at(position(rank)); }

private:
    struct Waiting {
        std::int32_t rank = 0;
        std::int64_t bytes = 0;
    };
    struct Target {
        std::int64_t dirty = 0;
        std::vector<DirtyRun> gathering;  // at most one per rank
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
