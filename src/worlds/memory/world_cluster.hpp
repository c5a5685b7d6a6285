// A parallel program in a MemoryWorld: every rank is an actor. MemoryCluster is its counterpart
// with threads as ranks.
#pragma once

#include "foundation/ports/communicator.hpp"
#include "worlds/memory/nodes.hpp"
#include "worlds/memory/world.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace forebay::adapters {

class WorldCluster {
public:
    // The world must outlive the cluster, and the cluster the world's last run.
    WorldCluster(MemoryWorld& world, const NodesOptions& options);
    WorldCluster(const WorldCluster&) = delete;
    WorldCluster& operator=(const WorldCluster&) = delete;
    ~WorldCluster();

    [[nodiscard]] std::int32_t ranks() const noexcept;
    // To be used by one actor.
    [[nodiscard]] ports::Communicator& communicator(Rank rank);
    // Adds an actor for each rank: "rank 0", "rank 1", …. `body` must outlive the world's run.
    void spawn(const std::function<void(ports::Communicator&)>& body);

private:
    struct State;
    class Member;
    std::unique_ptr<State> state_;
    std::vector<std::unique_ptr<Member>> members_;
};

// Runs `body` on every rank of the world and returns how it ended.
WorldEnding run_ranks(MemoryWorld& world, const NodesOptions& options,
                      const std::function<void(ports::Communicator&)>& body);

}  // namespace forebay::adapters
