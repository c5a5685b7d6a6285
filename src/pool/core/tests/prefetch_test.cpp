// Tests read-ahead: which blocks are read, for whom, and that no reader gets old bytes.
#include "pool/core/tests/pool_check.hpp"

#include "foundation/base/bytes.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <string>

namespace forebay::pool {
namespace {

constexpr std::int64_t slow_ns = 10'000'000;
constexpr std::int64_t long_ago_ns = -3'600'000'000'000;

// Bytes that differ at all offsets that could be mistaken for one another.
std::vector<std::byte> bytes_of(std::int64_t begin, std::int64_t count, std::uint64_t salt = 0) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(count));
    for (std::int64_t at = 0; at < count; at += 8) {
        const std::uint64_t word =
            (static_cast<std::uint64_t>(begin + at) + salt) * 0x9e3779b97f4a7c15ULL;
        std::memcpy(bytes.data() + at, &word,
                    static_cast<std::size_t>(std::min<std::int64_t>(8, count - at)));
    }
    return bytes;
}

struct OldFile {
    OldFile(Node& node, std::int64_t bytes) {
        file.put(Offset{0}, bytes_of(0, bytes));
        node.changed_ns[&file] = long_ago_ns;
        node.direct_read_ns = slow_ns;
    }
    [[nodiscard]] std::int64_t fetched() const {
        std::int64_t bytes = 0;
        for (const Extent& one : file.log(IoDirection::read)) {
            bytes += one.length.bytes();
        }
        return bytes;
    }
    adapters::MemoryFile file;
};

void read_and_compare(NodeClient& self, FileId id, adapters::MemoryFile& file, const Extent& range,
                      std::uint64_t salt = 0) {
    std::vector<std::byte> got(range.length.size());
    EXPECT_EQ(self.read(id, file, range.begin.bytes(), got), range.length.bytes());
    EXPECT_TRUE(same(got, bytes_of(range.begin.bytes(), range.length.bytes(), salt)))
        << "at " << range.begin.bytes();
}

void read_through(NodeClient& self, FileId id, OldFile& old, std::int64_t bytes,
                  std::int64_t piece) {
    for (std::int64_t at = 0; at < bytes; at += piece) {
        read_and_compare(self, id, old.file, {Offset{at}, Length{std::min(piece, bytes - at)}});
    }
}

TEST(BlockPrefetcher, WhatFollowsIsReadAheadOnce) {
    Node node{{.seed = 1}};
    OldFile old{node, 32 * mib};
    run_client(node, old.file, AccessMode::read, [&](NodeClient& self, FileId id) {
        read_through(self, id, old, 32 * mib, 128 * kib);
        self.close(id);
    });
    EXPECT_LE(node.read_directly, 256 * kib);
    EXPECT_LE(old.fetched(), 32 * mib);
    EXPECT_EQ(node.pool().counts().failed_fetches, 0U);
}

TEST(BlockPrefetcher, ClientsThatReadOneFileReadItOnce) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Node node{{.seed = seed}};
        OldFile old{node, 12 * mib};
        node.daemon();
        add_clients(node, 6, old.file, AccessMode::read,
                    [&](NodeClient& self, FileId id, int /*i*/) {
                        read_through(self, id, old, 12 * mib, 256 * kib);
                        self.close(id);
                    });
        node.run();
        EXPECT_LE(old.fetched(), 12 * mib) << "seed " << seed;
        EXPECT_LE(node.read_directly, 6 * 512 * kib) << "seed " << seed;
    }
}

TEST(BlockPrefetcher, ALongReadIsFetchedBehindItsFirstBlock) {
    Node node{{.seed = 1}};
    OldFile old{node, 40 * mib};
    node.daemon();
    add_clients(node, 3, old.file, AccessMode::read, [&](NodeClient& self, FileId id, int /*i*/) {
        read_and_compare(self, id, old.file, {Offset{0}, Length{40 * mib}});
        self.close(id);
    });
    node.run();
    EXPECT_LE(node.read_directly, 3 * mib);
    EXPECT_LE(old.fetched(), 40 * mib);
}

std::vector<std::int64_t> shuffled(std::int64_t count) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    std::shuffle(numbers.begin(), numbers.end(), std::mt19937{7});
    return numbers;
}

