// A client's log is untrusted input: the daemon refuses malformed entries and cuts off their
// client, whose next write fails. Other clients do not notice.
#include "pool/core/tests/pool_check.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace forebay::pool {
namespace {

struct Forged {
    FileId file{};
    std::int64_t offset = 0;
    std::uint64_t position = 0;
    std::uint32_t length = 100;
    EntryKind kind = EntryKind::deposit;
    EntryState state = EntryState::committed;
    std::int64_t time_ns = 1;
};

// Writes an entry to a log, without reserving positions for it.
void forge(const Log& log, const Forged& forged) {
    const std::uint64_t number = log.header().entries.fetch_add(1);
    Entry& entry = log.entry(number);
    entry.file = forged.file.slot;
    entry.generation = forged.file.generation;
    entry.offset = forged.offset;
    entry.position = forged.position;
    entry.length = forged.length;
    entry.kind = forged.kind;
    entry.time_ns = forged.time_ns;
    entry.state = stated(number, forged.state);
    log.header().commits.fetch_add(1);
}

// One client that damages its log by `spoil`, and another that does not know of it.
struct Trouble {
    Node node{{.seed = 3}, {.cap_bytes = 16 << 20}};
    adapters::MemoryFile bad_file;
    adapters::MemoryFile good_file;
    bool distrusted = false;

