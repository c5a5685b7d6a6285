// Tests pool_consistency = paper: the block cache of 2022, which docs/decisions/0020 describes.
#include "foundation/base/bytes.hpp"
#include "pool/core/flush/timed_storage_check.hpp"
#include "pool/core/tests/pool_check.hpp"

#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace forebay::pool {
namespace {

constexpr std::int64_t never = 1'000'000'000'000;
constexpr FileStripes striped{.targets = 3, .stripe_bytes = 64 * kib};

PoolOptions paper() {
    return {.cap_bytes = 64 * mib,
            .window_bytes = 16 * mib,
            .requests_in_flight = 5,
            .consistency = CacheConsistency::paper};
}

PoolOptions never_quiet() {
    PoolOptions options = paper();
    options.quiet_ns = never;
    options.age_max_ns = never;
    return options;
}

Extent at(std::int64_t begin, std::int64_t length) { return {Offset{begin}, Length{length}}; }

std::vector<std::byte> bytes_of(const Extent& range, int salt = 0) {
    std::vector<std::byte> bytes(range.length.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto place = static_cast<std::uint64_t>(range.begin.bytes()) + i;
        bytes[i] = static_cast<std::byte>((place * 0x9e3779b97f4a7c15ULL >> 56U) +
                                          static_cast<unsigned>(salt));
    }
    return bytes;
}

void put(NodeClient& self, FileId id, adapters::MemoryFile& file, const Extent& range,
         int salt = 0) {
    EXPECT_EQ(self.write(id, file, range.begin.bytes(), bytes_of(range, salt)).error, 0);
}

// Counts the requests in flight of a storage that takes time for each.
struct Traffic {
    std::int32_t in_flight = 0;
    std::int32_t most = 0;
    std::int64_t longest = 0;  // maximum bytes of a request
};

class SlowStorage final : public TimedStorage<Traffic> {
public:
    using TimedStorage::TimedStorage;
    void submit(const ports::Request& request) override {
        std::int64_t bytes = 0;
        for (const auto& piece : request.pieces) {
            bytes += static_cast<std::int64_t>(piece.bytes.size());
        }
        its().longest = std::max(its().longest, bytes);
        its().most = std::max(its().most, ++its().in_flight);
        perform_after(5'000'000, request, [this] { --its().in_flight; });
    }
};

const std::vector<Extent> scattered{at(700 * kib, 90 * kib), at(0, 8 * kib), at(300 * kib, 8 * kib),
                                    at(8 * kib, 8 * kib), at(200 * kib, 50 * kib)};

TEST(PaperWrites, GoOutInTheOrderInWhichTheyCame) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Node node{{.seed = seed}, never_quiet(), {.stripes = striped}};
        adapters::MemoryFile file;
        run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
            for (const Extent& one : scattered) {
                put(self, id, file, one);
            }
            EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
        });
        EXPECT_EQ(file.log(IoDirection::write), scattered) << "seed " << seed;
    }
}

TEST(PaperWrites, OfTwoClientsGoOutInOneOrder) {
    Node node{{.seed = 2}, never_quiet()};
    adapters::MemoryFile file;
    int turn = 0;
    std::vector<Extent> written;
    node.daemon();
    add_clients(node, 2, file, AccessMode::write, [&](NodeClient& self, FileId id, int number) {
        for (int i = number; i < 8; i += 2) {
            while (turn != i) {
                node.world().wait(&turn, {"the other's turn"});
            }
            written.push_back(at((7 - i) * 50 * kib, 20 * kib));
            put(self, id, file, written.back());
            ++turn;
            node.world().wake(&turn);
        }
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
    });
    node.run();
    EXPECT_EQ(file.log(IoDirection::write), written);
}

TEST(PaperWrites, WhatIsOverwrittenGoesToTheEndOfTheLine) {
    Node node{{.seed = 1}, never_quiet()};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        put(self, id, file, at(0, 30 * kib));
        put(self, id, file, at(100 * kib, 30 * kib));
        put(self, id, file, at(10 * kib, 10 * kib), 1);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
    });
    EXPECT_EQ(file.log(IoDirection::write),
              (std::vector{at(0, 10 * kib), at(20 * kib, 10 * kib), at(100 * kib, 30 * kib),
                           at(10 * kib, 10 * kib)}));
}

