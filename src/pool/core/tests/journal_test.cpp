// Tests WriteDurability::node case by case: when a write returns, what a sync waits for, a full
// journal, and a journal whose device fails.
#include "pool/core/tests/crash_check.hpp"

#include <gmock/gmock.h>
#include <memory>
#include <vector>

namespace forebay::pool {
namespace {

struct How {
    std::int64_t segment_bytes = 1 << 18;
    std::size_t segments_max = 4;
    std::int64_t write_ns = 1'000'000;  // time to write a group
    PoolOptions pool{};
    FileRule rule{};
};

// A node with a journal in memory, and files whose syncs are counted.
class KeptNode {
public:
    explicit KeptNode(const How& how)
        : journal_{{.segment_bytes = how.segment_bytes,
                    .segments_max = how.segments_max,
                    .write_ns = [write_ns = how.write_ns](adapters::MemoryWorld&) {
                        return write_ns;
                    }}} {
        node_ = std::make_unique<Node>(
            adapters::MemoryWorldOptions{.seed = 3, .quiet_ns_max = 100'000'000'000}, how.pool,
            NodeOptions{.background_io = NodeOptions::BackgroundIo::slow,
                        .journal = journal_.start(),
                        .rule = how.rule});
        journal_.join(node_->world());
        node_->set_storage(
            [this](adapters::MemoryFile& file) -> std::unique_ptr<ports::FileStorage> {
                return std::make_unique<WatchedStorage>(
                    std::move(*open_memory(node_->world(), file, IoDirection::write)), 0, events_,
                    node_->world(), node_->changed_ns[&file]);
            });
    }
    [[nodiscard]] Node& node() { return *node_; }
    [[nodiscard]] JournalDisk& disk() { return journal_.disk(); }
    // The number of bytes that a replay would write now.
    [[nodiscard]] std::int64_t would_replay() {
        std::vector<journal::SegmentBytes> all;
        for (const std::uint32_t number : disk().segments()) {
            all.push_back({number, *disk().look(number)});
        }
        std::int64_t bytes = 0;
        const journal::SegmentScan chain =
            journal::scan_segments(all, *disk().look(JournalDisk::head), disk().key());
        EXPECT_EQ(chain.damage, journal::DamageKind::none);
        for (const journal::ReplayPlan& replay_plan : journal::replay_plans_of(chain.groups)) {
            bytes += replay_plan.bytes().bytes();
        }
        return bytes;
    }
    [[nodiscard]] std::size_t syncs() const { return events_.syncs(); }

private:
    MemoryJournal journal_;
    std::unique_ptr<Node> node_;
    Events events_;
};

constexpr PoolOptions never_drained{.quiet_ns = 60'000'000'000};

struct Often {
    std::int64_t at = 0;
    int times = 0;
};
// Writes a thousand bytes to one place of the file, again and again; calls `then` after each write.
template <class Then>
void write_often(NodeClient& self, adapters::MemoryFile& file, const Often& often, Then then) {
    const FileId id = self.open(file, AccessMode::write);
    for (int i = 0; i < often.times; ++i) {
        EXPECT_EQ(self.write(id, file, often.at, bytes_of(1000, i)).taken, 1000U);
        then();
    }
}

TEST(PoolJournal, AWriteReturnsWhenTheDeviceHasIt) {
    KeptNode kept{{.pool = never_drained}};
    adapters::MemoryFile file;
    run_client(kept.node(), file, AccessMode::write, [&](NodeClient& self, FileId id) {
        const std::int64_t before = kept.node().world().now_ns();
        EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 1)).taken, 1000U);
        EXPECT_GE(kept.node().world().now_ns() - before, 1'000'000);
        EXPECT_EQ(kept.would_replay(), 1000);
        EXPECT_EQ(file.size(), Length{0}) << "nothing is drained yet";
    });
    EXPECT_EQ(kept.would_replay(), 0) << "it is in the file";
    EXPECT_GT(kept.syncs(), 0U) << "… durably";
}

TEST(PoolJournal, ManyWritersAreOneGroup) {
    KeptNode kept{{.pool = never_drained}};
    adapters::MemoryFile file;
    std::size_t groups = 0;
    kept.disk().watch([&](const JournalDisk::Done& done, bool durable) {
        groups += durable && done.segment != JournalDisk::head ? 1 : 0;
    });
    kept.node().daemon();
    for (int i = 0; i < 20; ++i) {
        kept.node().client("client " + std::to_string(i), [&, i](NodeClient& self) {
            write_often(self, file, {.at = i * 1000, .times = 5}, [] {});
        });
    }
    kept.node().run();
    EXPECT_LT(groups, 60U) << "of a hundred writes";
}

// Regression: the device idled between two groups until the daemon's next round.
TEST(PoolJournal, WhereAllWaitTheNextGroupDoesToo) {
    KeptNode kept{{.pool = never_drained}};
    adapters::MemoryFile file;
    std::int64_t durable_ns = -1;
    int at_once = 0;
    kept.disk().watch([&](const JournalDisk::Done&, bool durable) {
        const std::int64_t now = kept.node().world().now_ns();
        at_once += !durable && now == durable_ns ? 1 : 0;
        durable_ns = durable ? now : durable_ns;
    });
    kept.node().daemon();
    for (int i = 0; i < 4; ++i) {
        kept.node().client("client " + std::to_string(i), [&, i](NodeClient& self) {
            write_often(self, file, {.at = i * 1000, .times = 20},
                        [&] { kept.node().world().sleep(kept.node().world().draw(500'000)); });
        });
    }
    kept.node().run();
    EXPECT_GT(at_once, 5);
}

TEST(PoolJournal, ASyncMayWaitForItAlone) {
    PoolOptions pool = never_drained;
    pool.sync_to_journal = true;
    for (const How& how :
         {How{.pool = pool}, How{.pool = never_drained, .rule = {.sync_to_journal = true}}}) {
        KeptNode kept{how};
        adapters::MemoryFile file;
        run_client(kept.node(), file, AccessMode::write, [&](NodeClient& self, FileId id) {
            EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 1)).taken, 1000U);
            EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
            EXPECT_EQ(file.size(), Length{0}) << "nothing is drained yet";
            EXPECT_EQ(kept.syncs(), 0U);
        });
    }
}

// The image without the newest group, as if the device had lost it completely.
JournalDisk::Image without_the_newest_group(JournalDisk::Image image, const journal::Key& key) {
    std::uint32_t segment = JournalDisk::head;
    journal::GroupHeader newest;
    for (const auto& [number, bytes] : image) {
        for (const journal::Group& group : journal::groups_of(bytes, key).groups) {
            if (number != JournalDisk::head && group.header.number > newest.number) {
                segment = number;
                newest = group.header;
            }
        }
    }
    std::fill_n(image.at(segment).begin() + static_cast<std::ptrdiff_t>(newest.at), newest.bytes,
                std::byte{0});
    return image;
}

// Regression: for 20 ms, until its head knew of the newest group, nobody would have missed that.
TEST(PoolJournal, WhatASyncHasPromisedIsMissedWhenTheDeviceHasLostIt) {
    PoolOptions pool = never_drained;
    pool.sync_to_journal = true;
    KeptNode kept{{.pool = pool}};
    adapters::MemoryFile file;
    run_client(kept.node(), file, AccessMode::write, [&](NodeClient& self, FileId id) {
        for (int i = 0; i < 10; ++i) {
            EXPECT_EQ(self.write(id, file, i * 1000, bytes_of(1000, i)).taken, 1000U);
            EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
            const auto image = without_the_newest_group(kept.disk().image(), kept.disk().key());
            std::vector<journal::SegmentBytes> all;
            for (const auto& [number, bytes] : image) {
                if (number != JournalDisk::head) {
                    all.push_back({number, bytes});
                }
            }
            const journal::SegmentScan chain =
                journal::scan_segments(all, image.at(JournalDisk::head), kept.disk().key());
            EXPECT_EQ(chain.damage, journal::DamageKind::lost) << "after sync " << i;
        }
        EXPECT_EQ(kept.syncs(), 0U) << "the file system knows nothing of it";
    });
}

// The journal has no bytes from before the file was opened, nor from after it left the pool.
TEST(PoolJournal, ASyncDoesNotLeaveToItWhatItNeverSaw) {
    PoolOptions pool = never_drained;
    pool.sync_to_journal = true;
    KeptNode kept{{.pool = pool}};
    adapters::MemoryFile file;
    file.put(Offset{0}, bytes_of(500, 9));
    run_client(kept.node(), file, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
        EXPECT_EQ(kept.syncs(), 1U);
        EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 1)).taken, 1000U);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
        EXPECT_EQ(kept.syncs(), 1U) << "it was all written through the pool";
        EXPECT_EQ(self.ask(id, {FileTask::Kind::leave, ThroughReason::mapped}), 0);
        const std::size_t left = kept.syncs();
        // Synced by the daemon, or by the client itself if the daemon has closed the file.
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
        EXPECT_GT(kept.syncs(), left);
    });
}

