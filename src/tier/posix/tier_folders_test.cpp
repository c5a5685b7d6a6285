// Runs the mover on real folders: a replica's life, holes, sidecars, and one process at a time.
#include "storage/posix/clock.hpp"
#include "storage/posix/write_whole.hpp"
#include "tier/mover/move_task.hpp"
#include "tier/mover/replicas.hpp"
#include "tier/posix/fast_folder.hpp"
#include "tier/posix/global_folder.hpp"
#include "tier/posix/record_store.hpp"
#include "tier/posix/tiered_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace forebay::tier {
namespace {

class NoList final : public ReplicaList {
public:
    Result<void> put(const ListedReplica& replica) override {
        rows[replica.name] = replica;
        return {};
    }
    Result<void> remove(const ReplicaName& name) override {
        rows.erase(name);
        return {};
    }
    [[nodiscard]] Result<std::optional<ListedReplica>> find(const ReplicaName&) override {
        return std::nullopt;
    }
    Result<void> visit(const std::string&,
                       const std::function<void(const ListedReplica&)>&) override {
        return {};
    }
    [[nodiscard]] Result<ListedSums> sums(const std::string&) override { return ListedSums{}; }
    Result<void> replace(const std::function<Result<void>()>& fill) override {
        rows.clear();
        return fill();
    }
    std::map<ReplicaName, ListedReplica> rows;
};

std::string text_in(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream{path, std::ios::binary}.rdbuf();
    return text.str();
}

class TierFolders : public testing::Test {
protected:
    void SetUp() override {
        std::string name = FOREBAY_TEST_DIR "/tier_XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root_ = name;
        std::filesystem::create_directory(root_ + "/global");
        path_ = root_ + "/global/out";
        start();
    }
    void TearDown() override {
        stop();
        std::filesystem::remove_all(root_);
    }
    void start() {
        auto fast = FastFolder::open(root_ + "/fast");
        ASSERT_TRUE(fast) << fast.error().message;
        fast_ = std::move(*fast);
        auto global = GlobalFolder::open(root_ + "/global");
        ASSERT_TRUE(global) << global.error().message;
        global_ = std::move(*global);
    }
    void stop() {
        record_.reset();
        replica_.reset();
        file_.reset();
        fast_.reset();
        global_.reset();
    }
    [[nodiscard]] TierParts parts() { return {*fast_, *global_, list_}; }
    void open_file() {
        auto named = global_->open_named(path_);
        ASSERT_TRUE(named) << named.error().message;
        name_ = named->name;
        file_ = std::move(named->file);
    }
    void open_replica() {
        auto opened = fast_->open(name_);
        ASSERT_TRUE(opened && *opened);
        replica_ = std::move(*opened);
        const auto record = read_replica_record(*replica_, fast_->key());
        ASSERT_TRUE(record && *record);
        record_ = std::make_unique<LiveRecord>(*replica_, fast_->key(), **record);
    }
    void make() {
        std::ofstream{path_};
        open_file();
        const auto made = make_replica(parts(), name_, path_, *file_, calendar_.now_ns());
        ASSERT_TRUE(made) << made.error().message;
        open_replica();
    }
    void write(std::int64_t at, const std::string& text) {
        ASSERT_TRUE(begin_writing(parts(), name_, *record_, *replica_, *file_, calendar_.now_ns()));
        const int fd = static_cast<PosixTieredFile&>(*replica_).fd();
        ASSERT_EQ(adapters::write_whole(fd, std::as_bytes(std::span{text}), at), 0);
    }
    Result<MoveEnd> move() {
        transfer::FixedGate gate{1, 2};
        return MoveTask{parts(), {name_, *replica_, *file_, *record_}, gate, clock_, memory_}.run();
    }

