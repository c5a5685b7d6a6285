// Tests the requests that draining makes: aligned to stripes, sorted by target, and with as many in
// flight for each target as it can use.
#include "foundation/base/bytes.hpp"
#include "pool/core/flush/timed_storage_check.hpp"
#include "pool/core/tests/pool_check.hpp"
#include "pool/policy/processor_share.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <vector>

namespace forebay::pool {
namespace {

constexpr std::int64_t stripe = 65'536;
constexpr std::int32_t targets = 3;

// Targets that take time for requests. Target `slow` serves one request after another, each more
// slowly the more are waiting; the others serve all requests at once.
class Targets {
public:
    struct Target {
        std::int64_t busy_until_ns = 0;
        std::int32_t in_flight = 0;
        std::int32_t most = 0;  // maximum of in_flight
        std::int64_t late = 0;  // sum of in_flight over late requests
        std::int64_t requests = 0;
    };
    std::array<Target, targets> all;
    std::int32_t slow = -1;
    std::int64_t late_from = 0;  // a target's requests after this one are late
};

class TargetStorage final : public TimedStorage<Targets> {
public:
    using TimedStorage::TimedStorage;
    void submit(const ports::Request& request) override {
        world().step({"write"});
        const std::int64_t first = request.pieces.front().at.bytes();
        const auto& last = request.pieces.back();
        const std::int64_t end = last.at.bytes() + static_cast<std::int64_t>(last.bytes.size());
        EXPECT_EQ(first / stripe, (end - 1) / stripe) << "a request lies in one stripe";
        const auto number = static_cast<std::size_t>(first / stripe % targets);
        Targets::Target& target = its().all[number];
        ++target.in_flight;
        target.most = std::max(target.most, target.in_flight);
        if (++target.requests > its().late_from) {
            target.late += target.in_flight;
        }
        std::int64_t due = world().now_ns() + 20'000'000;
        if (static_cast<std::int32_t>(number) == its().slow) {
            const std::int64_t time = 8'000'000 * (3 + target.in_flight);
            due = std::max(world().now_ns(), target.busy_until_ns) + time;
            target.busy_until_ns = due;
        }
        perform_after(due - world().now_ns(), request, [&target] { --target.in_flight; });
    }
};

void write_through(const PoolOptions& options, Targets& its, std::int64_t bytes) {
    Node node{
        {.seed = 9, .quiet_ns_max = 100'000'000'000}, options, {.stripes = {targets, stripe}}};
    adapters::MemoryFile file;
    node.set_storage([&](adapters::MemoryFile& of) {
        return std::make_unique<TargetStorage>(node.world(), of, its);
    });
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        for (std::int64_t at = 1000; at < bytes; at += 100'000) {
            const std::vector<std::byte> some(100'000, static_cast<std::byte>(at / 100'000));
            EXPECT_EQ(self.write(id, file, at, some).error, 0);
        }
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
        for (std::int64_t at = 1000; at < bytes; at += 100'000) {
            const std::vector<std::byte> some(100'000, static_cast<std::byte>(at / 100'000));
            EXPECT_TRUE(same(file.get({Offset{at}, Length{100'000}}), some));
        }
    });
}

TEST(Draining, AsksEachTargetForWholeStripesAndSoManyAtATime) {
    for (const std::int32_t k : {1, 2, 5}) {
        Targets its;
        write_through({.cap_bytes = 16 * mib, .requests_in_flight = k}, its, 20'000'000);
        for (const Targets::Target& target : its.all) {
            EXPECT_EQ(target.most, k);
            EXPECT_LT(target.requests, 20'000'000 / stripe / targets + 12)
                << "hardly any stripe is written in parts";
        }
    }
}

TEST(Draining, FindsThatASlowTargetIsToHaveFewerRequestsAtATime) {
    Targets its;
    its.slow = 1;
    its.late_from = 600;
    write_through({.cap_bytes = 64 * mib, .window_bytes = 64 * mib, .requests_in_flight = 0}, its,
                  200'000'000);
    const Targets::Target& slow = its.all[1];
    EXPECT_GE(slow.most, 3) << "it was tried";
    ASSERT_GT(slow.requests, its.late_from + 200);
    // One request in flight, except for an attempt now and then.
    const double in_flight =
        static_cast<double>(slow.late) / static_cast<double>(slow.requests - its.late_from);
    EXPECT_LT(in_flight, 1.2);
}

// Regression: where a stripe begins was computed beyond the last offset that there is.
TEST(Draining, UnderPressureTheStripeOfTheLastOffsetIsDrainedLikeOthers) {
    const std::int64_t far = INT64_MAX - 10;
    Node node{{.seed = 9, .quiet_ns_max = 100'000'000'000},
              {.window_bytes = 2 * mib},  // a file presses with its first byte
              {.stripes = {targets, stripe}}};
    adapters::MemoryFile file;
    const std::vector<std::byte> some(10, std::byte{7});
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        for (const std::int64_t at : {std::int64_t{0}, far}) {
            EXPECT_EQ(self.write(id, file, at, some).error, 0);
        }
        while (node.directory().files[id.slot].drained < 20) {
            node.world().sleep(1'000'000);
        }
    });
    EXPECT_TRUE(same(file.get({Offset{0}, Length{10}}), some));
    EXPECT_TRUE(same(file.get({Offset{far}, Length{10}}), some));
}

// The maximum number of requests in flight at a target when four files are drained one at a time,
// each with one request per target. They are written in pieces of `piece` bytes, `apart` bytes
// apart.
std::int32_t most_at_once(std::int64_t piece, std::int64_t apart) {
    Node node{{.seed = 9, .quiet_ns_max = 100'000'000'000},
              {.requests_in_flight = 1, .files_at_once = 1},
              {.stripes = {targets, stripe}}};
    Targets its;
    std::array<adapters::MemoryFile, 4> files;
    node.daemon();
    node.set_storage([&](adapters::MemoryFile& of) {
        return std::make_unique<TargetStorage>(node.world(), of, its);
    });
    const std::vector<std::byte> some(static_cast<std::size_t>(piece), std::byte{7});
    node.client("client", [&](NodeClient& self) {
        for (adapters::MemoryFile& file : files) {
            const FileId id = self.open(file, AccessMode::write);
            for (int i = 0; i < 30; ++i) {
                EXPECT_EQ(self.write(id, file, i * apart, some).error, 0);
            }
        }
    });
    node.run();
    return std::ranges::max(its.all, {}, &Targets::Target::most).most;
}

TEST(Draining, TakesMoreFilesAtOnceWhereRequestsAreSmall) {
    EXPECT_EQ(most_at_once(stripe, stripe), 1);
    EXPECT_EQ(most_at_once(stripe / 8, stripe), 4);
}

// Processor time that runs faster than the clock, as with several processors.
struct TwoProcessors final : ports::TimeSource {
    [[nodiscard]] std::int64_t now_ns() const noexcept override {
        return processor_ns += 10 * ProcessorShare::burst_ns;
    }
    mutable std::int64_t processor_ns = 0;
};

TEST(Draining, RestsWhileItTakesMoreThanAProcessorAndArrivesAllTheSame) {
    const TwoProcessors effort;
    for (const bool bounded : {false, true}) {
        Node node{{.seed = 3, .quiet_ns_max = std::int64_t{1} << 50},
                  {.cap_bytes = 16 << 20, .window_bytes = 4 << 20, .quiet_ns = 1},
                  {.effort = bounded ? &effort : nullptr}};
        adapters::MemoryFile file;
        std::int64_t took_ns = 0;
        run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
            const std::vector<std::byte> bytes(1 << 20, std::byte{1});
            const std::int64_t began = node.world().now_ns();
            for (int i = 0; i < 20; ++i) {
                EXPECT_EQ(self.write(id, file, i << 20, bytes).error, 0);
            }
            EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
            took_ns = node.world().now_ns() - began;
        });
        EXPECT_EQ(file.size().bytes(), 20 << 20);
        EXPECT_EQ(took_ns >= ProcessorShare::rest_ns, bounded) << took_ns;
    }
}

}  // namespace
}  // namespace forebay::pool
