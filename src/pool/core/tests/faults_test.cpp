// Tests storage that fails, fills up, hangs and recovers: programs are told of errors, bytes are
// kept and retried, and other files are not held up.
#include "pool/core/tests/pool_check.hpp"

#include "foundation/base/bytes.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <vector>

namespace forebay::pool {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr adapters::MemoryWorldOptions long_world{.seed = 11, .quiet_ns_max = 1000 * second};

adapters::StorageFaults full_from(std::int64_t at) {
    adapters::StorageFaults faults;
    faults.full_at = Offset{at};
    return faults;
}

TEST(Faults, AFullDiskIsToldToWriteSyncAndDrainAndItsBytesArriveWhenThereIsRoom) {
    Node node{long_world};
    adapters::MemoryFile file{full_from(500'000)};
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        const auto bytes = bytes_of(mib, 1);
        EXPECT_EQ(self.write(id, file, 0, bytes).error, 0);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), ENOSPC);
        EXPECT_EQ(self.write(id, file, 2 * mib, bytes).error, ENOSPC);
        EXPECT_EQ(self.write(id, file, 2 * mib, bytes).taken, 0U);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::drain}), ENOSPC) << "as for close";
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), ENOSPC) << "as long as it is so";
        std::vector<std::byte> seen(bytes.size());
        EXPECT_EQ(self.read(id, file, 0, seen), mib);
        EXPECT_TRUE(same(seen, bytes)) << "what was acknowledged is read";
        EXPECT_EQ(file.size().bytes(), 500'000);
        file.set_faults({});
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0) << "it has been told before";
        EXPECT_TRUE(same(file.get({Offset{0}, Length{mib}}), bytes));
        EXPECT_EQ(self.write(id, file, mib, bytes).error, 0);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
        EXPECT_EQ(file.size().bytes(), 2 * mib);
    });
    EXPECT_EQ(node.provided(), 0);
}

// Runs a client that has written 1000 bytes of 1 to a file without space for them, and then
// `goes_on`.
void with_no_room(Node& node, adapters::MemoryFile& file,
                  const std::function<void(NodeClient&, FileId)>& goes_on) {
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 1)).error, 0);
        goes_on(self, id);
    });
}

TEST(Faults, WhatFailedIsTriedAgainWhenNobodyAsks) {
    Node node{long_world};
    adapters::MemoryFile file{full_from(0)};
    with_no_room(node, file, [&](NodeClient& self, FileId id) {
        while (node.directory().files[id.slot].error == 0) {
            node.world().sleep(1'000'000);
        }
        const std::uint64_t tried = node.pool().counts().jobs;
        node.world().sleep(100 * second);
        const std::uint64_t more = node.pool().counts().jobs - tried;
        EXPECT_GE(more, 3U);
        EXPECT_LE(more, 20U) << "ever more rarely";
        file.set_faults({});
        while (file.size().bytes() == 0) {
            node.world().sleep(second);
        }
        EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 2)).error, ENOSPC) << "it was not told";
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), ENOSPC);
        EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 2)).error, 0);
    });
    EXPECT_TRUE(same(file.get({Offset{0}, Length{1000}}), bytes_of(1000, 2)));
}

// Regression: after the maximum number of failures in a pass, deposits after them were never tried.
TEST(Faults, BadPlacesDoNotHoldUpWhatLiesBehindThem) {
    for (const int bad : {1, 30}) {
        Node node{long_world};
        adapters::StorageFaults faults;
        for (int i = 0; i < bad; ++i) {
            faults.bad.push_back({Offset{i * 1000 + 10}, Length{1}});
        }
        adapters::MemoryFile file{faults};
        run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
            for (int i = 0; i < 40; ++i) {
                EXPECT_EQ(self.write(id, file, i * 1000, bytes_of(500, i + 1)).error, 0);
            }
            for (int i = 0; i < 6; ++i) {
                EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), EIO);
            }
            for (int i = bad; i < 40; ++i) {
                EXPECT_TRUE(same(file.get({Offset{i * 1000}, Length{500}}), bytes_of(500, i + 1)));
            }
            EXPECT_EQ(node.pool().undrained(id.slot).size(), static_cast<std::size_t>(bad));
            file.set_faults({});
            EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
        });
        for (int i = 0; i < 40; ++i) {
            EXPECT_TRUE(same(file.get({Offset{i * 1000}, Length{500}}), bytes_of(500, i + 1)));
        }
        EXPECT_EQ(node.provided(), 0);
    }
}

