// Requests are cut at stripe boundaries and holes, never exceed the gate's bound, and are finished
// after short, interrupted and failed ones.
#include "storage/transfer/channel.hpp"

#include "collective/engine/cutter.hpp"
#include "storage/posix/clock.hpp"
#include "worlds/memory/storage.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <numeric>

namespace forebay::transfer {
namespace {

constexpr std::int64_t stripe = 4096;
const FileStripes three_targets{3, stripe};

// A gate that remembers the maximum of requests in flight at any target.
class CountingGate final : public Gate {
public:
    explicit CountingGate(std::int32_t most) : inner_{3, most} {}
    std::int32_t try_enter(TargetId target) override {
        const std::int32_t entered = inner_.try_enter(target);
        if (entered == 0) {
            ++refused;
            return 0;
        }
        most_seen = std::max(most_seen, ++now_[target.value()]);
        return entered;
    }
    void leave(TargetId target, const plan::ServedRequest& service) override {
        moved.push_back(service.bytes);
        --now_[target.value()];
        inner_.leave(target, service);
    }
    int most_seen = 0;
    int refused = 0;
    std::vector<std::int64_t> moved;  // bytes of each request that has left the gate

private:
    FixedGate inner_;
    std::map<std::int32_t, int> now_;
};

struct Image {
    plan::Window window;
    std::vector<std::byte> bytes;
    std::vector<pattern::Coverage::Bits> words;
    pattern::Coverage coverage;

    explicit Image(std::int64_t size)
        : bytes(static_cast<std::size_t>(size)),
          words(pattern::Coverage::words_for(size, 1)),
          coverage{words, size, 1} {
        window.add(Extent{Offset{0}, Length{size}});
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = static_cast<std::byte>(i * 7 + (i >> 8));
        }
    }
};

// A channel that moves the stripes of an image to a file in memory, or from it.
struct Way {
    Way(std::int64_t stripes, std::int32_t most, const adapters::StorageFaults& faults = {},
        const ChannelOptions& options = {})
        : image{stripes * stripe},
          file{faults},
          storage{*adapters::open_memory(file, options.direction)},
          gate{most},
          channel{*storage, gate, clock, options},
          reads{options.direction == IoDirection::read} {}

    // Begins a job; a write gets the coverage of the image.
    void begin(std::size_t job) {
        const auto covered = reads ? std::nullopt : std::optional{image.coverage};
        channel.begin(job, std::make_unique<Cutter>(image.window, image.bytes, covered,
                                                    CutLimits{three_targets, stripe}));
    }
    void begin_and_end() {
        begin(0);
        while (!channel.finished(0)) {
            if (!channel.run_once() && channel.in_flight() > 0) {
                channel.block();
            }
        }
    }
    [[nodiscard]] bool has_written_all() const {
        return file.get({Offset{0}, file.size()}) == image.bytes;
    }

