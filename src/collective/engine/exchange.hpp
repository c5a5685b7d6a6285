// One collective call on its way: rounds of windows that this rank fills or empties, and the tasks
// it has meanwhile.
#pragma once

#include "collective/engine/call_team.hpp"
#include "collective/engine/file.hpp"
#include "collective/engine/progress_task.hpp"
#include "collective/engine/rounds.hpp"
#include "foundation/pattern/copy.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace forebay::engine {

// A rank's own part in the exchange of one call.
class Exchange {
public:
    Exchange(CallTeam& team, CallRounds& rounds, const Staging& staging,
             pattern::WindowedTransfer& transfer, IoDirection direction);

    // Takes part in every round; returns when this rank's bytes are all in staging (write) or in
    // memory (read).
    void run(const pattern::View& view, const pattern::ViewRange& request);
    [[nodiscard]] std::int64_t rounds() const noexcept { return rounds_walked_; }

private:
    void visit(std::int64_t round, AggregatorId id);
    void visit_here(std::int64_t round, AggregatorId id);
    void visit_image(std::int64_t round);
    void take_pending();
    void wait_for(const WindowControl& control, std::uint64_t tag);
    void move(const plan::Window& window, WindowControl& control, std::size_t index);
    void want(std::size_t index);
    void imagine(const plan::Window& window, WindowControl& control, std::size_t index);

    CallTeam& team_;
    CallRounds& rounds_;
    const Staging& staging_;
    pattern::WindowedTransfer& transfer_;
    IoDirection direction_;
    plan::Window window_;
    std::int64_t images_walked_ = 0;  // windows of other nodes that this node has a part in
    // Reads from other nodes: the image whose data is still to be taken. Wanting the next one comes
    // first, so that its message is under way meanwhile.
    plan::Window pending_window_;
    std::int64_t pending_image_ = -1;
    std::int64_t pending_round_ = 0;
    std::int64_t rounds_walked_ = 0;
};

// This rank's own share of `window`'s bytes has been moved: counts it, and wakes who waits for it.
void take_part(CallTeam& team, WindowControl& control);

}  // namespace forebay::engine