TEST(BlockPrefetcher, ABlockThatIsReadBitByBitInNoOrderIsFetchedWhenThatHasCostAsMuch) {
    constexpr std::int64_t piece = 8 * kib;
    constexpr std::int64_t bytes = 16 * mib;
    Node node{{.seed = 1}};
    OldFile old{node, bytes};
    run_client(node, old.file, AccessMode::read, [&](NodeClient& self, FileId id) {
        for (const std::int64_t number : shuffled(bytes / piece)) {
            read_and_compare(self, id, old.file, {Offset{number * piece}, Length{piece}});
        }
        self.close(id);
    });
    EXPECT_EQ(old.fetched(), bytes) << "every block once";
    EXPECT_LE(node.read_directly, bytes / 4);
}

TEST(BlockPrefetcher, WhatIsReadHereAndThereIsNotFetched) {
    constexpr std::int64_t piece = 8 * kib;
    Node node{{.seed = 1}};
    OldFile old{node, 64 * mib};
    run_client(node, old.file, AccessMode::read, [&](NodeClient& self, FileId id) {
        const std::vector<std::int64_t> numbers = shuffled(64 * mib / piece);
        // About five in each block.
        for (const std::int64_t number : std::span{numbers}.first(300)) {
            read_and_compare(self, id, old.file, {Offset{number * piece}, Length{piece}});
        }
        self.close(id);
    });
    EXPECT_EQ(old.fetched(), 0);
}

TEST(BlockPrefetcher, ThereIsNeverMoreThanTheBound) {
    Node node{{.seed = 3}, {.cap_bytes = 64 * mib, .read_ahead_bytes = 5 * mib}};
    std::vector<std::unique_ptr<OldFile>> files;
    std::int64_t most = 0;
    node.daemon();
    for (int i = 0; i < 4; ++i) {
        files.push_back(std::make_unique<OldFile>(node, 12 * mib));
        node.client("reader " + std::to_string(i), [&, i](NodeClient& self) {
            OldFile& old = *files[static_cast<std::size_t>(i)];
            const FileId id = self.open(old.file, AccessMode::read);
            for (std::int64_t at = 0; at < 12 * mib; at += 512 * kib) {
                read_and_compare(self, id, old.file, {Offset{at}, Length{512 * kib}});
                most = std::max(most, node.clean_provided());
            }
            self.close(id);
        });
    }
    node.run();
    EXPECT_LE(most, 5);
    EXPECT_GE(most, 4);
    EXPECT_EQ(node.clean_provided(), 0) << "nobody reads any more";
}

TEST(BlockPrefetcher, NothingIsReadAheadWhereThatIsSwitchedOff) {
    Node node{{.seed = 1}, {.read_ahead_bytes = 0}};
    OldFile old{node, 8 * mib};
    run_client(node, old.file, AccessMode::read, [&](NodeClient& self, FileId id) {
        read_through(self, id, old, 8 * mib, mib);
        self.close(id);
    });
    EXPECT_EQ(old.fetched(), 0);
}

TEST(BlockPrefetcher, TheFilesEndIsWhereItIs) {
    Node node{{.seed = 1}};
    OldFile old{node, 5 * mib + 12345};
    run_client(node, old.file, AccessMode::read, [&](NodeClient& self, FileId id) {
        read_through(self, id, old, 5 * mib, 256 * kib);
        std::vector<std::byte> rest(mib);
        EXPECT_EQ(self.read(id, old.file, 5 * mib, rest), 12345);
        EXPECT_EQ(self.read(id, old.file, 5 * mib + 12345, rest), 0);
        EXPECT_EQ(self.read(id, old.file, 50 * mib, rest), 0);
        self.close(id);
    });
}

// Regression: hints of clients, and requests of other nodes, near the last offset that there is led
// to sums beyond it.
TEST(BlockPrefetcher, NearTheLastOffsetAllButTheLastBlockIsReadAhead) {
    constexpr std::int64_t far = INT64_MAX / mib * mib - 2 * mib;
    constexpr std::int64_t bytes = INT64_MAX - far;
    Node node{{.seed = 1}};
    OldFile old{node, 0};
    old.file.put(Offset{far}, bytes_of(far, bytes));
    run_client(node, old.file, AccessMode::read, [&](NodeClient& self, FileId id) {
        using enum SharedBytes::State;
        self.log_writer().notify_daemon(id, EntryKind::wanted, far,
                                        static_cast<std::uint32_t>(bytes));
        while (old.fetched() < 2 * mib) {
            node.world().sleep(1'000'000);
        }
        read_and_compare(self, id, old.file, {Offset{far}, Length{bytes}});
        const auto share = [&](std::int64_t at, std::int64_t length) {
            auto state = coming;
            node.say([&] {
                const Extent range{Offset{at}, Length{length}};
                state = node.pool().share(id.slot, node.stamp_of(old.file), range, true).state;
            });
            return state;
        };
        EXPECT_EQ(share(far + mib, mib), there);
        EXPECT_EQ(share(far + mib, mib + 1), none) << "it goes beyond a block";
        EXPECT_EQ(share(far + 2 * mib, 10), none);
        EXPECT_EQ(share(INT64_MAX - 10, 10), none);
        self.close(id);
    });
    EXPECT_EQ(old.fetched(), 2 * mib);
}