    using Spoil = std::function<void(NodeClient&, FileId)>;
    void meet(const Spoil& spoil) {
        node.daemon();
        node.client("bad", [&](NodeClient& self) {
            const FileId id = self.open(bad_file, AccessMode::write);
            const auto bytes = bytes_of(1000, 1);
            EXPECT_EQ(self.write(id, bad_file, 0, bytes).taken, bytes.size());
            EXPECT_EQ(self.ask(id, {}), 0);
            spoil(self, id);
            node.world().sleep(5'000'000);  // until the daemon has looked at the log
            const ClientSlot& slot = node.directory().clients[self.number()];
            distrusted = slot.admission == 0;
            const WriteResult after = self.log_writer().write(id, 2000, bytes);
            EXPECT_EQ(after.rest, distrusted ? WriteResult::Rest::lost : WriteResult::Rest::none);
        });
        node.client("good", [&](NodeClient& self) {
            const FileId id = self.open(good_file, AccessMode::write);
            for (int i = 0; i < 40; ++i) {
                EXPECT_EQ(self.write(id, good_file, i << 20, bytes_of(1 << 20, i)).error, 0);
            }
            std::vector<std::byte> seen(1 << 20);
            EXPECT_EQ(self.read(id, good_file, 7 << 20, seen), 1 << 20);
            EXPECT_TRUE(same(seen, bytes_of(1 << 20, 7)));
        });
        node.run();
        EXPECT_EQ(bad_file.size().bytes(), distrusted ? 1000 : 3000);
        EXPECT_TRUE(same(bad_file.get({Offset{0}, Length{1000}}), bytes_of(1000, 1)));
        EXPECT_EQ(good_file.size().bytes(), 40 << 20);
        EXPECT_TRUE(
            same(good_file.get({Offset{39 << 20}, Length{1 << 20}}), bytes_of(1 << 20, 39)));
        EXPECT_EQ(node.provided(), 0) << "blocks return";
        EXPECT_EQ(node.pool().counts().distrusted, distrusted ? 1U : 0U);
    }
};

constexpr std::int64_t far_away = std::numeric_limits<std::int64_t>::max();

TEST(Garbage, OfNoClientOfOursEndsItsClient) {
    const std::uint64_t used = 1000;  // below: positions that are accounted for
    const std::vector<std::pair<std::string, Forged>> rows{
        {"an offset below 0", {.offset = -1, .position = used}},
        {"an end beyond any file", {.offset = far_away - 50, .position = used}},
        {"no bytes", {.position = used, .length = 0}},
        {"more than a block", {.position = used, .length = block_bytes + 1}},
        {"more than is left of a block", {.position = block_bytes - 50}},
        {"more than 32 bits hold", {.position = used, .length = ~0U}},
        {"a position beyond its credit", {.position = std::uint64_t{1} << 40}},
        {"the last block of all", {.position = ~std::uint64_t{0} - 99}},
        {"a position that it used before", {.position = used - 1}},
        {"a kind that there is none", {.position = used, .kind = EntryKind{77}}},
        {"nothing abandoned", {.position = used, .length = 0, .state = EntryState::abandoned}},
        {"abandoned what was used", {.position = 0, .state = EntryState::abandoned}},
    };
    for (const auto& [what, forged] : rows) {
        SCOPED_TRACE(what);
        Trouble trouble;
        trouble.meet([&forged](NodeClient& self, FileId id) {
            Forged one = forged;
            one.file = id;
            forge(self.log(), one);
        });
        EXPECT_TRUE(trouble.distrusted);
        EXPECT_EQ(trouble.node.pool().counts().refused, 1U);
    }
}

TEST(Garbage, InTheHeaderOfALogEndsItsClient) {
    const std::vector<std::pair<std::string, std::function<void(LogHeader&)>>> rows{
        {"fewer entries than before", [](LogHeader& header) { header.entries = 0; }},
        {"more entries than there can be",
         [](LogHeader& header) { header.entries = ~std::uint64_t{0}; }},
        {"more positions than there can be",
         [](LogHeader& header) { header.reserved = ~std::uint64_t{0}; }},
    };
    for (const auto& [what, spoil] : rows) {
        SCOPED_TRACE(what);
        Trouble trouble;
        trouble.meet([&spoil](NodeClient& self, FileId /*file*/) { spoil(self.log().header()); });
        EXPECT_TRUE(trouble.distrusted);
    }
}

TEST(Garbage, AFileThatAClientMayNotWriteIsNotWrittenAndNoMore) {
    for (const bool wild_slot : {false, true}) {
        Trouble trouble;
        trouble.meet([&](NodeClient& self, FileId id) {
            Forged one{.file = id, .position = 1000, .length = 24};
            one.file.generation += wild_slot ? 0 : 1;
            one.file.slot = wild_slot ? ~0U : one.file.slot;
            forge(self.log(), one);
            // A valid log accounts for all positions reserved.
            self.log().header().reserved.fetch_add(24);
        });
        EXPECT_FALSE(trouble.distrusted);
        EXPECT_EQ(trouble.node.pool().counts().refused, 1U);
    }
}

// Regression: the age of the oldest deposit was computed from the time that its client gave.
TEST(Garbage, ATimeBeforeAllTimesIsCutToTheFirst) {
    Node node{{.seed = 5},
              {.age_max_ns = 1'000'000'000'000'000, .quiet_ns = 1'000'000'000'000'000}};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 1)).error, 0);
        forge(self.log(), {.file = id,
                           .offset = 5000,
                           .position = 1000,
                           .time_ns = std::numeric_limits<std::int64_t>::min()});
        node.world().sleep(5'000'000);  // until the daemon has looked at the log
        const std::vector<Deposit> held = node.pool().undrained(id.slot);
        EXPECT_EQ(held.size(), 2U);
        for (const Deposit& deposit : held) {
            EXPECT_GE(deposit.time_ns, 0);
        }
        self.log().header().reserved.fetch_add(100);
    });
    EXPECT_EQ(file.size().bytes(), 5100);
}