TEST(PoolJournal, ASyncWaitsForTheFileSystemElse) {
    PoolOptions pool = never_drained;
    pool.sync_to_journal = true;
    for (const How& how :
         {How{.pool = never_drained}, How{.pool = pool, .rule = {.sync_to_journal = false}}}) {
        KeptNode kept{how};
        adapters::MemoryFile file;
        run_client(kept.node(), file, AccessMode::write, [&](NodeClient& self, FileId id) {
            EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 1)).taken, 1000U);
            EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
            EXPECT_EQ(file.size(), Length{1000});
            EXPECT_EQ(kept.syncs(), 1U);
        });
    }
}

TEST(PoolJournal, WhoWritesMoreThanItHoldsWaitsUntilFilesAreDurable) {
    KeptNode kept{{.segments_max = 3, .pool = {.cap_bytes = 64 << 20}}};
    adapters::MemoryFile file;
    std::size_t most = 0;
    run_client(kept.node(), file, AccessMode::write, [&](NodeClient& self, FileId id) {
        for (int i = 0; i < 100; ++i) {
            EXPECT_EQ(self.write(id, file, i * 100'000, bytes_of(100'000, i)).taken, 100'000U);
            most = std::max(most, kept.disk().segments().size());
        }
    });
    EXPECT_LE(most, 3U);
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(same(file.get({Offset{i * 100'000}, Length{100'000}}), bytes_of(100'000, i)));
    }
}

// Regression: a journal of minimum size never let go of its first segment and had no room for ever,
// though everything in it was in the file.
TEST(PoolJournal, OfTwoSegmentsGoesRound) {
    KeptNode kept{{.segments_max = 2, .pool = {.cap_bytes = 64 << 20}}};
    adapters::MemoryFile file;
    run_client(kept.node(), file, AccessMode::write, [&](NodeClient& self, FileId id) {
        for (int i = 0; i < 100; ++i) {
            EXPECT_EQ(self.write(id, file, i % 10 * 100'000, bytes_of(100'000, i)).taken, 100'000U);
            EXPECT_EQ(kept.node().pool().journal_error(), 0) << "write " << i;
        }
    });
    EXPECT_EQ(kept.node().pool().journal_error(), 0);
    for (int i = 90; i < 100; ++i) {
        EXPECT_TRUE(
            same(file.get({Offset{i % 10 * 100'000}, Length{100'000}}), bytes_of(100'000, i)));
    }
}

// Regression: all writers waited while a segment was made.
TEST(PoolJournal, ASegmentIsMadeBesideTheGroups) {
    using Kind = JournalDisk::Done::Kind;
    KeptNode kept{{.segments_max = 50, .pool = {.cap_bytes = 64 << 20}}};
    adapters::MemoryFile file;
    bool growing = false;
    int beside = 0;
    kept.disk().watch([&](const JournalDisk::Done& done, bool durable) {
        growing = done.kind == Kind::adds ? !durable : growing;
        beside += growing && done.kind == Kind::writes ? 1 : 0;
    });
    run_client(kept.node(), file, AccessMode::write, [&](NodeClient& self, FileId id) {
        for (int i = 0; i < 40; ++i) {
            EXPECT_EQ(self.write(id, file, i * 30'000, bytes_of(30'000, i)).taken, 30'000U);
        }
    });
    EXPECT_GT(beside, 0);
}

// The client that fills the journal must neither hold up the others nor be released.
TEST(PoolJournal, AFullDeviceIsNoLargerJournal) {
    How how{.segments_max = 50, .pool = {.cap_bytes = 64 << 20}};
    KeptNode kept{how};
    kept.disk().set_segments_max(3);
    adapters::MemoryFile file;
    run_client(kept.node(), file, AccessMode::write, [&](NodeClient& self, FileId id) {
        for (int i = 0; i < 40; ++i) {
            EXPECT_EQ(self.write(id, file, i * 100'000, bytes_of(100'000, i)).taken, 100'000U);
        }
    });
    EXPECT_EQ(kept.node().pool().journal_error(), 0);
    EXPECT_LE(kept.disk().segments().size(), 3U);
}

TEST(PoolJournal, AfterAnErrorOfItsDeviceWritesAreDurableInTheFile) {
    KeptNode kept{{}};
    adapters::MemoryFile file;
    run_client(kept.node(), file, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 1)).taken, 1000U);
        kept.disk().set_error(EIO);
        const std::size_t before = kept.syncs();
        const WriteResult written = self.log_writer().write(id, 1000, bytes_of(1000, 2));
        EXPECT_EQ(written.rest, WriteResult::Rest::none);
        EXPECT_EQ(file.get({Offset{1000}, Length{1000}}), bytes_of(1000, 2));
        EXPECT_GT(kept.syncs(), before);
        EXPECT_EQ(self.write(id, file, 2000, bytes_of(1000, 3)).taken, 1000U);
        const FileSlot& slot = kept.node().directory().files[id.slot];
        EXPECT_EQ(slot.state, FileState::through);
        EXPECT_EQ(slot.reason, ThroughReason::no_journal);
    });
    EXPECT_EQ(kept.node().pool().journal_error(), EIO);
    EXPECT_EQ(file.size(), Length{3000});
}

// The journal's records cannot be withdrawn, and must not be replayed over what comes after the
// error.
TEST(PoolJournal, AfterAnErrorNothingIsChangedThatAReplayWouldTakeForItsOwn) {
    KeptNode kept{{.pool = never_drained}};
    adapters::MemoryFile file;
    std::int64_t failed_ns = 0;
    run_client(kept.node(), file, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 1)).taken, 1000U);
        EXPECT_EQ(self.write(id, file, 9000, bytes_of(1000, 1)).taken, 1000U);
        kept.node().world().sleep(30'000'000);  // until the head is written, too
        kept.disk().set_error(EIO);
        failed_ns = kept.node().world().now_ns();
        EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 2)).taken, 1000U);
        EXPECT_EQ(self.write(id, file, 500, bytes_of(1000, 3)).taken, 1000U);
    });
    EXPECT_GT(kept.node().changed_ns[&file], failed_ns + journal::slack_ns);
    EXPECT_FALSE(kept.node().pool().finish_journal()) << "it is kept";
}

