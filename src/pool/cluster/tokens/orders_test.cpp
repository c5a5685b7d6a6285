// Takes small jobs through every order of steps, and larger ones through many random orders: each
// read returns what was acknowledged last, on whatever node.
#include "pool/cluster/tokens/orders_check.hpp"

#include <gtest/gtest.h>
#include <random>
#include <set>
#include <span>

namespace forebay::tokens {
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
    std::int64_t passed_max = 0;
    std::string problem;
};

// Visits every state that can be reached, each once.
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
            seen.passed_max = std::max(seen.passed_max, now.passed());
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
    using Kind = Visit::Kind;
    return {{{0, Kind::reads}}, {{0, Kind::writes}}, {{1, Kind::reads}}, {{1, Kind::writes}}};
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

// Each node visits twice; the parameter says what the first node does.
class TwoNodesAndTwoFiles : public testing::TestWithParam<std::size_t> {};

TEST_P(TwoNodesAndTwoFiles, InEveryOrder) {
    const Script one = scripts_of_two_visits().at(GetParam());
    for (const Script& other : scripts_of_two_visits()) {
        const Seen seen = every_order_of(Job{2, {{0, one}, {1, other}}});
        ASSERT_EQ(seen.problem, "") << seen.states << " states";
    }
}

// Only one node may die: for the other one the same follows by symmetry, since each node is the
// home of one file.
TEST_P(TwoNodesAndTwoFiles, WhileADaemonMayDie) {
    ASSERT_NE(home_of(FileKey{0}, 2), home_of(FileKey{1}, 2));
    const Script one = scripts_of_two_visits().at(GetParam());
    for (const Script& other : scripts_of_two_visits()) {
        Job job{2, {{0, one}, {1, other}}};
        job.allow_death(0);
        const Seen seen = every_order_of(job);
        ASSERT_EQ(seen.problem, "") << seen.states << " states";
    }
}

INSTANTIATE_TEST_SUITE_P(Orders, TwoNodesAndTwoFiles,
                         testing::Range<std::size_t>(0, slow ? 4 : 16));

// The ranks of a program write together, and others use the file meanwhile.
std::vector<Script> scripts_of_visits_together() {
    using Kind = Visit::Kind;
    const std::vector<Visit> visits{
        {0, Kind::reads}, {0, Kind::writes}, {0, Kind::together, 1}, {0, Kind::together, 2}};
    std::vector<Script> scripts;
    for (const Visit& only : visits) {
        scripts.push_back({only});
    }
    for (const Visit& first : visits) {
        for (const Visit& second : visits) {
            scripts.push_back({first, second});
        }
    }
    return scripts;
}

class TwoNodesTogether : public testing::TestWithParam<std::size_t> {};

TEST_P(TwoNodesTogether, InEveryOrder) {
    const std::vector<Script> all = scripts_of_visits_together();
    const Script one = all.at(GetParam());
    for (const Script& other : all) {
        if (one.size() + other.size() > (slow ? 2U : 3U)) {
            continue;
        }
        const Seen seen = every_order_of(Job{2, {{0, one}, {1, other}}});
        ASSERT_EQ(seen.problem, "") << seen.states << " states";
    }
}

TEST_P(TwoNodesTogether, WhileAnyDaemonMayDie) {
    const std::vector<Script> all = scripts_of_visits_together();
    const Script one = all.at(GetParam());
    for (const Script& other : all) {
        if (other.size() > 1 || (slow && one.size() > 1)) {
            continue;
        }
        for (const Node node : {0U, 1U}) {
            Job job{2, {{0, one}, {1, other}}};
            job.allow_death(node);
            const Seen seen = every_order_of(job);
            ASSERT_EQ(seen.problem, "") << seen.states << " states";
        }
    }
}

// Two clients on one node, while a client on another node writes together with them.
TEST_P(TwoNodesTogether, WithAnotherClientOfANode) {
    const Script third = scripts_of_visits_together().at(GetParam());
    if (slow || third.size() > 1) {
        return;
    }
    const Script together{{0, Visit::Kind::together, 1}};
    const Seen seen = every_order_of(Job{2, {{0, together}, {1, together}, {0, third}}});
    ASSERT_EQ(seen.problem, "") << seen.states << " states";
}

INSTANTIATE_TEST_SUITE_P(Orders, TwoNodesTogether, testing::Range<std::size_t>(0, slow ? 4 : 20));