// Regression: an entry whose time is ahead of the daemon's clock was put aside, and the round said
// to have taken all that was committed before it: readers saw the file without these bytes, and a
// file that was closed then lost them.
TEST(Garbage, AnEntryFromTheFutureIsSeenByWhoeverReadsNext) {
    Node node{{.seed = 5}, {.age_max_ns = far_away / 2, .quiet_ns = far_away / 2}};
    adapters::MemoryFile file;
    bool committed = false;
    bool seen = false;
    node.daemon();
    node.client("ahead", [&](NodeClient& self) {
        const FileId id = self.open(file, AccessMode::write);
        EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 1)).error, 0);
        forge(self.log(), {.file = id,
                           .offset = 5000,
                           .position = 1000,
                           .time_ns = node.world().now_ns() + 3'600'000'000'000});
        self.log().header().reserved.fetch_add(100);
        committed = true;
        while (!seen) {
            node.world().sleep(1'000'000);
        }
    });
    node.client("reader", [&](NodeClient& self) {
        const FileId id = self.open(file, AccessMode::read);
        while (!committed) {
            node.world().sleep(1'000);
        }
        std::vector<std::byte> bytes(200);
        EXPECT_EQ(self.read(id, file, 5000, bytes), 100);
        seen = true;
    });
    node.run();
    EXPECT_EQ(file.size().bytes(), 5100);
}

// Regression: such a deposit was taken although the daemon could never drain it, and the daemon
// looked for the name of a file that it had no descriptor of.
TEST(Garbage, DepositsForAFileThatTheDaemonHasNoDescriptorOfAreDropped) {
    Trouble trouble;
    trouble.meet([&](NodeClient& self, FileId /*id*/) {
        adapters::MemoryFile short_of_descriptors;
        trouble.node.say([&] {
            DaemonFile unopened;
            unopened.identity = short_of_descriptors.identity();
            unopened.local = true;
            const auto opened =
                trouble.node.pool().open(self.number(), std::move(unopened), AccessMode::write);
            ASSERT_TRUE(opened.has_value());
            forge(self.log(), {.file = {opened->slot, opened->generation}, .position = 1000});
            trouble.node.pool().close(self.number(), opened->slot, opened->generation);
        });
        self.log().header().reserved.fetch_add(100);
        trouble.node.world().sleep(100'000'000);
    });
    EXPECT_FALSE(trouble.distrusted);
    EXPECT_EQ(trouble.node.pool().counts().refused, 1U);
}

TEST(Garbage, CommitsThatNeverWereKeepNobodyWaiting) {
    Trouble trouble;
    trouble.meet([&](NodeClient& self, FileId id) {
        self.log().header().commits = ~std::uint64_t{0} / 2;
        std::vector<std::byte> seen(1000);
        EXPECT_EQ(self.read(id, trouble.bad_file, 0, seen), 1000);
    });
    EXPECT_FALSE(trouble.distrusted);
}

// Positions far beyond the lease may be abandoned, but a dead client is not kept for them.
TEST(Garbage, AnEntryThatIsTooFarAheadDoesNotKeepADeadClient) {
    Node node{{.seed = 5}};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        forge(self.log(),
              {.file = id, .position = std::uint64_t{1} << 45, .state = EntryState::abandoned});
        EXPECT_EQ(self.ask(id, {}), 0);
    });
    EXPECT_EQ(node.provided(), 0);
}

// A client that claims never to have reserved anything keeps the memory that it uses.
TEST(Garbage, FewerPositionsThanBeforeSpoilNothing) {
    Node node{{.seed = 7},
              {.age_max_ns = 1'000'000'000'000'000, .quiet_ns = 1'000'000'000'000'000}};
    adapters::MemoryFile file;
    const auto bytes = bytes_of(3 << 20, 9);
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, file, 0, bytes).taken, bytes.size());
        self.log().header().reserved = 0;
        self.close(id);
        const FileId other = self.open(file, AccessMode::read);
        EXPECT_EQ(self.ask(other, {FileTask::Kind::truncate, {}, Length{3 << 20}}), 0);
        std::vector<std::byte> seen(bytes.size());
        EXPECT_EQ(self.read(other, file, 0, seen), 3 << 20);
        EXPECT_TRUE(same(seen, bytes));
    });
    EXPECT_TRUE(same(file.get({Offset{0}, Length{3 << 20}}), bytes));
    EXPECT_EQ(node.provided(), 0);
}

}  // namespace
}  // namespace forebay::pool
