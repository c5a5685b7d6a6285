// Whole calls in a world of imagined time: a seed repeats the run, and ranks die at any of its
// steps.
#include "collective/engine/jobs_check.hpp"

#include <gtest/gtest.h>
#include <set>

namespace forebay::engine {
namespace {

// Writes a random job. Returns a number that stands for the whole run, and the file.
std::pair<std::uint64_t, std::vector<std::byte>> write_once(std::uint64_t seed) {
    Job job = random_job(seed);
    fill(job);
    Watched watched{job, some_trouble(seed), {Ranks::actors, seed}};
    on_ranks(job, watched, [&](CollectiveFile& opened, std::size_t rank) {
        Ask& ask = job.asks[rank];
        static_cast<void>(opened.write({&ask.view, ask.request, ask.memory_of(), {}}));
    });
    return {watched.ending.trace, watched.file.get({Offset{0}, watched.file.size()})};
}

TEST(World, ASeedRepeatsACallToTheLastStep) {
    std::set<std::uint64_t> traces;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto first = write_once(seed);
        EXPECT_EQ(first, write_once(seed)) << "seed " << seed;
        traces.insert(first.first);
    }
    EXPECT_EQ(traces.size(), 20U) << "each seed is another run";
}

// Where ranks wrote, every byte is the old or the new one; elsewhere it is the old one.
void expect_old_or_new(const std::vector<std::byte>& got, const std::vector<std::byte>& before,
                       const std::vector<std::byte>& after) {
    for (std::size_t i = 0; i < got.size(); ++i) {
        const std::byte old = i < before.size() ? before[i] : std::byte{0};
        ASSERT_TRUE(got[i] == old || (i < after.size() && got[i] == after[i])) << "at byte " << i;
    }
}

TEST(World, ARankThatDiesInACallSpoilsNothing) {
    int spared = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Job job = random_job(seed);
        fill(job);
        const std::vector<std::byte> before(100000, std::byte{0xee});
        const std::vector<std::byte> after = oracle(job, before);
        Watched watched{job, some_trouble(seed), {Ranks::actors, seed}};
        watched.file.put(Offset{0}, before);
        watched.kill = {"rank 0", static_cast<std::int64_t>(seed * seed % 300)};
        on_actors(job, watched, [&](CollectiveFile& opened, std::size_t rank) {
            Ask& ask = job.asks[rank];
            static_cast<void>(opened.write({&ask.view, ask.request, ask.memory_of(), {}}));
        });
        expect_old_or_new(watched.file.get({Offset{0}, watched.file.size()}), before, after);
        // The other ranks wait for the dead one, as MPI demands, and the report says so.
        const bool died = watched.ending.report.find("rank 0: died") != std::string::npos;
        if (watched.ending.kind == adapters::WorldEnding::Kind::stuck) {
            EXPECT_TRUE(died) << watched.ending.report;
        }
        spared += died ? 0 : 1;
    }
    EXPECT_LT(spared, 30) << "most die before they have ended";
}

}  // namespace
}  // namespace forebay::engine
