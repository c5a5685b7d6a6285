// A parallel program in one process for tests without MPI: every rank is a thread, so that
// ThreadSanitizer finds data races. Nodes are as given. For runs that a seed repeats exactly, use
// worlds/memory/world.hpp.
//
//   run_ranks({2, 1, 4}, [](ports::Communicator& communicator) { … });   // 7 ranks on 3 nodes
#pragma once

#include "foundation/base/test_time.hpp"
#include "foundation/ports/communicator.hpp"
#include "worlds/memory/nodes.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace forebay::adapters {

struct ClusterOptions : NodesOptions {
    // How long run_ranks() waits before it aborts.
    std::chrono::seconds patience{test_seconds(60)};
};

class MemoryCluster {
public:
    explicit MemoryCluster(const ClusterOptions& options);
    MemoryCluster(const MemoryCluster&) = delete;
    MemoryCluster& operator=(const MemoryCluster&) = delete;
    ~MemoryCluster();

    [[nodiscard]] std::int32_t ranks() const noexcept;
    // The communicator of one rank, to be used by one thread; lives as long as the cluster.
    [[nodiscard]] ports::Communicator& communicator(Rank rank);
    // The call in which the rank blocks now, for messages: "wait", "all_gather" or "running".
    [[nodiscard]] const char* doing(Rank rank) const;

private:
    struct State;
    class Member;
    std::unique_ptr<State> state_;
    std::vector<std::unique_ptr<Member>> members_;
};

using RankBody = std::function<void(ports::Communicator&)>;

// Runs `body` on all ranks concurrently and returns when all have returned. If they have not within
// `patience`, it prints each rank's call and aborts, so that a deadlock fails at once.
void run_ranks(const ClusterOptions& options, const RankBody& body);
void run_ranks(const std::vector<std::int32_t>& node_sizes, const RankBody& body);

}  // namespace forebay::adapters
