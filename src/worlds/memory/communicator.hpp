// A parallel program inside one process: every rank is a thread, nodes are as told. For tests of
// what needs no real MPI, under ThreadSanitizer in particular. Where ranks shall not be threads, so
// that a seed repeats a run: worlds/memory/world.hpp.
//
//   run_ranks({2, 1, 4}, [](ports::Communicator& communicator) { … });   // 7 ranks on 3 nodes
#pragma once

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
    std::chrono::seconds patience{60};  // of run_ranks
};

class MemoryCluster {
public:
    explicit MemoryCluster(const ClusterOptions& options);
    MemoryCluster(const MemoryCluster&) = delete;
    MemoryCluster& operator=(const MemoryCluster&) = delete;
    ~MemoryCluster();

    [[nodiscard]] std::int32_t ranks() const noexcept;
    // The communicator of one rank; lives as long as the cluster and is used by one thread.
    [[nodiscard]] ports::Communicator& communicator(Rank rank);
    // The call that the rank blocks on just now, for messages: "wait", "all_gather", "running".
    [[nodiscard]] const char* doing(Rank rank) const;

private:
    struct State;
    class Member;
    std::unique_ptr<State> state_;
    std::vector<std::unique_ptr<Member>> members_;
};

using RankBody = std::function<void(ports::Communicator&)>;

// Runs `body` as every rank at once and returns when all have. When they have not within the
// patience it says what each rank does and aborts: a deadlock is a failure, not a long test.
void run_ranks(const ClusterOptions& options, const RankBody& body);
void run_ranks(const std::vector<std::int32_t>& node_sizes, const RankBody& body);

}  // namespace forebay::adapters
