// Helpers for tests of whole calls: jobs whose ranks run in memory, each with its request; an
// oracle that works byte by byte; and storage that is watched.
#pragma once

#include "collective/engine/file.hpp"
#include "collective/engine/lending_check.hpp"
#include "foundation/ports/forwarding_storage.hpp"
#include "storage/policy/domain.hpp"
#include "storage/posix/clock.hpp"
#include "worlds/memory/communicator.hpp"
#include "worlds/memory/storage.hpp"
#include "worlds/memory/world_cluster.hpp"
#include "worlds/memory/world_storage.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>

// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): ThreadSanitizer's
// name
extern "C" [[gnu::weak]] void* __tsan_get_current_fiber();

namespace forebay::engine {

using adapters::MemoryFile;

// Collects the call records of all ranks of a job.
class JobRecorder final : public ports::CallRecorder {
public:
    void call(const ports::CallRecord& record) override {
        if (record.bypassed) {
            bypassed = true;
        }
    }
    void error(const Error& /*error*/) override {}

    std::atomic<bool> bypassed = false;
};

// Counts the requests of all ranks that are in flight at each target.
class Meter {
public:
    explicit Meter(const FileStripes& layout)
        : layout_{layout}, now_(static_cast<std::size_t>(layout.targets)) {}

    [[nodiscard]] int most() const { return most_; }
    [[nodiscard]] std::size_t target_of(const ports::Request& request) const {
        return plan::target_at(layout_, request.pieces.front().at).position();
    }
    void begin(std::size_t target) {
        const int now = ++now_[target];
        for (int most = most_; most < now && !most_.compare_exchange_weak(most, now);) {
        }
    }
    void end(std::size_t target) { --now_[target]; }

private:
    FileStripes layout_;
    std::vector<std::atomic<int>> now_;
    std::atomic<int> most_ = 0;
};

// Storage that counts a request as in flight until its completion has been taken.
class MeteredStorage : public ports::ForwardingStorage {
public:
    MeteredStorage(std::unique_ptr<ports::FileStorage> inner, Meter& meter)
        : ForwardingStorage{std::move(inner)}, meter_{meter} {}

    void submit(const ports::Request& request) override {
        const std::size_t target = meter_.target_of(request);
        meter_.begin(target);
        targets_[request.ticket] = target;
        own().submit(request);
    }
    std::size_t poll(std::span<ports::RequestCompletion> out) override {
        return ended(out.first(own().poll(out)));
    }
    std::size_t wait(std::span<ports::RequestCompletion> out) override {
        return ended(out.first(own().wait(out)));
    }

private:
    std::size_t ended(std::span<const ports::RequestCompletion> done) {
        for (const ports::RequestCompletion& completion : done) {
            meter_.end(targets_.at(completion.ticket));
        }
        return done.size();
    }

    Meter& meter_;
    std::map<std::uint64_t, std::size_t> targets_;  // targets of requests, by ticket
};

// Metered storage that also lends memory.
class LendingStorage final : public MeteredStorage {
public:
    LendingStorage(std::unique_ptr<ports::FileStorage> inner, Meter& meter, LentMemory& memory)
        : MeteredStorage{std::move(inner), meter}, lender_{memory} {}
    [[nodiscard]] ports::MemoryLender* lender() noexcept override { return &lender_; }

private:
    TestLender lender_;
};

// One rank's request, and memory with a recognisable stream of bytes.
struct Ask {
    pattern::View view;
    pattern::ViewRange request;
    pattern::Nest nest = pattern::Nest::run(1);
    std::int64_t extent = 1;
    std::int64_t base = 0;  // index in `memory` of displacement 0
    std::vector<std::byte> memory;

    [[nodiscard]] pattern::RankMemory memory_of() { return {memory.data() + base, &nest, extent}; }
    [[nodiscard]] std::byte& byte(std::int64_t position) {
        const std::int64_t tile = position / nest.size();
        const std::int64_t at = tile * extent + nest.displacement_of(position % nest.size());
        return memory[static_cast<std::size_t>(base + at)];
    }
};

struct Job {
    std::vector<std::int32_t> nodes;
    FileStripes layout;
    plan::Tuning tuning;
    std::vector<Ask> asks;
    std::int32_t per_node = 1;
    bool only_read = false;
};

using Random = std::mt19937_64;

inline std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>{low, high}(random);
}

// A view of interleaved pieces, possibly with holes, in which ranks do not overlap: the pieces of a
// rank lie in its share of each stride.
inline pattern::View interleaved(Random& random, std::int64_t rank, std::int64_t ranks) {
    const std::int64_t unit = std::int64_t{1} << pick(random, 0, 9);
    const std::int64_t share = unit * pick(random, 1, 20);
    const std::int64_t piece = std::min(share, unit * pick(random, 1, 20));
    const std::int64_t gap = pick(random, 0, 3) == 0 ? unit * pick(random, 0, 3000) : 0;
    const std::int64_t displacement = unit * pick(random, 0, 100);
    return *pattern::View::make(Offset{displacement + rank * share}, pattern::Nest::run(piece),
                                Length{ranks * share + gap}, Length{1});
}