TEST(PaperWrites, AreABlockAtMostAndOneAtATime) {
    Traffic its;
    Node node{{.seed = 3}, paper(), {.stripes = striped}};
    adapters::MemoryFile file;
    node.set_storage([&](adapters::MemoryFile& of) {
        return std::make_unique<SlowStorage>(node.world(), of, its);
    });
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        for (std::int64_t begin = 0; begin < 24 * mib; begin += 3 * mib) {
            put(self, id, file, at(begin, 3 * mib));
        }
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
    });
    EXPECT_EQ(its.most, 1);
    EXPECT_EQ(its.longest, mib);
    EXPECT_EQ(file.log(IoDirection::write).size(), 24U) << "stripes do not cut them";
    EXPECT_TRUE(same(file.get(at(3 * mib, 3 * mib)), bytes_of(at(3 * mib, 3 * mib))));
}

TEST(PaperWrites, BeginWithAWholeBlock) {
    Node node{{.seed = 1}, never_quiet()};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        put(self, id, file, at(0, mib - 1));
        node.world().sleep(100'000'000);
        EXPECT_EQ(file.size(), Length{0});
        put(self, id, file, at(mib - 1, 11));
        while (node.directory().files[id.slot].drained.load() < mib) {
            node.world().sleep(1'000'000);
        }
        EXPECT_EQ(file.size(), Length{mib});
    });
    EXPECT_EQ(file.size(), Length{mib + 10});
}

TEST(PaperWrites, ABlockThatCannotBeWrittenDoesNotKeepOthersBack) {
    adapters::StorageFaults faults;
    for (std::int64_t i = 0; i < 12; ++i) {
        faults.bad.push_back(at(i * 100 * kib, kib));
    }
    adapters::MemoryFile file{faults};
    Node node{{.seed = 1, .quiet_ns_max = 100'000'000'000}, paper()};
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        for (std::int64_t i = 0; i < 24; ++i) {
            put(self, id, file, at(i * 100 * kib, 10 * kib));
        }
        const Extent last = at(23 * 100 * kib, 10 * kib);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), EIO);
        while (file.get(last) != bytes_of(last)) {
            node.world().sleep(100'000'000);
        }
        file.set_faults({});
        while (node.directory().files[id.slot].extents.load() > 0) {
            node.world().sleep(100'000'000);
        }
    });
    for (std::int64_t i = 0; i < 24; ++i) {
        const Extent one = at(i * 100 * kib, 10 * kib);
        EXPECT_TRUE(same(file.get(one), bytes_of(one))) << i;
    }
}

FileState state_of(Node& node, FileId id) { return node.directory().files[id.slot].state.load(); }

void expect_left(Node& node, FileId id) {
    while (state_of(node, id) != FileState::through) {
        node.world().sleep(1'000'000);
    }
    EXPECT_EQ(node.directory().files[id.slot].reason.load(), ThroughReason::read_and_written);
}

TEST(PaperExclusion, WhatIsReadAndWrittenAtATimeLeavesThePool) {
    using enum AccessMode;
    for (const auto& [first, second] : {std::pair{write, read}, {read, write}}) {
        Node node{{.seed = 1}, never_quiet()};
        adapters::MemoryFile file;
        file.put(Offset{0}, bytes_of(at(0, mib)));
        bool opened = false;
        bool over = false;
        node.daemon();
        node.client("first", [&, access = first](NodeClient& self) {
            const FileId id = self.open(file, access);
            if (access == write) {
                put(self, id, file, at(0, kib), 5);
            }
            EXPECT_EQ(state_of(node, id), FileState::pooled);
            opened = true;
            node.world().wake(&opened);
            while (!over) {
                node.world().wait(&over, {"the second"});
            }
        });
        node.client("second", [&, access = second](NodeClient& self) {
            while (!opened) {
                node.world().wait(&opened, {"the first"});
            }
            const FileId id = self.open(file, access);
            expect_left(node, id);
            if (access == write) {
                put(self, id, file, at(0, kib), 5);
            }
            std::vector<std::byte> got(kib);
            EXPECT_EQ(self.read(id, file, 0, got), kib);
            EXPECT_TRUE(same(got, bytes_of(at(0, kib), 5)));
            over = true;
            node.world().wake(&over);
        });
        node.run();
    }
}

