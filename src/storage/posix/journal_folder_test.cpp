// Segments as files: their content is there when the directory is opened again.
#include "storage/posix/journal_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <new>
#include <sys/resource.h>
#include <sys/stat.h>

namespace forebay::adapters {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t segment_bytes = 1 << 16;

struct alignas(ports::JournalDevice::alignment) Page {
    std::array<std::byte, ports::JournalDevice::alignment> bytes{};
};

class JournalFolderTest : public testing::Test {
protected:
    JournalFolderTest() {
        std::string name = FOREBAY_TEST_DIR "/journal-XXXXXX";
        folder_ = ::mkdtemp(name.data()) == nullptr ? "" : name;
    }
    ~JournalFolderTest() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string path() const { return folder_ + "/journal"; }
    [[nodiscard]] std::unique_ptr<JournalFolder> open() const {
        auto opened = JournalFolder::open(path(), segment_bytes);
        EXPECT_TRUE(opened.has_value());
        return std::move(*opened);
    }

    std::string folder_;
};

TEST_F(JournalFolderTest, KeepsWhatIsWritten) {
    const auto page = std::make_unique<Page>();
    page->bytes.fill(std::byte{7});
    {
        const auto device = open();
        EXPECT_THAT(device->segments(), IsEmpty());
        device->begin_adding(3);
        EXPECT_EQ(device->wait_until_added(), 0);
        device->begin_writing({3, 8192, page->bytes});
        EXPECT_EQ(device->wait(), 0);
        EXPECT_FALSE(device->ended());
    }
    const auto device = open();
    EXPECT_THAT(device->segments(), ElementsAre(3));
    EXPECT_EQ(device->settle(), 0);
    const auto bytes = device->look(3);
    ASSERT_TRUE(bytes.has_value());
    ASSERT_EQ(static_cast<std::int64_t>(bytes->size()), segment_bytes);
    EXPECT_EQ((*bytes)[8191], std::byte{0});
    EXPECT_EQ((*bytes)[8192], std::byte{7});
    EXPECT_EQ(device->remove(3), 0);
    EXPECT_THAT(device->segments(), IsEmpty());
}

TEST_F(JournalFolderTest, DoesNotTakeACopyOfAnotherNameForASecondSegmentOfThatNumber) {
    const auto device = open();
    device->begin_adding(3);
    EXPECT_EQ(device->wait_until_added(), 0);
    std::filesystem::copy_file(path() + "/segment-000003", path() + "/segment-3");
    EXPECT_THAT(device->segments(), ElementsAre(3));
}

TEST_F(JournalFolderTest, MakesASegmentBesideAWrite) {
    const auto page = std::make_unique<Page>();
    const auto device = open();
    device->begin_adding(1);
    EXPECT_EQ(device->wait_until_added(), 0);
    EXPECT_FALSE(device->added());
    device->begin_adding(2);
    device->begin_writing({1, 0, page->bytes});
    EXPECT_EQ(device->wait(), 0);
    EXPECT_EQ(device->wait_until_added(), 0);
    EXPECT_THAT(device->segments(), testing::UnorderedElementsAre(1, 2));
}

TEST_F(JournalFolderTest, SaysWhatGoesWrong) {
    const auto page = std::make_unique<Page>();
    const auto device = open();
    device->begin_writing({9, 0, page->bytes});
    EXPECT_EQ(device->wait(), ENOENT);
}

TEST_F(JournalFolderTest, IsOneDaemonsAtATime) {
    const auto device = open();
    const auto other = JournalFolder::open(path(), segment_bytes);
    ASSERT_FALSE(other.has_value());
    EXPECT_THAT(other.error().message, HasSubstr("another daemon has it"));
}

// Regression: a directory that could not be listed was taken for empty, and its segments would have
// been overwritten.
TEST_F(JournalFolderTest, ThatCannotBeListedIsNotEmpty) {
    const auto device = open();
    device->begin_adding(1);
    EXPECT_EQ(device->wait_until_added(), 0);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{0, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    const auto listed = device->segments();
    const int settled = device->settle();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_THAT(listed, IsEmpty());
    EXPECT_EQ(settled, EMFILE);
    EXPECT_THAT(device->segments(), ElementsAre(1));
}

// Regression: a replay would have applied a journal that other users could write to.
TEST_F(JournalFolderTest, IsRefusedWhereOthersCanWriteToIt) {
    std::filesystem::create_directory(path());
    for (const mode_t mode : {0770U, 0702U, 01777U}) {
        ASSERT_EQ(::chmod(path().c_str(), mode), 0);
        const auto refused = JournalFolder::open(path(), segment_bytes);
        ASSERT_FALSE(refused.has_value());
        EXPECT_THAT(refused.error().message, HasSubstr("others may write to it"));
    }
    ASSERT_EQ(::chmod(path().c_str(), 0755), 0);
    EXPECT_TRUE(JournalFolder::open(path(), segment_bytes).has_value());
}

TEST_F(JournalFolderTest, IsRefusedWhereItIsALink) {
    std::filesystem::create_directory(folder_ + "/real");
    std::filesystem::create_directory_symlink(folder_ + "/real", path());
    const auto refused = JournalFolder::open(path(), segment_bytes);
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, HasSubstr("it is a link"));
}

TEST_F(JournalFolderTest, RefusesALinkInPlaceOfASegment) {
    static_cast<void>(open());
    std::ofstream{folder_ + "/elsewhere"} << "something";
    for (const char* const name : {"segment-000003", "head", "key", "lock"}) {
        const std::string there = path() + "/" + name;
        std::filesystem::remove(there);
        std::filesystem::create_symlink(folder_ + "/elsewhere", there);
        const auto opened = JournalFolder::open(path(), segment_bytes);
        const auto number = std::string_view{name} == "head" ? JournalFolder::head : 3;
        const auto looked = opened ? (*opened)->look(number).map([](auto) {})
                                   : Result<void>{failure(opened.error())};
        ASSERT_FALSE(looked.has_value()) << name;
        EXPECT_THAT(looked.error().message, HasSubstr("it is a link"));
        std::filesystem::remove(there);
    }
}

TEST_F(JournalFolderTest, RefusesASegmentWithAnotherName) {
    const auto device = open();
    device->begin_adding(3);
    EXPECT_EQ(device->wait_until_added(), 0);
    std::filesystem::create_hard_link(path() + "/segment-000003", folder_ + "/elsewhere");
    const auto refused = device->look(3);
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, HasSubstr("another name"));
}

