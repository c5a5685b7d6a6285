// Cuts a tier after each of its steps in turn, by a kill or by a power failure, and recovery, too.
// Afterwards every acknowledged byte is in the file, or in a rescue file because somebody else has
// changed the file; and nobody's change of the file was overwritten.
#include "tier/mover/crash_check.hpp"

#include "tier/mover/move_task.hpp"
#include "tier/mover/replicas.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace forebay::tier {
namespace {

using check::Contents;
using check::CutClock;
using check::CutDice;
using check::MemoryList;
using check::MemoryPlaces;
using check::MemoryTieredFile;
using check::WorldCut;

const std::string path = "/s/me/out";
constexpr std::int64_t file_bytes_max = 1500;
constexpr std::int64_t minute_ns = 60'000'000'000;

enum class Fall { kill, power };

// A write of a program, or a change of somebody else past the tier.
struct Change {
    std::int64_t at = 0;
    std::int64_t bytes = 0;
    std::byte value{};
    bool outside = false;
    bool acknowledged = false;  // it survives a kill
    bool synced = false;        // it survives a power failure
};

// The contents that a file may have: each byte has the value of the last change that must have
// survived, or of a later one.
class Promises {
public:
    void begin(const Change& change) { changes_.push_back(change); }
    void acknowledge() { changes_.back().acknowledged = true; }
    void synced() {
        for (Change& one : changes_) {
            one.synced |= one.acknowledged;
        }
    }
    // Returns the fault of the contents; empty: none. `outside`: changes of others count, too.
    [[nodiscard]] std::string judge(const Contents& bytes, Fall fall, bool outside) const {
        std::size_t least = first_.size();
        for (const Change& one : changes_) {
            if (must_be_there(one, fall) && (outside || !one.outside)) {
                least = std::max(least, static_cast<std::size_t>(one.at + one.bytes));
            }
        }
        if (bytes.size() < least) {
            return "only " + std::to_string(bytes.size()) + " of " + std::to_string(least) +
                   " bytes";
        }
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            if (!may_be(static_cast<std::int64_t>(at), bytes[at], fall, outside)) {
                return "byte " + std::to_string(at) + " is " +
                       std::to_string(static_cast<int>(bytes[at]));
            }
        }
        return "";
    }
    // Whether all changes of others are there, where no program has written later.
    [[nodiscard]] bool keeps_outside(const Contents& bytes) const {
        for (std::size_t i = 0; i < changes_.size(); ++i) {
            for (std::int64_t at = changes_[i].at; at < changes_[i].at + changes_[i].bytes; ++at) {
                const bool covered = std::any_of(
                    changes_.begin() + static_cast<std::ptrdiff_t>(i) + 1, changes_.end(),
                    [at](const Change& one) { return at >= one.at && at < one.at + one.bytes; });
                if (changes_[i].outside && !covered &&
                    (at >= std::ssize(bytes) ||
                     bytes[static_cast<std::size_t>(at)] != changes_[i].value)) {
                    return false;
                }
            }
        }
        return true;
    }
    // From now on the file's contents are the truth.
    void start_from(const Contents& bytes) {
        changes_.clear();
        first_ = bytes;
    }

private:
    [[nodiscard]] static bool must_be_there(const Change& one, Fall fall) {
        return fall == Fall::kill ? one.acknowledged : one.synced;
    }
    [[nodiscard]] bool may_be(std::int64_t at, std::byte value, Fall fall, bool outside) const {
        for (auto one = changes_.rbegin(); one != changes_.rend(); ++one) {
            if (at < one->at || at >= one->at + one->bytes || (one->outside && !outside)) {
                continue;
            }
            if (one->value == value) {
                return true;
            }
            if (must_be_there(*one, fall)) {
                return false;
            }
        }
        const auto size = static_cast<std::int64_t>(first_.size());
        return value == (at < size ? first_[static_cast<std::size_t>(at)] : std::byte{0});
    }

    Contents first_;
    std::vector<Change> changes_;
};

// A node with a tier and one file, used by a program that a seed draws.
class TierTrial {
public:
    TierTrial(std::uint64_t seed, Fall fall) : clock_{seed}, dice_{seed + 1}, fall_{fall} {
        name_ = places_.add_file(path);
        places_.stripes = {.targets = 3, .stripe_bytes = 128};
        if (dice_.one_in(2)) {
            const Contents first(static_cast<std::size_t>(1 + dice_.draw(file_bytes_max)),
                                 std::byte{1});
            places_.global.at(path)->write(0, first, clock_.file_time());
            places_.global.at(path)->sync();
            promises_.start_from(first);
        }
        places_.global_hooks.before = [this] { write_meanwhile(); };
    }

    // Runs the program until it has ended, or the world is cut.
    void run(std::int64_t cut) {
        clock_.cut_at(cut);
        try {
            for (int i = 0; i < 7; ++i) {
                act();
            }
        } catch (const WorldCut&) {
            cut_ = true;
        }
        steps_ = clock_.steps();
    }
    [[nodiscard]] std::int64_t steps() const noexcept { return steps_; }

