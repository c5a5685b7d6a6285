// Rescue files, byte for byte as schema/rescue.md has them.
#include "pool/daemon/rescue/rescue.hpp"

#include "pool/daemon/tests/server_check.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <iterator>

namespace forebay::daemon {
namespace {

using check::Folder;
using testing::HasSubstr;
using testing::StartsWith;

std::span<const std::byte> bytes_of_text(std::string_view text) {
    return std::as_bytes(std::span{text});
}

std::string contents(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// A file and its deposits as the directory has them.
struct Lost {
    Lost() {
        std::string_view{"/scratch/out.nc"}.copy(slot.path.data(), slot.path.size() - 1);
        slot.error = ENOSPC;
        slot.device = 11;
        slot.inode = 22;
    }
    pool::FileSlot slot{};
};

TEST(Rescue, ChecksumsAreZlibs) {
    EXPECT_EQ(crc32(bytes_of_text("123456789")), 0xCBF43926U);
    EXPECT_EQ(crc32(bytes_of_text("6789"), crc32(bytes_of_text("12345"))), 0xCBF43926U);
    EXPECT_EQ(crc32({}), 0U);
}

TEST(Rescue, AFileHasAHeaderAndItsRuns) {
    const Folder folder;
    const Lost lost;
    RescueFolder rescue{{folder.name()}, 77};
    const std::array runs{daemon::RescueRun{5, bytes_of_text("abc")},
                          daemon::RescueRun{std::int64_t{1} << 33, bytes_of_text("123456789")}};
    const RescuedFile kept = rescue.keep(rescue_of(lost.slot), runs);
    EXPECT_EQ(kept.problem, "");
    EXPECT_EQ(kept.bytes, 12);
    EXPECT_EQ(kept.error, ENOSPC);
    EXPECT_THAT(kept.file, StartsWith(folder.path("forebay-rescue-" + std::to_string(::getpid()))));
    const std::string text = contents(kept.file);
    const std::string header =
        "forebay.rescue/1\n"
        R"({"path":"/scratch/out.nc","device":11,"inode":22,"error":28,)"
        R"("runs":2,"bytes":12,"kept_ns":77})"
        "\n";
    ASSERT_THAT(text, StartsWith(header));
    ASSERT_EQ(text.size(), header.size() + 2 * 24 + 12);
    std::array<std::uint64_t, 2> place{};
    std::uint32_t checksum = 0;
    const std::size_t second = header.size() + 24 + 3;
    std::memcpy(place.data(), text.data() + second, sizeof place);
    std::memcpy(&checksum, text.data() + second + 16, sizeof checksum);
    EXPECT_EQ(place[0], std::uint64_t{1} << 33U);
    EXPECT_EQ(place[1], 9U);
    EXPECT_EQ(checksum, 0xCBF43926U);
    EXPECT_EQ(text.substr(second + 24), "123456789");
}

TEST(Rescue, TriesFoldersInTheirOrderAndSaysWhenThereIsNone) {
    const Folder folder;
    const Lost lost;
    const std::array runs{daemon::RescueRun{0, bytes_of_text("abc")}};
    RescueFolder second{{"/proc", folder.name()}, 77};
    EXPECT_THAT(second.keep(rescue_of(lost.slot), runs).file, StartsWith(folder.name()));
    EXPECT_THAT(second.keep(rescue_of(lost.slot), runs).file, HasSubstr("/2-out.nc"));
    RescueFolder none{{"/proc"}, 77};
    const RescuedFile nowhere = none.keep(rescue_of(lost.slot), runs);
    EXPECT_EQ(nowhere.file, "");
    EXPECT_THAT(nowhere.problem, HasSubstr("cannot make /proc/"));
}

TEST(Rescue, NameOfARescueFileSteersNoTerminal) {
    const Folder folder;
    Lost lost;
    lost.slot.path.fill('\0');
    std::string_view{"/a/b\x1b[31mc\nd"}.copy(lost.slot.path.data(), lost.slot.path.size() - 1);
    RescueFolder rescue{{folder.name()}, 77};
    const RescuedFile kept = rescue.keep(rescue_of(lost.slot), {});
    EXPECT_THAT(kept.file, HasSubstr("/1-b_[31mc_d"));
    EXPECT_EQ(kept.path, "/a/b\x1b[31mc\nd") << "it is known which file it is of";
}

}  // namespace
}  // namespace forebay::daemon