    std::string root_;
    std::string path_;
    adapters::CalendarClock calendar_;
    adapters::SteadyClock clock_;
    CopyMemory memory_{1 << 16};
    NoList list_;
    std::unique_ptr<FastFolder> fast_;
    std::unique_ptr<GlobalFolder> global_;
    ReplicaName name_;
    std::unique_ptr<TieredFile> file_;
    std::unique_ptr<TieredFile> replica_;
    std::unique_ptr<LiveRecord> record_;
};

TEST_F(TierFolders, WhatIsWrittenIsMovedIntoTheSameFile) {
    make();
    ASSERT_EQ(::link(path_.c_str(), (path_ + ".link").c_str()), 0);
    ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
    const std::string text(300'000, 'x');
    write(0, text);
    EXPECT_EQ(text_in(path_), "") << "it is in fast storage";
    ASSERT_EQ(move(), MoveEnd::moved);
    EXPECT_EQ(text_in(path_ + ".link"), text) << "hard links stay";
    struct stat found{};
    ASSERT_EQ(::stat(path_.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777U, 0640U);
    EXPECT_EQ(found.st_ino, name_.inode);
    EXPECT_EQ(found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec,
              replica_->stamp()->modified_ns);
    EXPECT_TRUE(evict(parts(), name_));
    EXPECT_TRUE(fast_->names()->empty());
}

TEST_F(TierFolders, HolesStaySparse) {
    make();
    constexpr std::int64_t far = std::int64_t{1} << 30;
    write(0, "begin");
    write(far, "end");
    ASSERT_TRUE(replica_->set_length(Length{far * 2}));
    ASSERT_EQ(move(), MoveEnd::moved);
    struct stat found{};
    ASSERT_EQ(::stat(path_.c_str(), &found), 0);
    EXPECT_EQ(found.st_size, far * 2);
    EXPECT_LT(found.st_blocks * 512, std::int64_t{16} << 20);
    const auto data = file_->next_data(Offset{1 << 20});
    ASSERT_TRUE(data && *data);
    EXPECT_LE((*data)->begin.bytes(), far);
    EXPECT_GT((*data)->begin.bytes(), far / 2);
}

TEST_F(TierFolders, AHoleHidesWhatWasThere) {
    std::ofstream{path_} << std::string(200'000, 'y');
    open_file();
    ASSERT_TRUE(file_->make_hole({Offset{65'536}, Length{65'536}}));
    ASSERT_TRUE(file_->make_hole({Offset{190'000}, Length{100'000}}));
    const std::string text = text_in(path_);
    ASSERT_EQ(text.size(), 200'000U) << "the length stays";
    EXPECT_EQ(text.substr(65'536, 65'536), std::string(65'536, '\0'));
    EXPECT_EQ(text[65'535], 'y');
    EXPECT_EQ(text[189'999], 'y');
    EXPECT_EQ(text[199'999], '\0');
}

TEST_F(TierFolders, ARestartFindsWhatWasNotMoved) {
    make();
    write(0, "kept");
    stop();
    start();
    const auto found = recover(parts(), memory_);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_TRUE(found->empty()) << "it was right";
    EXPECT_EQ(list_.rows.at(name_).state, ReplicaState::dirty);
    open_file();
    open_replica();
    ASSERT_EQ(move(), MoveEnd::moved);
    EXPECT_EQ(text_in(path_), "kept");
}

TEST_F(TierFolders, AFileThatWasChangedOutsideIsRescued) {
    make();
    write(0, "mine");
    std::ofstream{path_} << "somebody else's";
    const auto found = recover(parts(), memory_);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->front().done, RedoAction::rescue);
    EXPECT_EQ(text_in(found->front().kept_in), "mine");
    EXPECT_THAT(text_in(found->front().kept_in + ".txt"), testing::HasSubstr(path_));
    EXPECT_EQ(text_in(path_), "somebody else's");
    EXPECT_EQ(*read_marker(*file_, fast_->key()), std::nullopt);
}

TEST_F(TierFolders, AFileIsFilledAndFoundAgain) {
    const std::string text(200'000, 'z');
    std::ofstream{path_} << text;
    open_file();
    ASSERT_EQ(fill_replica(parts(), name_, path_, *file_, clock_, memory_), FillEnd::filled);
    EXPECT_EQ(text_in(root_ + "/fast/replicas/" + text_of(name_)), text);
    EXPECT_EQ(set_right(parts(), name_, memory_)->done, RedoAction::nothing);
    std::filesystem::remove(path_);
    std::ofstream{path_} << text;
    EXPECT_EQ(set_right(parts(), name_, memory_)->done, RedoAction::remove) << "another inode";
    EXPECT_TRUE(fast_->names()->empty());
}

TEST_F(TierFolders, OneProcessHasThePlace) {
    const auto second = FastFolder::open(root_ + "/fast");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().system, EWOULDBLOCK);
    const auto owner = fast_->owner();
    stop();
    start();
    EXPECT_EQ(fast_->owner(), owner);
}

TEST_F(TierFolders, APlaceWithoutItsIdentityIsNotUsed) {
    stop();
    std::filesystem::resize_file(root_ + "/fast/identity", 3);
    const auto place = FastFolder::open(root_ + "/fast");
    ASSERT_FALSE(place);
    EXPECT_THAT(place.error().message, testing::HasSubstr("damaged"));
    std::filesystem::remove(root_ + "/fast/identity");
    start();
}

TEST_F(TierFolders, ASymbolicLinkIsNoFile) {
    std::ofstream{path_};
    open_file();
    std::filesystem::rename(path_, path_ + ".moved");
    std::filesystem::create_symlink("out.moved", path_);
    const auto opened = global_->open(path_, name_);
    ASSERT_TRUE(opened);
    EXPECT_EQ(*opened, nullptr);
}

TEST_F(TierFolders, RecordsWithoutAttributesLieBeside) {
    // procfs keeps no extended attributes; the sidecars are elsewhere.
    const int folder = ::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int file = ::open("/proc/self/comm", O_RDWR | O_CLOEXEC);
    {
        SidecarFolder sidecars{folder, "beside"};
        RecordStore records{sidecars, marker_attribute};
        const RecordStore::Place place{file, "1-2", "/proc/self/comm"};
        EXPECT_EQ(records.read(place).value(), std::nullopt);
        EXPECT_TRUE(records.remove(place)) << "there is none";
        const std::vector<std::byte> first(100, std::byte{1});
        const std::vector<std::byte> second(50, std::byte{2});
        ASSERT_TRUE(records.write(place, first));
        EXPECT_EQ(records.read(place).value(), first);
        ASSERT_TRUE(records.write(place, second));
        EXPECT_EQ(records.read(place).value(), second);
        EXPECT_TRUE(std::filesystem::exists(root_ + "/beside/1-2"));
        ASSERT_TRUE(records.remove(place));
        EXPECT_EQ(records.read(place).value(), std::nullopt);
    }
    ::close(file);
    ::close(folder);
}

}  // namespace
}  // namespace forebay::tier
