// Tests the life of files: they leave, are truncated, grow, are made again, have bytes at huge
// offsets, and are read while all of this happens.
#include "pool/core/tests/pool_check.hpp"
#include "pool/policy/credit.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace forebay::pool {
namespace {

constexpr std::int64_t seeds = 20;
constexpr std::int64_t never = 1'000'000'000'000'000;
// Nothing is drained unless a client asks for it.
const PoolOptions patient{.age_max_ns = never, .quiet_ns = never};

FileTask truncation(std::int64_t bytes) { return {FileTask::Kind::truncate, {}, Length{bytes}}; }

TEST(Life, ATruncationTakesDepositsBeyondItAndLeavesThoseBelow) {
    for (std::int64_t seed = 1; seed <= seeds; ++seed) {
        Node node{{.seed = static_cast<std::uint64_t>(seed)}, patient};
        adapters::MemoryFile file;
        file.put(Offset{0}, bytes_of(500, 1));
        run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
            EXPECT_EQ(self.write(id, file, 300, bytes_of(1000, 2)).error, 0);
            EXPECT_EQ(self.write(id, file, 5000, bytes_of(1000, 3)).error, 0);
            EXPECT_EQ(self.ask(id, truncation(700)), 0);
            std::vector<std::byte> seen(10000);
            EXPECT_EQ(self.read(id, file, 0, seen), 700);
            seen.resize(700);
            auto expected = bytes_of(300, 1);
            expected.resize(700, std::byte{2});
            EXPECT_TRUE(same(seen, expected));
            // To a larger size, and beyond a hole.
            EXPECT_EQ(self.ask(id, truncation(3000)), 0);
            EXPECT_EQ(self.write(id, file, 2000, bytes_of(10, 4)).error, 0);
            seen.assign(10000, std::byte{99});
            EXPECT_EQ(self.read(id, file, 0, seen), 3000);
            expected.resize(2000);
            expected.resize(2010, std::byte{4});
            expected.resize(3000);
            seen.resize(3000);
            EXPECT_TRUE(same(seen, expected));
        });
        EXPECT_EQ(file.size().bytes(), 3000);
        EXPECT_EQ(file.get({Offset{2000}, Length{11}}).back(), std::byte{0});
        EXPECT_TRUE(same(file.get({Offset{2000}, Length{10}}), bytes_of(10, 4)));
        EXPECT_EQ(node.provided(), 0);
    }
}

// Regression: such a deposit was removed together with those from before the truncation.
TEST(Life, WhatIsWrittenToAFileThatWasSeenCutStays) {
    for (std::int64_t seed = 1; seed <= seeds; ++seed) {
        Node node{{.seed = static_cast<std::uint64_t>(seed)},
                  patient,
                  {.background_io = NodeOptions::BackgroundIo::slow}};
        adapters::MemoryFile file;
        file.put(Offset{0}, bytes_of(8000, 1));
        node.daemon();
        node.client("cuts", [&](NodeClient& self) {
            const FileId id = self.open(file, AccessMode::write);
            EXPECT_EQ(self.write(id, file, 0, bytes_of(100, 2)).error, 0);
            EXPECT_EQ(self.ask(id, truncation(0)), 0);
        });
        node.client("writes", [&](NodeClient& self) {
            const FileId id = self.open(file, AccessMode::write);
            while (file.size().bytes() != 0) {
                node.world().sleep(1000);
            }
            EXPECT_EQ(self.write(id, file, 4000, bytes_of(100, 3)).error, 0);
            EXPECT_EQ(self.write(id, file, 50, bytes_of(20, 4)).error, 0);
        });
        node.run();
        EXPECT_EQ(file.size().bytes(), 4100) << "seed " << seed;
        EXPECT_TRUE(same(file.get({Offset{4000}, Length{100}}), bytes_of(100, 3)))
            << "seed " << seed;
        EXPECT_TRUE(same(file.get({Offset{50}, Length{20}}), bytes_of(20, 4)));
        EXPECT_TRUE(same(file.get({Offset{0}, Length{50}}), bytes_of(50, 0)));
        EXPECT_EQ(node.provided(), 0);
    }
}