TEST(BlockPrefetcher, ABlockThatCannotBeReadIsTheReadersOwnBusiness) {
    Node node{{.seed = 1}};
    adapters::StorageFaults faults;
    faults.error_at = Offset{4 * mib + 5};
    adapters::MemoryFile file{faults};
    file.put(Offset{0}, bytes_of(0, 8 * mib));
    node.changed_ns[&file] = long_ago_ns;
    node.direct_read_ns = slow_ns;
    run_client(node, file, AccessMode::read, [&](NodeClient& self, FileId id) {
        for (std::int64_t at = 0; at < 8 * mib; at += 512 * kib) {
            read_and_compare(self, id, file, {Offset{at}, Length{512 * kib}});
        }
        self.close(id);
    });
    EXPECT_GT(node.pool().counts().failed_fetches, 0U);
}

TEST(Coherence, AReaderDoesNotWaitForAWriterThatGoesAwayMeanwhile) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Node node{{.seed = seed}};
        OldFile old{node, mib};
        node.daemon();
        add_clients(node, 2, old.file, AccessMode::write,
                    [&](NodeClient& self, FileId id, int /*i*/) {
                        const auto bytes = bytes_of(0, 4 * kib);
                        EXPECT_EQ(self.log_writer().write(id, 0, bytes).taken, bytes.size());
                    });
        node.client("reader", [&](NodeClient& self) {
            const FileId id = self.open(old.file, AccessMode::read);
            read_and_compare(self, id, old.file, {Offset{0}, Length{4 * kib}});
        });
        node.run();
    }
}

// The fourth MiB of a file after somebody else has changed it.
std::vector<std::byte> changed_bytes() { return bytes_of(3 * mib, mib, 77); }

// Checks that a reader that has blocks of a file sees a change that `change` makes.
void reader_sees(std::uint64_t seed,
                 const std::function<void(Node&, NodeClient&, OldFile&)>& change) {
    Node node{{.seed = seed}};
    OldFile old{node, 8 * mib};
    bool changed = false;
    bool warm = false;
    node.daemon();
    node.client("reader", [&](NodeClient& self) {
        const FileId id = self.open(old.file, AccessMode::read);
        read_through(self, id, old, 8 * mib, 256 * kib);
        warm = true;
        node.world().wake(&warm);
        while (!changed) {
            node.world().wait(&changed, {"the change"});
        }
        const FileId again = self.open(old.file, AccessMode::read);
        std::vector<std::byte> got(mib);
        EXPECT_EQ(self.read(again, old.file, 3 * mib, got), mib);
        EXPECT_TRUE(same(got, changed_bytes())) << "seed " << seed;
        self.close(again);
        self.close(id);
    });
    node.client("other", [&](NodeClient& self) {
        while (!warm) {
            node.world().wait(&warm, {"the reader"});
        }
        change(node, self, old);
        changed = true;
        node.world().wake(&changed);
    });
    node.run();
}

FileId deposit_change(NodeClient& self, OldFile& old) {
    const FileId id = self.open(old.file, AccessMode::write);
    const auto bytes = changed_bytes();
    EXPECT_EQ(self.log_writer().write(id, 3 * mib, bytes).taken, bytes.size());
    return id;
}

TEST(Coherence, ADepositIsSeenOverCleanBlocks) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        reader_sees(seed, [](Node&, NodeClient& self, OldFile& old) { deposit_change(self, old); });
    }
}

TEST(Coherence, WhatWasDrainedIsSeenInsteadOfCleanBlocks) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        reader_sees(seed, [](Node&, NodeClient& self, OldFile& old) {
            const FileId id = deposit_change(self, old);
            EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
            self.close(id);
        });
    }
}