TEST(PoolJournal, WhereItIsFullOfWhatCannotBeDrainedOthersWriteThrough) {
    KeptNode kept{{.segments_max = 2, .pool = {.quiet_ns = 1}}};
    adapters::StorageFaults faults;
    faults.error = ENOSPC;
    faults.full_at = Offset{0};
    adapters::MemoryFile full{faults};
    adapters::MemoryFile good;
    kept.node().daemon();
    kept.node().client("client", [&](NodeClient& self) {
        const FileId bad_id = self.open(full, AccessMode::write);
        const FileId id = self.open(good, AccessMode::write);
        EXPECT_EQ(self.log_writer().write(bad_id, 0, bytes_of(1000, 1)).taken, 1000U);
        for (int i = 0; i < 20; ++i) {
            EXPECT_EQ(self.write(id, good, i * 100'000, bytes_of(100'000, i)).taken, 100'000U);
        }
        full.set_faults({});
        EXPECT_EQ(self.ask(bad_id, {FileTask::Kind::drain}), ENOSPC) << "it is told once";
    });
    kept.node().run();
    EXPECT_EQ(kept.node().pool().journal_error(), ENOSPC);
    EXPECT_EQ(good.size(), Length{2'000'000});
    // Regression: the journal was kept, and the next daemon offered its bytes, which are older than
    // those in the files.
    EXPECT_TRUE(kept.node().pool().finish_journal()) << "all of it is in the files";
    EXPECT_TRUE(kept.disk().segments().empty());
}

