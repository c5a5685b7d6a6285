// A rank's own part in the exchange of one collective call (the exchange phase of two-phase I/O).
// It walks through the rounds, fills its part of each window or empties it, and attends to its
// tasks meanwhile.
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

    // Takes part in every round. Returns when all bytes of this rank are in staging (write) or in
    // the program's memory (read).
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
    // Images so far: windows of other nodes in which this node has bytes.
    std::int64_t images_walked_ = 0;
    // Reads from other nodes: the image whose data this rank has still to copy; -1: none. The rank
    // first marks what it wants of the next image, so that the request for that one is under way
    // meanwhile.
    plan::Window pending_window_;
    std::int64_t pending_image_ = -1;
    std::int64_t pending_round_ = 0;
    std::int64_t rounds_walked_ = 0;
};

// Counts this rank's part in the window as done. The last rank that is expected wakes those that
// wait for the window.
void take_part(CallTeam& team, WindowControl& control);

}  // namespace forebay::engine
