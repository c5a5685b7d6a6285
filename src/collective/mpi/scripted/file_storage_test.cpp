// Whether the pool or the file system opens a file's storage. The pool here fails to open, so that
// a test sees that it was asked.
#include "collective/mpi/file_storage.hpp"

#include "collective/mpi/scripted/mpi.hpp"
#include "collective/mpi/scripted/pool_calls_check.hpp"

#include <cerrno>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace forebay::interposer::scripted {
namespace {

class FileStorage : public testing::Test {
protected:
    FileStorage() {
        facts_.path = own_path("file_storage_test");
        std::ofstream(facts_.path) << "x";
        facts_.pool = &calls_;
        calls_.open = [](const char*, int, mode_t) {
            errno = EMFILE;
            return -1;
        };
        calls_.open_part = [](const char*, int, std::uint64_t) {
            errno = ENFILE;
            return -1;
        };
    }
    ~FileStorage() override { ::unlink(facts_.path.c_str()); }

    // The errno of opening; 0 if the file system opened it.
    [[nodiscard]] int error_of(IoDirection direction) const {
        const auto opened = open_file_storage(facts_, settings_, direction);
        return opened ? 0 : opened.error().system;
    }

    pool::PoolCalls calls_ = plain_calls;
    FileFacts facts_;
    UserSettings settings_;
};

TEST_F(FileStorage, AFileBelowAPathOfThePoolIsThePools) {
    EXPECT_EQ(error_of(IoDirection::write), EMFILE);
    EXPECT_EQ(error_of(IoDirection::read), EMFILE);
}

TEST_F(FileStorage, AFileThatIsNotThereAnyMoreIsTheFileSystems) {
    calls_.covers = [](const char*) { return false; };
    EXPECT_EQ(error_of(IoDirection::write), 0);
    EXPECT_EQ(error_of(IoDirection::read), 0);
}

TEST_F(FileStorage, AProcessWithoutAPoolHasTheFileSystem) {
    facts_.pool = nullptr;
    EXPECT_EQ(error_of(IoDirection::write), 0);
}

TEST_F(FileStorage, AFileInPartsIsWrittenInPartsAndReadPastThePools) {
    facts_.group = 7;
    EXPECT_EQ(error_of(IoDirection::write), ENFILE);
    EXPECT_EQ(error_of(IoDirection::read), 0);
}

}  // namespace
}  // namespace forebay::interposer::scripted