    // After the cut: the node fails, others may change the file, and recovery is cut, too.
    void fall_and_recover() {
        close();
        busy_ = true;  // programs are dead
        if (cut_ && fall_ == Fall::power) {
            places_.lose_power();
        }
        clock_.pass(dice_.one_in(2) ? 1'000'000'000 : 2 * minute_ns);
        if (dice_.one_in(3)) {
            clock_.pass(2 * minute_ns);
            change_outside();
        }
        for (std::int64_t tries = dice_.draw(4); tries > 0; --tries) {
            clock_.cut_at(dice_.draw(20));
            try {
                recover_and_move();
            } catch (const WorldCut&) {
                cut_ = true;
                close();
                if (fall_ == Fall::power && dice_.one_in(2)) {
                    places_.lose_power();
                }
                clock_.pass(dice_.one_in(2) ? 1'000'000'000 : 2 * minute_ns);
            }
        }
        clock_.cut_at(-1);
        recover_and_move();
        judge();
    }

private:
    [[nodiscard]] TierParts parts() { return {places_, places_, list_}; }
    [[nodiscard]] Fall fell() const noexcept { return cut_ ? fall_ : Fall::kill; }

    // Opens the replica, as a program's open does: it is set right first. False: there is none.
    bool open() {
        close();
        const auto done = set_right(parts(), name_, memory_);
        if (!done) {
            ADD_FAILURE() << done.error().message;
            return false;
        }
        note_rescue();
        file_ = places_.open_file(path);
        if (!places_.replicas.contains(name_)) {
            return false;
        }
        replica_ = std::move(static_cast<FastPlace&>(places_).open(name_).value());
        auto record = read_replica_record(*replica_, places_.key());
        record_ = std::make_unique<LiveRecord>(*replica_, places_.key(), **record);
        return true;
    }
    void close() {
        record_.reset();
        replica_.reset();
        file_.reset();
    }
    [[nodiscard]] ReplicaState state() const {
        return record_ ? record_->get().state : ReplicaState::none;
    }

    void act() {
        clock_.pass(dice_.one_in(3) ? dice_.draw(minute_ns) : 0);
        const std::int64_t what = dice_.draw(10);
        const bool have = open();
        if (what < 4) {
            if (have || make()) {
                write();
                write();
            }
        } else if (what < 5 && have) {
            sync();
        } else if (what < 8 && have) {
            move();
        } else if (what < 9 && have && state() == ReplicaState::clean) {
            close();
            EXPECT_TRUE(evict(parts(), name_));
        } else if (what == 9) {
            change_outside();
        } else if (!have) {
            static_cast<void>(make());
        }
        close();
    }

    bool make() {
        busy_ = true;
        const bool empty = places_.global.at(path)->now.bytes.empty();
        if (empty) {
            EXPECT_TRUE(make_replica(parts(), name_, path, *file_, clock_.now_ns()));
        } else {
            const auto filled = fill_replica(parts(), name_, path, *file_, clock_, memory_);
            EXPECT_TRUE(filled && *filled == FillEnd::filled)
                << (filled ? static_cast<int>(*filled) : -1);
        }
        busy_ = false;
        return open();
    }

    void write() {
        if (!record_) {
            return;
        }
        const bool was_busy = std::exchange(busy_, true);
        Change change{.at = dice_.draw(file_bytes_max - 500),
                      .bytes = 1 + dice_.draw(500),
                      .value = static_cast<std::byte>(2 + changes_++ % 200)};
        promises_.begin(change);
        auto begun = begin_writing(parts(), name_, *record_, *replica_, *file_, clock_.now_ns());
        EXPECT_TRUE(begun);
        Contents bytes(static_cast<std::size_t>(change.bytes), change.value);
        const ports::Piece piece{Offset{change.at}, bytes};
        const auto done = static_cast<MemoryTieredFile&>(*replica_).perform(
            {.direction = IoDirection::write, .pieces = {&piece, 1}});
        EXPECT_EQ(done.bytes.bytes(), change.bytes);
        promises_.acknowledge();
        busy_ = was_busy;
    }
    void sync() {
        EXPECT_TRUE(replica_->sync());
        promises_.synced();
    }
    // A program writes while something else is under way at the parallel file system.
    void write_meanwhile() {
        if (!busy_ && record_ && dice_.one_in(12)) {
            busy_ = true;
            write();
            if (dice_.one_in(2)) {
                sync();
            }
            busy_ = false;
        }
    }

    void change_outside() {
        clock_.pass(minute_ns);
        auto& inode = *places_.global.at(path);
        if (dice_.one_in(3)) {
            inode.touch(inode.now.modified_ns, clock_.file_time());  // chmod
        } else {
            Change change{.at = dice_.draw(file_bytes_max - 300),
                          .bytes = 1 + dice_.draw(300),
                          .value = static_cast<std::byte>(2 + changes_++ % 200),
                          .outside = true,
                          .acknowledged = true,
                          .synced = true};
            promises_.begin(change);
            inode.write(change.at, Contents(static_cast<std::size_t>(change.bytes), change.value),
                        clock_.file_time());
            outside_ = true;
        }
        inode.sync();
        clock_.pass(minute_ns);
    }

    // If bytes were rescued, they are the program's; the file has what others have made of it.
    // NOLINTNEXTLINE(readability-function-cognitive-complexity): what the macros expand to
    void note_rescue() {
        if (places_.rescued.size() > rescued_) {
            ASSERT_TRUE(outside_) << "nobody else has changed the file";
            ASSERT_EQ(places_.rescued.size(), rescued_ + 1);
            rescued_ = places_.rescued.size();
            EXPECT_EQ(promises_.judge(places_.rescued.back(), fell(), false), "")
                << "in the rescue file";
        } else if (!outside_) {
            return;
        } else if (!places_.replicas.contains(name_)) {
            EXPECT_EQ(promises_.judge(places_.global.at(path)->now.bytes, fell(), true), "")
                << "in the file that others have changed";
        }
        EXPECT_TRUE(promises_.keeps_outside(places_.global.at(path)->now.bytes))
            << "somebody's change was overwritten";
        outside_ = false;
        promises_.start_from(places_.global.at(path)->now.bytes);
    }

    void move() {
        if (state() != ReplicaState::dirty && state() != ReplicaState::moving) {
            return;
        }
        transfer::FixedGate gate{places_.stripes.targets, 2};
        MoveTask task{parts(), {name_, *replica_, *file_, *record_},         gate, clock_,
                      memory_, {.checkpoint_bytes = 300, .chunk_bytes = 200}};
        const auto end = task.run();
        ASSERT_TRUE(end) << end.error().message;
        EXPECT_TRUE(*end == MoveEnd::moved || *end == MoveEnd::overtaken);
        EXPECT_EQ(state(), *end == MoveEnd::moved ? ReplicaState::clean : ReplicaState::dirty);
    }

    void recover_and_move() {
        list_.rows.clear();
        const auto done = recover(parts(), memory_);
        ASSERT_TRUE(done) << done.error().message;
        if (open()) {
            move();
        }
        close();
    }

    // NOLINTNEXTLINE(readability-function-cognitive-complexity): what the macros expand to
    void judge() {
        const auto sums = list_.sums("/");
        EXPECT_EQ(sums->waiting, 0);
        EXPECT_EQ(sums->replicas, std::ssize(places_.replicas));
        EXPECT_TRUE(places_.unpublished.empty());
        const Contents& bytes = places_.global.at(path)->now.bytes;
        EXPECT_EQ(promises_.judge(bytes, fell(), true), "") << "in the file";
        EXPECT_TRUE(promises_.keeps_outside(bytes));
        if (places_.replicas.contains(name_)) {
            EXPECT_EQ(places_.replicas.at(name_)->now.bytes, bytes) << "the replica is clean";
            EXPECT_TRUE(evict(parts(), name_));
        }
        file_ = places_.open_file(path);
        const auto marker = read_marker(*file_, places_.key());
        EXPECT_EQ(judge_marker(*marker, name_.inode, MemoryPlaces::own), MarkerVerdict::whole);
    }

    CutClock clock_;
    CutDice dice_;
    Fall fall_;
    MemoryPlaces places_{clock_};
    MemoryList list_;
    CopyMemory memory_{64};
    ReplicaName name_;
    Promises promises_;
    std::unique_ptr<TieredFile> replica_;
    std::unique_ptr<TieredFile> file_;
    std::unique_ptr<LiveRecord> record_;
    std::size_t rescued_ = 0;
    int changes_ = 0;
    bool outside_ = false;  // somebody else has changed the file, and the tier has not seen it yet
    bool busy_ = false;     // no program writes
    bool cut_ = false;
    std::int64_t steps_ = 0;
};

class TierCrash : public testing::TestWithParam<int> {};

TEST_P(TierCrash, NothingAcknowledgedIsLostWhereverItIsCut) {
    constexpr int seeds_at_once = 3;
    for (int i = 0; i < seeds_at_once; ++i) {
        const auto seed = static_cast<std::uint64_t>(GetParam() * seeds_at_once + i + 1) * 1000;
        for (const Fall fall : {Fall::kill, Fall::power}) {
            std::int64_t cuts = 1;
            for (std::int64_t cut = 0; cut < cuts; ++cut) {
                TierTrial trial{seed, fall};
                trial.run(cut);
                cuts = std::max(cuts, trial.steps() + 1);
                trial.fall_and_recover();
                ASSERT_FALSE(HasFailure()) << "seed " << seed << ", cut at step " << cut << " of "
                                           << (fall == Fall::power ? "power" : "kill");
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TierCrash, testing::Range(0, 12));

}  // namespace
}  // namespace forebay::tier