TEST(Orders, MessagesOfANodeThatWritesTogetherDoNotDependOnTheNumberOfNodes) {
    for (const std::uint32_t nodes : {2U, 8U, 64U}) {
        std::vector<Job::Client> clients;
        for (Node node = 0; node < nodes; ++node) {
            clients.push_back({node, {{0, Visit::Kind::together, 1}}});
        }
        Job job{nodes, clients};
        job.nobody_settles();
        for (auto steps = job.steps(); !steps.empty(); steps = job.steps()) {
            ASSERT_TRUE(job.take(steps.front()));
        }
        EXPECT_LE(job.messages(), 3 * (nodes - 1));
        EXPECT_EQ(job.cached(), nodes);
    }
}

// Node 0 is the home of the file; the other two are interchangeable.
void three_nodes(const Script& home, const Script& one, const Script& other) {
    const Seen seen = every_order_of(Job{3, {{0, home}, {1, one}, {2, other}}});
    ASSERT_EQ(seen.problem, "") << seen.states << " states";
}

TEST(Orders, ThreeNodesAndOneFileInEveryOrder) {
    const Script reads{{0, Visit::Kind::reads}};
    const Script writes{{0, Visit::Kind::writes}};
    for (const Script& home : {reads, writes}) {
        three_nodes(home, reads, reads);
        three_nodes(home, reads, writes);
        three_nodes(home, writes, writes);
    }
}

// When the first node has given its token back and the second has not yet, a client of the first
// must not read past what the second still has.
TEST(Orders, TwoClientsOfANodeAndOtherNodesThatWriteTogetherInEveryOrder) {
    const Script together{{0, Visit::Kind::together, 1}};
    const Script other_group{{0, Visit::Kind::together, 2}};
    const Script reads{{0, Visit::Kind::reads}};
    if (slow) {
        return;
    }
    for (const Script& late : {reads, other_group}) {
        const Seen seen =
            every_order_of(Job{2, {{0, together}, {0, late}, {0, reads}, {1, together}}});
        ASSERT_EQ(seen.problem, "") << seen.states << " states";
    }
}

// A node reads a file ahead, asks to write, and learns that other nodes write, too. It must have
// dropped its read-cache blocks before they do.
TEST(Orders, ANodeThatReadsAndIsToldThatOthersWriteInEveryOrder) {
    const Script writes{{0, Visit::Kind::writes}};
    const Script reads{{0, Visit::Kind::reads}};
    if (slow) {
        return;
    }
    const Seen seen =
        every_order_of(Job{3, {{1, {reads[0], reads[0]}}, {1, writes}, {2, reads}, {0, writes}}});
    EXPECT_EQ(seen.problem, "") << seen.states << " states";
}

TEST(Orders, TwoNodesThatWriteTogetherAndOneThatDoesNotInEveryOrder) {
    const Script reads{{0, Visit::Kind::reads}};
    const Script writes{{0, Visit::Kind::writes}};
    const Script together{{0, Visit::Kind::together, 1}};
    if (slow) {
        return;
    }
    three_nodes(reads, together, together);
    three_nodes(writes, together, together);
    three_nodes(together, reads, together);
    three_nodes(together, writes, together);
}

// Scripts about one file; each of the two files has another home.
std::vector<Script> scripts_about(std::uint64_t file) {
    const Visit reads{file, Visit::Kind::reads};
    const Visit writes{file, Visit::Kind::writes};
    if (slow) {
        return {{reads}, {writes}};
    }
    return {{reads, reads}, {reads, writes}, {writes, reads}, {writes, writes}};
}

// One node reads from the file system, for all.
class WhereOneNodeReads : public testing::TestWithParam<std::uint64_t> {};

TEST_P(WhereOneNodeReads, InEveryOrder) {
    for (const Script& one : scripts_about(GetParam())) {
        for (const Script& other : scripts_about(GetParam())) {
            const Seen seen = every_order_of(Job{2, {{0, one}, {1, other}}, 1});
            ASSERT_EQ(seen.problem, "") << seen.states << " states";
        }
    }
}