// Regression: the sync was skipped, as if there had been nothing to make durable.
TEST(Life, WhoMayOnlyReadAFileMakesItDurable) {
    Node node{{.seed = 1}, patient};
    adapters::MemoryFile file;
    file.put(Offset{0}, bytes_of(500, 1));
    run_client(node, file, AccessMode::read, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
        EXPECT_EQ(node.facts(file).syncs, 1U);
        node.facts(file).sync_error = EIO;
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), EIO);
        EXPECT_EQ(node.facts(file).syncs, 2U);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::drain}), 0);
        EXPECT_EQ(node.facts(file).syncs, 2U);
    });
}

// Regression: the report said that the program had asked for it.
TEST(Life, AFileLeavesForWantOfADescriptorToWriteWith) {
    Node node{{.seed = 1}, patient};
    adapters::MemoryFile file;
    file.put(Offset{0}, bytes_of(500, 1));
    run_client(node, file, AccessMode::read, [&](NodeClient& self, FileId id) {
        const FileSlot& slot = node.directory().files[id.slot];
        EXPECT_EQ(slot.reason, ThroughReason::none);
        node.say([&] {
            DaemonFile unopened;
            unopened.identity = file.identity();
            const auto opened =
                node.pool().open(self.number(), std::move(unopened), AccessMode::write);
            EXPECT_EQ(opened.value().slot, id.slot);
        });
        EXPECT_EQ(slot.reason, ThroughReason::no_descriptor);
    });
}

TEST(Life, AFileLeavesWhileOthersWriteToIt) {
    for (std::int64_t seed = 1; seed <= seeds; ++seed) {
        Node node{{.seed = static_cast<std::uint64_t>(seed)}, {.cap_bytes = 4 << 20}};
        adapters::MemoryFile file;
        node.daemon();
        add_clients(node, 3, file, AccessMode::write, [&](NodeClient& self, FileId id, int who) {
            for (int i = 0; i < 8; ++i) {
                const std::int64_t at = (i * 3 + who) * 150'000;
                // Twice: a direct write must not be overwritten by an older deposit.
                for (const int value : {100 + i, 1 + i * 3 + who}) {
                    EXPECT_EQ(self.write(id, file, at, bytes_of(150'000, value)).error, 0);
                }
            }
        });
        node.client("leaves", [&](NodeClient& self) {
            const FileId id = self.open(file, AccessMode::write);
            node.world().sleep(node.world().draw(2'000'000));
            EXPECT_EQ(self.ask(id, {FileTask::Kind::leave, ThroughReason::mapped}), 0);
            EXPECT_EQ(node.directory().files[id.slot].state, FileState::through);
            EXPECT_EQ(node.directory().files[id.slot].reason, ThroughReason::mapped);
            EXPECT_EQ(node.directory().files[id.slot].size, 0) << "the file system knows";
            EXPECT_EQ(self.log_writer().write(id, 0, {}).rest, WriteResult::Rest::none);
        });
        node.run();
        for (int part = 0; part < 24; ++part) {
            EXPECT_TRUE(same(file.get({Offset{part * 150'000}, Length{150'000}}),
                             bytes_of(150'000, 1 + part)))
                << "seed " << seed << " part " << part;
        }
        EXPECT_EQ(node.provided(), 0);
    }
}

// Regression: the file system was asked while the file was empty there, and got the bytes after
// that.
TEST(Life, AFileThatLeavesWhileItsHoleIsReadDoesNotEndThere) {
    Node node{{.seed = 1}};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::both, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, file, 1'000'000, bytes_of(10, 1)).error, 0);
        std::vector<std::byte> hole(1000, std::byte{7});
        bool has_left = false;
        const auto leave = [&] {
            if (!std::exchange(has_left, true)) {
                EXPECT_EQ(self.ask(id, {FileTask::Kind::leave, ThroughReason::asked}), 0);
            }
        };
        EXPECT_EQ(self.read(id, file, 0, hole, leave), 1000);
        EXPECT_TRUE(same(hole, bytes_of(1000, 0)));
    });
}

TEST(Life, AFileThatLeftIsPooledAgainWhenItIsOpenedAnew) {
    Node node{{.seed = 1}};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId first) {
        EXPECT_EQ(self.ask(first, {FileTask::Kind::leave, ThroughReason::asked}), 0);
        EXPECT_EQ(self.log_writer().write(first, 0, bytes_of(10, 1)).rest,
                  WriteResult::Rest::through);
        self.close(first);
        FileId second = self.open(file, AccessMode::write);
        while (second.generation == first.generation && second.slot == first.slot) {
            self.close(second);
            node.world().sleep(1'000'000);
            second = self.open(file, AccessMode::write);
        }
        EXPECT_EQ(self.log_writer().write(second, 0, bytes_of(10, 2)).rest,
                  WriteResult::Rest::none);
        EXPECT_EQ(self.log_writer().write(first, 0, bytes_of(10, 3)).rest,
                  WriteResult::Rest::through);
    });
    EXPECT_TRUE(same(file.get({Offset{0}, Length{10}}), bytes_of(10, 2)));
}

