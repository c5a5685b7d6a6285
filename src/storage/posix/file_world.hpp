// For tests of storage adapters: an empty file in a real directory, which is removed afterwards and
// read by plain system calls (a StorageWorld of storage_contract.hpp).
#pragma once

#include "foundation/ports/storage_contract.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <string>
#include <unistd.h>
#include <utility>

namespace forebay::adapters {

using Opener = std::function<Result<std::unique_ptr<ports::FileStorage>>(const std::string& path,
                                                                         IoDirection direction)>;

class FileWorld final : public ports::StorageWorld {
public:
    FileWorld(const std::string& directory, Opener opener)
        : path_{directory + "/forebay_test_XXXXXX"}, opener_{std::move(opener)} {
        const int fd = ::mkstemp(path_.data());
        EXPECT_GE(fd, 0) << path_;
        ::close(fd);
    }
    FileWorld(const FileWorld&) = delete;
    FileWorld& operator=(const FileWorld&) = delete;
    ~FileWorld() override { ::unlink(path_.c_str()); }

    Result<std::unique_ptr<ports::FileStorage>> open(IoDirection direction) override {
        return opener_(path_, direction);
    }
    ports::Bytes contents(const Extent& extent) override {
        ports::Bytes bytes(extent.length.size());
        const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
        EXPECT_GE(::pread(fd, bytes.data(), bytes.size(), extent.begin.bytes()), 0);
        ::close(fd);
        return bytes;
    }
    std::int64_t size() override {
        return static_cast<std::int64_t>(std::filesystem::file_size(path_));
    }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
    Opener opener_;
};

// Directories for test files: on a disk, and in memory.
#ifdef FOREBAY_TEST_DIR
inline constexpr const char* disk_directory = FOREBAY_TEST_DIR;
#else
inline constexpr const char* disk_directory = "/tmp";
#endif
inline constexpr const char* tmpfs_directory = "/dev/shm";

inline ports::StorageWorldMaker file_world(const std::string& name, const std::string& directory,
                                           const Opener& opener) {
    return {name, [directory, opener] { return std::make_unique<FileWorld>(directory, opener); }};
}

// Uses a storage in a forked child whose parent has a request in flight: the child finds nothing of
// the parent's, and writes the bytes [4 MiB, 8 MiB) itself. Returns 0, or the step that failed.
inline int uses_inherited(ports::FileStorage& storage) {
    ports::RequestCompletion completion;
    if (storage.poll({&completion, 1}) != 0) {
        return 1;
    }
    if (!storage.sync()) {
        return 2;
    }
    const ports::Batch own{{ports::extent(4 << 20, 4 << 20)}};
    const auto done = ports::finish(storage, IoDirection::write, own.pieces());
    if (done.system != 0 || done.bytes.bytes() != 4 << 20) {
        return 3;
    }
    return storage.sync() && storage.close() ? 0 : 4;
}

}  // namespace forebay::adapters
