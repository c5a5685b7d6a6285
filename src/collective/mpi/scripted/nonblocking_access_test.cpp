// Non-blocking collective calls on a file in a pool (a stub, pool_calls_check.hpp): what a rank
// does by itself, and by which call it leaves the rest to the MPI.
#include "collective/mpi/open_file.hpp"
#include "collective/mpi/scripted/mpi.hpp"
#include "collective/mpi/scripted/open_file_check.hpp"
#include "collective/mpi/scripted/pool_calls_check.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::interposer::scripted {
namespace {

ssize_t fail_to_write(int /*fd*/, const void* /*from*/, std::size_t /*bytes*/, off_t /*at*/) {
    errno = EIO;
    return -1;
}

class NonBlocking : public OpenedFile {
protected:
    NonBlocking() : OpenedFile{"nonblocking_access_test"} {
        facts_.pooled = true;
        facts_.pool = &calls_;
        struct stat found{};
        EXPECT_EQ(::stat(path_.c_str(), &found), 0);
        facts_.identity = ports::FileIdentity{found.st_dev, found.st_ino};
    }
    ~NonBlocking() override { file_.reset(); }  // before `calls_` is destroyed

    int write(MPI_Offset offset) { return start(at(offset), IoDirection::write); }
    int start(AccessCall access, IoDirection direction) {
        access.status = nullptr;  // the request carries it
        request_ = MPI_REQUEST_NULL;
        return file_->start(access, direction, {&request_, together_, alone_});
    }
    // The bytes that the last request reports, as MPI_Wait would.
    MPI_Count told() {
        EXPECT_NE(request_, MPI_REQUEST_NULL);
        const Generalised& one = script().requests.at(static_cast<std::size_t>(request_) - 1);
        EXPECT_TRUE(one.complete);
        MPI_Status status{};
        EXPECT_EQ(one.query(one.state, &status), MPI_SUCCESS);
        EXPECT_EQ(status.MPI_SOURCE, MPI_UNDEFINED);
        EXPECT_EQ(one.cancel(one.state, 1), MPI_SUCCESS);
        EXPECT_EQ(one.free(one.state), MPI_SUCCESS);
        return script().elements;
    }
    [[nodiscard]] std::string text() const { return text_of(path_); }
    [[nodiscard]] std::string record() const { return text_of(record_); }

