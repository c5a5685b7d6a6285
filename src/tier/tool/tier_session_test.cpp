// Tests the commands on real folders.
#include "tier/tool/tier_session.hpp"

#include "storage/posix/write_whole.hpp"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <string>
#include <unistd.h>

namespace forebay::tier {
namespace {

using testing::HasSubstr;

std::string text_in(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream{path, std::ios::binary}.rdbuf();
    return text.str();
}

class Sessions : public testing::Test {
protected:
    void SetUp() override {
        std::string name = FOREBAY_TEST_DIR "/session_XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root_ = name;
        std::filesystem::create_directory(root_ + "/global");
        path_ = root_ + "/global/in";
        std::ofstream{path_} << "bytes";
        open();
    }
    void TearDown() override {
        session_.reset();
        std::filesystem::remove_all(root_);
    }
    void open() {
        session_.reset();
        auto opened = TierSession::open(root_ + "/fast", root_ + "/global");
        ASSERT_TRUE(opened) << opened.error().message;
        session_ = std::move(*opened);
    }
    // As a program would write through the tier.
    void write(const std::string& text) {
        session_.reset();
        auto fast = FastFolder::open(root_ + "/fast").value();
        auto global = GlobalFolder::open(root_ + "/global").value();
        auto list = ReplicaIndex::open(root_ + "/fast/list.sqlite").value();
        const TierParts parts{*fast, *global, *list};
        auto named = global->open_named(path_).value();
        auto replica = std::move(fast->open(named.name).value());
        LiveRecord record{*replica, fast->key(), **read_replica_record(*replica, fast->key())};
        ASSERT_TRUE(begin_writing(parts, named.name, record, *replica, *named.file, 1));
        const std::string path = root_ + "/fast/replicas/" + text_of(named.name);
        const OwnFd fd{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
        ASSERT_EQ(adapters::write_whole(fd.get(), std::as_bytes(std::span{text}), 0), 0);
        ASSERT_TRUE(replica->sync());
    }

    std::string root_;
    std::string path_;
    std::unique_ptr<TierSession> session_;
};

TEST_F(Sessions, FillAndEvict) {
    EXPECT_FALSE(session_->stat(path_)->replica);
    ASSERT_TRUE(session_->fill(path_));
    ASSERT_TRUE(session_->fill(path_)) << "once more";
    EXPECT_EQ(session_->stat(path_)->replica->state, ReplicaState::clean);
    EXPECT_EQ(session_->stat(path_)->replica_bytes, 5);
    EXPECT_EQ(session_->sums("/").value(), (ListedSums{1, 5, 0, 0}));
    ASSERT_TRUE(session_->evict(path_));
    EXPECT_FALSE(session_->stat(path_)->replica);
    EXPECT_EQ(session_->sums("/").value(), ListedSums{});
    EXPECT_EQ(text_in(path_), "bytes");
}

TEST_F(Sessions, SyncMovesWhatTheFileLacks) {
    ASSERT_TRUE(session_->fill(path_));
    write("newer");
    open();
    EXPECT_EQ(session_->stat(path_)->marker->state, ReplicaState::dirty);
    EXPECT_EQ(session_->sums(root_).value(), (ListedSums{1, 5, 1, 5}));
    const auto refused = session_->evict(path_);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("Sync it first"));
    EXPECT_EQ(text_in(path_), "bytes");
    ASSERT_TRUE(session_->sync(path_));
    EXPECT_EQ(text_in(path_), "newer");
    EXPECT_EQ(session_->stat(path_)->marker->state, ReplicaState::clean);
    EXPECT_TRUE(session_->evict(path_));
}

TEST_F(Sessions, ALostListIsMadeAgain) {
    ASSERT_TRUE(session_->fill(path_));
    write("newer");
    for (const char* const name : {"/fast/list.sqlite", "/fast/list.sqlite-wal"}) {
        std::filesystem::remove(root_ + name);
    }
    open();
    EXPECT_EQ(session_->sums("/").value(), (ListedSums{1, 5, 1, 5}));
    EXPECT_TRUE(session_->rebuild()->empty()) << "all is right";
    EXPECT_EQ(session_->waiting().value(), std::vector{path_});
}

TEST_F(Sessions, SomebodyElsesChangeIsSaid) {
    ASSERT_TRUE(session_->fill(path_));
    write("newer");
    std::ofstream{path_} << "another's";
    open();
    const auto refused = session_->sync(path_);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("/rescue/"));
    EXPECT_EQ(text_in(path_), "another's");
    EXPECT_TRUE(session_->sync(path_)) << "there is no replica any more";
}

TEST_F(Sessions, PoliciesStayOnTheirFolder) {
    const std::string folder = root_ + "/global";
    EXPECT_EQ(read_policy(folder).value(), std::nullopt);
    ASSERT_TRUE(write_policy(folder, "write  move=idle:60s"));
    EXPECT_EQ(text_of(**read_policy(folder)), "write move=idle:1min");
    EXPECT_FALSE(write_policy(folder, "often"));
    EXPECT_FALSE(write_policy(path_, "write"));
    EXPECT_FALSE(write_policy(root_ + "/none", "write"));
}

}  // namespace
}  // namespace forebay::tier
