// Tests that the queue chooses as next_to_move() does of all candidates.
#include "tier/live/move_queue.hpp"

#include <gtest/gtest.h>
#include <map>
#include <rapidcheck/gtest.h>
#include <vector>

namespace forebay::tier {
namespace {

constexpr std::int64_t second = 1'000'000'000;

MoveCandidate any_candidate(std::int64_t now_ns) {
    const auto ago = [&] { return now_ns - *rc::gen::inRange<std::int64_t>(0, 20) * second; };
    return {.bytes = *rc::gen::inRange<std::int64_t>(0, 5),
            .dirtied_ns = ago(),
            .written_ns = ago(),
            .retry_ns = *rc::gen::element<std::int64_t>(0, 0, now_ns + 3 * second),
            .open = *rc::gen::inRange(0, 2) == 0,
            .asked = *rc::gen::inRange(0, 8) == 0,
            .under_way = *rc::gen::inRange(0, 8) == 0,
            .trigger =
                *rc::gen::element(MoveTrigger::at_close, MoveTrigger::at_idle, MoveTrigger::at_size,
                                  MoveTrigger::at_job_end, MoveTrigger::manual),
            .idle_ns = *rc::gen::inRange<std::int64_t>(0, 20) * second,
            .size_bytes = *rc::gen::inRange<std::int64_t>(0, 5)};
}

RC_GTEST_PROP(MoveQueueProperties, ChoosesAsFromAllCandidates, ()) {
    MoveQueue queue;
    std::map<ReplicaName, MoveCandidate> all;
    MoveSituation now{.now_ns = 100 * second};
    const auto steps = *rc::gen::inRange(0, 60);
    for (int step = 0; step < steps; ++step) {
        const ReplicaName name{1, *rc::gen::inRange<std::uint64_t>(0, 12)};
        switch (*rc::gen::inRange(0, 4)) {
            case 0:
                all.erase(name);
                queue.remove(name);
                break;
            case 1: now.now_ns += *rc::gen::inRange<std::int64_t>(0, 5) * second; break;
            default: all[name] = any_candidate(now.now_ns); queue.put(name, all[name]);
        }
        now.pressed = *rc::gen::inRange(0, 3) == 0;
        now.job_ends = *rc::gen::inRange(0, 3) == 0;
        now.age_max_ns = *rc::gen::element<std::int64_t>(0, 0, 15 * second);
        std::vector<MoveCandidate> candidates;
        std::vector<ReplicaName> names;
        for (const auto& [one, candidate] : all) {
            names.push_back(one);
            candidates.push_back(candidate);
        }
        const auto expected = next_to_move(candidates, now);
        const auto found = queue.first(now);
        RC_ASSERT(found.has_value() == expected.has_value());
        if (found) {
            // It is the one with the least name of those that are equal.
            RC_ASSERT(*found == names[expected->candidate]);
        }
        RC_ASSERT(queue.size() == all.size());
    }
}

}  // namespace
}  // namespace forebay::tier
