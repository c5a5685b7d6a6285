// A parallel program in virtual time: ranks are SMPI processes of one SimGrid simulation, nodes and
// the file system are those of a platform. Each rank gets the four ports of the engine. One world
// per process, since SimGrid allows no second.
//
// SimGrid's part: virtual time, scheduling of ranks, MPI start-up, and the leaders' gathering (real
// MPI messages over SimGrid's network). Our part: messages with data and requests to storage, since
// both share a node's interface, and queues that cost two timers each let thousands of ranks move
// 100 GB in a minute.
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

// Which host the next rank is on.
enum class RankMapping { by_block, round_robin };

struct WorldOptions {
    std::int32_t hosts = 1;
    std::int32_t ranks_per_host = 1;
    std::int32_t ranks_per_node = 1;  // that share memory, as the engine is told; divides the above
    // All exchange is by messages between ranks, as in the incumbents. Needs ranks_per_node 1.
    bool ranks_alone = false;
    RankMapping mapping = RankMapping::by_block;  // round_robin needs ranks_per_node 1
    bool blocking = false;       // a rank does nothing else while it writes or reads, as in pwrite
    std::size_t node_bytes = 0;  // node memory
    std::uint64_t seed = 1;
    TargetFaults sickness;
    std::vector<double> slower;  // each target's times are multiplied by; empty: all by 1
    // That mounted files will move: WorldReport::passed says when how much of it had been.
    std::int64_t bytes_expected = 0;
    MemoryFile* content = nullptr;  // where bytes go; nullptr: they are not there
};

// Where a file lies: stripe i is on target (first + i mod targets) mod those of the platform. Two
// files of one number would have each other's locks.
struct FilePlace {
    std::int64_t number = 0;
    std::int32_t first_target = 0;
    std::int32_t targets = 1;  // no more than the platform has
};

// A file as the file system's client of a node sees it.
struct MountedFile {
    FilePlace place;
    std::int64_t bytes = 0;  // its length, beyond which nothing is read ahead
    bool direct = false;     // past the client's memory, as O_DIRECT
};

enum class MetadataCall { open, close };

// Calls for a program's work beside the engine, and for a daemon's beside a program.
struct RankLife {
    // Lets so many seconds pass.
    std::function<void(double seconds)> compute;
    // Until `word` is not `seen` any more, but no longer than so many seconds.
    std::function<void(const ports::Word& word, std::uint32_t seen, double seconds)> wait_for;
    // The same, or until anything happens on the node or to this rank, such as the end of a
    // request.
    std::function<void(const ports::Word& word, std::uint32_t seen, double seconds)>
        wait_for_anything;
    // Sends something that costs `message_time` here; `arrives` happens when it is there, and the
    // rank `to` looks again if it waits for anything.
    std::function<void(Rank to, std::function<void()> arrives)> tell;
    // Waits for the metadata server.
    std::function<void(MetadataCall)> ask;
    // Makes a file of so many objects, and opens it.
    std::function<void(std::int64_t objects)> create;
    // One of many files; neither opening nor closing it asks the metadata server.
    std::function<std::unique_ptr<ports::FileStorage>(const FilePlace&)> file;
    // The same through the client of the node: its memory, its locks, its RPCs. A request may go
    // over any number of stripes, in one piece; there is one at a time. sync() waits until all
    // that the rank has written is at the targets.
    std::function<std::unique_ptr<ports::FileStorage>(const MountedFile&)> mounted;
};

// One rank's ports; they live until its body returns.
struct RankPorts {
    ports::Communicator& communicator;
    const ports::TimeSource& clock;
    ports::Imagined* imagined;  // nullptr when bytes are there
    // Waits for the metadata server, as closing what was opened does.
    std::function<Result<std::unique_ptr<ports::FileStorage>>(IoDirection)> open;
    const RankLife& life;
};

struct WorldReport {
    double seconds = 0;  // virtual, from start to end
    std::int64_t messages = 0;
    std::int64_t message_bytes = 0;
    std::int64_t requests = 0;
    std::int64_t request_bytes = 0;
    std::vector<double> target_busy;  // seconds
    // For mounted files: bytes at each target, locks that were asked for and those that others lost
    // by it, and when the first, second … of so many parts of all bytes had been moved.
    static constexpr std::size_t parts = 32;
    std::vector<std::int64_t> target_bytes;
    std::int64_t locks_asked = 0;
    std::int64_t locks_lost = 0;
    std::vector<double> passed;
};

// Runs `body` as every rank. A deadlock ends the process with SimGrid's list of who waits for what.
// Error: a process may not have the addresses of all nodes' memory.
[[nodiscard]] Result<WorldReport> run_world(const MachinePlatform& platform,
                                            const WorldOptions& options,
                                            const std::function<void(RankPorts&)>& body);

}  // namespace forebay::adapters