TEST(PaperExclusion, OneDescriptorForBothIsEnough) {
    Node node{{.seed = 1}, paper()};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::both,
               [&](NodeClient&, FileId id) { expect_left(node, id); });
}

TEST(PaperExclusion, OneAfterTheOtherIsPooled) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Node node{{.seed = seed}, paper()};
        adapters::MemoryFile file;
        node.daemon();
        node.client("client", [&](NodeClient& self) {
            for (int i = 0; i < 6; ++i) {
                const FileId id =
                    self.open(file, i % 2 == 0 ? AccessMode::write : AccessMode::read);
                const FileId too =
                    self.open(file, i % 2 == 0 ? AccessMode::write : AccessMode::read);
                if (i % 2 == 0) {
                    put(self, id, file, at(i * kib, kib));
                }
                node.world().sleep(node.world().draw(2'000'000));
                EXPECT_EQ(state_of(node, id), FileState::pooled) << "seed " << seed;
                // The daemon learns of these closes after the next open.
                self.log_writer().notify_daemon(id, EntryKind::closed, 0, 0);
                self.log_writer().notify_daemon(too, EntryKind::closed, 0, 0);
            }
        });
        node.run();
    }
}

TEST(PaperExclusion, InThePoolsOwnWayFilesAreBoth) {
    Node node{{.seed = 1}};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::both, [&](NodeClient&, FileId id) {
        node.world().sleep(100'000'000);
        EXPECT_EQ(state_of(node, id), FileState::pooled);
    });
}

TEST(PaperReads, WholeBlocksAreReadAheadWithinTheWindow) {
    PoolOptions options = paper();
    options.window_bytes = 3 * mib;
    Node node{{.seed = 1}, options, {.stripes = striped}};
    adapters::MemoryFile file;
    file.put(Offset{0}, bytes_of(at(0, 12 * mib)));
    node.changed_ns[&file] = -never;
    std::uint32_t most = 0;
    run_client(node, file, AccessMode::read, [&](NodeClient& self, FileId id) {
        for (std::int64_t begin = 0; begin < 12 * mib; begin += 256 * kib) {
            std::vector<std::byte> got(256 * kib);
            EXPECT_EQ(self.read(id, file, begin, got), 256 * kib);
            EXPECT_TRUE(same(got, bytes_of(at(begin, 256 * kib)))) << "at " << begin;
            most = std::max(most, node.directory().files[id.slot].clean.load());
        }
        self.close(id);
    });
    EXPECT_EQ(most, 3U);
    EXPECT_EQ(node.read_directly, 256 * kib) << "the first read; the second asks";
    std::vector<Extent> blocks;
    for (std::int64_t i = 0; i < 12; ++i) {
        blocks.push_back(at(i * mib, mib));
    }
    EXPECT_EQ(file.log(IoDirection::read), blocks) << "each once, in order";
}

TEST(PaperReads, NothingIsReadAheadWhileDepositsAreThere) {
    Node node{{.seed = 1}, never_quiet()};
    adapters::MemoryFile file;
    file.put(Offset{0}, bytes_of(at(0, 4 * mib)));
    node.changed_ns[&file] = -never;
    node.daemon();
    node.client("client", [&](NodeClient& self) {
        FileId id = self.open(file, AccessMode::write);
        put(self, id, file, at(0, kib), 1);
        self.close(id);
        id = self.open(file, AccessMode::read);
        for (std::int64_t begin = 0; begin < 4 * mib; begin += 512 * kib) {
            std::vector<std::byte> got(512 * kib);
            EXPECT_EQ(self.read(id, file, begin, got), 512 * kib);
        }
        EXPECT_TRUE(file.log(IoDirection::read).empty());
        self.close(id);
    });
    node.run();
}

}  // namespace
}  // namespace forebay::pool
