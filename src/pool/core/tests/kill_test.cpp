// Kills a client at every step of short runs: what was acknowledged arrives, nobody hangs, the
// client's blocks come free, and the daemon goes on with other clients.
#include "pool/core/tests/pool_check.hpp"
#include "pool/core/tests/slow_writer_check.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace forebay::pool {
namespace {

constexpr int records = 6;

// Two clients write files of one kind; the first is killed at step `step`. run() returns false if
// the client ended before that.
struct Killed {
    Killed(std::int64_t at_step, const PoolOptions& pool, std::size_t record_bytes)
        : step{at_step},
          node{{.seed = 1 + static_cast<std::uint64_t>(at_step)}, pool},
          bytes{record_bytes} {}

    bool run() {
        node.world().kill("victim", step);
        node.daemon();
        bool ended = false;
        node.client("victim", [&](NodeClient& self) {
            write_all(self, file, acknowledged);
            ended = true;
        });
        int others = 0;
        node.client("other", [&](NodeClient& self) { write_all(self, other, others); });
        // Starts when the first client has died, and reads what is in its log.
        node.client("reader", [&](NodeClient& self) {
            while (node.world().alive("victim")) {
                node.world().sleep(100'000);
            }
            const FileId id = self.open(file, AccessMode::read);
            std::vector<std::byte> seen(bytes);
            for (int i = 0; i < acknowledged; ++i) {
                EXPECT_EQ(self.read(id, file, offset_of(i), seen),
                          static_cast<std::int64_t>(bytes));
                EXPECT_TRUE(same(seen, bytes_of(bytes, i + 1))) << "record " << i;
            }
        });
        const adapters::WorldEnding ending = node.run();
        EXPECT_EQ(others, records) << ending.report;
        expect_arrived(file, acknowledged);
        expect_arrived(other, records);
        EXPECT_EQ(node.provided(), 0) << "blocks return";
        EXPECT_EQ(node.pool().counts().refused, 0U);
        return !ended;
    }

    std::int64_t step;
    Node node;
    std::size_t bytes;
    adapters::MemoryFile file;
    adapters::MemoryFile other;
    int acknowledged = 0;

private:
    [[nodiscard]] std::int64_t offset_of(int i) const {
        return 10 + i * static_cast<std::int64_t>(bytes);
    }
    void write_all(NodeClient& self, adapters::MemoryFile& to, int& count) {
        const FileId id = self.open(to, AccessMode::write);
        for (int i = 0; i < records; ++i) {
            const WriteResult written =
                self.log_writer().write(id, offset_of(i), bytes_of(bytes, i + 1));
            EXPECT_EQ(written.rest, WriteResult::Rest::none);
            count = i + 1;
            if (i == 2) {
                EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
            }
        }
        self.close(id);
    }
    void expect_arrived(const adapters::MemoryFile& at, int count) const {
        for (int i = 0; i < count; ++i) {
            const Extent range{Offset{offset_of(i)}, Length{static_cast<std::int64_t>(bytes)}};
            EXPECT_TRUE(same(at.get(range), bytes_of(bytes, i + 1)))
                << "record " << i << " of " << count << ", killed at step " << step;
        }
    }
};

// Returns the number of steps at which the client could be killed.
std::int64_t kill_everywhere(const PoolOptions& pool, std::size_t bytes) {
    for (std::int64_t step = 0; step < 1000; ++step) {
        Killed killed{step, pool, bytes};
        const bool died = killed.run();
        EXPECT_FALSE(testing::Test::HasFailure()) << "killed at step " << step;
        if (!died || testing::Test::HasFailure()) {
            return step;
        }
    }
    ADD_FAILURE() << "it never ended";
    return 0;
}

TEST(Kill, AtAnyStepOfSmallWrites) { EXPECT_GT(kill_everywhere({}, 1000), 10); }

TEST(Kill, AtAnyStepOfWritesOverTheEndsOfBlocks) {
    EXPECT_GT(kill_everywhere({.cap_bytes = 16 << 20}, 1'500'000), 15);
}

TEST(Kill, AtAnyStepWhileItWaitsForMemory) {
    EXPECT_GT(kill_everywhere({.cap_bytes = 2 << 20, .window_bytes = 8 << 20}, 1'500'000), 25);
}

TEST(Kill, AtAnyStepWhileItWaitsForTheWindow) {
    EXPECT_GT(kill_everywhere({.cap_bytes = 32 << 20, .window_bytes = 300'000}, 200'000), 10);
}

TEST(Kill, BetweenAnyTwoStoresOfAWrite) {
    constexpr std::size_t size = block_bytes / 4;
    bool ended = false;
    std::int64_t step = 0;
    for (; !ended; ++step) {
        Node node{{.seed = 1 + static_cast<std::uint64_t>(step)}, {.cap_bytes = 4 << 20}};
        node.world().kill("victim", step);
        adapters::MemoryFile file;
        file.put(Offset{0}, bytes_of(20 * size, 99));
        int acknowledged = 0;
        node.daemon();
        node.client("victim", [&](NodeClient& self) {
            const FileId id = self.open(file, AccessMode::write);
            SlowWriter writer{node, self};
            for (int i = 0; i < 10; ++i) {
                EXPECT_TRUE(
                    writer.write(id, i * static_cast<std::int64_t>(size), bytes_of(size, i + 1)));
                acknowledged = i + 1;
            }
            ended = true;
        });
        node.run();
        const auto all = file.get({Offset{0}, Length{20 * size}});
        for (int i = 0; i < 20; ++i) {
            const std::vector<std::byte> part(
                all.begin() + i * static_cast<std::ptrdiff_t>(size),
                all.begin() + (i + 1) * static_cast<std::ptrdiff_t>(size));
            const bool there = same(part, bytes_of(size, i + 1));
            const bool old = same(part, bytes_of(size, 99));
            ASSERT_TRUE(there || (old && i >= acknowledged))
                << "record " << i << " of " << acknowledged << ", killed at step " << step;
        }
        ASSERT_EQ(node.provided(), 0);
        ASSERT_LT(step, 1000);
    }
    EXPECT_GT(step, 90) << "it is killed at every step";
}

// A file that leaves does not wait for a client that has died with an entry reserved.
TEST(Kill, WhoDiesInAWriteHoldsNoFileThatLeaves) {
    for (std::int64_t step = 5; step < 16; ++step) {
        Node node{{.seed = static_cast<std::uint64_t>(step)}};
        node.world().kill("victim", step);
        adapters::MemoryFile file;
        bool left = false;
        node.daemon();
        node.client("victim", [&](NodeClient& self) {
            const FileId id = self.open(file, AccessMode::write);
            SlowWriter writer{node, self};
            for (;;) {  // until it is killed
                static_cast<void>(writer.write(id, 0, bytes_of(1000, 1)));
            }
        });
        node.client("leaves", [&](NodeClient& self) {
            const FileId id = self.open(file, AccessMode::write);
            EXPECT_EQ(self.ask(id, {FileTask::Kind::leave, ThroughReason::stream}), 0);
            EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 2)).error, 0);
            while (node.world().alive("victim")) {
                node.world().sleep(1'000'000);
            }
            EXPECT_TRUE(same(file.get({Offset{0}, Length{1000}}), bytes_of(1000, 2)));
            left = true;
        });
        node.run();
        EXPECT_TRUE(left) << "after the victim was killed";
        EXPECT_EQ(node.provided(), 0);
    }
}

}  // namespace
}  // namespace forebay::pool
