// Which of the files that wait is moved next. The list says which of them have changed, and these
// are looked at, not all that wait.
#pragma once

#include "tier/live/memory_list.hpp"
#include "tier/live/move_queue.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace forebay::tier {

// A file whose replica may have bytes that the file lacks.
struct WaitingFile {
    std::optional<MoveCandidate> candidate{};  // nullopt: it is not to be moved
    bool is_busy = false;                      // another thread has it just now
};

class MoveChooser {
public:
    using Look = std::function<WaitingFile(const ReplicaName&)>;

    // The file that is moved next, as next_to_move() chooses it. It is chosen again once the list
    // says that it has changed. `look` says what is known of a file now; files that became less
    // urgent need not be marked in the list, since the chosen one is looked at once more.
    [[nodiscard]] std::optional<ReplicaName> take_next(MemoryReplicaList& list,
                                                       const MoveSituation& situation,
                                                       const Look& look);

    // Whether another thread had a file of those that may have to be moved.
    [[nodiscard]] bool has_busy() const noexcept { return !busy_.empty(); }
    [[nodiscard]] const MoveQueue& queue() const noexcept { return queue_; }

private:
    void look_at(const ReplicaName& name, const Look& look);

    MoveQueue queue_;
    std::vector<ReplicaName> busy_;  // those to be looked at again
};

}  // namespace forebay::tier
