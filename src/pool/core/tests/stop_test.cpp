// Suspends a client at every step of an operation, for a moment or for an hour, while the daemon
// shuts down or a file leaves. Acknowledged writes are in the file, nobody hangs, and nobody waits
// for a client that does not come back (docs/decisions/0037).
#include "pool/core/tests/crash_check.hpp"
#include "pool/core/tests/slow_writer_check.hpp"

#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

namespace forebay::pool {
namespace {

constexpr std::int64_t moment_ns = 3'000'000;
constexpr std::int64_t hour_ns = std::int64_t{3600} * 1'000'000'000;
// A long suspension while the daemon goes on. An hour would take too many steps, since the daemon
// does a round each millisecond.
constexpr std::int64_t long_ns = 1'500'000'000;
// The maximum time for which anybody waits for a suspended client.
constexpr std::int64_t soon_ns = 1'000'000'000;

// One client does `what_.body` and is suspended at step `step` of it; then the daemon is stopped,
// or the file leaves.
class Suspended {
public:
    using Body = std::function<void(Suspended&, NodeClient&)>;
    enum class Then { stop, leave };
    struct What {
        Body body;
        Then then = Then::stop;
        std::int64_t for_ns = 0;
        PoolOptions pool{};
        std::size_t segments = 0;  // of the journal; 0: there is none
    };

    Suspended(const What& what, std::int64_t step)
        : what_{what},
          node{{.seed = 1 + static_cast<std::uint64_t>(step), .quiet_ns_max = 2 * long_ns},
               what.pool,
               {.background_io = what.segments > 0 ? NodeOptions::BackgroundIo::slow
                                                   : NodeOptions::BackgroundIo::at_once,
                .journal = begin_journal()}} {
        if (journal_) {
            journal_->join(node.world());
        }
        node.world().suspend("victim", step, what.for_ns);
    }

