// Whole collective calls on ranks in memory: any nodes, layouts, views and memories give the file
// that a byte-by-byte oracle gives, and reading gives the bytes back.
#include "engine/file.hpp"

#include "adapters/memory/communicator.hpp"
#include "adapters/memory/storage.hpp"
#include "adapters/memory/wrapped_communicator.hpp"
#include "adapters/posix/clock.hpp"
#include "plan/domain.hpp"

#include <atomic>
#include <cerrno>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>

namespace forebay::engine {
namespace {

using adapters::MemoryFile;

// What all ranks of a job say of its calls.
class JobRecorder final : public ports::Recorder {
public:
    void call(const ports::CallRecord& record) override {
        if (record.bypassed) {
            bypassed = true;
        }
    }
    void error(const Error& /*error*/) override {}

    std::atomic<bool> bypassed = false;
};

// Requests of all ranks in flight at each target.
class Meter {
public:
    explicit Meter(const plan::Layout& layout)
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
    plan::Layout layout_;
    std::vector<std::atomic<int>> now_;
    std::atomic<int> most_ = 0;
};

// A request is in flight until its completion has been taken.
class MeteredStorage final : public ports::Storage {
public:
    MeteredStorage(std::unique_ptr<ports::Storage> inner, Meter& meter)
        : inner_{std::move(inner)}, meter_{meter} {}

    [[nodiscard]] int depth() const noexcept override { return inner_->depth(); }
    void submit(const ports::Request& request) override {
        const std::size_t target = meter_.target_of(request);
        meter_.begin(target);
        targets_[request.ticket] = target;
        inner_->submit(request);
    }
    std::size_t poll(std::span<ports::Completion> out) override {
        return ended(out.first(inner_->poll(out)));
    }
    std::size_t wait(std::span<ports::Completion> out) override {
        return ended(out.first(inner_->wait(out)));
    }
    Result<void> sync() override { return inner_->sync(); }
    [[nodiscard]] Result<ports::Identity> identity() const override { return inner_->identity(); }
    Result<void> close() override { return inner_->close(); }
    [[nodiscard]] const char* name() const noexcept override { return inner_->name(); }

private:
    std::size_t ended(std::span<const ports::Completion> done) {
        for (const ports::Completion& completion : done) {
            meter_.end(targets_.at(completion.ticket));
        }
        return done.size();
    }

    std::unique_ptr<ports::Storage> inner_;
    Meter& meter_;
    std::map<std::uint64_t, std::size_t> targets_;  // of requests by ticket
};

// What one rank asks for, with memory that holds a recognisable stream.
struct Ask {
    pattern::View view;
    pattern::Request request;
    pattern::Nest nest = pattern::Nest::run(1);
    std::int64_t extent = 1;
    std::int64_t base = 0;  // of displacement 0 in memory
    std::vector<std::byte> memory;

