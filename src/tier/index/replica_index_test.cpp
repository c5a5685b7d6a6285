// Tests the list of replicas: what is put is found, below which path, after restarts, and where the
// file is damaged.
#include "tier/index/replica_index.hpp"

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace forebay::tier {
namespace {

using testing::ElementsAre;

class TestFolder {
public:
    TestFolder() {
        std::string name = FOREBAY_TEST_DIR "/index_XXXXXX";
        path = ::mkdtemp(name.data());
    }
    TestFolder(const TestFolder&) = delete;
    TestFolder& operator=(const TestFolder&) = delete;
    ~TestFolder() { std::filesystem::remove_all(path); }
    [[nodiscard]] std::string file() const { return path + "/list.sqlite"; }
    std::string path;
};

ListedReplica replica(std::uint64_t inode, const std::string& path) {
    return {.name = {0xfedcba9876543210, inode},
            .state = ReplicaState::clean,
            .generation = 3,
            .bytes = 1000,
            .heat = 1.5,
            .used_ns = 7,
            .path = path};
}

std::vector<std::string> paths(ReplicaIndex& index, const std::string& below) {
    std::vector<std::string> found;
    EXPECT_TRUE(index.visit(below, [&](const ListedReplica& one) { found.push_back(one.path); }));
    return found;
}

class Index : public testing::Test {
protected:
    void open() {
        index_.reset();
        auto opened = ReplicaIndex::open(folder_.file());
        ASSERT_TRUE(opened) << opened.error().message;
        index_ = std::move(*opened);
    }
    void SetUp() override { open(); }

    TestFolder folder_;
    std::unique_ptr<ReplicaIndex> index_;
};

TEST_F(Index, FindsWhatWasPutAlsoAfterARestart) {
    EXPECT_TRUE(index_->is_new());
    ListedReplica one = replica(0xffffffffffffffff, "/s/a");
    ASSERT_TRUE(index_->put(one));
    one.state = ReplicaState::dirty;
    one.dirtied_ns = 9;
    ASSERT_TRUE(index_->put(one));
    ASSERT_TRUE(index_->put(replica(2, "/s/b")));
    ASSERT_TRUE(index_->remove({0xfedcba9876543210, 2}));
    ASSERT_TRUE(index_->remove({1, 1})) << "one that is not listed";
    open();
    EXPECT_FALSE(index_->is_new());
    EXPECT_EQ(index_->find(one.name).value(), one);
    EXPECT_EQ(index_->find({0xfedcba9876543210, 2}).value(), std::nullopt);
    EXPECT_EQ(index_->sums("/").value(), (ListedSums{1, 1000, 1, 1000}));
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity): what the macros expand to
TEST_F(Index, ListsWhatIsBelowAPath) {
    std::uint64_t inode = 0;
    for (const char* const path :
         {"/s/me/b", "/s/me", "/s/me/a/x", "/s/me.txt", "/s/me0", "/s/m%"}) {
        ASSERT_TRUE(index_->put(replica(++inode, path)));
    }
    EXPECT_THAT(paths(*index_, "/s/me"), ElementsAre("/s/me", "/s/me/a/x", "/s/me/b"));
    EXPECT_THAT(paths(*index_, "/s/me/a/x"), ElementsAre("/s/me/a/x"));
    EXPECT_THAT(paths(*index_, "/t"), ElementsAre());
    EXPECT_EQ(paths(*index_, "/").size(), 6U);
    EXPECT_EQ(index_->sums("/s/me").value(), (ListedSums{3, 3000, 0, 0}));
    EXPECT_EQ(index_->sums("/t").value(), ListedSums{});
}

TEST_F(Index, ListsWhatWaits) {
    ListedReplica one = replica(1, "/s/b");
    one.dirtied_ns = 9;
    ASSERT_TRUE(index_->put(one));
    ASSERT_TRUE(index_->put(replica(2, "/s/c")));
    one = replica(3, "/s/a");
    one.dirtied_ns = 7;
    ASSERT_TRUE(index_->put(one));
    EXPECT_THAT(index_->waiting().value(), ElementsAre("/s/a", "/s/b"));
    EXPECT_EQ(index_->sums("/s").value(), (ListedSums{3, 3000, 2, 2000}));
    EXPECT_EQ(index_->sums("/s/b").value(), (ListedSums{1, 1000, 1, 1000}));
}

TEST_F(Index, AVisitorMayChangeTheList) {
    ASSERT_TRUE(index_->put(replica(1, "/a")));
    ASSERT_TRUE(index_->put(replica(2, "/b")));
    EXPECT_TRUE(index_->visit(
        "/", [&](const ListedReplica& one) { EXPECT_TRUE(index_->remove(one.name)); }));
    EXPECT_TRUE(paths(*index_, "/").empty());
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity): what the macros expand to
TEST_F(Index, IsReplacedWholeOrNotAtAll) {
    ASSERT_TRUE(index_->put(replica(1, "/old")));
    const auto half = index_->replace([&]() -> Result<void> {
        EXPECT_TRUE(index_->put(replica(2, "/new")));
        return failure(system_error(EIO, "read a replica"));
    });
    EXPECT_FALSE(half);
    EXPECT_THAT(paths(*index_, "/"), ElementsAre("/old"));
    EXPECT_TRUE(index_->replace([&] { return index_->put(replica(2, "/new")); }));
    EXPECT_THAT(paths(*index_, "/"), ElementsAre("/new"));
}

TEST_F(Index, ADamagedFileIsPutAside) {
    ASSERT_TRUE(index_->put(replica(1, "/old")));
    index_.reset();
    std::ofstream{folder_.file()} << std::string(8192, 'x');
    open();
    EXPECT_TRUE(index_->is_new());
    EXPECT_TRUE(paths(*index_, "/").empty());
    EXPECT_TRUE(std::filesystem::exists(folder_.file() + ".damaged"));
    EXPECT_TRUE(index_->put(replica(1, "/new")));
}

TEST_F(Index, OneOfAnotherVersionIsPutAside) {
    ASSERT_TRUE(index_->put(replica(1, "/old")));
    index_.reset();
    std::fstream file{folder_.file(), std::ios::in | std::ios::out | std::ios::binary};
    constexpr int user_version_at = 60;
    file.seekp(user_version_at);
    file.write("\0\0\0\x63", 4);
    file.close();
    open();
    EXPECT_TRUE(index_->is_new());
    EXPECT_TRUE(paths(*index_, "/").empty());
}

TEST_F(Index, AnotherProcessReadsItMeanwhile) {
    ASSERT_TRUE(index_->put(replica(1, "/a")));
    const auto other = ReplicaIndex::open(folder_.file());
    ASSERT_TRUE(other);
    EXPECT_FALSE((*other)->is_new());
    EXPECT_THAT(paths(**other, "/"), ElementsAre("/a"));
    ASSERT_TRUE(index_->put(replica(2, "/b")));
    EXPECT_THAT(paths(**other, "/"), ElementsAre("/a", "/b"));
}

TEST(IndexErrors, SayWhichFileAndWhatToDo) {
    const auto index = ReplicaIndex::open("/proc/no/such/list");
    ASSERT_FALSE(index);
    EXPECT_THAT(index.error().message, testing::HasSubstr("/proc/no/such/list"));
}

RC_GTEST_PROP(IndexAgainstAMap, HasTheSameRows, ()) {
    TestFolder folder;
    auto index = std::move(ReplicaIndex::open(folder.file()).value());
    std::map<std::uint64_t, ListedReplica> model;
    const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40));
    for (const int step : steps) {
        const auto inode = static_cast<std::uint64_t>(step % 5);
        if (step < 10) {
            model.erase(inode);
            RC_ASSERT(index->remove({0xfedcba9876543210, inode}).has_value());
        } else {
            model[inode] = replica(inode, "/s/" + std::to_string(step));
            RC_ASSERT(index->put(model[inode]).has_value());
        }
    }
    std::map<std::uint64_t, ListedReplica> found;
    RC_ASSERT(index->visit("/", [&](const ListedReplica& one) { found[one.name.inode] = one; })
                  .has_value());
    RC_ASSERT(found == model);
}

}  // namespace
}  // namespace forebay::tier
