// Close-to-open consistency: what was closed before an open is seen by it, or the open fails.
#include "tier/policy/peer_wait.hpp"

namespace forebay::tier {

PeerStep next_peer_step(const PeerFile& file) noexcept {
    if (!file.is_marked) {
        return PeerStep::proceed;
    }
    // A later generation was begun after the earlier one was moved. Writers wait for the end of
    // that, too: their bytes and the other tier's would be taken for changes by somebody else.
    if (!file.writes && file.generation > file.generation_before) {
        return PeerStep::proceed;
    }
    if (file.silent_ns >= file.silent_ns_max) {
        return file.empties ? PeerStep::overwrite : PeerStep::refuse;
    }
    switch (file.peer) {
        case PeerState::unseen: return PeerStep::wait;
        case PeerState::alive: return PeerStep::ask;
        case PeerState::dead: return PeerStep::take_over;
    }
    return PeerStep::wait;
}

}  // namespace forebay::tier
