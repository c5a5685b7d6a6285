// The table of transitions.
#include "tier/catalogue/replica_state.hpp"

#include <algorithm>
#include <array>

namespace forebay::tier {

namespace {

struct StateChange {
    ReplicaState before = ReplicaState::none;
    ReplicaEvent event = ReplicaEvent::fill_begins;
    ReplicaState after = ReplicaState::none;
};

constexpr auto transitions = [] {
    using enum ReplicaState;
    using enum ReplicaEvent;
    return std::array{
        StateChange{none, fill_begins, filling},
        StateChange{none, is_written, dirty},
        StateChange{filling, fill_ends, clean},
        StateChange{filling, fill_fails, evicting},
        StateChange{filling, changed_outside, evicting},
        StateChange{clean, is_written, dirty},
        StateChange{clean, changed_outside, evicting},
        StateChange{clean, evict_begins, evicting},
        StateChange{dirty, is_written, dirty},
        StateChange{dirty, move_begins, moving},
        StateChange{dirty, changed_outside, rescued},
        StateChange{moving, is_written, moving},
        StateChange{moving, move_ends, clean},
        StateChange{moving, move_overtaken, dirty},
        StateChange{moving, move_fails, dirty},
        StateChange{moving, changed_outside, rescued},
        StateChange{evicting, evict_ends, none},
    };
}();

}  // namespace

std::optional<ReplicaState> state_after(ReplicaState state, ReplicaEvent event) noexcept {
    const auto* found = std::ranges::find_if(transitions, [&](const StateChange& one) {
        return one.before == state && one.event == event;
    });
    return found == transitions.end() ? std::nullopt : std::optional{found->after};
}

bool is_redundant(ReplicaState state) noexcept {
    return state == ReplicaState::filling || state == ReplicaState::clean ||
           state == ReplicaState::evicting;
}

bool is_dirty(ReplicaState state) noexcept {
    return state == ReplicaState::dirty || state == ReplicaState::moving;
}

std::string_view name_of(ReplicaState state) noexcept {
    switch (state) {
        case ReplicaState::none: return "none";
        case ReplicaState::filling: return "filling";
        case ReplicaState::clean: return "clean";
        case ReplicaState::dirty: return "dirty";
        case ReplicaState::moving: return "moving";
        case ReplicaState::evicting: return "evicting";
        case ReplicaState::rescued: return "rescued";
    }
    return "none";
}

}  // namespace forebay::tier