TEST(Coherence, WhatIsWrittenDirectlyIsSeenOnceTheFileHasLeft) {
    reader_sees(1, [](Node&, NodeClient& self, OldFile& old) {
        const FileId id = self.open(old.file, AccessMode::write);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::leave, ThroughReason::mapped}), 0);
        old.file.put(Offset{3 * mib}, changed_bytes());
    });
}

TEST(Coherence, WhatSomebodyOutsideWroteIsSeenByWhoOpensTheFileAnew) {
    reader_sees(1, [](Node& node, NodeClient&, OldFile& old) {
        old.file.put(Offset{3 * mib}, changed_bytes());
        node.changed_ns[&old.file] = long_ago_ns + 1;
    });
}

TEST(Coherence, WhatWasCutOffIsNotReadFromCleanBlocks) {
    Node node{{.seed = 1}};
    OldFile old{node, 8 * mib};
    run_client(node, old.file, AccessMode::write, [&](NodeClient& self, FileId id) {
        read_through(self, id, old, 8 * mib, 256 * kib);
        EXPECT_EQ(self.ask(id, {.kind = FileTask::Kind::truncate, .bytes = Length{2 * mib}}), 0);
        EXPECT_EQ(node.directory().files[id.slot].clean.load(), 0U);
        self.close(id);
    });
}

TEST(Coherence, NoReaderEverSeesOldBytesWhileWritersWriteAndFilesAreDrained) {
    constexpr std::int64_t pieces = 48;
    constexpr std::int64_t piece = 64 * kib;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        Node node{{.seed = seed}, {.quiet_ns = 0}};
        OldFile old{node, pieces * piece};
        // The salts of the last writes that have ended.
        std::vector<std::int64_t> written(pieces, 0);
        std::vector<std::int64_t> begun(pieces, 0);
        node.direct_read_ns = 300'000;
        int writers = 2;
        node.daemon();
        add_clients(node, 2, old.file, AccessMode::write, [&](NodeClient& self, FileId id, int i) {
            for (std::int64_t turn = 1; turn <= 30; ++turn) {
                const auto at = static_cast<std::size_t>(
                    (turn * 7 + static_cast<std::int64_t>(seed) * 3) % (pieces / 2) * 2 + i);
                const auto where = static_cast<std::int64_t>(at) * piece;
                begun[at] = turn;
                const auto bytes = bytes_of(where, piece, static_cast<std::uint64_t>(turn) * 4096);
                EXPECT_EQ(self.log_writer().write(id, where, bytes).taken, bytes.size());
                written[at] = turn;
                node.world().sleep(5'000'000);
            }
            --writers;
        });
        add_clients(
            node, 2, old.file, AccessMode::read, [&](NodeClient& self, FileId id, int /*i*/) {
                while (writers > 0) {
                    node.world().sleep(3'000'000);
                    for (std::size_t at = 0; at < pieces; ++at) {
                        const auto where = static_cast<std::int64_t>(at) * piece;
                        const std::int64_t least = written[at];
                        std::vector<std::byte> got(static_cast<std::size_t>(piece));
                        EXPECT_EQ(self.read(id, old.file, where, got), piece);
                        const std::int64_t most = begun[at];
                        bool fits = false;
                        for (std::int64_t turn = least; turn <= most && !fits; ++turn) {
                            fits = got ==
                                   bytes_of(where, piece, static_cast<std::uint64_t>(turn) * 4096);
                        }
                        // A write of several entries may be seen in part while it is in flight.
                        EXPECT_TRUE(fits || least < most) << "seed " << seed << " at " << at;
                    }
                }
            });
        node.run();
        EXPECT_GT(node.pool().counts().fetches, 0U);
    }
}

