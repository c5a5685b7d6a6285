// Calls of a communicator whose arguments are swapped; see tools/checks/wrong.py.
#include "foundation/ports/communicator.hpp"

namespace forebay::ports {

// RIGHT: the node, then who of it
Rank right_order(const Communicator& communicator) {
    return communicator.rank_at(NodeId{1}, LocalRank{2});
}

// WRONG: who, then the node
Rank wrong_order(const Communicator& communicator) {
    return communicator.rank_at(LocalRank{2}, NodeId{1});
}

// WRONG: a rank of the job is no node
auto wrong_receiver(Communicator& communicator) { return communicator.send(Rank{1}, 0, {}); }

}  // namespace forebay::ports
