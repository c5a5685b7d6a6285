// Runs the pool with real threads, for ThreadSanitizer: a daemon, two clients whose threads share a
// log, and readers. Interleavings drawn from seeds are tested in world_test.cpp.
#include "pool/client/copy.hpp"
#include "pool/core/tests/pool_check.hpp"
#include "storage/posix/clock.hpp"
#include "storage/posix/futex.hpp"
#include "worlds/memory/storage.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace forebay::pool {
namespace {

using std::chrono::milliseconds;

class ThreadDaemon final : public Daemon {
public:
    explicit ThreadDaemon(Word& bell, std::span<const Sparse> logs = {})
        : bell_{bell}, logs_{logs} {}
    ~ThreadDaemon() = default;
    [[nodiscard]] bool alive() const noexcept override { return true; }
    [[nodiscard]] std::int64_t now_ns() const noexcept override { return clock_.now_ns(); }
    void kick() noexcept override {
        // Relaxed, as a write to an eventfd: it must not order memory and so hide a race from
        // ThreadSanitizer.
        bell_.fetch_add(1, std::memory_order_relaxed);
        adapters::futex_wake(bell_);
    }
    void wait(const Word& word, std::uint32_t seen) noexcept override {
        adapters::futex_wait_for(word, seen, milliseconds{5});
    }
    [[nodiscard]] Log log_of(std::uint32_t client) noexcept override {
        return client < logs_.size() ? Log{logs_[client].begin()} : Log{};
    }
    // A reader sees client 0's commits in its log; for those of others it waits for a round.
    [[nodiscard]] bool sees(std::uint32_t client) noexcept override { return client == 0; }
    void prepare(std::byte* /*begin*/, std::size_t /*bytes*/) noexcept override {}

private:
    Word& bell_;
    std::span<const Sparse> logs_;
    adapters::SteadyClock clock_;
};

class Machine final : private LogMemory, private WordSleepers {
public:
    explicit Machine(const PoolOptions& options)
        : pool{directory,
               {.memory = *this, .sleepers = *this, .clock = clock, .calendar = clock},
               options} {}