TEST(Life, AFileThatIsMadeAgainIsAnother) {
    Node node{{.seed = 1}, patient};
    adapters::MemoryFile old;
    adapters::MemoryFile anew;
    run_client(node, old, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, old, 0, bytes_of(5000, 1)).error, 0);
        node.facts(old).has_name = false;
        const FileId other = self.open(anew, AccessMode::write);
        EXPECT_EQ(self.write(other, anew, 0, bytes_of(10, 2)).error, 0);
        std::vector<std::byte> seen(5000);
        EXPECT_EQ(self.read(other, anew, 0, seen), 10);
        EXPECT_EQ(self.read(id, old, 0, seen), 5000) << "who has it open reads it still";
        EXPECT_TRUE(same(seen, bytes_of(5000, 1)));
        self.close(id);
        while (node.directory().files[id.slot].generation == id.generation) {
            node.world().sleep(1'000'000);
        }
    });
    EXPECT_EQ(anew.size().bytes(), 10);
    EXPECT_EQ(old.size().bytes(), 0) << "nobody will ever read it";
    EXPECT_EQ(node.provided(), 0);
}

// A client had opened the file, and the daemon did not know of that yet.
TEST(Life, AFileWithoutANameIsKeptWhileFilesAreBeingOpened) {
    Node node{{.seed = 1}, patient};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::both, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, file, 0, bytes_of(5000, 1)).error, 0);
        node.say([&] { node.pool().being_opened(1); });
        node.facts(file).has_name = false;
        self.close(id);
        node.world().sleep(1'000'000'000);
        const FileId other = self.open(file, AccessMode::read);
        node.say([&] { node.pool().being_opened(0); });
        std::vector<std::byte> seen(5000);
        EXPECT_EQ(self.read(other, file, 0, seen), 5000);
        EXPECT_TRUE(same(seen, bytes_of(5000, 1)));
    });
}

// Its deposits were dropped, and the client opened it once more by the descriptor of O_PATH.
TEST(Life, AFileWithoutANameIsDrainedWhereAClientCanOpenItAgain) {
    Node node{{.seed = 1}, patient};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, file, 0, bytes_of(5000, 1)).error, 0);
        self.log().header().opened_paths.store(1);
        node.facts(file).has_name = false;
        self.close(id);
        node.world().sleep(1'000'000'000);
        const FileId other = self.open(file, AccessMode::read);
        std::vector<std::byte> seen(5000);
        EXPECT_EQ(self.read(other, file, 0, seen), 5000);
        EXPECT_TRUE(same(seen, bytes_of(5000, 1)));
    });
    EXPECT_EQ(file.size().bytes(), 5000);
}

TEST(Life, OffsetsBeyondFourGigabytesAreOffsets) {
    Node node{{.seed = 1}, {.cap_bytes = 4 << 20}};
    adapters::MemoryFile file;
    constexpr std::int64_t apart = (std::int64_t{1} << 32) + 12345;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        for (int i = 0; i < 5; ++i) {
            EXPECT_EQ(self.write(id, file, i * apart, bytes_of(1'500'000, i + 1)).error, 0);
        }
        std::vector<std::byte> seen(10);
        EXPECT_EQ(self.read(id, file, 3 * apart + 1'499'995, seen), 10);
        EXPECT_EQ(seen[4], std::byte{4});
        EXPECT_EQ(seen[5], std::byte{0});
        const std::int64_t end = std::numeric_limits<std::int64_t>::max() - 10;
        EXPECT_EQ(self.write(id, file, end, bytes_of(10, 7)).error, 0);
        EXPECT_EQ(self.read(id, file, end, seen), 10);
        EXPECT_TRUE(same(seen, bytes_of(10, 7)));
        EXPECT_EQ(self.ask(id, truncation(5 * apart)), 0);
    });
    EXPECT_EQ(file.size().bytes(), 5 * apart);
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(
            same(file.get({Offset{i * apart}, Length{1'500'000}}), bytes_of(1'500'000, i + 1)));
    }
}

