// The time with at least one request in flight is counted once, however many there are.
#include "pool/daemon/status/meter.hpp"

#include "foundation/ports/polled_storage_check.hpp"

#include <deque>
#include <gtest/gtest.h>

namespace forebay::daemon {
namespace {

class ByHand final : public ports::TimeSource {
public:
    [[nodiscard]] std::int64_t now_ns() const noexcept override { return now; }
    std::int64_t now = 0;
};

// Completes requests in order, when the test asks it to.
class Slow final : public ports::PolledStorage {
public:
    explicit Slow(const std::size_t& ready) : ready_{ready} {}
    void submit(const ports::Request& request) override {
        std::int64_t bytes = 0;
        for (const ports::Piece& piece : request.pieces) {
            bytes += static_cast<std::int64_t>(piece.bytes.size());
        }
        waiting_.push_back({request.ticket, Length{bytes}, 0});
    }
    std::size_t poll(std::span<ports::RequestCompletion> out) override {
        std::size_t count = 0;
        while (count < out.size() && done_ < ready_ && !waiting_.empty()) {
            out[count++] = waiting_.front();
            waiting_.pop_front();
            ++done_;
        }
        return count;
    }

private:
    const std::size_t& ready_;
    std::size_t done_ = 0;
    std::deque<ports::RequestCompletion> waiting_;
};

TEST(MeteredStorage, CountsTimeInWhichAnythingIsUnderWayOnce) {
    ByHand clock;
    std::size_t ready = 0;
    const auto meter = std::make_shared<StorageMeter>();
    const auto busy = std::make_shared<BusyTime>();
    MeteredStorage storage{std::make_unique<Slow>(ready), meter, busy, clock};
    std::array<std::byte, 100> bytes{};
    const std::array<ports::Piece, 1> pieces{ports::Piece{Offset{0}, bytes}};
    std::array<ports::RequestCompletion, 4> out;

    clock.now = 10;
    storage.submit({.ticket = 1, .pieces = pieces});
    clock.now = 20;
    storage.submit({.ticket = 2, .pieces = pieces});
    EXPECT_EQ(storage.poll(out), 0U);
    EXPECT_EQ(busy_ns(*meter, clock.now), 10);
    EXPECT_EQ(silent_ns(*meter, clock.now), 10) << "whatever was given since";
    ready = 1;
    clock.now = 30;
    EXPECT_EQ(storage.poll(out), 1U);
    EXPECT_EQ(silent_ns(*meter, 42), 12) << "it owes one more";
    ready = 2;
    clock.now = 45;
    EXPECT_EQ(storage.poll(out), 1U);
    EXPECT_EQ(meter->busy_ns, 35);
    clock.now = 1000;
    EXPECT_EQ(busy_ns(*meter, clock.now), 35) << "nothing is under way";
    EXPECT_EQ(silent_ns(*meter, clock.now), 0) << "it owes nothing";
    clock.now = 2000;
    ready = 2;
    storage.submit({.ticket = 3, .pieces = pieces});
    EXPECT_EQ(silent_ns(*meter, 2001), 1) << "it had nothing to answer before";
    EXPECT_EQ(meter->bytes, 200);
    EXPECT_EQ(meter->requests, 2);
    EXPECT_EQ(busy->total_ns(2001), busy_ns(*meter, 2001)) << "there is no other file";
}

TEST(MeteredStorage, CountsTimeInWhichSeveralFilesAreBusyOnceForAllOfThem) {
    ByHand clock;
    std::size_t first_ready = 0;
    std::size_t second_ready = 0;
    const auto busy = std::make_shared<BusyTime>();
    const auto first_meter = std::make_shared<StorageMeter>();
    const auto second_meter = std::make_shared<StorageMeter>();
    MeteredStorage first{std::make_unique<Slow>(first_ready), first_meter, busy, clock};
    MeteredStorage second{std::make_unique<Slow>(second_ready), second_meter, busy, clock};
    std::array<std::byte, 100> bytes{};
    const std::array<ports::Piece, 1> pieces{ports::Piece{Offset{0}, bytes}};
    std::array<ports::RequestCompletion, 4> out;

    first.submit({.ticket = 1, .pieces = pieces});
    clock.now = 10;
    second.submit({.ticket = 1, .pieces = pieces});
    EXPECT_EQ(busy->total_ns(12), 12);
    clock.now = 30;
    first_ready = 1;
    EXPECT_EQ(first.poll(out), 1U);
    clock.now = 35;
    second_ready = 1;
    EXPECT_EQ(second.poll(out), 1U);
    EXPECT_EQ(first_meter->busy_ns, 30);
    EXPECT_EQ(second_meter->busy_ns, 25);
    EXPECT_EQ(busy->total_ns(100), 35) << "nothing is under way";
}

}  // namespace
}  // namespace forebay::daemon
