// Looks at what has changed, and at the first of the queue until it is as the queue has it.
#include "tier/live/move_chooser.hpp"

#include <utility>

namespace forebay::tier {

void MoveChooser::look_at(const ReplicaName& name, const Look& look) {
    const WaitingFile now = look(name);
    if (now.candidate && !now.is_busy) {
        queue_.put(name, *now.candidate);
        return;
    }
    queue_.remove(name);
    if (now.is_busy) {
        busy_.push_back(name);
    }
}

std::optional<ReplicaName> MoveChooser::take_next(MemoryReplicaList& list,
                                                  const MoveSituation& situation,
                                                  const Look& look) {
    for (const ReplicaName& name : std::exchange(busy_, {})) {
        look_at(name, look);
    }
    for (const ReplicaName& name : list.take_changed()) {
        look_at(name, look);
    }
    while (const auto first = queue_.first(situation)) {
        look_at(*first, look);
        if (queue_.first(situation) == first) {
            queue_.remove(*first);
            return first;
        }
    }
    return std::nullopt;
}

}  // namespace forebay::tier