    Image image;
    adapters::MemoryFile file;
    std::unique_ptr<ports::FileStorage> storage;
    CountingGate gate;
    adapters::SteadyClock clock;
    Channel channel;
    bool reads;
};

std::vector<std::vector<ports::Piece>> all_requests(RequestSource& source) {
    std::vector<std::vector<ports::Piece>> requests;
    std::vector<ports::Piece> pieces;
    while (source.next(pieces)) {
        requests.push_back(pieces);
    }
    return requests;
}

TEST(Cutter, StaysWithinAStripeAndBelowTheLimit) {
    Image image{3 * stripe};
    image.coverage.mark(100, 2 * stripe);
    Cutter cutter{image.window, image.bytes, image.coverage, {three_targets, 3000}};
    const auto requests = all_requests(cutter);
    std::int64_t at = 100;
    for (const auto& pieces : requests) {
        ASSERT_EQ(pieces.size(), 1U);
        EXPECT_EQ(pieces[0].at.bytes(), at);
        const auto size = static_cast<std::int64_t>(pieces[0].bytes.size());
        EXPECT_LE(size, 3000);
        EXPECT_EQ(at / stripe, (at + size - 1) / stripe);
        at += size;
    }
    EXPECT_EQ(at, 100 + 2 * stripe);
}

TEST(Cutter, LeavesHolesOut) {
    Image image{stripe};
    image.coverage.mark(0, 10);
    image.coverage.mark(20, 10);
    image.coverage.mark(4000, 96);
    Cutter cutter{image.window, image.bytes, image.coverage, {three_targets, stripe}};
    const auto requests = all_requests(cutter);
    ASSERT_EQ(requests.size(), 1U);
    ASSERT_EQ(requests[0].size(), 3U);
    EXPECT_EQ(requests[0][1].at.bytes(), 20);
    EXPECT_EQ(requests[0][2].bytes.size(), 96U);
}

TEST(Channel, NeverPassesTheGateAndFinishesWhatIsCutShort) {
    adapters::StorageFaults faults;
    faults.short_percent = 50;
    faults.interrupted_percent = 20;
    faults.delay_polls_max = 7;
    Way way{24, 2, faults};
    way.image.coverage.mark(0, 24 * stripe);
    way.begin_and_end();
    EXPECT_EQ(way.gate.most_seen, 2);
    EXPECT_GT(way.gate.refused, 0);
    EXPECT_EQ(way.channel.requests(), 24);
    EXPECT_FALSE(way.channel.failure().happened());
    EXPECT_TRUE(way.has_written_all());
}

TEST(Channel, HasOneRequestOfAJobInFlightWhereJobsTakeTurns) {
    adapters::StorageFaults faults;
    faults.short_percent = 50;
    faults.delay_polls_max = 7;
    Way way{24, 100, faults, {.jobs = 3, .per_job = PerJob::one}};
    way.image.coverage.mark(0, 24 * stripe);
    Channel& channel = way.channel;
    for (const std::size_t job : {0, 1, 2}) {
        way.begin(job);
    }
    std::size_t most = 0;
    while (!channel.finished(0) || !channel.finished(1) || !channel.finished(2)) {
        channel.run_once();
        std::size_t open = 0;
        for (const std::size_t job : {0, 1, 2}) {
            open += channel.finished(job) ? 0 : 1;
        }
        ASSERT_LE(channel.in_flight(), open);
        most = std::max(most, channel.in_flight());
    }
    EXPECT_EQ(most, 3U);
    EXPECT_EQ(channel.requests(), 72);
    EXPECT_TRUE(way.has_written_all());
}

TEST(Channel, KeepsTheLowestErrorAndDropsWhatComesAfter) {
    adapters::StorageFaults faults;
    faults.full_at = Offset{5 * stripe + 77};
    Way way{24, 2, faults};
    way.image.coverage.mark(0, 24 * stripe);
    way.begin_and_end();
    const std::vector<std::int64_t>& moved = way.gate.moved;
    EXPECT_EQ(way.channel.failure().at, 5 * stripe + 77);
    EXPECT_EQ(way.channel.failure().code, static_cast<std::uint32_t>(ErrorCode::no_space));
    EXPECT_LT(way.channel.requests(), 24);
    EXPECT_EQ(std::ranges::count(moved, stripe), 5) << "what failed is not a fast request";
    EXPECT_EQ(std::ranges::count(moved, 0), std::ssize(moved) - 5);
    EXPECT_EQ(way.channel.bytes_moved(0), 0);
    way.begin(0);
    EXPECT_TRUE(way.channel.finished(0));
    EXPECT_EQ(way.channel.bytes_moved(0), 0) << "what was dropped is not fast either";
}

TEST(ThrottledGate, LearnsNothingFromWhatDidNotMove) {
    std::vector<plan::Throttle> throttles{plan::Throttle::finding(2)};
    ThrottledGate gate{throttles};
    const TargetId target{0};
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(gate.try_enter(target), 1);
        ASSERT_EQ(gate.try_enter(target), 2);
        gate.leave(target, {0, 1, 1});
        gate.leave(target, {0, 1, 2});
    }
    EXPECT_EQ(throttles[0].limit(), 2);
    EXPECT_EQ(throttles[0].rate(), 0);
}

TEST(Channel, CountsNoGapsAsMoved) {
    Way way{24, 2};
    way.image.coverage.mark(0, stripe);
    way.image.coverage.mark(7 * stripe, 100);
    for (int i = 0; i < 2; ++i) {
        way.begin_and_end();
        EXPECT_EQ(way.channel.bytes_moved(0), stripe + 100);
    }
}

TEST(Channel, FindsTheEndOfAFile) {
    Way way{8, 2, {}, {.direction = IoDirection::read}};
    const std::vector<std::byte> there(static_cast<std::size_t>(5 * stripe + 9), std::byte{1});
    way.file.put(Offset{0}, there);
    way.begin_and_end();
    EXPECT_EQ(way.channel.end_of_file(), 5 * stripe + 9);
    EXPECT_EQ(std::ranges::count(way.gate.moved, stripe), 5);
    EXPECT_EQ(std::ranges::count(way.gate.moved, 0), 3) << "nothing is read fast beyond the end";
    EXPECT_FALSE(way.channel.failure().happened());
}

}  // namespace
}  // namespace forebay::transfer