// Regression: the range to be tried in small pieces ended beyond the last offset that there is, and
// the daemon aborted. A client of ours asks the kernel for such offsets; others need not.
TEST(Faults, BadPlacesNearTheLastOffsetAreTriedAgain) {
    constexpr std::int64_t count = 10;
    for (const std::int64_t before : {count, 64 * kib, 4 * mib}) {
        const std::int64_t far = INT64_MAX - before;
        Node node{long_world};
        adapters::StorageFaults too_big;
        too_big.error = EFBIG;
        too_big.bad = {{Offset{far}, Length{count}}};
        adapters::MemoryFile file{too_big};
        run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
            EXPECT_EQ(self.write(id, file, 0, bytes_of(1, 1)).error, 0);
            EXPECT_EQ(self.write(id, file, far, bytes_of(count, 2)).error, 0);
            EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), EFBIG);
            EXPECT_TRUE(same(file.get({Offset{0}, Length{1}}), bytes_of(1, 1)));
            EXPECT_EQ(node.pool().undrained(id.slot).size(), 1U);
            file.set_faults({});
            EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
        });
        EXPECT_TRUE(same(file.get({Offset{far}, Length{count}}), bytes_of(count, 2)));
        EXPECT_EQ(node.provided(), 0);
    }
}

// Network file systems report some errors only at close(); nobody else would learn of them.
TEST(Faults, AFileWhoseClosingFailsIsNamedWithWhatWasDrained) {
    Node node{long_world};
    adapters::StorageFaults fails_at_close;
    fails_at_close.close_error = EDQUOT;
    adapters::MemoryFile broken{fails_at_close};
    adapters::MemoryFile untouched{fails_at_close};
    adapters::MemoryFile fine;
    node.daemon();
    node.client("client", [&](NodeClient& self) {
        for (adapters::MemoryFile* file : {&broken, &fine, &untouched}) {
            const FileId id = self.open(*file, AccessMode::write);
            if (file != &untouched) {
                EXPECT_EQ(self.write(id, *file, 0, bytes_of(1000, 1)).error, 0);
            }
            self.close(id);
        }
    });
    node.run();
    ASSERT_EQ(node.pool().failed_closes().size(), 1U);
    EXPECT_EQ(node.pool().failed_closes()[0].error, EDQUOT);
    EXPECT_EQ(node.pool().failed_closes()[0].bytes, 1000);
    EXPECT_FALSE(node.pool().closes_under_way());
}

// Regression: a close reported success by a look at the free space that was up to a second old.
TEST(Faults, WhoAsksWhetherThereIsRoomIsToldOfWhatOthersHaveTaken) {
    const PoolOptions never_drained{.cap_bytes = 64 * mib, .quiet_ns = 1000 * second};
    FileTask whether_it_arrives;
    whether_it_arrives.for_room = true;
    Node node{long_world, never_drained, {.background_io = NodeOptions::BackgroundIo::slow}};
    adapters::MemoryFile file{full_from(500)};
    node.facts(file).room = 60 * mib;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 1)).error, 0);
        EXPECT_EQ(self.ask(id, whether_it_arrives), 0);
        EXPECT_EQ(file.size(), Length{0}) << "nothing has to be drained to know it";
        node.facts(file).room = 20 * mib;  // others have used the space
        EXPECT_EQ(self.ask(id, whether_it_arrives), ENOSPC);
        file.set_faults({});
        EXPECT_EQ(self.ask(id, whether_it_arrives), 0) << "it has been told before";
        EXPECT_EQ(file.size(), Length{1000});
    });
}

// Regression: such a file was written directly, and then overwritten by older deposits.
TEST(Faults, AFileThatCannotLeaveIsNotWrittenPastItsDeposits) {
    Node node{long_world};
    adapters::MemoryFile file{full_from(0)};
    with_no_room(node, file, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.ask(id, {FileTask::Kind::leave, ThroughReason::mapped}), ENOSPC);
        EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 2)).error, ENOSPC);
        const WriteResult settled = self.log_writer().settle(id);
        EXPECT_EQ(settled.rest, WriteResult::Rest::failed);
        EXPECT_EQ(settled.error, ENOSPC);
        file.set_faults({});
        EXPECT_EQ(self.ask(id, {FileTask::Kind::leave, ThroughReason::mapped}), 0);
        EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 3)).error, 0);
    });
    EXPECT_TRUE(same(file.get({Offset{0}, Length{1000}}), bytes_of(1000, 3)));
}