TEST(Life, NoDepositGetsOlderThanItMay) {
    for (std::int64_t seed = 1; seed <= 5; ++seed) {
        Node node{{.seed = static_cast<std::uint64_t>(seed), .quiet_ns_max = never}};
        adapters::MemoryFile file;
        constexpr std::int64_t second = 1'000'000'000;
        run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
            const std::int64_t begin = node.world().now_ns();
            EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 1)).error, 0);
            // A burst that does not end, and no client asks for draining.
            std::int64_t drained_after = never;
            for (std::int64_t i = 0; i < 1000 && drained_after == never; ++i) {
                node.world().sleep(40'000'000);
                EXPECT_EQ(self.write(id, file, 5000 + i, bytes_of(1, 2)).error, 0);
                if (file.get({Offset{0}, Length{1000}}) == bytes_of(1000, 1)) {
                    drained_after = node.world().now_ns() - begin;
                }
            }
            EXPECT_GT(drained_after, 5 * second);
            EXPECT_LT(drained_after, 30 * second);
        });
    }
}

// Deposits that a reader has found may be drained, cut or overwritten before it has copied them.
TEST(Life, AReaderWhoseDepositsChangeUnderItLooksAgain) {
    std::int64_t changes = 0;
    for (std::int64_t seed = 1; seed <= seeds; ++seed) {
        Node node{{.seed = static_cast<std::uint64_t>(seed)},
                  {.cap_bytes = 3 << 20, .quiet_ns = 1}};
        adapters::MemoryFile file;
        file.put(Offset{0}, bytes_of(400'000, 1));
        int rounds = 0;
        bool ended = false;
        node.daemon();
        node.client("writer", [&](NodeClient& self) {
            const FileId id = self.open(file, AccessMode::write);
            for (rounds = 1; rounds < 12; ++rounds) {
                for (std::int64_t at = 0; at < 4; ++at) {
                    EXPECT_EQ(
                        self.write(id, file, at * 100'000, bytes_of(100'000, rounds + 1)).error, 0);
                }
            }
            ended = true;
        });
        node.client("reader", [&](NodeClient& self) {
            const FileId id = self.open(file, AccessMode::read);
            const FileSlot& slot = node.directory().files[id.slot];
            std::vector<std::byte> seen(200'000);
            while (!ended) {
                const int before = rounds;
                std::uint32_t version = slot.version;
                EXPECT_EQ(self.read(id, file, 100'000, seen, [&] { version = slot.version; }),
                          200'000);
                changes += version != slot.version ? 1 : 0;
                for (std::size_t i = 0; i < seen.size(); i += 997) {
                    const int value = std::to_integer<int>(seen[i]);
                    ASSERT_GE(value, before) << "what was written before is seen";
                    ASSERT_LE(value, rounds + 1);
                }
                node.world().sleep(node.world().draw(50'000));
            }
        });
        node.run();
        EXPECT_TRUE(same(file.get({Offset{0}, Length{400'000}}), bytes_of(400'000, 12)));
    }
    EXPECT_GT(changes, 5) << "in some of the looks";
}

// Regression: the reader began again whenever anything in the file had changed, and never ended.
TEST(Life, WhoReadsOnePartOfAFileIsNotKeptByWhoWritesAnother) {
    Node node{{.seed = 2}, {.quiet_ns = 1}};
    adapters::MemoryFile file;
    file.put(Offset{0}, bytes_of(10'000, 1));
    bool ended = false;
    int looks = 0;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, file, 100, bytes_of(10, 2)).error, 0);
        std::vector<std::byte> seen(10'000);
        const auto write_elsewhere = [&] {
            ++looks;
            EXPECT_EQ(self.write(id, file, 20'000 + looks * 100, bytes_of(10, 3)).error, 0);
            EXPECT_EQ(self.ask(id, {}), 0);
        };
        EXPECT_EQ(self.read(id, file, 0, seen, write_elsewhere), 10'000);
        auto expected = bytes_of(10'000, 1);
        std::fill_n(expected.begin() + 100, 10, std::byte{2});
        EXPECT_TRUE(same(seen, expected));
        ended = true;
    });
    EXPECT_TRUE(ended);
    EXPECT_LE(looks, 3) << "the first look found what was then drained";
}

// Two batches of one file are never in flight together: memory of bytes that are overwritten while
// their request is in flight is not given to anybody, and newer bytes are written after them.
TEST(Life, WhatIsOverwrittenWhileItIsBeingDrainedEndsNewest) {
    for (std::int64_t seed = 1; seed <= seeds; ++seed) {
        adapters::StorageFaults faults;
        faults.seed = static_cast<std::uint64_t>(seed);
        faults.delay_polls_max = 40;
        faults.short_percent = 30;
        Node node{{.seed = static_cast<std::uint64_t>(seed)},
                  {.cap_bytes = 4 << 20, .quiet_ns = 1, .request_bytes_max = 100'000}};
        adapters::MemoryFile file{faults};
        run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
            for (int i = 1; i <= 60; ++i) {
                const std::int64_t at = node.world().draw(300'000);
                EXPECT_EQ(self.write(id, file, at, bytes_of(150'000, i)).error, 0);
                EXPECT_EQ(self.write(id, file, 250'000, bytes_of(100'000, i + 100)).error, 0);
                node.world().sleep(node.world().draw(200'000));
            }
        });
        EXPECT_TRUE(same(file.get({Offset{250'000}, Length{100'000}}), bytes_of(100'000, 160)));
        EXPECT_EQ(node.provided(), 0);
    }
}

TEST(Life, MemoryIsTouchedBeforeTheFirstBurstOfWhoMayWrite) {
    for (const AccessMode access : {AccessMode::write, AccessMode::read}) {
        Node node{{.seed = 1, .quiet_ns_max = never}, {.cap_bytes = 1 << 30}};
        adapters::MemoryFile file;
        node.daemon();
        node.client("client", [&](NodeClient& self) {
            const FileId id = self.open(file, access);
            node.world().sleep(4 * first_peak * look_ns);
            EXPECT_EQ(node.provided(), access == AccessMode::write ? first_peak : 0);
            self.close(id);
        });
        node.run();
        EXPECT_EQ(node.provided(), 0);
    }
}

// Regression: memory was provided and released with each file, which took a hundred times as long
// as opening one.
TEST(Life, MemoryStaysForAMomentBetweenTwoFiles) {
    Node node{{.seed = 1, .quiet_ns_max = never}, {.cap_bytes = 1 << 30}};
    adapters::MemoryFile file;
    node.daemon();
    node.client("client", [&](NodeClient& self) {
        self.close(self.open(file, AccessMode::read));
        node.world().sleep(10 * look_ns);
        EXPECT_EQ(node.provided(), 0) << "it wrote to none";
        const FileId id = self.open(file, AccessMode::write);
        node.world().sleep(10 * look_ns);
        const std::int64_t held = node.provided();
        EXPECT_GT(held, 0);
        const std::uint64_t credit = node.directory().clients[0].credit;
        self.close(id);
        node.world().sleep(500'000'000);
        EXPECT_EQ(node.provided(), held);
        EXPECT_EQ(node.directory().clients[0].credit, credit);
        node.world().sleep(1'000'000'000);
        EXPECT_EQ(node.provided(), 0);
    });
    node.run();
}

void write_blocks(NodeClient& self, adapters::MemoryFile& file, int blocks) {
    const FileId id = self.open(file, AccessMode::write);
    for (int i = 0; i < 4 * blocks; ++i) {
        EXPECT_EQ(self.write(id, file, i << 18, bytes_of(1 << 18, i)).error, 0);
    }
    self.close(id);
}

// Memory that was given back meanwhile has to be mapped and cleared again; memory that was kept has
// not.
TEST(Life, MemoryIsPreparedOnceEachTimeThatItComes) {
    Node node{{.seed = 1, .quiet_ns_max = never}, {.cap_bytes = 1 << 30}};
    adapters::MemoryFile file;
    node.daemon();
    node.client("client", [&](NodeClient& self) {
        write_blocks(self, file, 3);
        EXPECT_EQ(self.prepared(), 3);
        write_blocks(self, file, 3);
        const std::int64_t before = self.prepared();
        EXPECT_LE(before, 6);
        node.world().sleep(2'000'000'000);
        EXPECT_EQ(node.provided(), 0);
        write_blocks(self, file, 3);
        EXPECT_EQ(self.prepared(), before + 3);
    });
    node.run();
}

// With as many writers as processors, new memory is written to without being mapped, except for
// small writes. When a block is leased again that has kept its memory, it is mapped.
TEST(Life, NewMemoryIsFilledWhereAllProcessorsAreBusy) {
    struct Case {
        std::size_t processors;
        bool can;
        bool fills;
    };
    for (const auto [processors, can, fills] :
         {Case{0, true, false}, {1, true, true}, {2, true, false}, {1, false, false}}) {
        Node node{{.seed = 1, .quiet_ns_max = never},
                  {.cap_bytes = 1 << 30, .processors = processors},
                  {.fills = can}};
        adapters::MemoryFile file;
        node.daemon();
        node.client("client", [&](NodeClient& self) {
            write_blocks(self, file, 2);
            EXPECT_EQ(self.filled(), fills ? 8 : 0);
            EXPECT_EQ(self.prepared(), fills ? 0 : 2);
            node.world().sleep(2'000'000'000);
            EXPECT_EQ(node.provided(), 0);
            write_blocks(self, file, 2);
            EXPECT_EQ(self.filled(), fills ? 16 : 0) << "its memory is new again";
            node.world().sleep(2'000'000'000);

            const std::int64_t before = self.prepared();
            const FileId id = self.open(file, AccessMode::write);
            for (int i = 0; i < 3; ++i) {
                const auto small = bytes_of(LogWriter::fill_bytes_min - 1, i);
                EXPECT_EQ(self.write(id, file, i << 18, small).error, 0);
            }
            EXPECT_EQ(self.prepared(), before + 1) << "once for the block";
            EXPECT_EQ(self.write(id, file, 3 << 18, bytes_of(1 << 18, 3)).error, 0);
            EXPECT_EQ(self.filled(), fills ? 16 : 0) << "it is mapped now";
            self.close(id);
        });
        node.run();
    }
}

// Regression: a client that wrote as fast as memory was provided kept the daemon from all other
// work.
TEST(Life, ALookRoundTouchesLittleMemory) {
    Node node{{.seed = 1, .quiet_ns_max = never}, {.cap_bytes = 1 << 30}};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        for (int i = 0; i < 40; ++i) {
            const std::int64_t before = node.provided();
            node.pool().run_once();
            EXPECT_LE(node.provided() - before, 2);
            EXPECT_EQ(self.write(id, file, i << 20, bytes_of(1 << 20, i)).error, 0);
        }
    });
    EXPECT_EQ(file.size().bytes(), 40 << 20);
}

// Regression: the first writers got all the memory that a round provides. Returns the maximum
// number of writers that waited at a time.
std::size_t look_at_waiting_writers(std::uint64_t seed) {
    constexpr std::size_t writers = 5;
    Node node{{.seed = seed, .quiet_ns_max = never}, {.cap_bytes = 1 << 30}};
    adapters::MemoryFile file;
    std::size_t opened = 0;
    std::size_t ended = 0;
    std::size_t waiting_most = 0;
    const auto waits = [&](std::uint32_t n) {
        const Log log = node.log_of(n);
        return log.mapped() && log.header().reserved > node.directory().clients[n].credit;
    };
    const auto look = [&] {
        node.world().sleep(100'000'000);  // no round meanwhile: the writers use up their credit
        std::array<std::uint64_t, writers> least{};
        for (std::uint32_t n = 0; n < writers; ++n) {
            least[n] = waits(n) ? node.directory().clients[n].credit + 1 : 0;
        }
        const auto waiting = writers - std::ranges::count(least, std::uint64_t{0});
        waiting_most = std::max<std::size_t>(waiting_most, waiting);
        node.pool().run_once();
        for (std::uint32_t n = 0; n < writers; ++n) {
            EXPECT_GE(node.directory().clients[n].credit, least[n]) << "of writer " << n;
        }
    };
    node.daemon();
    add_clients(node, writers, file, AccessMode::write, [&](NodeClient& self, FileId id, int i) {
        ++opened;
        while (opened < writers) {
            node.world().sleep(1000);
        }
        EXPECT_EQ(self.write(id, file, i * (40LL << 20), bytes_of(40 << 20, 1)).error, 0);
        ++ended;
    });
    node.client("watcher", [&](NodeClient&) {
        while (ended < writers) {
            node.say(look);
            node.world().sleep(1000);
        }
    });
    node.run();
    return waiting_most;
}

TEST(Life, ARoundTouchesMemoryForEachWriterThatWaits) {
    std::size_t waiting_most = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        waiting_most = std::max(waiting_most, look_at_waiting_writers(seed));
    }
    EXPECT_GT(waiting_most, 2);
}

}  // namespace
}  // namespace forebay::pool
