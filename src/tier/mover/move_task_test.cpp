// Tests moving step by step: what is written where, what happens meanwhile, and after errors.
#include "tier/mover/move_task.hpp"

#include "tier/mover/crash_check.hpp"
#include "tier/mover/replicas.hpp"

#include <cerrno>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace forebay::tier {
namespace {

using check::Contents;
using check::CutClock;
using check::MemoryInode;
using check::MemoryList;
using check::MemoryPlaces;
using check::MemoryTieredFile;

const std::string path = "/s/me/out";

Contents filled(std::size_t bytes, int value) {
    return Contents(bytes, static_cast<std::byte>(value));
}

// A file with a dirty replica of 1000 bytes.
class Moving : public testing::Test {
protected:
    void SetUp() override {
        name_ = places_.add_file(path);
        file_ = places_.open_file(path);
        ASSERT_TRUE(make_replica(parts(), name_, path, *file_, clock_.now_ns()));
        open();
        write(0, filled(1000, 5));
        clock_.pass(1'000'000'000);
    }

    [[nodiscard]] TierParts parts() { return {places_, places_, list_}; }
    void open() {
        replica_ = std::move(static_cast<FastPlace&>(places_).open(name_).value());
        record_ = std::make_unique<LiveRecord>(*replica_, places_.key(),
                                               **read_replica_record(*replica_, places_.key()));
    }
    void write(std::int64_t at, Contents bytes) {
        ASSERT_TRUE(begin_writing(parts(), name_, *record_, *replica_, *file_, clock_.now_ns()));
        store(at, std::move(bytes));
    }
    // As a store to a mapping: nobody is told.
    void store(std::int64_t at, Contents bytes) { replica().write(at, bytes, clock_.file_time()); }
    [[nodiscard]] MemoryInode& replica() { return *places_.replicas.at(name_); }
    [[nodiscard]] MemoryInode& file() { return *places_.global.at(path); }
    [[nodiscard]] FileMarker marker() { return **read_marker(*file_, places_.key()); }
    [[nodiscard]] ReplicaRecord record() const { return record_->get(); }

    Result<MoveEnd> move() {
        transfer::FixedGate gate{places_.stripes.targets, 2};
        return MoveTask{parts(), {name_, *replica_, *file_, *record_},         gate, clock_,
                        memory_, {.checkpoint_bytes = 300, .chunk_bytes = 200}}
            .run();
    }
    // Once `writes` requests have been written to the file, before the next change of it.
    void after_writes(std::size_t writes, std::function<void()> act) {
        places_.global_hooks.before = [this, writes, act = std::move(act)] {
            if (places_.global_hooks.written.size() >= writes) {
                const auto once = std::exchange(places_.global_hooks.before, {});
                act();
            }
        };
    }

    CutClock clock_{1};
    MemoryPlaces places_{clock_};
    MemoryList list_;
    CopyMemory memory_{128};
    ReplicaName name_;
    std::unique_ptr<TieredFile> replica_;
    std::unique_ptr<TieredFile> file_;
    std::unique_ptr<LiveRecord> record_;
};

TEST_F(Moving, MakesTheReplicaClean) {
    EXPECT_EQ(record().state, ReplicaState::dirty);
    EXPECT_EQ(marker().state, ReplicaState::dirty);
    EXPECT_EQ(list_.sums("/")->waiting, 1);
    const auto written_ns = replica().now.modified_ns;
    ASSERT_EQ(move(), MoveEnd::moved);
    EXPECT_EQ(file().durable.bytes, filled(1000, 5));
    EXPECT_EQ(file().durable.modified_ns, written_ns) << "the time of the program's last write";
    EXPECT_EQ(replica().durable.bytes, filled(1000, 5));
    EXPECT_EQ(record().state, ReplicaState::clean);
    EXPECT_EQ(marker().state, ReplicaState::clean);
    EXPECT_EQ(marker().generation, record().generation);
    EXPECT_EQ(list_.sums("/"), (ListedSums{.replicas = 1, .bytes = 1000}));
    EXPECT_EQ(set_right(parts(), name_, memory_)->done, RedoAction::nothing);
}

TEST_F(Moving, RequestsEndWhereStripesDo) {
    places_.stripes = {.targets = 3, .stripe_bytes = 96};
    file_ = places_.open_file(path);
    ASSERT_EQ(move(), MoveEnd::moved);
    for (const Extent& one : places_.global_hooks.written) {
        EXPECT_EQ(one.begin.bytes() / 96, (one.end().bytes() - 1) / 96);
    }
    EXPECT_EQ(file().now.bytes, filled(1000, 5));
}

TEST_F(Moving, HolesStayHolesAndHideWhatWasThere) {
    file().write(0, filled(1000, 9), clock_.file_time());  // as an interrupted attempt may leave it
    ASSERT_TRUE(record_->change([this](ReplicaRecord& one) {
        one.state = ReplicaState::moving;
        one.moving = one.generation;
        one.base = *file_->stamp();
    }));
    store(128, filled(256, 0));
    store(1000, filled(500, 0));
    ASSERT_EQ(move(), MoveEnd::moved);
    EXPECT_EQ(file().now.bytes, replica().now.bytes);
    for (const Extent& one : places_.global_hooks.written) {
        EXPECT_TRUE(one.end().bytes() <= 128 || one.begin.bytes() >= 384) << "a hole was written";
        EXPECT_LE(one.end().bytes(), 1024);
    }
}

TEST_F(Moving, AShorterReplicaCutsTheFile) {
    ASSERT_EQ(move(), MoveEnd::moved);
    write(0, filled(10, 7));
    replica().set_length(400, clock_.file_time());
    ASSERT_EQ(move(), MoveEnd::moved);
    EXPECT_EQ(file().now.bytes.size(), 400U);
    EXPECT_EQ(file().now.bytes, replica().now.bytes);
}

TEST_F(Moving, AWriteMeanwhileLeavesItDirty) {
    after_writes(2, [this] { write(0, filled(50, 6)); });
    const auto before = record().generation;
    ASSERT_EQ(move(), MoveEnd::overtaken);
    EXPECT_EQ(record().state, ReplicaState::dirty);
    EXPECT_EQ(record().generation, before + 1);
    EXPECT_EQ(marker().state, ReplicaState::dirty);
    EXPECT_EQ(marker().generation, before + 1);
    ASSERT_EQ(move(), MoveEnd::moved);
    EXPECT_EQ(file().now.bytes, replica().now.bytes);
}

TEST_F(Moving, AStoreToAMappingLeavesItDirtyToo) {
    after_writes(2, [this] {
        clock_.pass(1'000'000'000);
        store(0, filled(50, 6));
    });
    ASSERT_EQ(move(), MoveEnd::overtaken);
    ASSERT_EQ(move(), MoveEnd::moved);
    EXPECT_EQ(file().now.bytes, replica().now.bytes);
}

TEST_F(Moving, AChangeOfOthersBeforeItIsNotOverwritten) {
    file().write(0, filled(20, 9), clock_.file_time());
    ASSERT_EQ(move(), MoveEnd::changed_outside);
    EXPECT_EQ(file().now.bytes, filled(20, 9));
    EXPECT_EQ(set_right(parts(), name_, memory_)->kept_in, "/rescue/1");
    EXPECT_EQ(places_.rescued, std::vector<Contents>{filled(1000, 5)});
    EXPECT_THAT(places_.notes.front(), testing::HasSubstr("path = " + path));
    EXPECT_EQ(*read_marker(*file_, places_.key()), std::nullopt);
    EXPECT_TRUE(list_.rows.empty());
}

TEST_F(Moving, AChangeOfOthersMeanwhileEndsItBeforeTheNextBytes) {
    // The sync of a checkpoint is the first change of the file after two chunks of 200 bytes.
    after_writes(5, [this] {
        clock_.pass(1'000'000'000);
        file().write(900, filled(20, 9), clock_.file_time());
    });
    ASSERT_EQ(move(), MoveEnd::changed_outside);
    EXPECT_EQ(places_.global_hooks.written.size(), 5U);
    EXPECT_EQ(file().now.bytes[900], std::byte{9});
    EXPECT_EQ(record().state, ReplicaState::moving) << "the caller rescues it";
}

TEST_F(Moving, AChangeOfOthersWhileTheReplicaIsReadIsNotOverwritten) {
    places_.fast_hooks.reads = [this] {
        places_.fast_hooks.reads = {};
        clock_.pass(1'000'000'000);
        file().write(0, filled(20, 9), clock_.file_time());
    };
    ASSERT_EQ(move(), MoveEnd::changed_outside);
    EXPECT_EQ(file().now.bytes, filled(20, 9));
    EXPECT_TRUE(places_.global_hooks.written.empty());
}

TEST_F(Moving, BytesOfOthersBehindTheEndAreNotCutOff) {
    after_writes(1, [this] {
        clock_.pass(1'000'000'000);
        file().write(1500, filled(20, 9), clock_.file_time());
    });
    ASSERT_EQ(move(), MoveEnd::changed_outside);
    ASSERT_EQ(file().now.bytes.size(), 1520U);
    EXPECT_EQ(file().now.bytes[1500], std::byte{9});
}

TEST_F(Moving, ChmodMeanwhileIsNoChange) {
    after_writes(2, [this] { file().touch(file().now.modified_ns, clock_.file_time()); });
    ASSERT_EQ(move(), MoveEnd::moved);
}

TEST_F(Moving, AfterAnErrorItGoesOnBehindTheLastCheckpoint) {
    places_.global_hooks.write_error = ENOSPC;
    places_.global_hooks.writes_left = 6;
    const auto end = move();
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().code, ErrorCode::no_space);
    EXPECT_THAT(end.error().message, testing::HasSubstr(path));
    EXPECT_EQ(record().state, ReplicaState::moving);
    EXPECT_GT(record().copied, 0);
    EXPECT_EQ(marker().state, ReplicaState::moving) << "outsiders see that it is not complete";
    const Offset from{record().copied};
    places_.global_hooks = {};
    ASSERT_EQ(move(), MoveEnd::moved);
    EXPECT_EQ(file().now.bytes, filled(1000, 5));
    for (const Extent& one : places_.global_hooks.written) {
        EXPECT_GE(one.begin, from);
    }
}

TEST_F(Moving, AWriteAfterAnErrorMakesItBeginAgain) {
    places_.global_hooks.write_error = EDQUOT;
    places_.global_hooks.writes_left = 6;
    ASSERT_FALSE(move());
    places_.global_hooks = {};
    write(0, filled(10, 7));
    EXPECT_EQ(record().state, ReplicaState::moving);
    ASSERT_EQ(move(), MoveEnd::moved);
    EXPECT_EQ(file().now.bytes, replica().now.bytes);
}

TEST_F(Moving, AFileThatWasReplacedIsNotTouched) {
    places_.add_file(path);
    file_ = places_.open_file(path);
    ASSERT_EQ(move(), MoveEnd::changed_outside);
    EXPECT_TRUE(file().now.bytes.empty());
    file_.reset();
    const auto done = set_right(parts(), name_, memory_);
    EXPECT_EQ(done->done, RedoAction::rescue);
    EXPECT_THAT(places_.notes.front(), testing::HasSubstr("is not there any more"));
}

TEST_F(Moving, AFileThatCannotBeOpenedIsListedAndKept) {
    places_.open_error = EACCES;
    const auto done = recover(parts(), memory_);
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_EQ(done->size(), 1U);
    ASSERT_TRUE(done->front().obstacle);
    EXPECT_EQ(done->front().obstacle->system, EACCES);
    EXPECT_EQ(list_.rows.at(name_).state, ReplicaState::dirty);
    EXPECT_EQ(replica().now.bytes, filled(1000, 5));
}

TEST_F(Moving, AReplicaThatIsSetRightStaysOpenForItsUse) {
    auto right = open_right(parts(), name_, memory_);
    ASSERT_TRUE(right && right->replica && right->file && right->record);
    EXPECT_EQ(right->recovered.done, RedoAction::nothing);
    EXPECT_EQ(right->record->state, ReplicaState::dirty);
    EXPECT_EQ(right->replica->stamp()->bytes, 1000);
    places_.open_error = EACCES;
    right = open_right(parts(), name_, memory_);
    ASSERT_TRUE(right && right->recovered.obstacle) << "it is told, and no error of the place";
    EXPECT_EQ(right->replica, nullptr);
    places_.open_error = 0;
    file().write(0, filled(1, 9), clock_.file_time());
    right = open_right(parts(), name_, memory_);
    ASSERT_TRUE(right);
    EXPECT_EQ(right->recovered.done, RedoAction::rescue);
    EXPECT_EQ(right->replica, nullptr);
}

TEST_F(Moving, AnUnreadableRecordIsRescued) {
    replica().set_record(Contents(20, std::byte{1}), clock_.file_time());
    const auto done = recover(parts(), memory_);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->front().done, RedoAction::rescue);
    EXPECT_EQ(places_.rescued, std::vector<Contents>{filled(1000, 5)});
}

// Replicas of files that are read.
class Filling : public testing::Test {
protected:
    void SetUp() override {
        name_ = places_.add_file(path);
        places_.global.at(path)->write(0, filled(1000, 5), clock_.file_time());
        places_.global.at(path)->write(192, filled(320, 0), clock_.file_time());
        clock_.pass(1'000'000'000);
        file_ = places_.open_file(path);
    }
    [[nodiscard]] TierParts parts() { return {places_, places_, list_}; }
    Result<FillEnd> fill() { return fill_replica(parts(), name_, path, *file_, clock_, memory_); }
    [[nodiscard]] Result<RedoAction> redo() {
        return set_right(parts(), name_, memory_).map([](const RecoveredReplica& one) {
            return one.done;
        });
    }

    CutClock clock_{1};
    MemoryPlaces places_{clock_};
    MemoryList list_;
    CopyMemory memory_{128};
    ReplicaName name_;
    std::unique_ptr<TieredFile> file_;
};

TEST_F(Filling, CopiesTheFileButForItsHoles) {
    ASSERT_EQ(fill(), FillEnd::filled);
    EXPECT_EQ(places_.replicas.at(name_)->durable.bytes, places_.global.at(path)->now.bytes);
    for (const Extent& one : places_.fast_hooks.written) {
        EXPECT_TRUE(one.end().bytes() <= 192 || one.begin.bytes() >= 512);
    }
    EXPECT_EQ(redo(), RedoAction::nothing);
    EXPECT_EQ(list_.sums("/"), (ListedSums{.replicas = 1, .bytes = 1000}));
}

TEST_F(Filling, AFileThatChangesMeanwhileGetsNoReplica) {
    places_.fast_hooks.before = [this] {
        if (places_.fast_hooks.written.size() == 2) {
            places_.global.at(path)->write(0, filled(10, 9), clock_.file_time());
        }
    };
    ASSERT_EQ(fill(), FillEnd::changed);
    EXPECT_TRUE(places_.replicas.empty());
    EXPECT_TRUE(places_.unpublished.empty());
}

TEST_F(Filling, AFullFastPlaceIsAnErrorAndLeavesNothing) {
    places_.fast_hooks.write_error = ENOSPC;
    places_.fast_hooks.writes_left = 3;
    const auto end = fill();
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().code, ErrorCode::no_space);
    EXPECT_TRUE(places_.replicas.empty());
    EXPECT_TRUE(places_.unpublished.empty()) << "it would keep the room that it has taken";
    EXPECT_TRUE(list_.rows.empty());
}

TEST_F(Filling, WhatOthersChangeLaterIsSeen) {
    ASSERT_EQ(fill(), FillEnd::filled);
    places_.global.at(path)->touch(places_.global.at(path)->now.modified_ns, clock_.file_time());
    EXPECT_EQ(redo(), RedoAction::nothing) << "chmod: the bytes were compared";
    places_.global.at(path)->write(10, filled(1, 9), clock_.file_time());
    EXPECT_EQ(redo(), RedoAction::remove);
    EXPECT_TRUE(places_.replicas.empty());
    EXPECT_TRUE(list_.rows.empty());
    EXPECT_EQ(redo(), RedoAction::remove) << "there is none";
}

TEST_F(Filling, AChangeInTheTickOfTheFillIsSeen) {
    places_.global.at(path)->write(0, filled(1, 6), clock_.file_time());
    ASSERT_EQ(fill(), FillEnd::filled);
    auto& inode = *places_.global.at(path);
    const auto then = inode.now;
    inode.write(0, filled(1, 8), then.modified_ns);
    ASSERT_EQ(inode.now.changed_ns, then.changed_ns) << "no time tells";
    EXPECT_EQ(redo(), RedoAction::remove);
}

TEST_F(Filling, BytesThatAnotherTierHoldsAreNotMissed) {
    FileMarker marker{
        .state = ReplicaState::dirty, .owner = 77, .generation = 3, .inode = name_.inode};
    ASSERT_TRUE(file_->set_record(encode(marker, places_.key())));
    EXPECT_EQ(fill(), FillEnd::elsewhere);
    marker.owner = MemoryPlaces::own;
    ASSERT_TRUE(file_->set_record(encode(marker, places_.key())));
    EXPECT_EQ(fill(), FillEnd::lost);
    marker.inode = 1;
    ASSERT_TRUE(file_->set_record(encode(marker, places_.key())));
    EXPECT_EQ(fill(), FillEnd::filled) << "the attribute was copied with the file";
}

}  // namespace
}  // namespace forebay::tier