// Writes `bytes` bytes to the file in pieces, until all are written or one fails.
std::int64_t write_in_pieces(NodeClient& self, FileId id, adapters::MemoryFile& file,
                             std::int64_t bytes) {
    std::int64_t at = 0;
    while (at < bytes) {
        const auto put = self.write(id, file, at, bytes_of(100'000, 5));
        at += static_cast<std::int64_t>(put.taken);
        if (put.error != 0) {
            break;
        }
    }
    return at;
}

// Files that cannot be drained use the whole cap, while another file needs memory.
TEST(Faults, MemoryFullOfWhatCannotBeDrainedDoesNotStopOtherFiles) {
    Node node{long_world, {.cap_bytes = 6 * mib, .window_bytes = 64 * mib}};
    adapters::MemoryFile full{full_from(0)};
    adapters::MemoryFile full_too{full_from(0)};
    adapters::MemoryFile good;
    node.daemon();
    node.client("client", [&](NodeClient& self) {
        const FileId stuck = self.open(full, AccessMode::write);
        const FileId stuck_too = self.open(full_too, AccessMode::write);
        const FileId id = self.open(good, AccessMode::write);
        EXPECT_GT(write_in_pieces(self, stuck, full, 40 * mib), 0);
        EXPECT_GT(write_in_pieces(self, stuck_too, full_too, 40 * mib), 0);
        const std::int64_t before = node.world().now_ns();
        EXPECT_EQ(write_in_pieces(self, id, good, 10'000'000), 10'000'000);
        EXPECT_LT(node.world().now_ns() - before, 10 * second);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
        EXPECT_EQ(good.size().bytes(), 10'000'000);
        std::vector<std::byte> seen(10'000'000);
        EXPECT_EQ(self.read(id, good, 0, seen), 10'000'000);
        EXPECT_TRUE(same(seen, bytes_of(10'000'000, 5)));
        full.set_faults({});
        full_too.set_faults({});
    });
    node.client("other", [&](NodeClient& self) {
        const FileId id = self.open(good, AccessMode::write);
        for (int i = 0; i < 50; ++i) {
            EXPECT_EQ(self.write(id, good, 3'000'000, bytes_of(50'000, 5)).error, 0);
            node.world().sleep(20'000'000);
        }
    });
    node.run();
    EXPECT_LE(node.most_provided(), 7);
    EXPECT_EQ(node.provided(), 0);
}

TEST(Faults, WithoutMemoryFilesAreWrittenDirectly) {
    Node node{long_world, {}, {.memory_max = 0}};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(write_in_pieces(self, id, file, 3'000'000), 3'000'000);
        EXPECT_EQ(node.directory().files[id.slot].reason, ThroughReason::no_memory);
    });
    EXPECT_TRUE(same(file.get({Offset{0}, Length{3'000'000}}), bytes_of(3'000'000, 5)));
}

TEST(Faults, AFileSystemThatHangsHoldsUpItsOwnFilesOnly) {
    Node node{long_world, {.cap_bytes = 8 * mib, .files_at_once = 1}};
    adapters::StorageFaults faults;
    faults.slow_target = adapters::SlowTargetFault{mib, 1, 0, 1'000'000};  // ten seconds
    adapters::MemoryFile hung{faults};
    adapters::MemoryFile good;
    node.daemon();
    node.client("waits", [&](NodeClient& self) {
        const FileId id = self.open(hung, AccessMode::write);
        EXPECT_EQ(write_in_pieces(self, id, hung, 6'000'000), 6'000'000);
    });
    node.client("client", [&](NodeClient& self) {
        const FileId id = self.open(good, AccessMode::write);
        node.world().sleep(100'000'000);
        EXPECT_EQ(write_in_pieces(self, id, good, 20'000'000), 20'000'000);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
        EXPECT_LT(node.world().now_ns(), 9 * second);
    });
    node.run();
    EXPECT_EQ(hung.size().bytes(), 6'000'000);
    EXPECT_EQ(good.size().bytes(), 20'000'000);
}

TEST(Faults, BackPressureComesAndEnds) {
    Node node{long_world, {.cap_bytes = 4 * mib, .window_bytes = 2 * mib}};
    adapters::MemoryFile file;
    node.daemon();
    add_clients(node, 2, file, AccessMode::write, [&](NodeClient& self, FileId id, int who) {
        for (int i = 0; i < 15; ++i) {
            const std::int64_t at = (i * 2 + who) * mib;
            EXPECT_EQ(self.write(id, file, at, bytes_of(mib, 1 + who)).error, 0);
        }
        if (who == 0) {
            EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
            EXPECT_GT(node.directory().files[id.slot].waited_ns, 0);
        }
    });
    node.run();
    EXPECT_EQ(file.size().bytes(), 30 * mib);
    EXPECT_LE(node.most_provided(), 5) << "whoever has none gets one";
    EXPECT_EQ(node.directory().header.high, node.most_provided() * mib);
}

// Regression: a writer that was faster than the daemon exceeded the window by all of its credit.
TEST(Faults, AWriterThatIsFasterThanTheDaemonKeepsToTheWindow) {
    Node node{long_world, {.window_bytes = 4 * mib}};
    adapters::MemoryFile file;
    node.client("writer", [&](NodeClient& self) {
        const FileId id = self.open(file, AccessMode::write);
        EXPECT_EQ(self.write(id, file, 0, bytes_of(24 * mib, 1)).error, 0);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
        EXPECT_LE(node.directory().files[id.slot].high, 4 * mib);
        EXPECT_GT(node.directory().files[id.slot].waited_ns, 0);
    });
    node.daemon();
    node.run();
    EXPECT_TRUE(same(file.get({Offset{0}, Length{24 * mib}}), bytes_of(24 * mib, 1)));
}

}  // namespace
}  // namespace forebay::pool
