// A fixture for tests: one file that a program with a single rank has open. The MPI is scripted,
// but the engine works on a real file of this machine.
#pragma once

#include "collective/mpi/open_file.hpp"
#include "collective/mpi/scripted/mpi.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <string>
#include <unistd.h>

namespace forebay::interposer::scripted {

class OpenedFile : public testing::Test {
protected:
    // `name`: a name for the file and its record, different for each class of tests.
    explicit OpenedFile(const std::string& name)
        : path_{own_path(name)}, record_{own_path(name + ".jsonl")} {
        begin();
        std::ofstream(path_) << "";
        facts_.name = facts_.path = path_;
        facts_.amode = MPI_MODE_RDWR;
        cached_communicator_ =
            make_cached_communicator(MPI_COMM_WORLD, 1, needs_of(settings_), true);
    }
    ~OpenedFile() override {
        ::unlink(path_.c_str());
        ::unlink(record_.c_str());
    }

    OpenFile& open() {
        handle_ = script().make_file(facts_.name, facts_.amode);
        file_ = std::make_unique<OpenFile>(handle_, facts_, settings_, cached_communicator_.get(),
                                           none_);
        return *file_;
    }
    OpenFile& open_recorded() {
        EXPECT_TRUE(settings_.set(Setting::record, record_));
        facts_.recording = true;
        return open();
    }

    // An access to all of `bytes_` at file offset `offset`.
    [[nodiscard]] AccessCall at(MPI_Offset offset) {
        return {0, handle_, AccessStart::offset, offset, bytes_.data(), 5, MPI_BYTE, &status_};
    }
    [[nodiscard]] AccessCall by_pointer() {
        AccessCall access = at(0);
        access.start = AccessStart::pointer;
        return access;
    }

    static std::string text_of(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    // Takes the place of a function of the MPI, and counts its calls.
    struct Own {
        int& passed;
        int operator()(MPI_File) const noexcept {
            passed += 1;
            return MPI_SUCCESS;
        }
    };

    std::string path_;
    std::string record_;
    std::string bytes_ = "hello";
    MPI_Status status_{};
    FileFacts facts_;
    UserSettings settings_;
    std::unique_ptr<CachedCommunicator> cached_communicator_;
    MPI_File handle_ = MPI_FILE_NULL;
    std::unique_ptr<OpenFile> file_;
    LargeCountInquiry none_;
};

}  // namespace forebay::interposer::scripted