TEST(BlockPrefetcher, AWishThatMakesNoSenseIsNotFollowed) {
    Node node{{.seed = 1}};
    OldFile old{node, 4 * mib};
    OldFile other{node, 4 * mib};
    node.daemon();
    node.client("owner", [&](NodeClient& self) {
        const FileId id = self.open(other.file, AccessMode::read);
        node.world().sleep(100'000'000);
        self.close(id);
    });
    node.client("reader", [&](NodeClient& self) {
        const FileId id = self.open(old.file, AccessMode::read);
        for (const std::int64_t offset : {std::int64_t{-1}, INT64_MAX, INT64_MAX - 5}) {
            self.log_writer().notify_daemon(id, EntryKind::wanted, offset, 4096);
        }
        self.log_writer().notify_daemon(id, EntryKind::wanted, 0, 0);
        self.log_writer().notify_daemon(id, EntryKind::wanted, 100 * mib, 4096);
        self.log_writer().notify_daemon({.slot = files_max - 1}, EntryKind::wanted, 0, 4096);
        // The client has not opened the other file.
        for (std::uint32_t slot = 0; slot < 8; ++slot) {
            if (slot != id.slot) {
                self.log_writer().notify_daemon({slot, 0}, EntryKind::wanted, 0, 4096);
                self.log_writer().notify_daemon({slot, 1}, EntryKind::wanted, 0, 4096);
            }
        }
        self.log_writer().notify_daemon(id, EntryKind::wanted, mib + 5, 1U << 31U);
        read_and_compare(self, id, old.file, {Offset{0}, Length{64 * kib}});
        node.world().sleep(50'000'000);
        self.close(id);
    });
    node.run();
    EXPECT_EQ(other.fetched(), 0);
    EXPECT_EQ(old.fetched(), 3 * mib);
}

// A block that another node asks for is read ahead, and is valid as long as the file is unchanged.
TEST(BlockPrefetcher, ABlockIsReadForAnotherNode) {
    Node node{{.seed = 1}};
    OldFile old{node, 3 * mib - 100};
    const ChangeStamp seen = node.stamp_of(old.file);
    const Extent wanted{Offset{2 * mib + 50}, Length{mib - 50}};
    run_client(node, old.file, AccessMode::read, [&](NodeClient& self, FileId id) {
        using State = SharedBytes::State;
        const auto state_now = [&](const Extent& range, const ChangeStamp& as, bool begins) {
            SharedBytes shared;
            node.say([&] { shared = node.pool().share(id.slot, as, range, begins); });
            return shared.state;
        };
        EXPECT_EQ(state_now(wanted, seen, false), State::none);
        ChangeStamp other = seen;
        ++other.changed_ns;
        EXPECT_EQ(state_now(wanted, other, true), State::none);
        EXPECT_EQ(state_now({Offset{mib - 1}, Length{2}}, seen, true), State::none);
        EXPECT_EQ(state_now(wanted, seen, true), State::coming);
        while (state_now(wanted, seen, false) == State::coming) {
            node.world().step({"wait for the block"});
        }
        node.say([&] {
            const SharedBytes shared = node.pool().share(id.slot, seen, wanted, false);
            EXPECT_EQ(shared.state, State::there);
            const std::vector<std::byte> all = bytes_of(0, 3 * mib);
            EXPECT_TRUE(
                std::ranges::equal(shared.bytes, std::span{all}.subspan(2 * mib + 50, mib - 150)));
        });
        self.close(id);
        node.world().sleep(200'000'000);
        EXPECT_EQ(state_now(wanted, seen, false), State::there) << "others may still read it";
    });
    EXPECT_LE(old.fetched(), mib);
}

// The times of such a file may not show a further change.
TEST(BlockPrefetcher, WhatWasChangedJustBeforeItWasOpenedIsNotPassedOn) {
    Node node{{.seed = 1}};
    OldFile old{node, mib};
    node.changed_ns[&old.file] = 0;
    run_client(node, old.file, AccessMode::read, [&](NodeClient& self, FileId id) {
        node.say([&] {
            const SharedBytes shared =
                node.pool().share(id.slot, node.stamp_of(old.file), {Offset{0}, Length{mib}}, true);
            EXPECT_EQ(shared.state, SharedBytes::State::none);
        });
        self.close(id);
    });
}

// This includes the first read, and random reads, which nobody can predict.
TEST(BlockPrefetcher, WhereFewNodesReadClientsReadNothingThemselves) {
    Node node{{.seed = 1}};
    OldFile old{node, 8 * mib};
    node.direct_read_ns = 0;  // as fast as from the page cache
    node.directory().header.readers.store(1);
    run_client(node, old.file, AccessMode::read, [&](NodeClient& self, FileId id) {
        for (const std::int64_t at : {5 * mib, 3 * mib + 1000, std::int64_t{0}, 7 * mib}) {
            read_and_compare(self, id, old.file, {Offset{at}, Length{10'000}});
        }
        read_through(self, id, old, 8 * mib, 256 * kib);
        self.close(id);
    });
    EXPECT_EQ(node.read_directly, 0);
    EXPECT_LE(old.fetched(), 9 * mib);
}

}  // namespace
}  // namespace forebay::pool