    // Returns false if the client ended before it was suspended.
    bool run() {
        node.daemon();
        node.client("victim", [&](NodeClient& self) { what_.body(*this, self); });
        node.client("neighbour", [&](NodeClient& self) { go_on_writing(self); });
        bool suspended = false;
        node.client("stopper", [&](NodeClient& self) {
            while (!node.world().suspended("victim") && node.world().alive("victim")) {
                node.world().sleep(100'000);
            }
            suspended = node.world().suspended("victim");
            const std::int64_t before = node.world().now_ns();
            bring_about(self);
            EXPECT_LT(node.world().now_ns() - before, soon_ns) << "it waits for who is suspended";
        });
        node.run();
        EXPECT_EQ(node.ended(), what_.then == Then::stop);
        judge();
        return suspended;
    }

    // From now on these bytes are acknowledged. Each record is written once.
    void acknowledged(std::int64_t offset, std::vector<std::byte> bytes) {
        promised_.emplace_back(offset, std::move(bytes));
    }
    // Writes as a program does: directly if the pool does not take the bytes.
    void write(NodeClient& self, FileId id, std::int64_t offset,
               const std::vector<std::byte>& bytes) {
        if (id.slot == files_max) {
            self.put_directly(file, offset, bytes);
        } else {
            const NodeClient::Put put = self.write(id, file, offset, bytes);
            EXPECT_EQ(put.error, 0);
            EXPECT_EQ(put.taken, bytes.size());
        }
        acknowledged(offset, bytes);
    }

private:
    const What& what_;
    std::optional<MemoryJournal> journal_;

public:
    Node node;
    adapters::MemoryFile file;

private:
    static constexpr std::int64_t neighbours_at = 64 << 20;

    JournalWriter* begin_journal() {
        if (what_.segments == 0) {
            return nullptr;
        }
        journal_.emplace(MemoryJournal::Options{
            .segment_bytes = 1 << 18,
            .segments_max = what_.segments,
            .write_ns = [](adapters::MemoryWorld&) { return std::int64_t{200'000}; }});
        return journal_->start();
    }
    void bring_about(NodeClient& self) {
        if (what_.then == Then::leave) {
            const FileId id = self.open(file, AccessMode::write);
            EXPECT_EQ(self.ask(id, {FileTask::Kind::leave, ThroughReason::mapped}), 0);
            return;
        }
        node.stop();
        while (!node.ended()) {
            node.world().sleep(100'000);
        }
    }
    void go_on_writing(NodeClient& self) {
        const FileId id = self.open(file, AccessMode::write);
        for (int i = 0; i < 12; ++i) {
            write(self, id, neighbours_at + i * std::int64_t{5000}, bytes_of(5000, 100 + i));
            node.world().sleep(500'000);
        }
    }
    void judge() {
        if (journal_) {
            EXPECT_TRUE(node.pool().finish_journal()) << "a replay would write to the file again";
            EXPECT_EQ(node.pool().journal_error(), 0);
            EXPECT_TRUE(journal_->disk().segments().empty());
        }
        for (const auto& [offset, bytes] : promised_) {
            const Extent range{Offset{offset}, Length{static_cast<std::int64_t>(bytes.size())}};
            EXPECT_TRUE(same(file.get(range), bytes)) << "at " << offset;
        }
    }

    std::vector<std::pair<std::int64_t, std::vector<std::byte>>> promised_;
};

// Returns the number of steps at which the client could be suspended.
std::int64_t suspend_everywhere(const Suspended::What& what) {
    for (std::int64_t step = 0; step < 2000; ++step) {
        Suspended one{what, step};
        const bool suspended = one.run();
        if (!suspended || testing::Test::HasFailure()) {
            EXPECT_FALSE(testing::Test::HasFailure()) << "suspended at step " << step;
            return step;
        }
    }
    ADD_FAILURE() << "it never ended";
    return 0;
}

void deposits(Suspended& all, NodeClient& self, std::size_t bytes) {
    const FileId id = self.open(all.file, AccessMode::write);
    for (int i = 0; i < 5; ++i) {
        all.write(self, id, i * static_cast<std::int64_t>(bytes), bytes_of(bytes, i + 1));
    }
    if (id.slot != files_max) {
        self.close(id);
    }
}

void deposits_by_hand(Suspended& all, NodeClient& self) {
    constexpr std::size_t bytes = block_bytes / 4;
    const FileId id = self.open(all.file, AccessMode::write);
    SlowWriter writer{all.node, self};
    for (int i = 0; i < 5; ++i) {
        const std::vector<std::byte> record = bytes_of(bytes, i + 1);
        const std::int64_t at = i * static_cast<std::int64_t>(bytes);
        if (id.slot == files_max || !writer.write(id, at, record)) {
            all.write(self, id, at, record);
        } else {
            all.acknowledged(at, record);
        }
    }
}

// Writes through lent memory, as aggregators do.
void loans(Suspended& all, NodeClient& self) {
    constexpr std::size_t bytes = 100'000;
    const FileId id = self.open(all.file, AccessMode::write);
    for (int i = 0; i < 5; ++i) {
        const std::vector<std::byte> record = bytes_of(bytes, i + 1);
        const std::int64_t at = i * static_cast<std::int64_t>(bytes);
        const auto loan =
            id.slot == files_max ? std::nullopt : self.log_writer().lend(id, record.size());
        if (!loan) {
            all.write(self, id, at, record);
            continue;
        }
        all.node.world().step({"fill the loan"});
        std::ranges::copy(record, loan->bytes.begin());
        all.node.world().step({"hand it in"});
        const WriteResult written = self.log_writer().append_lent(id, at, *loan);
        if (written.taken == 0) {
            // From the loan: nobody else may have got its memory meanwhile.
            const std::vector<std::byte> kept{loan->bytes.begin(), loan->bytes.end()};
            EXPECT_TRUE(same(kept, record));
            all.write(self, id, at, kept);
            self.log_writer().give_back(*loan);
        } else {
            all.acknowledged(at, record);
        }
        all.node.world().step({"go on"});
    }
}

void reads(Suspended& all, NodeClient& self) {
    const FileId id = self.open(all.file, AccessMode::both);
    for (int i = 0; i < 4; ++i) {
        const std::vector<std::byte> record = bytes_of(3000, i + 1);
        all.write(self, id, i * 3000, record);
        if (id.slot == files_max) {
            continue;
        }
        std::vector<std::byte> seen(3000);
        EXPECT_EQ(self.read(id, all.file, i * 3000, seen), 3000);
        EXPECT_TRUE(same(seen, record));
    }
}

void opens_and_closes(Suspended& all, NodeClient& self) {
    for (int i = 0; i < 4; ++i) {
        const FileId id = self.open(all.file, i % 2 == 0 ? AccessMode::write : AccessMode::both);
        all.write(self, id, i * 100, bytes_of(100, i + 1));
        if (id.slot != files_max) {
            self.close(id);
        }
    }
}

struct Kind {
    const char* name;
    Suspended::Body body;
    std::int64_t steps_least;
    PoolOptions pool{};
    std::size_t segments = 0;
};

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all{
        {"small deposits", [](auto& s, auto& self) { deposits(s, self, 1000); }, 8},
        {"deposits over the ends of blocks",
         [](auto& s, auto& self) { deposits(s, self, 1'500'000); },
         12,
         {.cap_bytes = 16 << 20}},
        {"deposits that wait for memory",
         [](auto& s, auto& self) { deposits(s, self, 1'500'000); },
         15,
         {.cap_bytes = 2 << 20, .window_bytes = 8 << 20}},
        {"deposits by hand", deposits_by_hand, 40, {.cap_bytes = 16 << 20}},
        {"loans", loans, 15, {.cap_bytes = 256 << 20}},
        {"reads", reads, 15},
        {"opens and closes", opens_and_closes, 10},
        // A write is acknowledged when the journal has it (LogWriter::make_durable).
        {"deposits with a journal",
         [](auto& s, auto& self) { deposits(s, self, 1000); },
         15,
         {},
         20},
        {"deposits that wait for the journal",
         [](auto& s, auto& self) { deposits(s, self, 90'000); },
         15,
         {.cap_bytes = 16 << 20},
         2},
    };
    return all;
}

TEST(Stop, WhoIsSuspendedForAMomentLosesNothing) {
    for (const Kind& kind : kinds()) {
        SCOPED_TRACE(kind.name);
        EXPECT_GT(suspend_everywhere({.body = kind.body,
                                      .for_ns = moment_ns,
                                      .pool = kind.pool,
                                      .segments = kind.segments}),
                  kind.steps_least);
    }
}

TEST(Stop, WhoIsSuspendedForAnHourIsNotWaitedForAndLosesNothing) {
    for (const Kind& kind : kinds()) {
        SCOPED_TRACE(kind.name);
        EXPECT_GT(suspend_everywhere({.body = kind.body,
                                      .for_ns = hour_ns,
                                      .pool = kind.pool,
                                      .segments = kind.segments}),
                  kind.steps_least);
    }
}

TEST(Stop, AFileLeavesWithoutWaitingForWhoIsSuspended) {
    for (const Kind& kind : kinds()) {
        SCOPED_TRACE(kind.name);
        EXPECT_GT(suspend_everywhere({.body = kind.body,
                                      .then = Suspended::Then::leave,
                                      .for_ns = long_ns,
                                      .pool = kind.pool,
                                      .segments = kind.segments}),
                  kind.steps_least);
    }
}

// The first entry of a client's log, for 700 bytes at `offset`: it is reserved, and no more.
const Entry& left_in_the_middle(Node& node, const NodeClient& self, FileId id,
                                std::int64_t offset) {
    const Log& log = self.log();
    Entry& entry = log.entry(log.header().entries.fetch_add(1));
    entry.file = id.slot;
    entry.generation = id.generation;
    entry.kind = EntryKind::deposit;
    entry.offset = offset;
    entry.position = log.header().reserved.fetch_add(700);
    entry.length = 700;
    entry.time_ns = node.world().now_ns();
    entry.state = stated(0, EntryState::reserved);
    return entry;
}

// A thread has left its write by a jump out of a signal handler, or was cancelled. Regression: the
// process waited for itself for ever when the ring had come round to that write.
TEST(Stop, AProcessThatLeftAWriteInItsMiddleGoesOnWithoutThePool) {
    constexpr int writes = static_cast<int>(entries_max) + 100;
    Node node{{.seed = 3, .quiet_ns_max = 100 * soon_ns}, {.cap_bytes = 64 << 20}};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        const Entry& entry = left_in_the_middle(node, self, id, writes);
        for (int i = 0; i < writes; ++i) {
            EXPECT_EQ(self.write(id, file, i, bytes_of(1, i)).error, 0);
        }
        EXPECT_EQ(state_of(0, entry.state), EntryState::revoked);
        EXPECT_EQ(node.directory().files[id.slot].reason, ThroughReason::stuck_log);
    });
    EXPECT_EQ(file.size(), Length{writes});
}

TEST(Stop, SaysWhoseWriteItGaveUp) {
    Node node{{.seed = 3}};
    adapters::MemoryFile file;
    node.daemon();
    std::vector<GivenUpWrite> given_up;
    bool reserved = false;
    node.client("victim", [&](NodeClient& self) {
        const FileId id = self.open(file, AccessMode::write);
        const Entry& entry = left_in_the_middle(node, self, id, 41);
        reserved = true;
        while (!node.ended()) {
            node.world().sleep(1'000'000);
        }
        EXPECT_EQ(state_of(0, entry.state), EntryState::revoked);
    });
    node.client("stopper", [&](NodeClient& /*self*/) {
        while (!reserved) {
            node.world().sleep(1'000'000);
        }
        node.stop();
        while (!node.ended()) {
            node.world().sleep(1'000'000);
        }
        given_up = node.pool().given_up();
    });
    node.run();
    ASSERT_EQ(given_up.size(), 1U);
    EXPECT_EQ(given_up[0].process, 1U);
    EXPECT_EQ(given_up[0].offset, 41);
    EXPECT_EQ(given_up[0].bytes, 700);
}

}  // namespace
}  // namespace forebay::pool
