// Crashes the node in the middle of a run, at any event, where bytes that its disks had not made
// durable are there or not. After a replay, every acknowledged byte is in its file, or is kept
// elsewhere because somebody else has changed the file since. A replay may be interrupted by a
// crash, too.
#include "pool/core/tests/crash_check.hpp"

#include "foundation/base/bytes.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace forebay::pool {
namespace {

constexpr std::int64_t file_bytes_max = 120'000;
// The smallest journal: writers wait again and again until one of its segments is let go.
constexpr std::size_t segments_least = 2;

struct Watched {
    adapters::MemoryFile file;
    Promises promises;
};

// One run, with a record of all its events.
class Trial {
public:
    explicit Trial(std::uint64_t seed)
        : dice_{seed}, seed_{seed}, segments_max_{seed % 2 == 0 ? segments_least : 6U} {
        disk().watch([this](const JournalDisk::Done& done, bool durable) {
            events_.add(
                {.kind = durable ? Event::Kind::journal_durable : Event::Kind::journal_begins,
                 .at_ns = journal_.clock().now_ns(),
                 .journal = done});
        });
        JournalWriter* const writer = journal_.start();
        PoolOptions pool;
        pool.cap_bytes = (4 + dice_.draw(5)) << 20;
        pool.window_bytes = (1 + dice_.draw(4)) << 20;
        pool.quiet_ns = dice_.draw(2) == 0 ? 1 : 1'000'000;
        pool.request_bytes_max = dice_.draw(2) == 0 ? 20'000 : 1 << 20;
        pool.sync_to_journal = dice_.draw(2) == 0;
        node_ = std::make_unique<Node>(
            adapters::MemoryWorldOptions{.seed = seed, .quiet_ns_max = 100'000'000'000}, pool,
            NodeOptions{.background_io = NodeOptions::BackgroundIo::slow, .journal = writer});
        journal_.join(node_->world());
        for (std::int64_t i = 0; i < 1 + dice_.draw(3); ++i) {
            files_.push_back(std::make_unique<Watched>());
        }
        for (std::size_t i = 0; i < files_.size(); ++i) {
            watch(i);
        }
        node_->set_storage(
            [this](adapters::MemoryFile& file) -> std::unique_ptr<ports::FileStorage> {
                return std::make_unique<WatchedStorage>(
                    std::move(*open_memory(node_->world(), file, IoDirection::write)),
                    number_of(file), events_, node_->world(), node_->changed_ns[&file]);
            });
    }

    void go() {
        node_->daemon();
        const std::int64_t clients = 1 + dice_.draw(3);
        for (std::int64_t i = 0; i < clients; ++i) {
            node_->client("client " + std::to_string(i), [this](NodeClient& self) {
                std::vector<FileId> ids;
                for (const auto& one : files_) {
                    ids.push_back(self.open(one->file, AccessMode::write));
                }
                for (int k = 0; k < 25; ++k) {
                    const auto which = static_cast<std::size_t>(draw(std::ssize(files_)));
                    act(self, *files_[which], which, ids[which]);
                }
                for (const FileId id : ids) {
                    self.close(id);
                }
            });
        }
        const adapters::WorldEnding ending = node_->run();
        report_ = ending.report;
        EXPECT_EQ(node_->provided(), 0) << "blocks return";
        EXPECT_TRUE(node_->pool().finish_journal()) << "nothing is left";
        EXPECT_TRUE(disk().segments().empty()) << "not even segments";
    }

    [[nodiscard]] std::size_t events() const { return events_.count(); }

    // Crashes after a random event, replays the journal, and checks the files.
    void fall(std::uint64_t number) {
        Dice dice{number * 1'000'003 + seed_};
        const auto all = static_cast<std::int64_t>(events_.count());
        const auto count = static_cast<std::size_t>(1 + dice.draw(all));
        fall_after(count, dice.draw(2) == 0 ? Fall::daemon : Fall::node, dice);
    }

    // The same after `count` events, with the crash and the disks that `dice` draws.
    void fall_after(std::size_t count, Fall how, Dice& dice) {
        Disk disk = events_.after(count, files_.size(), how, dice, segment_bytes_);
        std::optional<std::size_t> foreign;
        std::vector<FileImage> before = disk.files;
        LateClock later;
        later.at_ns = events_.time_at(count) + journal::slack_ns + 1'000'000;
        if (dice.draw(3) == 0) {
            foreign = static_cast<std::size_t>(dice.draw(std::ssize(disk.files)));
            disk.files[*foreign].put(dice.draw(1000), std::vector<std::byte>(100, std::byte{77}));
            disk.files[*foreign].changed_ns = later.at_ns;
            later.at_ns += 1'000'000;
        }
        const Disk found = disk;
        std::map<std::size_t, std::vector<std::pair<std::int64_t, std::vector<std::byte>>>> kept;
        for (std::int64_t tries = dice.draw(3); tries > 0; --tries) {
            replay_until(disk, dice.draw(12), dice, later, kept);
        }
        replay_until(disk, -1, dice, later, kept);
        for (std::size_t i = 0; i < files_.size(); ++i) {
            if (i == foreign && kept.contains(i)) {
                EXPECT_TRUE(disk.files[i] == found.files[i]) << "somebody else's change is there";
                disk.files[i] = before[i];
                for (const auto& [at, bytes] : kept[i]) {
                    disk.files[i].put(at, bytes);
                }
            } else if (i == foreign) {
                continue;  // nothing of the file had to be replayed
            } else {
                EXPECT_FALSE(kept.contains(i)) << "nobody else has changed file " << i;
            }
            // The kept bytes do not contain a truncation that only the journal knows.
            if (i != foreign || how == Fall::daemon) {
                EXPECT_EQ(
                    files_[i]->promises.judge(disk.files[i].bytes, count, how, file_bytes_max), "")
                    << "of file " << i;
            }
        }
        if (testing::Test::HasFailure()) {
            ADD_FAILURE() << "seed " << seed_ << ", fall after " << count << " events of "
                          << events_.count()
                          << (how == Fall::node ? " of the node" : " of the daemon");
        }
    }

private:
    std::int64_t draw(std::int64_t end) { return node_->world().draw(end); }
    [[nodiscard]] JournalDisk& disk() { return journal_.disk(); }

    std::size_t number_of(const adapters::MemoryFile& file) const {
        std::size_t number = 0;
        while (&files_[number]->file != &file) {
            ++number;
        }
        return number;
    }

    void watch(std::size_t number) {
        adapters::MemoryFile& file = files_[number]->file;
        Control::Facts& facts = node_->facts(file);
        facts.truncate = [this, number, &file](Length bytes) {
            events_.add({.kind = Event::Kind::file_cut,
                         .at_ns = node_->world().now_ns(),
                         .file = number,
                         .at = bytes.bytes()});
            node_->changed_ns[&file] = node_->world().now_ns();
            file.truncate(bytes);
        };
        facts.touched = [this, number, &file] {
            events_.add({.kind = Event::Kind::file_touched,
                         .at_ns = node_->world().now_ns(),
                         .file = number});
            node_->changed_ns[&file] = node_->world().now_ns();
        };
        facts.inode = number + 1;
    }

    void act(NodeClient& self, Watched& one, std::size_t number, FileId& id) {
        const std::int64_t what = draw(100);
        if (what < 70) {
            write(self, one, number, id);
        } else if (what < 78) {
            EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
        } else if (what < 84) {
            cut(self, one, id);
        } else if (what < 87) {
            EXPECT_EQ(self.ask(id, {FileTask::Kind::leave, ThroughReason::mapped}), 0);
        } else if (what < 91) {
            self.close(id);
            id = self.open(one.file, AccessMode::write);
        } else {
            node_->world().sleep(draw(20) == 0 ? 800'000'000 : draw(3'000'000));
        }
    }

    void write(NodeClient& self, Watched& one, std::size_t number, FileId id) {
        const std::int64_t most = draw(4) == 0 ? 60'000 : draw(2) == 0 ? 600 : 9'000;
        const std::int64_t length = 1 + draw(most);
        const Extent range{Offset{draw(file_bytes_max - length)}, Length{length}};
        const unsigned change = ++changes_;
        std::vector<std::byte> bytes(range.length.size());
        Oracle::fill(bytes, change, range.begin.bytes());
        Promises::Op& op = one.promises.begin(events_.count(), range, change);
        const WriteResult written = self.log_writer().write(id, range.begin.bytes(), bytes);
        ASSERT_TRUE(written.rest == WriteResult::Rest::none ||
                    written.rest == WriteResult::Rest::through);
        if (written.rest == WriteResult::Rest::through) {
            op.firm = false;
            ASSERT_EQ(self.log_writer().settle(id).rest, WriteResult::Rest::through);
            node_->world().step({"pwrite"});
            put(one, number, range.begin.bytes() + static_cast<std::int64_t>(written.taken),
                std::span{bytes}.subspan(written.taken));
        }
        op.acked = events_.count();
    }

    // A direct write by a program.
    void put(Watched& one, std::size_t number, std::int64_t at, std::span<const std::byte> bytes) {
        const std::int64_t now = node_->world().now_ns();
        const std::size_t event = events_.add({.kind = Event::Kind::file_write,
                                               .at_ns = now,
                                               .file = number,
                                               .at = at,
                                               .bytes = {bytes.begin(), bytes.end()}}) -
                                  1;
        events_.add({.kind = Event::Kind::file_written,
                     .at_ns = now,
                     .file = number,
                     .at = static_cast<std::int64_t>(event)});
        node_->changed_ns[&one.file] = now;
        one.file.put(Offset{at}, bytes);
    }

    void cut(NodeClient& self, Watched& one, FileId id) {
        const Offset at{draw(file_bytes_max)};
        Promises::Op& op =
            one.promises.begin(events_.count(), {at, Offset{file_bytes_max} - at}, 0);
        op.firm = false;
        EXPECT_EQ(self.ask(id, {FileTask::Kind::truncate, {}, at - Offset{0}}), 0);
        op.acked = events_.count();
    }

    // Replays with at most `changes` changes of files; negative: with all.
    void replay_until(
        Disk& disk, std::int64_t changes, Dice& dice, LateClock& clock,
        std::map<std::size_t, std::vector<std::pair<std::int64_t, std::vector<std::byte>>>>& kept)
        const {
        JournalDisk device{{.segment_bytes = segment_bytes_}, disk.journal};
        std::int64_t left = changes < 0 ? -1 : dice.draw(6);
        device.watch([&](const JournalDisk::Done& /*done*/, bool durable) {
            if (durable && left > 0 && --left == 0) {
                device.set_error(EIO);
            }
        });
        DiskFiles files{disk, clock, changes};
        files.down = [&] { device.set_error(EIO); };
        clock.at_ns += 1'000'000;
        const auto done = replay(
            device, clock, files,
            {.life = static_cast<std::uint64_t>(clock.at_ns), .segments_max = segments_max_});
        disk.journal = device.image();
        EXPECT_TRUE(done.has_value() || changes >= 0) << done.error().message;
        for (auto& [number, runs] : files.kept) {
            if (done.has_value() || !kept.contains(number)) {
                kept[number] = runs;
            }
        }
        clock.at_ns += dice.draw(2) == 0 ? 1'000'000 : 60'000'000'000;
    }

    static constexpr std::int64_t segment_bytes_ = 256 * kib;

    Dice dice_;
    std::uint64_t seed_;
    std::size_t segments_max_;
    MemoryJournal journal_{
        {.segment_bytes = segment_bytes_,
         .segments_max = segments_max_,
         .write_ns = [](adapters::MemoryWorld& world) { return 10'000 + world.draw(3'000'000); }}};
    std::unique_ptr<Node> node_;
    Events events_;
    std::vector<std::unique_ptr<Watched>> files_;
    std::string report_;
    unsigned changes_ = 0;
};

class Crash : public testing::TestWithParam<int> {};

constexpr int seeds_at_once = 4;
constexpr int falls = 60;

TEST_P(Crash, NothingAcknowledgedIsLostAndNobodysChangeOverwritten) {
    for (int i = 0; i < seeds_at_once; ++i) {
        const int seed = 1 + GetParam() * seeds_at_once + i;
        Trial run{static_cast<std::uint64_t>(seed)};
        run.go();
        ASSERT_FALSE(HasFailure()) << "seed " << seed;
        for (int fall = 0; fall < falls; ++fall) {
            run.fall(static_cast<std::uint64_t>(fall));
            ASSERT_FALSE(HasFailure());
        }
    }
}

// A run that crashes after each of its events in turn, in both ways.
class CrashAnywhere : public testing::TestWithParam<int> {};

TEST_P(CrashAnywhere, NothingIsLostWhereverTheRunIsCut) {
    const auto seed = static_cast<std::uint64_t>(1000 + GetParam());
    Trial run{seed};
    run.go();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    for (std::size_t count = 1; count <= run.events(); ++count) {
        for (const Fall how : {Fall::daemon, Fall::node}) {
            Dice dice{count * 1'000'003 + seed};
            run.fall_after(count, how, dice);
            ASSERT_FALSE(HasFailure());
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CrashAnywhere, testing::Range(0, 2));
INSTANTIATE_TEST_SUITE_P(Seeds, Crash, testing::Range(0, 20));

}  // namespace
}  // namespace forebay::pool