TEST(PoolJournal, AfterAnErrorWhoseFileFailsIsTold) {
    KeptNode kept{{}};
    adapters::MemoryFile file;
    run_client(kept.node(), file, AccessMode::write, [&](NodeClient& self, FileId id) {
        kept.disk().set_error(EIO);
        adapters::StorageFaults faults;
        faults.error = ENOSPC;
        faults.error_at = Offset{500};
        file.set_faults(faults);
        const WriteResult written = self.log_writer().write(id, 0, bytes_of(1000, 2));
        EXPECT_EQ(written.rest, WriteResult::Rest::failed);
        EXPECT_EQ(written.error, ENOSPC);
        file.set_faults({});
    });
}

TEST(PoolJournal, AFileThatLeavesIsDurableBeforeItIsWrittenDirectly) {
    KeptNode kept{{.pool = never_drained}};
    adapters::MemoryFile file;
    run_client(kept.node(), file, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 1)).taken, 1000U);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::leave, ThroughReason::mapped}), 0);
        EXPECT_EQ(kept.would_replay(), 0) << "it would be written over what comes now";
        EXPECT_GT(kept.syncs(), 0U);
    });
}

TEST(PoolJournal, WhatASyncLostStaysInIt) {
    KeptNode kept{{.pool = {.quiet_ns = 1}}};
    adapters::MemoryFile file;
    kept.node().daemon();
    kept.node().client("client", [&](NodeClient& self) {
        const FileId id = self.open(file, AccessMode::write);
        EXPECT_EQ(self.write(id, file, 0, bytes_of(1000, 1)).taken, 1000U);
        adapters::StorageFaults faults;
        faults.sync_error = EIO;
        file.set_faults(faults);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), EIO);
        EXPECT_TRUE(kept.node().pool().only_in_journal(id.slot));
        kept.node().world().sleep(2'000'000'000);
        EXPECT_EQ(kept.would_replay(), 1000);
        kept.node().pool().kept_elsewhere(id.slot);
    });
    kept.node().run();
}

}  // namespace
}  // namespace forebay::pool
