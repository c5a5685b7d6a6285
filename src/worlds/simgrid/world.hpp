// A parallel program in virtual time: ranks are SMPI processes of one SimGrid simulation; nodes and
// the file system are those of a platform. Each rank gets the engine's four ports. A process can
// run one world, since SimGrid allows one simulation per process.
//
// SimGrid provides virtual time, the scheduling of ranks, MPI's start-up, and the leaders'
// all-gather (real MPI messages over SimGrid's network). Messages with data and requests to storage
// are modelled here, since both share a node's interface, by queues that cost two timers each: so
// thousands of ranks move 100 GB in a minute of real time.
#pragma once

#include "foundation/ports/clock.hpp"
#include "foundation/ports/communicator.hpp"
#include "foundation/ports/imagined.hpp"
#include "foundation/ports/storage.hpp"
#include "worlds/simgrid/lustre.hpp"
#include "worlds/simgrid/platform.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace forebay::adapters {

class MemoryFile;

// The host on which the next rank is placed.
enum class RankMapping { by_block, round_robin };

struct WorldOptions {
    std::int32_t hosts = 1;
    std::int32_t ranks_per_host = 1;
    // Ranks that share memory, which the engine takes for a node; divides the above.
    std::int32_t ranks_per_node = 1;
    // Ranks exchange messages only, as in ROMIO and OMPIO. Needs ranks_per_node 1.
    bool ranks_alone = false;
    RankMapping mapping = RankMapping::by_block;  // round_robin needs ranks_per_node 1
    bool blocking = false;       // I/O is synchronous, as pwrite: the rank does nothing else
    std::size_t node_bytes = 0;  // node memory
    std::uint64_t seed = 1;
    TargetFaults sickness;
    std::vector<double> slower;  // factor on each target's times; empty: all are 1
    // Total bytes that mounted files will move; WorldReport::passed has the times of parts of it.
    std::int64_t bytes_expected = 0;
    MemoryFile* content = nullptr;  // stores the file's data; null: data does not exist
};

// A file's placement: its stripe i is on target (first_target + i mod targets) mod the platform's
// targets. `number` identifies the file: its locks and cached blocks belong to it.
struct FilePlace {
    std::int64_t number = 0;
    std::int32_t first_target = 0;
    std::int32_t targets = 1;  // no more than the platform has
};

// A file opened through the file system's client of a node.
struct MountedFile {
    FilePlace place;
    std::int64_t bytes = 0;  // its size: the limit of read-ahead
    bool direct = false;     // bypasses the client's cache, as O_DIRECT
};

enum class MetadataCall { open, close };

// Actions of a rank besides using the engine: as the program, or as a daemon beside it.
struct RankLife {
    // Lets `seconds` of virtual time pass.
    std::function<void(double seconds)> compute;
    // Waits until `word` differs from `seen`, with a time-out in seconds.
    std::function<void(const ports::Word& word, std::uint32_t seen, double seconds)> wait_for;
    // As wait_for, but also returns after any event on the node or for this rank, such as the
    // completion of a request.
    std::function<void(const ports::Word& word, std::uint32_t seen, double seconds)>
        wait_for_anything;
    // Sends a message whose sending costs `message_time`. When it arrives, `arrives` is called, and
    // the rank `to` returns from wait_for_anything.
    std::function<void(Rank to, std::function<void()> arrives)> tell;
    // Starts fetching `bytes` bytes that do not exist from the memory of the rank `from`, as the
    // receiver of a large message does by RDMA: they pass both interfaces, or the node's memory.
    // When they are here, `arrived` is called, and this rank returns from wait_for_anything. What
    // the cores do about the message is not charged.
    std::function<void(Rank from, std::int64_t bytes, std::function<void()> arrived)> fetch;
    // Opens or closes a file at the metadata server, and waits for it.
    std::function<void(MetadataCall)> ask;
    // Creates and opens a file of this many objects.
    std::function<void(std::int64_t objects)> create;
    // The storage of any file, without its metadata operations.
    std::function<std::unique_ptr<ports::FileStorage>(const FilePlace&)> file;
    // The storage of a file through the node's client, with its cache, locks and RPCs. One request
    // at a time, of one piece, over any number of stripes. sync() waits until all that the rank has
    // written is at the targets.
    std::function<std::unique_ptr<ports::FileStorage>(const MountedFile&)> mounted;
};

// The ports of one rank; they live until its body returns.
struct RankPorts {
    ports::Communicator& communicator;
    const ports::TimeSource& clock;
    ports::Imagined* imagined;  // null if data exists
    // Opens the experiment's file. Waits for the metadata server, as closing the file does.
    std::function<Result<std::unique_ptr<ports::FileStorage>>(IoDirection)> open;
    const RankLife& life;
};

// The virtual time of a rank, in seconds.
[[nodiscard]] inline double seconds(const RankPorts& ports) {
    return static_cast<double>(ports.clock.now_ns()) * 1e-9;
}

struct WorldReport {
    double seconds = 0;  // virtual time from start to end
    std::int64_t messages = 0;
    std::int64_t message_bytes = 0;
    std::int64_t requests = 0;
    std::int64_t request_bytes = 0;
    std::vector<double> target_busy;  // seconds
    // Mounted files only: bytes at each target, lock requests, locks that these revoked, and the
    // times at which each 1/parts of all bytes had been moved.
    static constexpr std::size_t parts = 32;
    std::vector<std::int64_t> target_bytes;
    std::int64_t locks_asked = 0;
    std::int64_t locks_lost = 0;
    std::vector<double> passed;
};

// Runs `body` on every rank. A deadlock ends the process with SimGrid's list of waiting actors.
// Error: the address space for all nodes' memory cannot be mapped.
[[nodiscard]] Result<WorldReport> run_world(const MachinePlatform& platform,
                                            const WorldOptions& options,
                                            const std::function<void(RankPorts&)>& body);

}  // namespace forebay::adapters
