// A barrier of all ranks of a simulated program, which takes no virtual time itself.
#pragma once

#include "worlds/simgrid/world.hpp"

#include <cstdint>

namespace forebay::sim {

class RankBarrier {
public:
    explicit RankBarrier(std::int64_t ranks) : ranks_{ranks} {}
    void meet(adapters::RankPorts& rank);

private:
    std::int64_t ranks_;
    std::int64_t arrived_ = 0;
    ports::Word turn_{0};
};

}  // namespace forebay::sim
