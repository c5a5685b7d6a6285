// A fixture for tests of one part of an open file alone: the context that its parts share.
#pragma once

#include "collective/mpi/file_context.hpp"
#include "collective/mpi/scripted/mpi.hpp"

#include <gtest/gtest.h>
#include <memory>

namespace forebay::interposer::scripted {

class PartOfAFile : public testing::Test {
protected:
    PartOfAFile() {
        begin();
        facts_.name = facts_.path = "a_file";
        facts_.amode = MPI_MODE_RDWR;
        ranks_ = make_cached_communicator(MPI_COMM_WORLD, 1, needs_of(UserSettings{}), true);
    }

    // Makes the context with the present `facts_`.
    FileContext& open_context() {
        const MPI_File handle = script().make_file(facts_.name, facts_.amode);
        file_.reset(new FileContext{handle, facts_, ranks_.get(), none_});
        return *file_;
    }

    FileFacts facts_;
    LargeCountInquiry none_;
    std::unique_ptr<CachedCommunicator> ranks_;
    std::unique_ptr<FileContext> file_;
};

}  // namespace forebay::interposer::scripted