TEST_P(WhereOneNodeReads, WhileAnyDaemonMayDie) {
    for (const Script& one : scripts_about(GetParam())) {
        for (const Node node : {0U, 1U}) {
            for (const Node other : {0U, 1U}) {
                Job job{2, {{other, one}, {1 - other, {{GetParam(), Visit::Kind::reads}}}}, 1};
                job.allow_death(node);
                const Seen seen = every_order_of(job);
                ASSERT_EQ(seen.problem, "") << seen.states << " states";
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Orders, WhereOneNodeReads, testing::Values(0, 1));

TEST(Orders, OfThreeNodesOneReadsInEveryOrder) {
    const Script reads{{0, Visit::Kind::reads}};
    const Script again{{0, Visit::Kind::reads}, {0, Visit::Kind::reads}};
    const Script writes{{0, Visit::Kind::writes}};
    const std::vector<Script> all{reads, again, writes};
    for (const Script& home : std::span{all}.first(slow ? 1 : 3)) {
        const Seen seen = every_order_of(Job{3, {{0, home}, {1, reads}, {2, reads}}, 1});
        ASSERT_EQ(seen.problem, "") << seen.states << " states";
        EXPECT_GT(seen.passed_max, 0);
    }
}

// The shape of the trees: k readers, and two children for each node.
TEST(Home, EachNodeIsToldWhoPassesTheFileOn) {
    Home home{2};
    std::vector<OutgoingMessage> said;
    for (Node node = 0; node < 10; ++node) {
        home.receive(node, {.kind = TokenMessage::Kind::ask, .token = Token::read, .file = {7}},
                     said);
    }
    ASSERT_EQ(said.size(), 10U);
    std::vector<Node> parents;
    for (std::size_t i = 2; i < said.size(); ++i) {
        const Parent parent = said[i].message.parent;
        EXPECT_EQ(parent.grant, said[parent.node].message.grant);
        EXPECT_LT(parent.grant, said[i].message.grant);
        parents.push_back(parent.node);
    }
    EXPECT_EQ(said[0].message.parent, Parent{});
    EXPECT_EQ(said[1].message.parent, Parent{});
    EXPECT_EQ(parents, (std::vector<Node>{0, 0, 1, 1, 2, 2, 3, 3}));
}

// Otherwise two nodes might wait for each other.
TEST(Home, WhoComesAgainIsBehindThoseThatStayed) {
    Home home{1};
    std::vector<OutgoingMessage> said;
    const TokenMessage ask{.kind = TokenMessage::Kind::ask, .token = Token::read, .file = {7}};
    home.receive(0, ask, said);
    home.receive(1, ask, said);
    home.receive(0, {.kind = TokenMessage::Kind::forgotten, .file = {7}}, said);
    home.receive(0, ask, said);
    home.receive(2, ask, said);
    ASSERT_EQ(said.size(), 4U);
    EXPECT_EQ(said[2].message.parent, (Parent{1, said[1].message.grant}));
    EXPECT_NE(said[2].message.grant, said[0].message.grant);
    EXPECT_EQ(said[3].message.parent, (Parent{1, said[1].message.grant}));
}

// A client of the first node is entering while another client of it leaves and the second node
// opens the file. The file that the first client opens then must not be pooled as if its node still
// had it alone.
TEST(Orders, TwoClientsOfANodeAndOneOfAnotherInEveryOrder) {
    const Script writes{{0, Visit::Kind::writes}};
    const Script reads{{0, Visit::Kind::reads}};
    for (const Script& other : {reads, writes}) {
        for (const Node home : {0U, 1U}) {
            const Seen seen =
                every_order_of(Job{2, {{home, writes}, {home, writes}, {1 - home, other}}});
            ASSERT_EQ(seen.problem, "") << seen.states << " states";
        }
    }
}

// Random steps of larger jobs, with several clients on a node and more files.
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
            const auto kind = static_cast<Visit::Kind>(below(nodes <= parts_max ? 3 : 2));
            script.push_back({below(3), kind, kind == Visit::Kind::together ? 1 + below(2) : 0});
        }
        clients.push_back({i % nodes, script});
    }
    Job job{nodes, clients, below(3)};
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
    constexpr std::uint32_t seeds = slow ? 200 : 20'000;
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        ASSERT_EQ(one_order_of(seed, seed % 2 == 1), "") << "seed " << seed;
    }
}

TEST(Orders, MessagesOfANodeAndAFileDoNotDependOnTheNumberOfNodes) {
    for (const std::uint32_t nodes : {2U, 8U, 64U}) {
        std::vector<Job::Client> clients;
        for (Node node = 0; node < nodes; ++node) {
            clients.push_back({node, {{0, Visit::Kind::reads}}});
        }
        Job readers{nodes, clients};
        for (auto steps = readers.steps(); !steps.empty(); steps = readers.steps()) {
            ASSERT_TRUE(readers.take(steps.front()));
        }
        // Ask, grant and forgotten; the home's messages to itself are free.
        EXPECT_LE(readers.messages(), 3 * (nodes - 1));
        EXPECT_EQ(readers.cached(), nodes);
    }
}

}  // namespace
}  // namespace forebay::tokens
