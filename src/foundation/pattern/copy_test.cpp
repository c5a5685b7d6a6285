// Compares transfers with a byte-by-byte copy.
#include "foundation/pattern/copy.hpp"

#include "foundation/pattern/copy_check.hpp"
#include "foundation/pattern/oracle_gen.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace forebay::pattern {
namespace {

void check(const std::vector<std::uint8_t>& bytes, oracle::Order order) {
    oracle::Choices choices(bytes);
    auto made = oracle::make_case(choices, order);
    RC_PRE(made.has_value());
    const char* const wrong = oracle::wrong_with(*made, choices);
    if (wrong != nullptr) {
        RC_FAIL(std::string(wrong) + ": file " + made->view.filetype().describe() + ", memory " +
                made->memory_nest.describe());
    }
}

RC_GTEST_PROP(WindowedTransfer, MovesEveryByte, ()) {
    check(*oracle::arbitrary_bytes(), oracle::Order::ascending);
}

RC_GTEST_PROP(WindowedTransfer, MovesEveryByteOfMemoryInAnyOrder, ()) {
    check(*oracle::arbitrary_bytes(), oracle::Order::any);
}

// Lengths of pieces on both sides in every ratio and phase that has a copy kernel, and some others.
TEST(WindowedTransfer, PieceLengthsOfBothSides) {
    for (const std::int64_t file : {1, 2, 3, 4, 8, 12, 16, 24, 32, 64, 100, 256, 4096}) {
        for (const std::int64_t memory : {1, 2, 3, 4, 8, 12, 16, 24, 32, 64, 100, 256, 4096}) {
            oracle::Case made;
            const std::int64_t pieces = 3 + 20'000 / (file + memory);
            made.view = View::make(Offset{8}, Nest::repeat(Nest::run(file), pieces, file + 16),
                                   Length{pieces * (file + 16)}, Length{1})
                            .value();
            // Short pieces repeat soon: the request has 64 of each side, and 3 of the longest.
            made.request =
                ViewRange{file / 2, std::min<std::int64_t>(64 * (file + memory), 15'000)};
            made.memory_nest = Nest::repeat(Nest::run(memory), pieces, memory + 8);
            made.memory.extent = pieces * (memory + 8) + 4;
            std::int64_t high = 0;
            for (std::int64_t i = 0; i < made.request.length; ++i) {
                made.offsets.push_back(made.view.offset_of(made.request.position + i).bytes());
                const std::int64_t size = made.memory_nest.size();
                high = i / size * made.memory.extent + made.memory_nest.displacement_of(i % size);
                made.places.push_back(static_cast<std::size_t>(high));
            }
            made.arena.resize(static_cast<std::size_t>(high) + 1);
            made.memory.base = made.arena.data();
            const std::vector<std::uint8_t> choices_of_windows{1, 14, 255, 7, 3, 9, 1, 200, 100};
            oracle::Choices choices(choices_of_windows);
            const char* const wrong = oracle::wrong_with(made, choices);
            EXPECT_EQ(wrong, nullptr) << wrong << ": " << file << " and " << memory;
        }
    }
}

TEST(WindowedTransfer, NothingToMove) {
    const View view;
    const WindowedTransfer transfer(view, ViewRange{5, 0}, RankMemory{});
    std::array<MemoryRun, 2> runs;
    EXPECT_EQ(transfer.gather(Extent{Offset{0}, Length{100}}, {}, nullptr, 0), 0);
    EXPECT_EQ(transfer.scatter(Extent{Offset{0}, Length{100}}, {}), 0);
    EXPECT_EQ(transfer.runs(Extent{Offset{0}, Length{100}}, runs), 0U);
}

TEST(WindowedTransfer, ContiguousOnBothSidesIsOneRun) {
    const View view;
    const Nest byte = Nest::run(1);
    std::vector<std::byte> bytes(1000);
    const WindowedTransfer transfer(view, ViewRange{100, 1000}, RankMemory{bytes.data(), &byte, 1});
    std::array<MemoryRun, 2> runs;
    ASSERT_EQ(transfer.runs(Extent{Offset{0}, Length{5000}}, runs), 1U);
    EXPECT_EQ(runs[0].at, Offset{100});
    EXPECT_EQ(runs[0].bytes, bytes.data());
    EXPECT_EQ(runs[0].length, 1000);
}

TEST(TransferDeathTest, AnImageThatIsTooShortIsNotSkipped) {
    const View view;
    const Nest byte = Nest::run(1);
    std::vector<std::byte> bytes(100);
    const WindowedTransfer transfer(view, ViewRange{0, 100}, RankMemory{bytes.data(), &byte, 1});
    std::vector<std::byte> image(50);
    EXPECT_DEATH(transfer.gather(Extent{Offset{0}, Length{80}}, image, nullptr, 0), "the image");
}

}  // namespace
}  // namespace forebay::pattern