TEST_F(JournalFolderTest, HasAKeyOfItsOwnThatOnlyItsUserCanRead) {
    ports::JournalKey key{};
    {
        const auto device = open();
        key = device->key();
        EXPECT_NE(key, ports::JournalKey{});
        struct stat found{};
        ASSERT_EQ(::stat((path() + "/key").c_str(), &found), 0);
        EXPECT_EQ(found.st_mode & 0777U, 0600U);
    }
    EXPECT_EQ(open()->key(), key) << "it stays";
    ASSERT_EQ(::chmod((path() + "/key").c_str(), 0640), 0);
    EXPECT_FALSE(JournalFolder::open(path(), segment_bytes).has_value()) << "others read it";
}

TEST_F(JournalFolderTest, IsRefusedWhereItsKeyIsGone) {
    {
        const auto device = open();
        device->begin_adding(JournalFolder::head);
        EXPECT_EQ(device->wait_until_added(), 0);
    }
    std::filesystem::remove(path() + "/key");
    const auto refused = JournalFolder::open(path(), segment_bytes);
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, HasSubstr("its key is gone"));
}

TEST_F(JournalFolderTest, KeepsItsHeadBesideTheSegments) {
    const auto device = open();
    EXPECT_TRUE(device->look(JournalFolder::head)->empty());
    device->begin_adding(JournalFolder::head);
    EXPECT_EQ(device->wait_until_added(), 0);
    EXPECT_THAT(device->segments(), IsEmpty());
    EXPECT_EQ(static_cast<std::int64_t>(device->look(JournalFolder::head)->size()),
              JournalFolder::head_bytes);
}

TEST_F(JournalFolderTest, IsNotInMemory) {
    const auto refused = JournalFolder::open("/dev/shm/forebay-journal-test", segment_bytes);
    std::filesystem::remove_all("/dev/shm/forebay-journal-test");
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, HasSubstr("tmpfs"));
}

}  // namespace
}  // namespace forebay::adapters