inline void give_memory(Random& random, Ask& ask) {
    if (pick(random, 0, 1) == 1) {
        const std::int64_t piece = pick(random, 1, 40);
        const std::int64_t stride = piece + pick(random, 0, 20);
        ask.nest = pattern::Nest::repeat(pattern::Nest::run(piece), pick(random, 1, 5), stride);
        ask.extent = ask.nest.high() + pick(random, 0, 30);
    }
    ask.base = pick(random, 0, 100);
    const std::int64_t tiles = ask.request.length / ask.nest.size() + 1;
    ask.memory.resize(
        static_cast<std::size_t>(ask.base + (tiles + 1) * ask.extent + ask.nest.high()));
}

inline Job random_job(std::uint64_t seed) {
    Random random{seed};
    Job job;
    const std::int64_t nodes = pick(random, 1, 4);
    for (std::int64_t n = 0; n < nodes; ++n) {
        job.nodes.push_back(static_cast<std::int32_t>(pick(random, 1, 3)));
    }
    job.layout.targets = static_cast<std::int32_t>(pick(random, 1, 7));
    job.layout.stripe_bytes = job.layout.targets == 1 ? 0 : 4096 * pick(random, 1, 40);
    job.tuning.window_bytes = 65536 * pick(random, 1, 4);
    job.tuning.staging_bytes_max = 4 << 20;
    job.tuning.buffers = static_cast<std::int32_t>(pick(random, 3, 5));
    job.tuning.request_bytes_max = 65536 * pick(random, 1, 3);
    job.tuning.requests_in_flight = static_cast<std::int32_t>(pick(random, 1, 3));
    if (pick(random, 0, 3) == 0) {
        job.tuning.requests_in_flight = plan::find_requests_in_flight;
    }
    job.tuning.aggregators_per_target = static_cast<std::int32_t>(pick(random, 1, 3));
    job.tuning.exchange = static_cast<plan::ExchangeOrder>(pick(random, 0, 2));
    job.tuning.simulated_only.placement =
        static_cast<plan::AggregatorPlacement>(pick(random, 0, 1));
    if (pick(random, 0, 4) == 0) {
        job.tuning.buffers = 1;
    }
    job.tuning.bypass_bytes_min = pick(random, 0, 3) == 0 ? 4096 : 1 << 20;
    job.per_node = static_cast<std::int32_t>(pick(random, 1, 3));
    const std::int64_t ranks = std::accumulate(job.nodes.begin(), job.nodes.end(), 0);
    const std::uint64_t views = random();
    for (std::int64_t r = 0; r < ranks; ++r) {
        Random same{views};
        Ask ask;
        ask.view = interleaved(same, r, ranks);
        if (pick(random, 0, 5) > 0) {
            ask.request = {pick(random, 0, 5000), pick(random, 0, 300000)};
        }
        give_memory(random, ask);
        job.asks.push_back(std::move(ask));
    }
    return job;
}

inline std::byte stream_byte(std::int64_t rank, std::int64_t position) {
    return static_cast<std::byte>((rank * 131 + position * 7 + (position >> 8) * 13) & 0xff);
}

inline std::vector<std::byte> oracle(Job& job, std::vector<std::byte> file) {
    for (std::size_t r = 0; r < job.asks.size(); ++r) {
        Ask& ask = job.asks[r];
        for (std::int64_t i = 0; i < ask.request.length; ++i) {
            const auto at =
                static_cast<std::size_t>(ask.view.offset_of(ask.request.position + i).bytes());
            if (file.size() <= at) {
                file.resize(at + 1);
            }
            file[at] = stream_byte(static_cast<std::int64_t>(r), ask.request.position + i);
        }
    }
    return file;
}

inline void fill(Job& job) {
    for (std::size_t r = 0; r < job.asks.size(); ++r) {
        Ask& ask = job.asks[r];
        for (std::int64_t i = 0; i < ask.request.length; ++i) {
            ask.byte(i) = stream_byte(static_cast<std::int64_t>(r), ask.request.position + i);
        }
    }
}

inline adapters::NodesOptions nodes_of(const Job& job) {
    const std::int32_t ranks = std::accumulate(job.nodes.begin(), job.nodes.end(), 0);
    adapters::NodesOptions nodes;
    nodes.node_sizes = job.nodes;
    nodes.node_bytes = CollectiveFile::node_segment_bytes(ranks, job.tuning.staging_bytes_max);
    return nodes;
}

inline FileOptions options_of(const Job& job) {
    FileOptions options;
    options.path = "/memory/file";
    options.layout = job.layout;
    options.tuning = job.tuning;
    options.aggregators_per_node_max = job.per_node;
    options.only_read = job.only_read;
    return options;
}

