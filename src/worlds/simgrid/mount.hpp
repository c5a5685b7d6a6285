// The model of a node's file system client (Lustre's llite and OSC). Reads and writes of the node's
// ranks go through its page cache: a write-back cache for writes (write_back.hpp), and read-ahead,
// shared by the ranks of the node, for sequential readers. Each access to an object needs its lock.
// RPCs of the node to a target share a bounded number of slots. Direct calls bypass the cache, as
// O_DIRECT does, and wait for their own RPCs.
#pragma once

#include "worlds/simgrid/machine.hpp"
#include "worlds/simgrid/striping.hpp"
#include "worlds/simgrid/write_back.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace forebay::adapters {

class SimulatedMount {
public:
    using Through = SimulatedMachine::Through;

    SimulatedMount(SimulatedMachine& machine, std::int32_t node);

    // A call of a rank, one at a time. `through` gets an errno when it is done.
    struct Asked {
        MountedFile file;
        IoDirection direction = IoDirection::write;
        FileRun run;
    };
    void call(std::int32_t rank, const Asked& asked, Through through);
    // Does a small call at once, if it is a part of an RPC that needs to wait for nothing, and
    // charges the rank the time. False: it would have to wait, and nothing has been done. There are
    // many small calls, each of which would cost an event.
    bool call_at_once(std::int32_t rank, const Asked& asked);
    // Calls `through` when all that the rank has written is at the targets.
    void sync(std::int32_t rank, Through through);

private:
    // A rank's call in progress.
    struct Call {
        MountedFile file;
        IoDirection direction = IoDirection::write;
        std::int64_t begin = 0;
        std::int64_t at = 0;  // done (for a direct call: locked) up to here
        std::int64_t end = 0;
        std::int64_t asking = 0;  // RPCs in flight of a direct call
        Through through;
    };
    // A rank's sequential reading, and the offset up to which blocks have been requested.
    struct Stream {
        std::int64_t file = -1;
        std::int64_t next = 0;
        std::int64_t ahead = 0;
        std::int64_t sequential = 0;
    };
    // A cached block of an object, or one that ranks wait for.
    struct Block {
        bool there = false;  // the RPC that fetched it has ended
        int failure = 0;     // the errno with which it ended; everyone who reads the block gets it
        std::vector<std::int32_t> waiting;  // local ranks
    };
    struct Rpc {
        IoDirection direction = IoDirection::read;
        std::int32_t rank = 0;
        RequestArrival arrival;
        Through ended;
    };
    struct Slots {
        std::int64_t in_flight = 0;
        std::deque<Rpc> waiting;
    };

    [[nodiscard]] static std::size_t position(std::int32_t number) noexcept {
        return static_cast<std::size_t>(number);
    }
    [[nodiscard]] Call& of(std::int32_t local) { return calls_[position(local)]; }
    [[nodiscard]] std::int32_t local_of(std::int32_t rank) const noexcept;
    [[nodiscard]] std::int32_t rank_of(std::int32_t local) const noexcept;
    [[nodiscard]] ObjectStriping striping(const MountedFile& file) const noexcept;
    [[nodiscard]] RequestArrival arrival(std::int32_t rank, const MountedFile& file,
                                         const ObjectPiece& piece) const noexcept;
    [[nodiscard]] ObjectPiece piece_of(const Call& call, std::int64_t unit) const noexcept;
    // Converts runs of `file` to RPCs; consecutive bytes of an object become one RPC.
    [[nodiscard]] std::vector<ObjectPiece> as_rpcs(const MountedFile& file,
                                                   const std::vector<FileRun>& runs) const;

    bool write_at_once(std::int32_t local, const MountedFile& file, const ObjectPiece& piece);
    bool read_at_once(std::int32_t local, const Asked& asked, const ObjectPiece& piece);
    // Seconds of client work besides copying: once per call and once per further stripe.
    [[nodiscard]] double work(std::int64_t at, std::int64_t begin) const noexcept;
    void go_on(std::int32_t local);
    void finish(std::int32_t local, int failure);
    bool waits_for_lock(std::int32_t local, const ObjectPiece& piece);
    void copy(std::int32_t local, std::int64_t bytes, std::function<void()> copied);
    void write_on(std::int32_t local);
    void take_in(std::int32_t local);
    void read_on(std::int32_t local);
    void hand_out(std::int32_t local);
    void fetch_ahead(std::int32_t local);
    void came(const MountedFile& file, const ObjectPiece& piece, int failure);
    void go_directly(std::int32_t local);
    void enqueue(Rpc rpc);
    void pump(std::int32_t target);
    void start(Rpc rpc);
    void arrived(const DirtyRun& run, int failure);
    void end_sync(std::int32_t local);

    SimulatedMachine& machine_;
    const ClientPlatform& client_;
    std::int32_t node_;
    WriteBack held_;
    std::vector<Call> calls_;  // of each rank of the node, as the next three
    std::vector<Stream> streams_;
    std::vector<Through> syncs_;  // empty: the rank does not sync
    std::vector<int> failures_;   // write-back errors, until a sync reports them
    std::map<std::pair<std::int64_t, std::int64_t>, Block> blocks_;  // by object and block number
    std::vector<Slots> slots_;                                       // of each target
    std::int64_t block_bytes_;
};

}  // namespace forebay::adapters
