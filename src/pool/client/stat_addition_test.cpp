// Tests what stat returns for a pooled file: sizes, blocks and times of the pool beside the file
// system's.
#include "pool/client/stat_addition.hpp"

#include "pool/client/log_writer.hpp"
#include "pool/client/lost_deposits.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace forebay::pool {
namespace {

class NoDaemon final : public Daemon {
public:
    [[nodiscard]] bool alive() const noexcept override { return true; }
    [[nodiscard]] std::int64_t now_ns() const noexcept override { return 0; }
    void kick() noexcept override {}
    void wait(const Word& /*word*/, std::uint32_t /*seen*/) noexcept override {}
    [[nodiscard]] Log log_of(std::uint32_t /*client*/) noexcept override { return {}; }
    void prepare(std::byte* /*begin*/, std::size_t /*bytes*/) noexcept override {}
};

class StatAdditions : public testing::Test {
protected:
    StatAdditions() {
        void* const at = ::mmap(nullptr, sizeof(Directory), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        EXPECT_NE(at, MAP_FAILED);
        directory = static_cast<Directory*>(at);
        slot().generation.store(file.generation);
    }
    ~StatAdditions() override { ::munmap(directory, sizeof(Directory)); }
    [[nodiscard]] FileSlot& slot() const { return directory->files[file.slot]; }
    [[nodiscard]] std::optional<StatAddition> addition() {
        PoolReader reader{*directory, daemon, {}};
        return addition_of(*directory, reader, file, usual_grain);
    }

    static constexpr FileId file{.slot = 3, .generation = 5};
    NoDaemon daemon;
    Directory* directory = nullptr;
};

// The daemon may have drained more than what was counted as taken a moment ago.
TEST_F(StatAdditions, BlocksDoNotShrinkWhileADrainIsCounted) {
    slot().extents.store(1000);
    slot().size.store(std::int64_t{64} << 20);
    slot().taken.store(std::int64_t{1} << 20);
    slot().drained.store(std::int64_t{32} << 20);
    const auto found = addition();
    ASSERT_TRUE(found);
    EXPECT_GE(found->occupied, 0);
    struct stat status{};
    status.st_size = std::int64_t{32} << 20;
    status.st_blocks = status.st_size / 512;
    status.st_blksize = usual_grain;
    const std::int64_t before = status.st_blocks;
    add(*found, found->times, status);
    EXPECT_EQ(status.st_size, std::int64_t{64} << 20);
    EXPECT_GE(status.st_blocks, before);
}

TEST_F(StatAdditions, AFileThatWasForgottenHasNone) {
    slot().generation.store(file.generation + 1);
    EXPECT_FALSE(addition());
}

TEST_F(StatAdditions, TheTimeOfChangeIsNotThatOfTheDraining) {
    constexpr std::int64_t second = 1'000'000'000;
    const ChangeTimes times{.modified_ns = 0, .stamped_ns = 9 * second, .changed_ns = 4 * second};
    struct stat status{};
    status.st_ctim.tv_sec = 9;
    set_change_time(times, times, status);
    EXPECT_EQ(status.st_ctim.tv_sec, 4);
    status.st_ctim.tv_sec = 10;
    set_change_time(times, times, status);
    EXPECT_EQ(status.st_ctim.tv_sec, 10) << "a program has changed the file since";
}

TEST_F(StatAdditions, AFileOfADeadDaemonLacksDepositsThatWereNotDrained) {
    PoolReader reader{*directory, daemon, {}};
    const auto lacks = [&] { return lacks_deposits(*directory, &reader, file); };
    slot().state.store(FileState::pooled);
    EXPECT_FALSE(lacks());
    slot().taken.store(10);
    EXPECT_TRUE(lacks());
    slot().drained.store(10);
    EXPECT_FALSE(lacks());
    slot().extents.store(1);
    EXPECT_TRUE(lacks());
    slot().state.store(FileState::through);
    EXPECT_FALSE(lacks());
    slot().state.store(FileState::leaving);
    EXPECT_TRUE(lacks());
    slot().generation.store(file.generation + 1);
    EXPECT_FALSE(lacks());
}

TEST(LostDeposits, AFileThatSomebodyHasWrittenToSinceIsNotTheLostOne) {
    constexpr std::int64_t second = 1'000'000'000;
    const ChangeTimes written{.modified_ns = 5 * second};
    EXPECT_TRUE(is_untouched(written, 4 * second));
    EXPECT_TRUE(is_untouched(written, 5 * second + 5'000'000)) << "within a tick";
    EXPECT_FALSE(is_untouched(written, 6 * second));
    const ChangeTimes drained{.modified_ns = 5 * second, .stamped_ns = 6 * second};
    EXPECT_TRUE(is_untouched(drained, 6 * second)) << "the daemon has drained a part then";
    EXPECT_FALSE(is_untouched(drained, 7 * second));
    const ChangeTimes draining{.modified_ns = 5 * second, .stamped_ns = ChangeTime::unsettled};
    EXPECT_TRUE(is_untouched(draining, 7 * second)) << "it was about to change the file";
    EXPECT_TRUE(is_untouched({}, 7 * second)) << "there is no time to compare with";
}

}  // namespace
}  // namespace forebay::pool
