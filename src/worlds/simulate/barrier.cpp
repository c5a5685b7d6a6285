// Counts arrivals; the last rank changes the word on which the others wait.
#include "worlds/simulate/barrier.hpp"

namespace forebay::sim {

void RankBarrier::meet(adapters::RankPorts& rank) {
    rank.life.compute(0);  // lets the rank's debt pass before it arrives
    if (++arrived_ == ranks_) {
        arrived_ = 0;
        turn_.fetch_add(1);
        rank.communicator.wake(turn_);
        return;
    }
    rank.communicator.wait(turn_, turn_.load());
}

}  // namespace forebay::sim