    FileId open(std::uint32_t client, adapters::MemoryFile& file) {
        const auto opened = pool.open(client,
                                      {.identity = file.identity(),
                                       .storage = std::move(*open_memory(file, IoDirection::write)),
                                       .control = std::make_unique<Control>(facts_),
                                       .stripes = {2, 65'536},
                                       .path = "file"},
                                      AccessMode::write);
        EXPECT_TRUE(opened.has_value());
        return {opened->slot, opened->generation};
    }
    void start() {
        daemon_ = std::thread{[this] {
            while (!ends_.load()) {
                const std::uint32_t seen = bell.load();
                if (!pool.run_once()) {
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
            pool.run_once();
        }
    }

    Word bell{0};
    Sparse shared{sizeof(Directory)};
    Directory& directory{*reinterpret_cast<Directory*>(shared.begin())};
    adapters::SteadyClock clock;
    Pool pool;

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
    adapters::StorageFaults faults;
    faults.short_percent = 20;
    faults.delay_polls_max = 5;
    adapters::MemoryFile file{faults};
    std::array<Sparse, 2> logs{Sparse{LogShape::bytes}, Sparse{LogShape::bytes}};
    Machine machine{{.cap_bytes = 6 << 20, .window_bytes = 4 << 20, .quiet_ns = 100'000}};
    ThreadDaemon line{machine.bell};
    std::vector<std::unique_ptr<LogWriter>> log_writers;
    std::vector<FileId> ids;
    for (std::uint32_t i = 0; i < logs.size(); ++i) {
        ASSERT_EQ(machine.pool.admit(1 + i, Log{logs[i].begin()}), i);
        ids.push_back(machine.open(i, file));
        log_writers.push_back(
            std::make_unique<LogWriter>(machine.directory, Log{logs[i].begin()}, i, line));
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
                const WriteResult written = log_writers[client]->write(ids[client], at, bytes);
                wrong += written.rest != WriteResult::Rest::none ? 1 : 0;
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

TEST(Threads, CopyBytesThatOneOfThemWrites) {
    std::vector<std::byte> shared(1 << 16);
    std::atomic<bool> goes_on{true};
    std::thread writer{[&] {
        for (int i = 0; goes_on.load(std::memory_order_relaxed); ++i) {
            std::memset(shared.data(), i & 1, shared.size());
        }
    }};
    std::vector<std::byte> copied(shared.size());
    for (int i = 0; i < 50; ++i) {
        copy_changing(copied.data(), shared.data(), shared.size());
        EXPECT_LE(std::to_integer<int>(*std::ranges::max_element(copied)), 1);
    }
    goes_on.store(false, std::memory_order_relaxed);
    writer.join();
}

// A record that one thread writes again and again, each time with the next value.
struct Rewritten {
    static constexpr std::int64_t bytes = 100'000;
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
};

struct Below final : BackingFile {
    explicit Below(adapters::MemoryFile& memory) : file{memory} {}
    ~Below() = default;
    std::int64_t read(std::int64_t at, std::span<std::byte> into) noexcept override {
        const std::int64_t count = std::clamp<std::int64_t>(file.size().bytes() - at, 0,
                                                            static_cast<std::int64_t>(into.size()));
        std::ranges::copy(file.get({Offset{at}, Length{count}}), into.begin());
        return count;
    }
    adapters::MemoryFile& file;
};

// A reader copies memory that may be leased anew and written to meanwhile, and then checks.
TEST(Threads, ReadWhatOthersWriteMeanwhile) {
    constexpr int rounds = 120;
    adapters::MemoryFile file;
    const std::array<Sparse, 2> logs{Sparse{LogShape::bytes}, Sparse{LogShape::bytes}};
    // Most of the bytes read have not been drained.
    Machine machine{{.cap_bytes = 16 << 20, .window_bytes = 12 << 20, .quiet_ns = 1'000'000'000}};
    ThreadDaemon line{machine.bell, logs};
    std::array<Rewritten, 4> records;
    std::array<FileId, 2> ids;
    for (std::uint32_t i = 0; i < logs.size(); ++i) {
        ASSERT_EQ(machine.pool.admit(1 + i, Log{logs[i].begin()}), i);
        ids[i] = machine.open(i, file);
    }
    machine.start();
    std::atomic<std::size_t> writers{logs.size()};
    // One counter for each thread: a shared one would order the threads.
    std::array<int, 4> wrong{};
    std::vector<std::thread> threads;
    for (std::uint32_t who = 0; who < logs.size(); ++who) {
        threads.emplace_back([&, who] {
            LogWriter log_writer{machine.directory, Log{logs[who].begin()}, who, line};
            for (int i = 1; i <= rounds; ++i) {
                for (std::size_t n = who; n < records.size(); n += logs.size()) {
                    const std::vector<std::byte> bytes(Rewritten::bytes, static_cast<std::byte>(i));
                    records[n].begun.store(i);
                    const auto at = static_cast<std::int64_t>(n) * Rewritten::bytes;
                    const WriteResult written = log_writer.write(ids[who], at, bytes);
                    wrong[who] += written.rest != WriteResult::Rest::none ? 1 : 0;
                    records[n].ended.store(i);
                }
            }
            --writers;
        });
    }
    for (std::size_t who = 0; who < 2; ++who) {
        threads.emplace_back([&, who] {
            PoolReader reader{machine.directory, line, {}};
            Below below{file};
            std::vector<std::byte> bytes(Rewritten::bytes);
            for (std::size_t n = who; writers > 0; n = (n + 1) % records.size()) {
                const int least = records[n].ended.load();
                const auto at = static_cast<std::int64_t>(n) * Rewritten::bytes;
                const std::int64_t got = reader.read(ids[0], below, nullptr, at, bytes);
                const int most = records[n].begun.load();
                if (got != Rewritten::bytes) {
                    wrong[2 + who] += least == 0 ? 0 : 1;  // 0: nobody has written the record yet
                    continue;
                }
                const auto [low, high] = std::ranges::minmax(bytes);
                wrong[2 + who] += std::to_integer<int>(low) < least ? 1 : 0;
                wrong[2 + who] += std::to_integer<int>(high) > most ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    machine.end();
    EXPECT_THAT(wrong, testing::Each(0));
    EXPECT_EQ(machine.pool.counts().refused, 0U);
}

}  // namespace
}  // namespace forebay::pool
