// Tests all transitions by a table that is written another way, and what must never happen.
#include "tier/catalogue/replica_state.hpp"

#include "tier/catalogue/replica_list.hpp"

#include <array>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>
#include <string>
#include <vector>

namespace forebay::tier {
namespace {

using enum ReplicaState;

constexpr std::array states{none, filling, clean, dirty, moving, evicting, rescued};
constexpr std::array events{
    ReplicaEvent::fill_begins,    ReplicaEvent::fill_ends,   ReplicaEvent::fill_fails,
    ReplicaEvent::is_written,     ReplicaEvent::move_begins, ReplicaEvent::move_ends,
    ReplicaEvent::move_overtaken, ReplicaEvent::move_fails,  ReplicaEvent::changed_outside,
    ReplicaEvent::evict_begins,   ReplicaEvent::evict_ends};

// A row for each state, a letter for each event in the order above: the state after, or "-".
TEST(ReplicaStates, FollowTheTable) {
    const std::array<std::string, 7> table{
        "F--D-------",  // none
        "-CE-----E--",  // filling
        "---D----EE-",  // clean
        "---DM---R--",  // dirty
        "---M-CDDR--",  // moving
        "----------N",  // evicting
        "-----------",  // rescued
    };
    const std::string letters = "NFCDMER";
    for (std::size_t s = 0; s < states.size(); ++s) {
        for (std::size_t e = 0; e < events.size(); ++e) {
            const auto after = state_after(states[s], events[e]);
            const char letter = after ? letters[static_cast<std::size_t>(*after)] : '-';
            EXPECT_EQ(letter, table[s][e]) << name_of(states[s]) << ", event " << e;
        }
    }
}

RC_GTEST_PROP(ReplicaStateWalks, LoseDirtyBytesNowhere, ()) {
    // Once written, bytes are gone only by a move that ended or in a rescue file.
    ReplicaState state = none;
    bool only_here = false;
    for (const std::size_t step :
         *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 11))) {
        const auto after = state_after(state, events[step]);
        if (!after) {
            continue;
        }
        only_here |= events[step] == ReplicaEvent::is_written;
        only_here = only_here && events[step] != ReplicaEvent::move_ends && *after != rescued;
        state = *after;
        RC_ASSERT(!only_here || !is_redundant(state));
        RC_ASSERT(!only_here || state != none);
    }
}

TEST(ReplicaStates, HaveDifferentNames) {
    std::set<std::string_view> names;
    for (const ReplicaState state : states) {
        names.insert(name_of(state));
    }
    EXPECT_EQ(names.size(), states.size());
}

TEST(ReplicaNames, AreParsedAsTheyAreWritten) {
    const ReplicaName name{0xfedcba9876543210, 0x1f};
    EXPECT_EQ(text_of(name), "fedcba9876543210-1f");
    EXPECT_EQ(parse_replica_name("fedcba9876543210-1f"), name);
    EXPECT_EQ(parse_replica_name(text_of({})), ReplicaName{});
    for (const char* const text : {"", "1", "1-", "-1", "1-2-3", "01-2", "1-A", "1-2 ", "+1-2",
                                   "1ffffffffffffffff-1", "1-2.new"}) {
        EXPECT_EQ(parse_replica_name(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace forebay::tier
