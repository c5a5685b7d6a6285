// How calls end: status objects, error classes and handlers, exceptions, counts beyond an int.
#include "collective/mpi/status.hpp"

#include "collective/mpi/guard.hpp"
#include "collective/mpi/narrow.hpp"
#include "collective/mpi/scripted/mpi.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <new>
#include <stdexcept>

namespace forebay::interposer::scripted {
namespace {

class Ending : public testing::Test {
protected:
    Ending() { begin(); }
};

TEST_F(Ending, AStatusGetsBytes) {
    MPI_Status status;
    set_status(&status, std::int64_t{5} << 32);
    EXPECT_EQ(script().elements, MPI_Count{5} << 32);
    EXPECT_EQ(script().calls("Status_set_cancelled"), 1);
}

TEST_F(Ending, AStatusThatIsIgnoredGetsNothing) {
    set_status(MPI_STATUS_IGNORE, 7);
    set_status(nullptr, 7);
    EXPECT_TRUE(script().log.empty());
}

TEST_F(Ending, EveryErrorHasAClass) {
    EXPECT_EQ(error_class_of(ErrorCode::no_space), MPI_ERR_NO_SPACE);
    EXPECT_EQ(error_class_of(ErrorCode::quota), MPI_ERR_QUOTA);
    EXPECT_EQ(error_class_of(ErrorCode::read_only), MPI_ERR_READ_ONLY);
    EXPECT_EQ(error_class_of(ErrorCode::access), MPI_ERR_ACCESS);
    EXPECT_EQ(error_class_of(ErrorCode::input_output), MPI_ERR_IO);
    EXPECT_EQ(error_class_of(ErrorCode::unsupported), MPI_ERR_IO) << "has none of its own";
    EXPECT_STREQ(error_class_name(ErrorCode::no_space), "MPI_ERR_NO_SPACE");
}

TEST_F(Ending, AtOpenTheHandlerOfNoFileIsAsked) {
    EXPECT_EQ(raise_at_open(MPI_ERR_OTHER), MPI_ERR_OTHER);
    EXPECT_EQ(script().calls("File_call_errhandler"), 0) << "errors are returned";
    script().handler_at_open = 55;
    EXPECT_EQ(raise_at_open(MPI_ERR_OTHER), MPI_ERR_OTHER);
    EXPECT_EQ(script().calls("File_call_errhandler"), 1);
    script().handler_at_open = MPI_ERRORS_ARE_FATAL;
    EXPECT_DEATH(static_cast<void>(raise_at_open(MPI_ERR_OTHER)), "MPI_Abort");
}

// Regression: the exception ended the process by std::terminate.
TEST_F(Ending, ACallWithoutMemoryEndsWithAnErrorOfTheMpis) {
    MPI_File file = script().make_file("/x", 0);
    const auto without_memory = []() -> int { throw std::bad_alloc(); };
    EXPECT_EQ(guarded(file, WaitingRanks::none, without_memory), MPI_ERR_NO_MEM);
    EXPECT_EQ(file_of(file).raised, std::vector{MPI_ERR_NO_MEM});
    const auto mistaken = []() -> int { throw std::length_error("too long"); };
    EXPECT_EQ(guarded(file, WaitingRanks::none, mistaken), MPI_ERR_INTERN);
    EXPECT_DEATH(guarded(file, WaitingRanks::others, without_memory), "no memory is left");
}

TEST_F(Ending, ACallThatSucceedsLeavesErrnoAlone) {
    const auto body = [](int code) {
        return [code] {
            errno = EAGAIN;
            return code;
        };
    };
    errno = ENOENT;
    EXPECT_EQ(guarded(MPI_FILE_NULL, WaitingRanks::none, body(MPI_SUCCESS)), MPI_SUCCESS);
    EXPECT_EQ(errno, ENOENT);
    EXPECT_EQ(guarded(MPI_FILE_NULL, WaitingRanks::none, body(MPI_ERR_IO)), MPI_ERR_IO);
    EXPECT_EQ(errno, EAGAIN);
}

TEST_F(Ending, CountsThatFitAreGivenAsTheyAre) {
    const auto older = [](int count, MPI_Datatype type) noexcept {
        EXPECT_EQ(count, 12);
        EXPECT_EQ(type, MPI_INT);
        return MPI_SUCCESS;
    };
    EXPECT_EQ(narrowed(12, MPI_INT, older), MPI_SUCCESS);
    const auto wrong = [](int count, MPI_Datatype) noexcept {
        return count < 0 ? MPI_ERR_COUNT : 0;
    };
    EXPECT_EQ(narrowed(-1, MPI_INT, wrong), MPI_ERR_COUNT) << "is the MPI's to refuse";
}

TEST_F(Ending, CountsBeyondAnIntBecomeOneElement) {
    constexpr MPI_Count count = (MPI_Count{5} << 30) + 77;
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const auto older = [&](int few, MPI_Datatype type) noexcept {
        EXPECT_EQ(few, 1);
        made = type;
        return MPI_SUCCESS;
    };
    EXPECT_EQ(narrowed(count, MPI_INT, older), MPI_SUCCESS);
    EXPECT_EQ(script().types.at(made).size, 4 * count);
    EXPECT_EQ(script().types.at(made).extent, 4 * count);
    EXPECT_EQ(script().calls("Type_commit"), 1);
    EXPECT_EQ(script().calls("Type_free"), 3) << "as many as were made";
}

TEST_F(Ending, AnExtentIsWidened) {
    MPI_Count extent = 0;
    EXPECT_EQ(forebay_narrow_get_type_extent_c(nullptr, MPI_INT, &extent), MPI_SUCCESS);
    EXPECT_EQ(extent, 4);
}

}  // namespace
}  // namespace forebay::interposer::scripted
