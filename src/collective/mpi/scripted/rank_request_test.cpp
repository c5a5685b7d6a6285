// The requests that a rank makes to the engine, and those that it refuses.
#include "collective/mpi/rank_request.hpp"

#include "collective/mpi/scripted/mpi.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <utility>

namespace forebay::interposer::scripted {
namespace {

using engine::Refusal;

class RankRequestOf : public testing::Test {
protected:
    RankRequestOf() { begin(); }

    [[nodiscard]] RankRequest made(const AccessCall& access, MPI_Offset first) const {
        return {view_, access, first, none_};
    }
    [[nodiscard]] FileView view_of(const ViewArguments& arguments) const {
        return FileView::make(arguments, none_);
    }
    [[nodiscard]] AccessCall bytes(MPI_Count count) {
        AccessCall access;
        access.buffer = text_.data();
        access.count = count;
        access.datatype = MPI_BYTE;
        return access;
    }

    std::string text_ = "hello";
    LargeCountInquiry none_;
    FileView view_;
};

TEST_F(RankRequestOf, CountsInBytesOfTheView) {
    view_ = view_of({0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL});
    const RankRequest request = made(bytes(4), 3);
    ASSERT_EQ(request.refusal(), Refusal::none);
    EXPECT_EQ(request.range().position, 12);
    EXPECT_EQ(request.range().length, 4);
    EXPECT_EQ(&request.view(), &view_.bytes);
}

TEST_F(RankRequestOf, KnowsTheProgramsMemory) {
    RankRequest first = made(bytes(5), 0);
    const RankRequest moved = std::move(first);
    const engine::CollectiveCall call = moved.call();
    EXPECT_EQ(call.memory.nest->size(), 1) << "the datatype came along";
    EXPECT_EQ(static_cast<void*>(call.memory.base), text_.data());
    EXPECT_EQ(call.memory.extent, 1);
}

TEST_F(RankRequestOf, PartsOfEtypesAreNotUnderstood) {
    view_ = view_of({0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL});
    EXPECT_EQ(made(bytes(5), 0).refusal(), Refusal::memory_unsupported);
}

TEST_F(RankRequestOf, NoFileReachesThatFar) {
    const RankRequest far = made(bytes(5), std::numeric_limits<MPI_Offset>::max() - 2);
    EXPECT_EQ(far.refusal(), Refusal::view_unsupported);
    EXPECT_EQ(far.range().length, 0) << "nothing is asked for";
}

TEST_F(RankRequestOf, AViewThatIsRefusedPlacesNothing) {
    view_ = view_of({0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL});
    EXPECT_EQ((RankRequest{view_, Refusal::atomic_mode}).refusal(), Refusal::atomic_mode);
    EXPECT_DEATH(static_cast<void>(made(bytes(5), 0)), "places no bytes");
}

}  // namespace
}  // namespace forebay::interposer::scripted
