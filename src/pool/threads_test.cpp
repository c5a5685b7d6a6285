// Real threads: a daemon, and two clients each of which is several threads that share a log. For
// ThreadSanitizer; what interleaves how is drawn from seeds elsewhere (world_test.cpp).
#include "adapters/memory/storage.hpp"
#include "adapters/posix/clock.hpp"
#include "adapters/posix/futex.hpp"
#include "pool/pool_check.hpp"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace forebay::pool {
namespace {

using std::chrono::milliseconds;

class Line final : public Daemon {
public:
    explicit Line(Word& bell) : bell_{bell} {}
    ~Line() = default;
    [[nodiscard]] bool alive() const noexcept override { return true; }
    [[nodiscard]] std::int64_t now_ns() const noexcept override { return clock_.now_ns(); }
    void kick() noexcept override {
        bell_.fetch_add(1);
        adapters::futex_wake(bell_);
    }
    void wait(const Word& word, std::uint32_t seen) noexcept override {
        adapters::futex_wait_for(word, seen, milliseconds{5});
    }
    [[nodiscard]] Log log_of(std::uint32_t /*client*/) noexcept override { return {}; }
    void prepare(std::byte* /*begin*/, std::size_t /*bytes*/) noexcept override {}

private:
    Word& bell_;
    adapters::SteadyClock clock_;
};

class Machine final : private Memory, private Sleepers {
public:
    Machine() = default;

    FileId open(std::uint32_t client, adapters::MemoryFile& file) {
        const auto opened = pool.open(client,
                                      {.identity = file.identity(),
                                       .storage = std::move(*open_memory(file, Direction::write)),
                                       .control = std::make_unique<Control>(facts_),
                                       .stripes = {2, 65'536},
                                       .path = "file"},
                                      Access::write);
        EXPECT_TRUE(opened.has_value());
        return {opened->slot, opened->generation};
    }
    void start() {
        daemon_ = std::thread{[this] {
            while (!ends_.load()) {
                const std::uint32_t seen = bell.load();
                if (!pool.advance()) {
                    adapters::futex_wait_for(bell, seen, milliseconds{1});
                }
            }
        }};
    }
    void end() {
        ends_.store(true);
        daemon_.join();
        static_cast<void>(pool.drain_all());
        while (!pool.idle()) {
            pool.advance();
        }
    }

    Word bell{0};
    Sparse shared{sizeof(Directory)};
    Directory& directory{*reinterpret_cast<Directory*>(shared.begin())};
    adapters::SteadyClock clock;
    Pool pool{directory,
              {.memory = *this, .sleepers = *this, .clock = clock, .calendar = clock},
              {.cap_bytes = 6 << 20, .window_bytes = 4 << 20, .quiet_ns = 100'000}};

private:
    bool provide(std::uint32_t /*client*/, std::uint32_t /*block*/) override { return true; }
    void release(std::uint32_t /*client*/, std::uint32_t /*block*/) override {}
    void wake(Word& word) override { adapters::futex_wake(word); }

    Control::Facts facts_;
    std::atomic<bool> ends_{false};
    std::thread daemon_;
};

TEST(Threads, ShareALogAndAFile) {
    constexpr int writers = 6;
    constexpr int rounds = 40;
    constexpr std::int64_t record = 100'000;
    adapters::Faults faults;
    faults.short_percent = 20;
    faults.delay_polls_max = 5;
    adapters::MemoryFile file{faults};
    std::array<Sparse, 2> logs{Sparse{LogShape::bytes}, Sparse{LogShape::bytes}};
    Machine machine;
    Line line{machine.bell};
    std::vector<std::unique_ptr<Depositor>> depositors;
    std::vector<FileId> ids;
    for (std::uint32_t i = 0; i < logs.size(); ++i) {
        ASSERT_EQ(machine.pool.admit(1 + i, Log{logs[i].begin()}), i);
        ids.push_back(machine.open(i, file));
        depositors.push_back(
            std::make_unique<Depositor>(machine.directory, Log{logs[i].begin()}, i, line));
    }
    machine.start();
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int who = 0; who < writers; ++who) {
        threads.emplace_back([&, who] {
            const auto client = static_cast<std::size_t>(who % 2);
            for (int i = 0; i < rounds; ++i) {
                const std::vector<std::byte> bytes(record, static_cast<std::byte>(i + who));
                const std::int64_t at = (i / 2 * writers + who) * record;
                const Written written = depositors[client]->write(ids[client], at, bytes);
                wrong += written.rest != Written::Rest::none ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    machine.end();
    EXPECT_EQ(wrong, 0);
    for (int part = 0; part < writers * rounds / 2; ++part) {
        const int last = part / writers * 2 + 1 + part % writers;
        EXPECT_TRUE(same(file.get({Offset{part * record}, Length{record}}),
                         std::vector<std::byte>(record, static_cast<std::byte>(last))))
            << "part " << part;
    }
    EXPECT_EQ(machine.pool.counts().refused, 0U);
}

}  // namespace
}  // namespace forebay::pool
