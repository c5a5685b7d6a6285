// A parallel program in virtual time: ranks are SMPI processes of one SimGrid simulation, nodes and
// the file system are those of a platform. Each rank gets the four ports of the engine. One world
// per process, since SimGrid allows no second.
//
// What is SimGrid's: virtual time, scheduling of ranks, MPI start-up, and the leaders' gathering
// (real MPI messages over SimGrid's network). What is ours: messages with data and requests to
// storage, since both share a node's interface, and queues that cost two timers each let thousands
// of ranks move 100 GB in a minute.
#pragma once

#include "adapters/simgrid/lustre.hpp"
#include "adapters/simgrid/platform.hpp"
#include "ports/clock.hpp"
#include "ports/communicator.hpp"
#include "ports/imagined.hpp"
#include "ports/storage.hpp"

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
    Sickness sickness;
    MemoryFile* content = nullptr;  // where bytes go; nullptr: they are not there
};

// One rank's ports; they live until its body returns.
struct RankPorts {
    ports::Communicator& communicator;
    const ports::Clock& clock;
    ports::Imagined* imagined;  // nullptr when bytes are there
    // Waits for the metadata server, as closing what was opened does.
    std::function<Result<std::unique_ptr<ports::Storage>>(Direction)> open;
};

struct WorldReport {
    double seconds = 0;  // virtual, from start to end
    std::int64_t messages = 0;
    std::int64_t message_bytes = 0;
    std::int64_t requests = 0;
    std::int64_t request_bytes = 0;
    std::vector<double> target_busy;  // seconds
};

// Runs `body` as every rank. A deadlock ends the process with SimGrid's list of who waits for what.
// Error: a process may not have the addresses of all nodes' memory.
[[nodiscard]] Result<WorldReport> run_world(const Platform& platform, const WorldOptions& options,
                                            const std::function<void(RankPorts&)>& body);

}  // namespace forebay::adapters
