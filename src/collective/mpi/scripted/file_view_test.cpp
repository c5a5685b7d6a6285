// Views made from the arguments of MPI_File_set_view.
#include "collective/mpi/file_view.hpp"

#include "collective/mpi/scripted/mpi.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace forebay::interposer::scripted {
namespace {

using engine::Refusal;

class FileViewOf : public testing::Test {
protected:
    FileViewOf() { begin(); }
    [[nodiscard]] FileView made(const ViewArguments& arguments) const {
        return FileView::make(arguments, none_);
    }

    LargeCountInquiry none_;
};

TEST_F(FileViewOf, AFileThatWasJustOpenedIsItsBytes) {
    const FileView view;
    EXPECT_EQ(view.refusal, Refusal::none);
    EXPECT_TRUE(view.bytes.contiguous());
    EXPECT_TRUE(view.reaches(0, 1 << 30));
}

TEST_F(FileViewOf, AVectorGoesByItsPieces) {
    const MPI_Datatype type = script().make_vector(3, 4, 10);
    const FileView view = made({100, MPI_INT, type, "native", MPI_INFO_NULL});
    ASSERT_EQ(view.refusal, Refusal::none);
    EXPECT_EQ(view.etype_bytes, 4);
    EXPECT_EQ(view.bytes.offset_of(0), Offset{100});
    EXPECT_EQ(view.bytes.offset_of(4), Offset{110});
    EXPECT_EQ(view.bytes.offset_of(12), Offset{124}) << "the second tile";
}

TEST_F(FileViewOf, WhatTheMpiWouldNotTakeIsRefused) {
    EXPECT_EQ(made({0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL}).refusal,
              Refusal::data_representation);
    EXPECT_EQ(made({0, MPI_BYTE, MPI_BYTE, nullptr, MPI_INFO_NULL}).refusal,
              Refusal::data_representation);
    EXPECT_EQ(made({-1, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL}).refusal,
              Refusal::view_unsupported);
    EXPECT_EQ(made({0, MPI_DATATYPE_NULL, MPI_BYTE, "native", MPI_INFO_NULL}).refusal,
              Refusal::view_unsupported);
    EXPECT_EQ(made({0, MPI_BYTE, MPI_DATATYPE_NULL, "native", MPI_INFO_NULL}).refusal,
              Refusal::view_unsupported);
}

TEST_F(FileViewOf, ATypeThatDescendsIsRefused) {
    const MPI_Datatype type = script().make_vector(3, 4, -10);
    script().types[type].extent = 24;
    EXPECT_EQ(made({0, MPI_BYTE, type, "native", MPI_INFO_NULL}).refusal,
              Refusal::view_unsupported);
}

TEST_F(FileViewOf, WithoutDataOnlyEmptyAccessesReachTheFile) {
    const FileView view =
        made({0, MPI_BYTE, script().make_vector(0, 4, 10), "native", MPI_INFO_NULL});
    EXPECT_TRUE(view.without_data);
    EXPECT_TRUE(view.reaches(0, 0));
    EXPECT_FALSE(view.reaches(0, 1));
}

// PnetCDF's header: the bounds of the type, which set its extent, end before its bytes do.
TEST_F(FileViewOf, ATypeThatIsShorterThanItsBytesIsUsedOnce) {
    const MPI_Datatype type = script().make_vector(3, 4, 10);
    script().types[type].extent = 16;
    const FileView view = made({0, MPI_BYTE, type, "native", MPI_INFO_NULL});
    ASSERT_EQ(view.refusal, Refusal::none);
    EXPECT_TRUE(view.one_tile);
    EXPECT_TRUE(view.reaches(0, 12));
    EXPECT_FALSE(view.reaches(0, 13));
}

TEST_F(FileViewOf, OffsetsBeyond63BitsAreNotReached) {
    const FileView view =
        made({0, MPI_BYTE, script().make_vector(2, 1, 1 << 30), "native", MPI_INFO_NULL});
    ASSERT_EQ(view.refusal, Refusal::none);
    EXPECT_TRUE(view.reaches(0, 1 << 20));
    EXPECT_FALSE(view.reaches(std::int64_t{1} << 40, 1));
    EXPECT_FALSE(view.reaches(-1, 1));
    EXPECT_FALSE(view.reaches(1, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace
}  // namespace forebay::interposer::scripted