// The ranks of a job run as threads, or as actors of a world of imagined time, where the seed
// repeats all that happens.
enum class Ranks { threads, actors };

struct Run {
    Ranks ranks = Ranks::threads;
    std::uint64_t seed = 1;
};

// With ThreadSanitizer, all seeds run on threads. Without it every seed runs on actors, which is
// quicker and can be repeated, and a third of them on threads as well.
inline std::vector<Run> runs(Ranks ranks, std::uint64_t seeds) {
    const bool races = __tsan_get_current_fiber != nullptr;
    if (ranks == Ranks::actors) {
        seeds = races ? 0 : seeds;
    } else {
        seeds = races ? seeds : seeds / 3;
    }
    std::vector<Run> all;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        all.push_back({ranks, seed});
    }
    return all;
}

// The number of a case is its seed, as it is to be given to --gtest_filter.
inline std::string run_name(const testing::TestParamInfo<Run>& info) {
    return std::to_string(info.param.seed);
}

// A file in memory, and what a test observes of its use.
struct Watched {
    Watched(const Job& job, const adapters::StorageFaults& faults, const Run& run)
        : file{faults}, meter{job.layout}, how{run} {}

    Result<std::unique_ptr<ports::FileStorage>> open(IoDirection direction) {
        auto storage = world == nullptr ? adapters::open_memory(file, direction)
                                        : adapters::open_memory(*world, file, direction);
        if (!storage) {
            return storage;
        }
        if (lends() && direction == IoDirection::write) {
            return std::make_unique<LendingStorage>(std::move(*storage), meter, lent);
        }
        return std::make_unique<MeteredStorage>(std::move(*storage), meter);
    }
    // With every other seed storage lends memory; with every fourth of these, one rank cannot write
    // to it.
    [[nodiscard]] bool lends() const noexcept { return how.seed % 2 == 0; }
    [[nodiscard]] bool refuses(std::size_t rank) const noexcept {
        return how.seed % 8 == 0 && rank == 1;
    }

    MemoryFile file;
    Meter meter;
    LentMemory lent;
    JobRecorder recorder;
    adapters::SteadyClock steady;
    Run how;
    adapters::MemoryWorld* world = nullptr;                    // while its actors run
    std::optional<std::pair<std::string, std::int64_t>> kill;  // an actor, and its step
    adapters::WorldEnding ending;                              // of the last world
};

// The body of each rank: opens the file and goes on with `body`.
template <class Body>
auto on_rank(const Job& job, Watched& watched, Body body) {
    return [&job, &watched, body](ports::Communicator& communicator) {
        const ports::TimeSource& clock = watched.world == nullptr
                                             ? static_cast<const ports::TimeSource&>(watched.steady)
                                             : *watched.world;
        const std::size_t rank = communicator.place().rank.position();
        TestBorrower borrower{watched.lent, watched.refuses(rank)};
        FileOptions options = options_of(job);
        options.borrower = &borrower;
        CollectiveFile opened{communicator, clock, watched.recorder,
                              [&](IoDirection direction) { return watched.open(direction); },
                              std::move(options)};
        body(opened, rank);
    };
}

// Runs the ranks as actors, and leaves in `watched` how that ended.
template <class Body>
void on_actors(const Job& job, Watched& watched, Body body) {
    adapters::MemoryWorld world{{.seed = watched.how.seed, .quiet_ns_max = 20'000'000}};
    if (watched.kill) {
        world.kill(watched.kill->first, watched.kill->second);
    }
    watched.world = &world;
    watched.ending =
        adapters::run_ranks(world, nodes_of(job), on_rank(job, watched, std::move(body)));
    watched.world = nullptr;
}

template <class Body>
void on_ranks(const Job& job, Watched& watched, Body body) {
    if (watched.how.ranks == Ranks::actors) {
        on_actors(job, watched, std::move(body));
        ASSERT_EQ(watched.ending.kind, adapters::WorldEnding::Kind::ended) << watched.ending.report;
    } else {
        adapters::run_ranks(adapters::ClusterOptions{nodes_of(job)},
                            on_rank(job, watched, std::move(body)));
    }
    EXPECT_EQ(watched.lent.open, 0) << "all that was lent was taken back";
}

// Faults that a file system may show although nothing is wrong.
inline adapters::StorageFaults some_trouble(std::uint64_t seed) {
    adapters::StorageFaults faults;
    faults.seed = seed;
    faults.short_percent = seed % 2 == 0 ? 30 : 0;
    faults.interrupted_percent = seed % 3 == 0 ? 20 : 0;
    faults.again_percent = seed % 5 == 0 ? 10 : 0;
    faults.delay_polls_max = seed % 4 == 0 ? 5 : 0;
    return faults;
}

}  // namespace forebay::engine
