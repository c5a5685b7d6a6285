// Small jobs in every order in which things can happen, larger ones in many: whatever is read is
// what was acknowledged last, on whatever node.
#include "registry/orders_check.hpp"

#include <gtest/gtest.h>
#include <random>
#include <set>

namespace forebay::registry {
namespace {

// Sanitizers make each step many times slower: with them, clients visit once.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool slow = true;
#else
constexpr bool slow = false;
#endif
#else
constexpr bool slow = false;
#endif

struct Seen {
    std::size_t states = 0;
    std::int64_t messages_max = 0;
    std::int64_t cached_max = 0;
    std::string problem;
};

// All orders, each state once.
Seen every_order_of(const Job& begin, std::size_t states_max = 2'000'000) {
    Seen seen;
    std::set<Job> known{begin};
    std::vector<Job> open{begin};
    while (!open.empty() && seen.problem.empty()) {
        const Job now = open.back();
        open.pop_back();
        const auto steps = now.steps();
        if (steps.empty()) {
            seen.messages_max = std::max(seen.messages_max, now.messages());
            seen.cached_max = std::max(seen.cached_max, now.cached());
            seen.problem = !now.over()         ? "somebody waits for ever"
                           : !now.all_stored() ? "something was not drained"
                                               : "";
        }
        for (const Job::Step& step : steps) {
            Job next = now;
            if (!next.take(step)) {
                seen.problem = next.problem();
            } else if (known.insert(next).second) {
                open.push_back(std::move(next));
            }
        }
        if (known.size() > states_max) {
            seen.problem = "too many states";
        }
    }
    seen.states = known.size();
    return seen;
}

std::vector<Script> scripts_of_one_visit() {
    return {{{0, false}}, {{0, true}}, {{1, false}}, {{1, true}}};
}

std::vector<Script> scripts_of_two_visits() {
    if (slow) {
        return scripts_of_one_visit();
    }
    std::vector<Script> scripts;
    for (const Script& first : scripts_of_one_visit()) {
        for (const Script& second : scripts_of_one_visit()) {
            scripts.push_back({first.front(), second.front()});
        }
    }
    return scripts;
}

// Both visit twice; by what the first node does.
class TwoNodesAndTwoFiles : public testing::TestWithParam<std::size_t> {};

TEST_P(TwoNodesAndTwoFiles, InEveryOrder) {
    const Script one = scripts_of_two_visits().at(GetParam());
    for (const Script& other : scripts_of_two_visits()) {
        const Seen seen = every_order_of(Job{2, {{0, one}, {1, other}}});
        ASSERT_EQ(seen.problem, "") << seen.states << " states";
    }
}

TEST_P(TwoNodesAndTwoFiles, WhileAnyDaemonMayDie) {
    const Script one = scripts_of_two_visits().at(GetParam());
    for (const Script& other : scripts_of_one_visit()) {
        for (const Node node : {0U, 1U}) {
            Job job{2, {{0, one}, {1, other}}};
            job.allow_death(node);
            const Seen seen = every_order_of(job);
            ASSERT_EQ(seen.problem, "") << seen.states << " states";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Orders, TwoNodesAndTwoFiles,
                         testing::Range<std::size_t>(0, slow ? 4 : 16));

TEST(Orders, ThreeNodesAndOneFileInEveryOrder) {
    const std::vector<Script> scripts{{{0, false}}, {{0, true}}};
    for (const Script& one : scripts) {
        for (const Script& two : scripts) {
            for (const Script& three : scripts) {
                const Seen seen = every_order_of(Job{3, {{0, one}, {1, two}, {2, three}}});
                ASSERT_EQ(seen.problem, "") << seen.states << " states";
            }
        }
    }
}

// Random steps of larger jobs: several clients a node, more files.
std::string one_order_of(std::uint32_t seed, bool with_death) {
    std::mt19937 random{seed};
    const auto below = [&](std::uint32_t most) {
        return static_cast<std::uint32_t>(random() % most);
    };
    const std::uint32_t nodes = 2 + below(4);
    std::vector<Job::Client> clients;
    for (std::uint32_t i = 0; i < 2 * nodes; ++i) {
        Script script;
        for (std::uint32_t visits = 1 + below(6); visits > 0; --visits) {
            script.push_back({below(3), below(2) == 0});
        }
        clients.push_back({i % nodes, script});
    }
    Job job{nodes, clients};
    if (with_death) {
        job.allow_death(below(nodes));
    }
    for (auto steps = job.steps(); !steps.empty(); steps = job.steps()) {
        if (!job.take(steps[below(static_cast<std::uint32_t>(steps.size()))])) {
            return job.problem();
        }
    }
    return !job.over() ? "somebody waits for ever" : !job.all_stored() ? "not all is drained" : "";
}

TEST(Orders, LargerJobsInManyOrders) {
    constexpr std::uint32_t seeds = slow ? 200 : 2000;
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        ASSERT_EQ(one_order_of(seed, seed % 2 == 1), "") << "seed " << seed;
    }
}

TEST(Orders, MessagesOfANodeAndAFileDoNotDependOnTheNumberOfNodes) {
    for (const std::uint32_t nodes : {2U, 8U, 64U}) {
        std::vector<Job::Client> clients;
        for (Node node = 0; node < nodes; ++node) {
            clients.push_back({node, {{0, false}}});
        }
        Job readers{nodes, clients};
        for (auto steps = readers.steps(); !steps.empty(); steps = readers.steps()) {
            ASSERT_TRUE(readers.take(steps.front()));
        }
        // Asked, granted, forgotten; the home talks to itself for nothing.
        EXPECT_LE(readers.messages(), 3 * (nodes - 1));
        EXPECT_EQ(readers.cached(), nodes);
    }
}

}  // namespace
}  // namespace forebay::registry
