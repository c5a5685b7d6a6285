// Where accesses lie by the program's view, and how its file pointer moves.
#include "collective/mpi/program_view.hpp"

#include "collective/mpi/scripted/file_context_check.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <optional>

namespace forebay::interposer::scripted {
namespace {

constexpr std::int64_t any_pieces = std::numeric_limits<std::int64_t>::max();

class ProgramViewOf : public PartOfAFile {
protected:
    ProgramViewOf() { view_.emplace(open_context()); }

    // Sets a view of every second byte from byte 1 on.
    int set_vector() {
        const MPI_Datatype type = script().make_vector(10, 1, 2);
        return view_->set({1, MPI_BYTE, type, "native", MPI_INFO_NULL}, any_pieces);
    }
    [[nodiscard]] static PassedAccess five_bytes_at(MPI_Offset offset) {
        PassedAccess passed;
        passed.offset = offset;
        passed.count = 5;
        passed.datatype = MPI_BYTE;
        return passed;
    }

    std::optional<ProgramView> view_;
};

TEST_F(ProgramViewOf, AnAccessTouchesWhatTheViewSays) {
    EXPECT_EQ(view_->extent_of(five_bytes_at(3)), (Extent{Offset{3}, Length{5}}));
    ASSERT_EQ(set_vector(), MPI_SUCCESS);
    EXPECT_EQ(view_->extent_of(five_bytes_at(1)), (Extent{Offset{3}, Length{9}}));
}

TEST_F(ProgramViewOf, AnAccessByThePointerStartsThere) {
    file_of(file_->handle).position = 4;
    PassedAccess passed = five_bytes_at(0);
    passed.start = AccessStart::pointer;
    EXPECT_EQ(view_->extent_of(passed), (Extent{Offset{4}, Length{5}}));
}

TEST_F(ProgramViewOf, SomeAccessesCannotBeTold) {
    PassedAccess shared = five_bytes_at(0);
    shared.start = AccessStart::shared_pointer;
    EXPECT_EQ(view_->extent_of(shared), std::nullopt);
    PassedAccess wrong = five_bytes_at(-1);
    EXPECT_EQ(view_->extent_of(wrong), std::nullopt);
    wrong = five_bytes_at(0);
    wrong.count = -1;
    EXPECT_EQ(view_->extent_of(wrong), std::nullopt);
    wrong = five_bytes_at(0);
    wrong.datatype = MPI_DATATYPE_NULL;
    EXPECT_EQ(view_->extent_of(wrong), std::nullopt);
    ASSERT_EQ(view_->set({0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL}, any_pieces),
              MPI_SUCCESS);
    EXPECT_EQ(view_->extent_of(five_bytes_at(0)), std::nullopt);
}

TEST_F(ProgramViewOf, AViewThatTheMpiRefusesDoesNotCount) {
    script().failing["File_set_view"] = MPI_ERR_ARG;
    EXPECT_EQ(set_vector(), MPI_ERR_ARG);
    EXPECT_TRUE(view_->decoded().bytes.contiguous());
}

TEST_F(ProgramViewOf, ThePointerMovesByWholeEtypes) {
    ASSERT_EQ(view_->set({0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL}, any_pieces), MPI_SUCCESS);
    ASSERT_EQ(view_->move_pointer(8), MPI_SUCCESS);
    EXPECT_EQ(file_of(file_->handle).position, 2);
    EXPECT_DEATH(static_cast<void>(view_->move_pointer(3)), "whole etypes");
}

TEST_F(ProgramViewOf, OneRankAccessesTheHandleUnlessItsViewIsHeld) {
    MPI_File used = MPI_FILE_NULL;
    const auto pass = [&](MPI_File on) noexcept {
        used = on;
        return MPI_SUCCESS;
    };
    ASSERT_EQ(view_->access_alone(AccessStart::shared_pointer, pass), MPI_SUCCESS);
    EXPECT_EQ(used, file_->handle);
    const MPI_Datatype type = script().make_vector(10, 1, 2);
    ASSERT_EQ(view_->set({1, MPI_BYTE, type, "native", MPI_INFO_NULL}, 3), MPI_SUCCESS);
    EXPECT_TRUE(view_->held_here());
    EXPECT_EQ(view_->access_alone(AccessStart::shared_pointer, pass),
              MPI_ERR_UNSUPPORTED_OPERATION);
}

}  // namespace
}  // namespace forebay::interposer::scripted
