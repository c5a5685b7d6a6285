// Every order of events of small rings, exhaustively: no deadlock, never more than k in flight, all
// windows in stripe order, and nothing under way when the stations are closed.
#include "collective/plan/turns.hpp"

#include <deque>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <tuple>

namespace forebay::plan {
namespace {

// How rounds become known to a station.
enum class Learning {
    at_once,      // rounds by span
    at_meetings,  // one by one, each after all stations have closed the ones before
                  // (CallTeam::meet)
    one_by_one,   // whenever the station likes, also while the token is closing earlier ones
};

// A ring, its messages under way and the windows that storage works on.
struct Ring {
    Ring(int stations, int rounds, int limit, Learning how)
        : count{stations}, last{rounds}, learning{how} {
        for (int s = 0; s < stations; ++s) {
            station.emplace_back(s, stations, Throttle::fixed(limit));
        }
        way.resize(static_cast<std::size_t>(stations));
        filled.resize(way.size());
        known.resize(way.size());
        ended.resize(way.size());
        for (std::size_t s = 0; s < way.size(); ++s) {
            collect(s);
        }
    }

    // Lets event number `event` happen; returns false if it cannot happen now.
    bool happen(int event) {
        const auto s = static_cast<std::size_t>(event % count);
        switch (event / count) {
            case 0: return learn(s);
            case 1: return fill(s);
            case 2: return finish(s);
            default: return event / count == 3 && deliver(s);
        }
    }
    [[nodiscard]] int events() const { return count * 4; }

    bool learn(std::size_t s) {
        if (known[s] == last || (learning == Learning::at_meetings && !has_met(known[s]))) {
            return false;
        }
        known[s] = learning == Learning::at_once ? last : known[s] + 1;
        station[s].know(known[s]);
        collect(s);
        return true;
    }
    // Whether all stations have come to the barrier at which the round after `rounds` becomes
    // known, and have closed the rounds before.
    [[nodiscard]] bool has_met(std::int64_t rounds) const {
        for (std::size_t i = 0; i < station.size(); ++i) {
            if (known[i] < rounds || (known[i] == rounds && !station[i].closed())) {
                return false;
            }
        }
        return true;
    }
    bool fill(std::size_t s) {
        if (filled[s] == last) {
            return false;
        }
        station[s].filled(++filled[s]);
        collect(s);
        return true;
    }
    bool finish(std::size_t s) {
        if (ended[s] == station[s].started()) {
            return false;
        }
        ++ended[s];
        --working;
        station[s].ended({1, 1, 1});
        collect(s);
        return true;
    }
    bool deliver(std::size_t s) {
        if (way[s].empty()) {
            return false;
        }
        const RingMessage message = way[s].front();
        way[s].pop_front();
        EXPECT_FALSE(station[s].closed() && known[s] == last) << "a message after the end";
        station[s].take(message);
        collect(s);
        return true;
    }

    void collect(std::size_t s) {
        for (const RingMessage& message : station[s].out()) {
            way[(s + 1) % way.size()].push_back(message);
        }
        station[s].out().clear();
        std::int64_t started = 0;
        for (std::size_t i = 0; i < station.size(); ++i) {
            started += station[i].started();
        }
        working += static_cast<int>(started - begun);
        begun = started;
        for (std::size_t i = 0; i < station.size(); ++i) {  // stripe order: no station is ahead
            const auto earlier = static_cast<std::int64_t>(i);
            EXPECT_EQ(station[i].started(), (started + count - 1 - earlier) / count);
        }
    }
    [[nodiscard]] bool all_done() const {
        for (const Station& one : station) {
            if (!one.closed() || one.started() != last) {
                return false;
            }
        }
        return working == 0;
    }
    // Tells states apart; what is not in it follows from what is.
    [[nodiscard]] std::string name() const {
        std::string text;
        for (std::size_t s = 0; s < station.size(); ++s) {
            text += fmt::format("{},{},{},{}{}", known[s], filled[s], ended[s],
                                station[s].started(), station[s].closed() ? "c" : "o");
            for (const RingMessage& message : way[s]) {
                const TurnToken& token = message.token;
                text += message.kind == RingMessage::Kind::token
                            ? fmt::format("p{}.{}.{}", token.next, token.in_flight, token.closing)
                            : "n";
            }
            text += ";";
        }
        return text;
    }

    int count;
    std::int64_t last;
    Learning learning;
    std::vector<Station> station;
    std::vector<std::deque<RingMessage>> way;  // to each station
    std::vector<std::int64_t> known;
    std::vector<std::int64_t> filled;
    std::vector<std::int64_t> ended;
    std::int64_t begun = 0;
    int working = 0;
};

class EveryOrder : public testing::TestWithParam<std::tuple<int, int, int, Learning>> {};

TEST_P(EveryOrder, EndsWithAllWindowsStartedInOrder) {
    const auto [stations, rounds, limit, learning] = GetParam();
    std::set<std::string> seen;
    std::deque<Ring> open{Ring{stations, rounds, limit, learning}};
    std::size_t ends = 0;
    while (!open.empty()) {
        const Ring state = std::move(open.front());
        open.pop_front();
        bool stuck = true;
        for (int event = 0; event < state.events(); ++event) {
            Ring next = state;
            if (!next.happen(event)) {
                continue;
            }
            stuck = false;
            ASSERT_LE(next.working, limit);
            if (seen.insert(next.name()).second) {
                open.push_back(std::move(next));
            }
        }
        if (stuck) {
            ASSERT_TRUE(state.all_done()) << "deadlock at " << state.name();
            ++ends;
        }
    }
    EXPECT_GE(ends, 1U);
}

INSTANTIATE_TEST_SUITE_P(Rings, EveryOrder,
                         testing::Combine(testing::Values(1, 2, 3), testing::Values(1, 2),
                                          testing::Values(1, 2, 3),
                                          testing::Values(Learning::at_once, Learning::at_meetings,
                                                          Learning::one_by_one)));

}  // namespace
}  // namespace forebay::plan