    int passed_together_ = 0;
    int passed_alone_ = 0;
    pool::PoolCalls calls_ = plain_calls;
    MPI_Request request_ = MPI_REQUEST_NULL;

private:
    Own together_{passed_together_};
    Own alone_{passed_alone_};
};

TEST_F(NonBlocking, WritesAndReadsWithinTheCall) {
    OpenFile& file = open_recorded();
    script().log.clear();
    ASSERT_EQ(write(3), MPI_SUCCESS);
    EXPECT_EQ(told(), 5);
    EXPECT_EQ(text(), std::string(3, '\0') + "hello");
    bytes_ = "?????";
    ASSERT_EQ(start(at(4), IoDirection::read), MPI_SUCCESS);
    EXPECT_EQ(told(), 4) << "the file ends there";
    EXPECT_EQ(bytes_, "ello?");
    for (const char* name : {"Allgather", "Allreduce", "Bcast", "Iallreduce", "Wait"}) {
        EXPECT_EQ(script().calls(name), 0) << name;
    }
    EXPECT_EQ(file.finish(), MPI_SUCCESS);
    EXPECT_EQ(passed_together_ + passed_alone_, 0);
    EXPECT_NE(record().find("\"calls\":1,\"bytes\":5"), std::string::npos) << record();
}

TEST_F(NonBlocking, MovesThePointerByWhatWasAskedFor) {
    open_recorded();
    ASSERT_EQ(start(by_pointer(), IoDirection::write), MPI_SUCCESS);
    ASSERT_EQ(start(by_pointer(), IoDirection::write), MPI_SUCCESS);
    EXPECT_EQ(text(), "hellohello");
    ASSERT_EQ(start(by_pointer(), IoDirection::read), MPI_SUCCESS);
    EXPECT_EQ(told(), 0);
    EXPECT_EQ(file_of(handle_).position, 15);
    AccessCall none = by_pointer();
    none.count = 0;
    ASSERT_EQ(start(none, IoDirection::write), MPI_SUCCESS);
    EXPECT_EQ(told(), 0);
    EXPECT_EQ(file_of(handle_).position, 15);
}

TEST_F(NonBlocking, GoesThroughTheView) {
    OpenFile& file = open_recorded();
    const MPI_Datatype type = script().make_vector(10, 1, 2);
    ASSERT_EQ(file.set_view({1, MPI_BYTE, type, "native", MPI_INFO_NULL}), MPI_SUCCESS);
    ASSERT_EQ(write(1), MPI_SUCCESS);
    EXPECT_EQ(text(), std::string("\0\0\0h\0e\0l\0l\0o", 12));
    bytes_ = "?????";
    ASSERT_EQ(start(at(3), IoDirection::read), MPI_SUCCESS);
    EXPECT_EQ(told(), 3);
    EXPECT_EQ(bytes_, "llo??");
}

TEST_F(NonBlocking, AFailedDepositIsAnErrorOfTheCall) {
    calls_.pwrite = &fail_to_write;
    OpenFile& file = open_recorded();
    EXPECT_EQ(start(by_pointer(), IoDirection::write), MPI_ERR_IO);
    EXPECT_EQ(request_, MPI_REQUEST_NULL);
    EXPECT_EQ(file_of(handle_).raised, std::vector{MPI_ERR_IO});
    EXPECT_EQ(file_of(handle_).position, 0);
    EXPECT_EQ(file.finish(), MPI_SUCCESS);
    EXPECT_NE(record().find("at byte 0"), std::string::npos) << record();
}

// Regression: the caller got an error and, beside it, a request that never completed.
TEST_F(NonBlocking, LeavesNoRequestBehindWhereTheMpiCannotCompleteIt) {
    open_recorded();
    for (const char* name : {"Grequest_start", "Grequest_complete"}) {
        script().failing[name] = MPI_ERR_OTHER;
        EXPECT_EQ(write(0), MPI_ERR_OTHER) << name;
        EXPECT_EQ(request_, MPI_REQUEST_NULL) << name;
    }
    EXPECT_EQ(script().calls("Request_free"), 1) << "of the one that was made";
}

// Regression: the product overflowed, and the record told of 0 bytes.
TEST_F(NonBlocking, DoesNotTellTheBytesOfACallThatAsksForMoreThanCanBeCounted) {
    OpenFile& file = open_recorded();
    AccessCall huge = at(0);
    huge.datatype = script().make_vector(1 << 10, 1 << 10, 1 << 10);
    huge.count = MPI_Count{1} << 44;
    EXPECT_EQ(start(huge, IoDirection::write), MPI_SUCCESS);
    EXPECT_EQ(passed_alone_, 1);
    EXPECT_EQ(file.finish(), MPI_SUCCESS);
    EXPECT_NE(record().find("\"bytes\":-1,\"reason\""), std::string::npos) << record();
}

TEST_F(NonBlocking, LeavesTheCallToTheMpiOnAllRanksOrOnThisOneOnly) {
    OpenFile& file = open_recorded();
    EXPECT_EQ(write(-1), MPI_SUCCESS);
    AccessCall wrong = at(0);
    wrong.count = -1;
    EXPECT_EQ(start(wrong, IoDirection::write), MPI_SUCCESS);
    wrong.count = 1;
    wrong.datatype = MPI_DATATYPE_NULL;
    EXPECT_EQ(start(wrong, IoDirection::write), MPI_SUCCESS);
    EXPECT_EQ(passed_alone_, 3);
    EXPECT_EQ(passed_together_, 0);
    ASSERT_EQ(file.set_atomicity(1), MPI_SUCCESS);
    EXPECT_EQ(write(0), MPI_SUCCESS);
    EXPECT_EQ(passed_together_, 1);
    EXPECT_EQ(text(), "");
    EXPECT_EQ(file.finish(), MPI_SUCCESS);
    EXPECT_NE(record().find("atomic mode"), std::string::npos);
}

TEST_F(NonBlocking, BehindACollectiveCallOfTheMpiItIsTheMpisAsWell) {
    OpenFile& file = open_recorded();
    PassedAccess passed;
    passed.file = handle_;
    passed.collective = true;
    const auto ordered = [](MPI_File) noexcept { return MPI_SUCCESS; };
    ASSERT_EQ(file.leave(passed, ordered), MPI_SUCCESS);
    ASSERT_EQ(write(0), MPI_SUCCESS);
    EXPECT_EQ(passed_together_, 1) << "another rank may still be writing for this one";
    ASSERT_EQ(file.access(at(0), IoDirection::write, ordered), MPI_SUCCESS);
    ASSERT_EQ(write(0), MPI_SUCCESS);
    EXPECT_EQ(passed_together_, 1) << "the ranks have agreed since";
    EXPECT_EQ(told(), 5);
}

// Regression: a rank that held its view forgot this call, which all ranks left to the MPI. So it
// did the next one by itself, while the others waited for it in the MPI's collective call.
TEST_F(NonBlocking, ARankThatHoldsItsViewRemembersWhatAllRanksLeftToTheMpi) {
    ASSERT_TRUE(settings_.set(Setting::view_pieces_max, "3"));
    OpenFile& file = open_recorded();
    ASSERT_EQ(file.set_atomicity(1), MPI_SUCCESS);
    const MPI_Datatype type = script().make_vector(10, 1, 2);
    ASSERT_EQ(file.set_view({1, MPI_BYTE, type, "native", MPI_INFO_NULL}), MPI_SUCCESS);
    ASSERT_EQ(write(0), MPI_SUCCESS);
    EXPECT_EQ(passed_alone_, 1) << "by a handle that has the view";
    ASSERT_EQ(file.set_atomicity(0), MPI_SUCCESS);  // which passes the held view to the MPI
    ASSERT_EQ(write(0), MPI_SUCCESS);
    EXPECT_EQ(passed_together_, 1);
    EXPECT_EQ(file.finish(), MPI_SUCCESS);
}

TEST_F(NonBlocking, AFileThatIsOnlyReadIsTheMpisToRefuse) {
    facts_.amode = MPI_MODE_RDONLY;
    open_recorded();
    EXPECT_EQ(write(0), MPI_SUCCESS);
    EXPECT_EQ(passed_alone_, 1);
    EXPECT_EQ(start(at(0), IoDirection::read), MPI_SUCCESS);
    EXPECT_EQ(passed_alone_, 1);
}

TEST_F(NonBlocking, AFileThatIsNotInThePoolIsLeftAsEver) {
    facts_.pooled = false;
    open_recorded();
    EXPECT_EQ(write(0), MPI_SUCCESS);
    EXPECT_EQ(passed_together_, 1);
}

TEST_F(NonBlocking, AFileThatWasReplacedIsLeftByThisRank) {
    facts_.identity = ports::FileIdentity{1, 2};
    open_recorded();
    EXPECT_EQ(write(0), MPI_SUCCESS);
    EXPECT_EQ(write(0), MPI_SUCCESS);
    EXPECT_EQ(passed_alone_, 2);
    EXPECT_EQ(text(), "");
}

TEST_F(NonBlocking, SwitchedOffAtTheOpenItIsTheMpisCollectiveCall) {
    ASSERT_TRUE(settings_.set(Setting::collective_write, "disable"));
    open_recorded();
    EXPECT_EQ(start(at(0), IoDirection::read), MPI_SUCCESS);
    EXPECT_EQ(passed_together_, 0);
    EXPECT_EQ(write(0), MPI_SUCCESS);
    EXPECT_EQ(passed_together_, 1);
}

TEST_F(NonBlocking, ARequestThatCannotBeMadeIsAnError) {
    open_recorded();
    script().failing["Grequest_start"] = MPI_ERR_OTHER;
    EXPECT_EQ(write(0), MPI_ERR_OTHER);
    EXPECT_EQ(request_, MPI_REQUEST_NULL);
}

}  // namespace
}  // namespace forebay::interposer::scripted
