// A file that a program has open: which calls are taken over, which are left to the MPI, and what
// is reported. With one rank, so that the engine works on a real file of this machine.
#include "collective/mpi/open_file.hpp"

#include "collective/mpi/report.hpp"
#include "collective/mpi/scripted/mpi.hpp"
#include "collective/mpi/scripted/open_file_check.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::interposer::scripted {
namespace {

class OpenFileOf : public OpenedFile {
protected:
    OpenFileOf() : OpenedFile{"open_file_test"} {}

    // Calls that reached the MPI's own function.
    int passed_ = 0;
    PassOn pass() { return own_; }

private:
    Own own_{passed_};
};

TEST_F(OpenFileOf, WritesAndReadsInTheMpisPlace) {
    OpenFile& file = open();
    ASSERT_EQ(file.access(at(3), IoDirection::write, pass()), MPI_SUCCESS);
    EXPECT_EQ(script().elements, 5);
    EXPECT_EQ(text_of(path_), std::string(3, '\0') + "hello");
    bytes_ = "?????";
    ASSERT_EQ(file.access(at(4), IoDirection::read, pass()), MPI_SUCCESS);
    EXPECT_EQ(script().elements, 4) << "the file ends there";
    EXPECT_EQ(bytes_, "ello?");
    EXPECT_EQ(passed_, 0);
    EXPECT_EQ(file_of(handle_).position, 0);
    EXPECT_EQ(file.finish(), MPI_SUCCESS);
}

TEST_F(OpenFileOf, MovesThePointerByWhatWasAskedFor) {
    OpenFile& file = open();
    ASSERT_EQ(file.access(by_pointer(), IoDirection::write, pass()), MPI_SUCCESS);
    ASSERT_EQ(file.access(by_pointer(), IoDirection::write, pass()), MPI_SUCCESS);
    EXPECT_EQ(text_of(path_), "hellohello");
    ASSERT_EQ(file.access(by_pointer(), IoDirection::read, pass()), MPI_SUCCESS);
    EXPECT_EQ(script().elements, 0);
    EXPECT_EQ(file_of(handle_).position, 15);
}

TEST_F(OpenFileOf, ASplitCallTellsItsStatusAtTheEnd) {
    OpenFile& file = open();
    ASSERT_EQ(file.begin(at(0), IoDirection::write, pass()), MPI_SUCCESS);
    EXPECT_EQ(script().elements, -1);
    EXPECT_EQ(file.access(at(0), IoDirection::write, pass()), MPI_SUCCESS);
    EXPECT_EQ(passed_, 1) << "another call meanwhile is the MPI's to refuse";
    EXPECT_EQ(file.end({0, handle_, &status_}, pass()), MPI_SUCCESS);
    EXPECT_EQ(script().elements, 5);
    EXPECT_EQ(file.end({0, handle_, &status_}, pass()), MPI_SUCCESS);
    EXPECT_EQ(passed_, 2) << "nothing was begun";
}

TEST_F(OpenFileOf, LeavesToTheMpiWhatItDoesNotTakeOver) {
    OpenFile& file = open_recorded();
    AccessCall wrong = at(-1);
    EXPECT_EQ(file.access(wrong, IoDirection::write, pass()), MPI_SUCCESS);
    wrong = at(0);
    wrong.count = -1;
    EXPECT_EQ(file.access(wrong, IoDirection::write, pass()), MPI_SUCCESS);
    ASSERT_EQ(file.set_atomicity(1), MPI_SUCCESS);
    EXPECT_EQ(file.access(at(0), IoDirection::write, pass()), MPI_SUCCESS);
    EXPECT_EQ(passed_, 3);
    ASSERT_EQ(file.set_atomicity(0), MPI_SUCCESS);
    EXPECT_EQ(file.access(at(0), IoDirection::write, pass()), MPI_SUCCESS);
    EXPECT_EQ(passed_, 3);
    EXPECT_EQ(file.finish(), MPI_SUCCESS);
    EXPECT_NE(text_of(record_).find("atomic mode"), std::string::npos);
}

// Regression: the product overflowed, and the record told of 0 bytes. The MPI refuses such a call.
TEST_F(OpenFileOf, DoesNotTellTheBytesOfACallThatAsksForMoreThanCanBeCounted) {
    OpenFile& file = open_recorded();
    AccessCall huge = at(0);
    huge.datatype = script().make_vector(1 << 10, 1 << 10, 1 << 10);
    huge.count = MPI_Count{1} << 44;
    EXPECT_EQ(file.access(huge, IoDirection::write, pass()), MPI_SUCCESS);
    PassedAccess alone;
    alone.function = 1;
    alone.file = handle_;
    alone.count = huge.count;
    alone.datatype = huge.datatype;
    EXPECT_EQ(file.leave(alone, pass()), MPI_SUCCESS);
    EXPECT_EQ(passed_, 2);
    EXPECT_EQ(file.finish(), MPI_SUCCESS);
    const std::string record = text_of(record_);
    const std::string unknown = "\"bytes\":-1,\"reason\"";
    const std::size_t first = record.find(unknown);
    ASSERT_NE(first, std::string::npos) << record;
    EXPECT_NE(record.find(unknown, first + 1), std::string::npos) << record;
}

TEST_F(OpenFileOf, LeavesAllOfAFileThatIsNotItsOwn) {
    facts_.standing = Standing::excluded;
    OpenFile& file = open_recorded();
    EXPECT_EQ(file.access(at(0), IoDirection::write, pass()), MPI_SUCCESS);
    EXPECT_EQ(file.begin(at(0), IoDirection::read, pass()), MPI_SUCCESS);
    EXPECT_EQ(passed_, 2);
    EXPECT_EQ(file.finish(), MPI_SUCCESS);
    EXPECT_NE(text_of(record_).find(reason_of(Standing::excluded)), std::string::npos);
}

TEST_F(OpenFileOf, AFileThatWasReplacedIsLeftToTheMpi) {
    facts_.identity = ports::FileIdentity{1, 2};
    OpenFile& file = open_recorded();
    EXPECT_EQ(file.access(at(0), IoDirection::write, pass()), MPI_SUCCESS);
    EXPECT_EQ(passed_, 1);
    EXPECT_EQ(text_of(path_), "");
}

TEST_F(OpenFileOf, AFullDiskCallsTheFilesHandler) {
    facts_.name = facts_.path = "/dev/full";
    OpenFile& file = open_recorded();
    EXPECT_EQ(file.access(at(0), IoDirection::write, pass()), MPI_ERR_NO_SPACE);
    EXPECT_EQ(script().elements, 0);
    EXPECT_EQ(file_of(handle_).raised, std::vector{MPI_ERR_NO_SPACE});
    EXPECT_EQ(file.access(by_pointer(), IoDirection::write, pass()), MPI_ERR_NO_SPACE);
    EXPECT_EQ(file_of(handle_).position, 0);
    report_unclosed(file);
    EXPECT_NE(text_of(record_).find("cannot write /dev/full at byte 0"), std::string::npos);
    EXPECT_NE(text_of(record_).find("\"closed\":false"), std::string::npos);
}

TEST_F(OpenFileOf, HintsCountUntilTheFirstAccess) {
    OpenFile& file = open();
    const auto told = [&](const char* key) {
        MPI_Info info = MPI_INFO_NULL;
        EXPECT_EQ(file.get_info(&info), MPI_SUCCESS);
        return script().info[key];
    };
    script().info = {{"cb_buffer_size", "131072"}, {"striping_unit", "nonsense"}};
    ASSERT_EQ(file.set_info(MPI_INFO_ENV), MPI_SUCCESS);
    script().info.clear();
    EXPECT_EQ(told("forebay_cb_buffer_size"), "131072");
    EXPECT_EQ(told("forebay_active"), "true");
    ASSERT_EQ(file.access(at(0), IoDirection::write, pass()), MPI_SUCCESS);
    script().info = {{"cb_buffer_size", "262144"}};
    ASSERT_EQ(file.set_info(MPI_INFO_ENV), MPI_SUCCESS);
    EXPECT_EQ(told("forebay_cb_buffer_size"), "131072");
}

TEST_F(OpenFileOf, TellsTheModeThatTheProgramGave) {
    facts_.amode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL;
    OpenFile& file = open();
    file_of(handle_).amode = MPI_MODE_RDWR | MPI_MODE_CREATE;  // as if Forebay had created it
    int amode = 0;
    ASSERT_EQ(file.get_amode(&amode), MPI_SUCCESS);
    EXPECT_EQ(amode, facts_.amode);
}

TEST_F(OpenFileOf, AViewThatTheMpiRefusesDoesNotCount) {
    OpenFile& file = open();
    script().failing["File_set_view"] = MPI_ERR_ARG;
    EXPECT_EQ(file.set_view({100, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL}), MPI_ERR_ARG);
    ASSERT_EQ(file.access(at(0), IoDirection::write, pass()), MPI_SUCCESS);
    EXPECT_EQ(text_of(path_), "hello");
}

// Regression: positions were divided by the bytes of an etype, which are 0 here.
TEST_F(OpenFileOf, AViewWhoseEtypeHasNoBytesIsTheMpis) {
    OpenFile& file = open();
    const MPI_Datatype empty = script().make_vector(0, 1, 1);
    ASSERT_EQ(file.set_view({0, empty, empty, "native", MPI_INFO_NULL}), MPI_SUCCESS);
    AccessCall nothing = by_pointer();
    nothing.count = 0;
    EXPECT_EQ(file.access(nothing, IoDirection::write, pass()), MPI_SUCCESS);
    EXPECT_EQ(passed_, 1);
    EXPECT_EQ(file.finish(), MPI_SUCCESS);
}

TEST_F(OpenFileOf, AViewOfVeryManyPiecesIsHeldFromTheMpi) {
    ASSERT_TRUE(settings_.set(Setting::view_pieces_max, "3"));
    struct stat facts{};
    ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
    facts_.identity = ports::FileIdentity{facts.st_dev, facts.st_ino};
    OpenFile& file = open();
    const MPI_Datatype type = script().make_vector(10, 1, 2);
    ASSERT_EQ(file.set_view({1, MPI_BYTE, type, "native", MPI_INFO_NULL}), MPI_SUCCESS);
    EXPECT_EQ(file_of(handle_).filetype, MPI_BYTE);
    ASSERT_EQ(file.access(at(0), IoDirection::write, pass()), MPI_SUCCESS);
    EXPECT_EQ(text_of(path_), std::string("\0h\0e\0l\0l\0o", 10));
    PassedAccess passed;
    passed.count = 1;
    passed.datatype = MPI_BYTE;
    const auto stand_in = [&](MPI_File on) noexcept { return on == handle_ ? MPI_ERR_FILE : 0; };
    EXPECT_EQ(file.leave(passed, stand_in), MPI_SUCCESS);
    passed.collective = true;
    EXPECT_EQ(file.leave(passed, pass()), MPI_SUCCESS);
    EXPECT_NE(file_of(handle_).filetype, MPI_BYTE) << "it is told before a collective call";
    EXPECT_EQ(file.finish(), MPI_SUCCESS);
}

TEST_F(OpenFileOf, SyncTellsTheFirstError) {
    OpenFile& file = open();
    ASSERT_EQ(file.access(at(0), IoDirection::write, pass()), MPI_SUCCESS);
    EXPECT_EQ(file.sync(), MPI_SUCCESS);
    script().failing["File_sync"] = MPI_ERR_IO;
    EXPECT_EQ(file.sync(), MPI_ERR_IO);
}

TEST_F(OpenFileOf, AFileThatIsClosedIsOneLineOfTheRecord) {
    OpenFile& file = open_recorded();
    report_job(file);
    report_job(file);
    ASSERT_EQ(file.access(at(0), IoDirection::write, pass()), MPI_SUCCESS);
    EXPECT_EQ(file.finish(), MPI_SUCCESS);
    const std::string text = text_of(record_);
    EXPECT_EQ(std::ranges::count(text, '\n'), 2) << "the job's line is written once";
    EXPECT_NE(text.find("Scripted MPI 1.0\""), std::string::npos) << text;
    EXPECT_NE(text.find("\"closed\":true"), std::string::npos);
}

TEST_F(OpenFileOf, TheEndOfTheProgramIsOneLineOfTheRecord) {
    report_end(record_);
    const std::string text = text_of(record_);
    EXPECT_EQ(std::ranges::count(text, '\n'), 1);
    EXPECT_NE(text.find("\"kind\":\"end\""), std::string::npos) << text;
}

}  // namespace
}  // namespace forebay::interposer::scripted