    [[nodiscard]] pattern::Memory memory_of() { return {memory.data() + base, &nest, extent}; }
    [[nodiscard]] std::byte& byte(std::int64_t position) {
        const std::int64_t tile = position / nest.size();
        const std::int64_t at = tile * extent + nest.displacement_of(position % nest.size());
        return memory[static_cast<std::size_t>(base + at)];
    }
};

struct Job {
    std::vector<std::int32_t> nodes;
    plan::Layout layout;
    plan::Tuning tuning;
    std::vector<Ask> asks;
    std::int32_t per_node = 1;
    bool only_read = false;
};

using Random = std::mt19937_64;

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>{low, high}(random);
}

// Interleaved, possibly with holes, so that ranks do not overlap: rank r's pieces lie in its share
// of each stride.
pattern::View interleaved(Random& random, std::int64_t rank, std::int64_t ranks) {
    const std::int64_t unit = std::int64_t{1} << pick(random, 0, 9);
    const std::int64_t share = unit * pick(random, 1, 20);
    const std::int64_t piece = std::min(share, unit * pick(random, 1, 20));
    const std::int64_t gap = pick(random, 0, 3) == 0 ? unit * pick(random, 0, 3000) : 0;
    const std::int64_t displacement = unit * pick(random, 0, 100);
    return *pattern::View::make(Offset{displacement + rank * share}, pattern::Nest::run(piece),
                                Length{ranks * share + gap}, Length{1});
}

void give_memory(Random& random, Ask& ask) {
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

Job random_job(std::uint64_t seed) {
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
    job.tuning.exchange = static_cast<plan::Exchange>(pick(random, 0, 2));
    job.tuning.placement = static_cast<plan::Placement>(pick(random, 0, 1));
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

std::byte stream_byte(std::int64_t rank, std::int64_t position) {
    return static_cast<std::byte>((rank * 131 + position * 7 + (position >> 8) * 13) & 0xff);
}

std::vector<std::byte> oracle(Job& job, std::vector<std::byte> file) {
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

void fill(Job& job) {
    for (std::size_t r = 0; r < job.asks.size(); ++r) {
        Ask& ask = job.asks[r];
        for (std::int64_t i = 0; i < ask.request.length; ++i) {
            ask.byte(i) = stream_byte(static_cast<std::int64_t>(r), ask.request.position + i);
        }
    }
}

FileOptions options_of(const Job& job) {
    FileOptions options;
    options.path = "/memory/file";
    options.layout = job.layout;
    options.tuning = job.tuning;
    options.aggregators_per_node_max = job.per_node;
    options.only_read = job.only_read;
    return options;
}

// A file in memory, and what is seen of its use.
struct Watched {
    Watched(const Job& job, const adapters::Faults& faults) : file{faults}, meter{job.layout} {}

    Result<std::unique_ptr<ports::Storage>> open(ports::Direction direction) {
        auto storage = adapters::open_memory(file, direction);
        if (!storage) {
            return storage;
        }
        return std::make_unique<MeteredStorage>(std::move(*storage), meter);
    }

    MemoryFile file;
    Meter meter;
    JobRecorder recorder;
    adapters::SteadyClock clock;
};

template <class Body>
void on_ranks(const Job& job, Watched& watched, Body body) {
    std::int32_t ranks = std::accumulate(job.nodes.begin(), job.nodes.end(), 0);
    adapters::ClusterOptions cluster;
    cluster.node_sizes = job.nodes;
    cluster.node_bytes = File::lane_bytes(ranks, job.tuning.staging_bytes_max);
    adapters::run_ranks(cluster, [&](ports::Communicator& communicator) {
        File opened{communicator, watched.clock, watched.recorder,
                    [&](ports::Direction direction) { return watched.open(direction); },
                    options_of(job)};
        body(opened, communicator.place().rank.position());
    });
}

// Faults that a file system may have without anything being wrong.
adapters::Faults some_trouble(std::uint64_t seed) {
    adapters::Faults faults;
    faults.seed = seed;
    faults.short_percent = seed % 2 == 0 ? 30 : 0;
    faults.interrupted_percent = seed % 3 == 0 ? 20 : 0;
    faults.again_percent = seed % 5 == 0 ? 10 : 0;
    faults.delay_polls_max = seed % 4 == 0 ? 5 : 0;
    return faults;
}

// k holds over the whole job; what bypasses the exchange is counted per node.
void expect_at_most_k_in_flight(const Job& job, const Watched& watched) {
    const std::int32_t limit = job.tuning.requests_in_flight;
    if (limit != plan::find_requests_in_flight && !watched.recorder.bypassed) {
        EXPECT_LE(watched.meter.most(), limit);
    }
}

class AnyJob : public testing::TestWithParam<std::uint64_t> {};

TEST_P(AnyJob, WritesWhatTheOracleWritesAndReadsItBack) {
    Job job = random_job(GetParam());
    fill(job);
    std::vector<std::byte> before(100000, std::byte{0xee});
    const std::vector<std::byte> expected = oracle(job, before);
    Watched watched{job, some_trouble(GetParam())};
    MemoryFile& file = watched.file;
    file.put(Offset{0}, before);
    on_ranks(job, watched, [&](File& opened, std::size_t rank) {
        Ask& ask = job.asks[rank];
        const Outcome out = opened.write({&ask.view, ask.request, ask.memory_of(), {}});
        EXPECT_EQ(out.passed, Refusal::none);
        EXPECT_FALSE(out.error.has_value());
        EXPECT_EQ(out.bytes.bytes(), ask.request.length);
    });
    ASSERT_EQ(file.size().bytes(), static_cast<std::int64_t>(expected.size()));
    ASSERT_TRUE(file.get({Offset{0}, file.size()}) == expected);
    for (Ask& ask : job.asks) {
        std::fill(ask.memory.begin(), ask.memory.end(), std::byte{0x55});
    }
    on_ranks(job, watched, [&](File& opened, std::size_t rank) {
        Ask& ask = job.asks[rank];
        const Outcome out = opened.read({&ask.view, ask.request, ask.memory_of(), {}});
        EXPECT_EQ(out.bytes.bytes(), ask.request.length);
    });
    for (std::size_t r = 0; r < job.asks.size(); ++r) {
        Ask& ask = job.asks[r];
        for (std::int64_t i = 0; i < ask.request.length; ++i) {
            ASSERT_EQ(ask.byte(i),
                      stream_byte(static_cast<std::int64_t>(r), ask.request.position + i));
        }
    }
    expect_at_most_k_in_flight(job, watched);
}

// Ranks take turns at writing `piece` bytes of one target's file; its aggregators share it.
Job sharing_job(std::int64_t ranks, std::int64_t piece, std::int64_t bytes) {
    Job job;
    job.nodes.assign(static_cast<std::size_t>(ranks), 1);
    job.layout = {1, 16384};
    job.tuning.window_bytes = 65536;
    job.tuning.staging_bytes_max = 4 << 20;
    job.tuning.aggregators_per_target = static_cast<std::int32_t>(ranks);
    for (std::int64_t r = 0; r < ranks; ++r) {
        Ask ask;
        ask.view = *pattern::View::make(Offset{r * piece}, pattern::Nest::run(piece),
                                        Length{ranks * piece}, Length{1});
        ask.request = {0, bytes};
        ask.memory.resize(static_cast<std::size_t>(bytes));
        job.asks.push_back(std::move(ask));
    }
    return job;
}

TEST(SharedTarget, AWindowThatEndsTakesItsRequestWithIt) {
    Job job = sharing_job(2, 4096, 2 << 20);  // windows of four requests
    adapters::Faults faults;
    faults.delay_polls_max = 5;
    Watched watched{job, faults};
    on_ranks(job, watched, [&](File& opened, std::size_t rank) {
        Ask& ask = job.asks[rank];
        const Outcome out = opened.write({&ask.view, ask.request, ask.memory_of(), {}});
        EXPECT_EQ(out.bytes.bytes(), ask.request.length);
        EXPECT_EQ(opened.read({&ask.view, ask.request, ask.memory_of(), {}}).bytes, out.bytes);
    });
    EXPECT_LE(watched.meter.most(), 2);
}

// Targets that do one request after another, each in a millisecond, but a sick last one in ten; and
// the time there.
class SerialStorage final : public ports::Storage, public ports::Clock {
public:
    SerialStorage(std::int64_t size, const plan::Layout& layout, bool sick = false)
        : size_{size},
          layout_{layout},
          sick_{sick},
          free_at_(static_cast<std::size_t>(layout.targets)) {}

    [[nodiscard]] std::int64_t now_ns() const noexcept override { return now_; }
    [[nodiscard]] int depth() const noexcept override { return 64; }
    void submit(const ports::Request& request) override {
        const std::size_t target = plan::target_at(layout_, request.pieces.front().at).position();
        const bool sick = sick_ && target + 1 == free_at_.size();
        std::int64_t& end = free_at_[target];
        end = std::max(end, now_) + (sick ? 10'000'000 : 1'000'000);
        queue_.emplace(end, request);
    }
    std::size_t poll(std::span<ports::Completion> out) override {
        if (queue_.empty()) {
            return 0;
        }
        const auto [end, request] = *queue_.begin();
        queue_.erase(queue_.begin());
        now_ = std::max(now_, end);
        const ports::Piece& last = request.pieces.back();
        const Length bytes = last.at - request.pieces.front().at + Length{std::ssize(last.bytes)};
        const bool fits = (last.at + Length{std::ssize(last.bytes)}).bytes() <= size_;
        out[0] = {request.ticket, fits ? bytes : Length{0}, fits ? 0 : ENOSPC};
        return 1;
    }
    std::size_t wait(std::span<ports::Completion> out) override { return poll(out); }
    Result<void> sync() override { return {}; }
    [[nodiscard]] Result<ports::Identity> identity() const override { return ports::Identity{}; }
    Result<void> close() override { return {}; }
    [[nodiscard]] const char* name() const noexcept override { return "serial"; }

private:
    std::int64_t size_;
    plan::Layout layout_;
    bool sick_;
    std::int64_t now_ = 0;
    std::vector<std::int64_t> free_at_;                  // by target
    std::multimap<std::int64_t, ports::Request> queue_;  // by when it will be done
};

// What one rank that writes `bytes` hears of its targets.
Outcome outcome_of(Job& job, std::int64_t bytes, bool sick) {
    adapters::ClusterOptions cluster;
    cluster.node_bytes = File::lane_bytes(1, job.tuning.staging_bytes_max);
    job.tuning.write = plan::Mode::enable;
    Outcome outcome;
    adapters::run_ranks(cluster, [&](ports::Communicator& communicator) {
        auto storage = std::make_unique<SerialStorage>(bytes, job.layout, sick);
        const ports::Clock& clock = *storage;
        JobRecorder recorder;
        File opened{communicator, clock, recorder,
                    [&](ports::Direction) { return std::move(storage); }, options_of(job)};
        Ask& ask = job.asks[0];
        outcome = opened.write({&ask.view, {0, bytes}, ask.memory_of(), {}});
    });
    return outcome;
}

TEST(SlowTarget, IsToldWhetherKIsFixedOrFound) {
    constexpr std::int64_t bytes = 8 << 20;
    for (const std::int32_t k :
         {1, 2, plan::unlimited_requests_in_flight, plan::find_requests_in_flight}) {
        Job job = sharing_job(1, 4096, bytes);
        job.layout.targets = 3;
        job.tuning.requests_in_flight = k;
        const Outcome out = outcome_of(job, bytes, true);
        ASSERT_TRUE(out.slow.has_value()) << "k = " << k;
        EXPECT_EQ(out.slow->target, TargetId{2});
        EXPECT_GT(out.slow->usual_rate, 2 * out.slow->rate);
    }
}

TEST(SlowTarget, IsNotToldOfTargetsThatAreAlike) {
    constexpr std::int64_t bytes = 8 << 20;
    Job job = sharing_job(1, 4096, bytes);
    job.layout.targets = 3;
    EXPECT_FALSE(outcome_of(job, bytes, false).slow.has_value());
}

TEST(FoundLimit, IsTakenFromCallsThatSucceedOnly) {
    constexpr std::int64_t bytes = 8 << 20;
    Job job = sharing_job(1, 4096, bytes);
    job.tuning.requests_in_flight = plan::find_requests_in_flight;
    job.tuning.write = plan::Mode::enable;
    adapters::ClusterOptions cluster;
    cluster.node_bytes = File::lane_bytes(1, job.tuning.staging_bytes_max);
    adapters::run_ranks(cluster, [&](ports::Communicator& communicator) {
        auto storage = std::make_unique<SerialStorage>(bytes, job.layout);
        const ports::Clock& clock = *storage;
        JobRecorder recorder;
        File opened{communicator, clock, recorder,
                    [&](ports::Direction) { return std::move(storage); }, options_of(job)};
        Ask& ask = job.asks[0];
        const Outcome good = opened.write({&ask.view, {0, bytes}, ask.memory_of(), {}});
        EXPECT_FALSE(good.error.has_value());
        EXPECT_EQ(good.found.limit, 1);
        const Outcome bad = opened.write({&ask.view, {4096, bytes}, ask.memory_of(), {}});
        EXPECT_TRUE(bad.error.has_value());
        EXPECT_EQ(bad.found.limit, 0) << "found by a call that failed";
        EXPECT_EQ(opened.found(ports::Direction::write), good.found);
    });
}

class FullDisk : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FullDisk, GivesEveryRankTheSameErrorAndOnlyWhatIsBelowIt) {
    Job job = random_job(GetParam());
    fill(job);
    const std::vector<std::byte> expected = oracle(job, {});
    const auto middle = static_cast<std::int64_t>(expected.size() / 2);
    adapters::Faults faults = some_trouble(GetParam());
    faults.full_at = Offset{middle};
    Watched watched{job, faults};
    MemoryFile& file = watched.file;
    bool anything = false;
    for (Ask& ask : job.asks) {
        anything = anything ||
                   ask.view.bytes_below(Offset{middle}) < ask.request.position + ask.request.length;
    }
    std::vector<Outcome> outcomes(job.asks.size());
    on_ranks(job, watched, [&](File& opened, std::size_t rank) {
        Ask& ask = job.asks[rank];
        outcomes[rank] = opened.write({&ask.view, ask.request, ask.memory_of(), {}});
    });
    const std::vector<std::byte> got = file.get({Offset{0}, file.size()});
    for (std::size_t r = 0; r < job.asks.size(); ++r) {
        Ask& ask = job.asks[r];
        ASSERT_EQ(outcomes[r].error.has_value(), anything);
        if (anything) {
            ASSERT_EQ(outcomes[r].error->code, ErrorCode::no_space);
        }
        for (std::int64_t i = 0; i < outcomes[r].bytes.bytes(); ++i) {
            const auto at =
                static_cast<std::size_t>(ask.view.offset_of(ask.request.position + i).bytes());
            ASSERT_EQ(got.at(at), ask.byte(i)) << "acknowledged, but not written";
        }
    }
}

class ShortFile : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ShortFile, ReadsCountWhatIsThereAndLeaveTheRestAlone) {
    Job job = random_job(GetParam());
    const std::vector<std::byte> whole = oracle(job, {});
    const std::size_t size = whole.size() * (GetParam() % 5) / 4;
    Watched watched{job, some_trouble(GetParam())};
    MemoryFile& file = watched.file;
    file.put(Offset{0}, std::span{whole}.first(std::min(size, whole.size())));
    for (Ask& ask : job.asks) {
        std::fill(ask.memory.begin(), ask.memory.end(), std::byte{0x55});
    }
    std::vector<Outcome> outcomes(job.asks.size());
    on_ranks(job, watched, [&](File& opened, std::size_t rank) {
        Ask& ask = job.asks[rank];
        outcomes[rank] = opened.read({&ask.view, ask.request, ask.memory_of(), {}});
    });
    for (std::size_t r = 0; r < job.asks.size(); ++r) {
        Ask& ask = job.asks[r];
        const std::int64_t there = std::clamp<std::int64_t>(
            ask.view.bytes_below(Offset{file.size().bytes()}) - ask.request.position, 0,
            ask.request.length);
        ASSERT_EQ(outcomes[r].bytes.bytes(), there);
        ASSERT_FALSE(outcomes[r].error.has_value());
        for (std::int64_t i = 0; i < ask.request.length; ++i) {
            const auto at =
                static_cast<std::size_t>(ask.view.offset_of(ask.request.position + i).bytes());
            ASSERT_EQ(ask.byte(i), i < there ? whole[at] : std::byte{0x55});
        }
    }
}

class BadSector : public testing::TestWithParam<std::uint64_t> {};

TEST_P(BadSector, GivesEveryRankTheErrorAndWhatLiesBelowIt) {
    Job job = random_job(GetParam());
    const std::vector<std::byte> whole = oracle(job, {});
    const auto bad = static_cast<std::int64_t>(whole.size() * (GetParam() % 4) / 4);
    adapters::Faults faults = some_trouble(GetParam());
    faults.error_at = Offset{bad};
    Watched watched{job, faults};
    MemoryFile& file = watched.file;
    file.put(Offset{0}, whole);
    for (Ask& ask : job.asks) {
        std::fill(ask.memory.begin(), ask.memory.end(), std::byte{0x55});
    }
    std::vector<Outcome> outcomes(job.asks.size());
    on_ranks(job, watched, [&](File& opened, std::size_t rank) {
        Ask& ask = job.asks[rank];
        outcomes[rank] = opened.read({&ask.view, ask.request, ask.memory_of(), {}});
    });
    for (std::size_t r = 0; r < job.asks.size(); ++r) {
        Ask& ask = job.asks[r];
        ASSERT_EQ(outcomes[r].error.has_value(), outcomes[0].error.has_value());
        if (outcomes[r].error) {
            ASSERT_EQ(outcomes[r].error->code, ErrorCode::input_output);
        }
        for (std::int64_t i = 0; i < outcomes[r].bytes.bytes(); ++i) {
            const auto at =
                static_cast<std::size_t>(ask.view.offset_of(ask.request.position + i).bytes());
            ASSERT_EQ(ask.byte(i), whole[at]) << "counted as read, but not in memory";
        }
    }
}

// Calls one after the other, most of them in one piece a rank: those move their bytes before they
// ask, as long as the others do it, too.
struct Sequence {
    Job job;
    std::vector<std::vector<Ask>> calls;  // of each rank
};

constexpr std::int64_t region_bytes = 65536;  // of each rank

Ask ask_in_region(Random& random, std::int64_t rank, bool whole) {
    Ask ask;
    const std::int64_t piece = whole ? region_bytes : pick(random, 1, 3000);
    const std::int64_t stride = piece + (whole ? 0 : pick(random, 1, 3000));
    ask.view = *pattern::View::make(Offset{rank * region_bytes}, pattern::Nest::run(piece),
                                    Length{stride}, Length{1});
    ask.request = {0, whole || pick(random, 0, 3) > 0 ? region_bytes / stride * piece : 0};
    ask.memory.resize(static_cast<std::size_t>(ask.request.length + 1));
    return ask;
}

Sequence random_sequence(std::uint64_t seed) {
    Random random{seed};
    Sequence sequence;
    Job& job = sequence.job;
    job.nodes.assign(static_cast<std::size_t>(pick(random, 1, 3)), 2);
    job.layout = pick(random, 0, 1) == 0 ? plan::Layout{1, 0} : plan::Layout{3, 16384};
    job.tuning.window_bytes = 65536;
    job.tuning.staging_bytes_max = 4 << 20;
    job.tuning.bypass_bytes_min = 16384;
    const std::int64_t ranks = 2 * std::ssize(job.nodes);
    for (int i = 0; i < 8; ++i) {
        const bool all_whole = i == 0 || pick(random, 0, 1) == 0;
        std::vector<Ask>& call = sequence.calls.emplace_back();
        for (std::int64_t r = 0; r < ranks; ++r) {
            call.push_back(ask_in_region(random, r, all_whole || pick(random, 0, 1) == 0));
        }
    }
    return sequence;
}

class CallsInTurn : public testing::TestWithParam<std::uint64_t> {};

TEST_P(CallsInTurn, WriteWhatTheOracleWritesAndReadItBack) {
    Sequence sequence = random_sequence(GetParam());
    Job& job = sequence.job;
    std::vector<std::byte> expected;
    for (std::vector<Ask>& call : sequence.calls) {
        job.asks = std::move(call);
        fill(job);
        expected = oracle(job, std::move(expected));
        call = std::move(job.asks);
    }
    Watched watched{job, some_trouble(GetParam())};
    on_ranks(job, watched, [&](File& opened, std::size_t rank) {
        for (std::vector<Ask>& call : sequence.calls) {
            Ask& ask = call[rank];
            const std::vector<std::byte> given = ask.memory;
            const Outcome out = opened.write({&ask.view, ask.request, ask.memory_of(), {}});
            EXPECT_FALSE(out.error.has_value());
            EXPECT_EQ(out.bytes.bytes(), ask.request.length);
            std::fill(ask.memory.begin(), ask.memory.end(), std::byte{0});
            const Outcome back = opened.read({&ask.view, ask.request, ask.memory_of(), {}});
            EXPECT_EQ(back.bytes, out.bytes);
            EXPECT_TRUE(ask.memory == given);
        }
    });
    EXPECT_TRUE(watched.recorder.bypassed);
    ASSERT_TRUE(watched.file.get({Offset{0}, watched.file.size()}) == expected);
}

// The last rank refuses the fourth call, or its part of the disk is full from the start.
TEST_P(CallsInTurn, TellEveryRankWhatOneMetAfterOthersHadMoved) {
    Sequence sequence = random_sequence(GetParam());
    Job& job = sequence.job;
    const bool refuses = GetParam() % 2 == 0;
    const std::size_t last = sequence.calls.front().size() - 1;
    adapters::Faults faults;
    faults.full_at =
        refuses ? faults.full_at : Offset{static_cast<std::int64_t>(last) * region_bytes + 5000};
    Watched watched{job, faults};
    on_ranks(job, watched, [&](File& opened, std::size_t rank) {
        for (std::vector<Ask>& call : sequence.calls) {
            Ask& ask = call[rank];
            const bool refused = refuses && &call == &sequence.calls.at(3);
            const Refusal own = refused && rank == last ? Refusal::gpu_memory : Refusal::none;
            const Outcome out = opened.write({&ask.view, ask.request, ask.memory_of(), own});
            EXPECT_EQ(out.passed, refused ? Refusal::gpu_memory : Refusal::none);
            if (refused) {
                continue;
            }
            const bool too_much = !refuses && call[last].request.length > 0;
            EXPECT_EQ(out.error.has_value(), too_much);
            if (rank < last || !too_much) {
                EXPECT_EQ(out.bytes.bytes(), ask.request.length);
            }
        }
    });
}

class Counting final : public adapters::WrappedCommunicator {
public:
    using WrappedCommunicator::WrappedCommunicator;
    Result<void> all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
        ++gathered_;
        return WrappedCommunicator::all_gather(mine, all);
    }
    [[nodiscard]] int gathered() const noexcept { return gathered_; }

private:
    int gathered_ = 0;
};

// How often the leaders of two nodes agree in each of five calls, each rank one stripe of 16 KiB a
// call through `view`; the engine is told to forget before the fourth call.
std::vector<int> agreements(Job job, ports::Direction direction, const pattern::View& view) {
    job.nodes = {1, 1};
    job.layout = {2, 16384};
    job.tuning.bypass_bytes_min = 4096;
    job.tuning.staging_bytes_max = 4 << 20;
    Watched watched{job, {}};
    watched.file.put(Offset{0}, std::vector<std::byte>(1 << 20));
    adapters::ClusterOptions cluster;
    cluster.node_sizes = job.nodes;
    cluster.node_bytes = File::lane_bytes(2, job.tuning.staging_bytes_max);
    std::vector<int> counts;
    adapters::run_ranks(cluster, [&](ports::Communicator& inner) {
        Counting communicator{inner};
        File opened{communicator, watched.clock, watched.recorder,
                    [&](ports::Direction way) { return watched.open(way); }, options_of(job)};
        const bool first = inner.place().rank.value() == 0;
        Ask ask;
        ask.memory.resize(16384);
        for (std::int64_t i = 0; i < 5; ++i) {
            const int before = communicator.gathered();
            if (i == 3) {
                opened.forget();
            }
            const Call call{&view, {(2 * i + (first ? 0 : 1)) * 16384, 16384}, ask.memory_of(), {}};
            const Outcome out =
                direction == ports::Direction::write ? opened.write(call) : opened.read(call);
            EXPECT_EQ(out.bytes.bytes(), 16384);
            if (first) {
                counts.push_back(communicator.gathered() - before);
            }
        }
    });
    return counts;
}

TEST(Agreements, AreOneWhereTheLastCallBypassedAndNothingCanBeOnItsWay) {
    using ports::Direction;
    const pattern::View whole =
        *pattern::View::make(Offset{0}, pattern::Nest::run(1), Length{1}, Length{1});
    const pattern::View holes =
        *pattern::View::make(Offset{0}, pattern::Nest::run(16384), Length{32768}, Length{1});
    Job job;
    EXPECT_EQ(agreements(job, Direction::write, whole), (std::vector{2, 1, 1, 2, 1}));
    EXPECT_EQ(agreements(job, Direction::write, holes), (std::vector{2, 2, 2, 2, 2}));
    EXPECT_EQ(agreements(job, Direction::read, whole), (std::vector{2, 2, 2, 2, 2}));
    job.only_read = true;
    EXPECT_EQ(agreements(job, Direction::read, holes), (std::vector{2, 1, 1, 2, 1}));
}

INSTANTIATE_TEST_SUITE_P(Seeds, CallsInTurn, testing::Range<std::uint64_t>(1, 61));
INSTANTIATE_TEST_SUITE_P(Seeds, AnyJob, testing::Range<std::uint64_t>(1, 151));
INSTANTIATE_TEST_SUITE_P(Seeds, FullDisk, testing::Range<std::uint64_t>(1, 61));
INSTANTIATE_TEST_SUITE_P(Seeds, ShortFile, testing::Range<std::uint64_t>(1, 61));

INSTANTIATE_TEST_SUITE_P(Seeds, BadSector, testing::Range<std::uint64_t>(1, 61));

}  // namespace
}  // namespace forebay::engine
