// Segments as files: what is written is there when the folder is opened again.
#include "adapters/posix/journal_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <gmock/gmock.h>
#include <new>

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

// It was taken for empty, and its segments would have been written over.
TEST_F(JournalFolderTest, ThatCannotBeListedIsNotEmpty) {
    const auto device = open();
    std::filesystem::rename(path(), folder_ + "/elsewhere");
    EXPECT_THAT(device->segments(), IsEmpty());
    EXPECT_EQ(device->settle(), ENOENT);
}

TEST_F(JournalFolderTest, IsNotInMemory) {
    const auto refused = JournalFolder::open("/dev/shm/forebay-journal-test", segment_bytes);
    std::filesystem::remove_all("/dev/shm/forebay-journal-test");
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, HasSubstr("tmpfs"));
}

}  // namespace
}  // namespace forebay::adapters
