// One collective call on its way: rounds of windows that this rank fills or empties, and the duties
// it has meanwhile.
#pragma once

#include "engine/crew.hpp"
#include "engine/duty.hpp"
#include "engine/file.hpp"
#include "engine/rounds.hpp"
#include "pattern/copy.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace forebay::engine {

// A rank's own part in the exchange of one call.
class Exchange {
public:
    Exchange(Crew& crew, Rounds& rounds, const Staging& staging, pattern::Transfer& transfer,
             ports::Direction direction);

    // Takes part in every round; returns when this rank's bytes are all in staging (write) or in
    // memory (read).
    void run(const pattern::View& view, const pattern::Request& request);
    [[nodiscard]] std::int64_t rounds() const noexcept { return rounds_walked_; }

private:
    void visit(std::int64_t round, AggregatorId id);
    void move(WindowControl& control, std::size_t index);

    Crew& crew_;
    Rounds& rounds_;
    const Staging& staging_;
    pattern::Transfer& transfer_;
    ports::Direction direction_;
    plan::Window window_;
    std::int64_t rounds_walked_ = 0;
};

// This rank's own share of `window`'s bytes has been moved: counts it, and wakes who waits for it.
void take_part(Crew& crew, WindowControl& control);

}  // namespace forebay::engine
