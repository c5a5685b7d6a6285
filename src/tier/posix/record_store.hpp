// Records of files: in an extended attribute, or in a sidecar file where the file system has none,
// or none so large.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forebay::tier {

// The processes that may make a folder of sidecars, and sidecars in it.
enum class SidecarWriter {
    anybody,       // so that each record is looked for there
    this_process,  // so that a folder that was missing once is missing until it is made here
};

// A folder of sidecar files, made when the first is needed. A sidecar goes before the attribute: it
// is there only where the attribute could not be set, and from then on the attribute is not used.
// Threads may use it at once, for different files.
class SidecarFolder {
public:
    // `folder` is an open directory that outlives this object, in which the sidecars' folder `name`
    // is made.
    SidecarFolder(int folder, std::string name, SidecarWriter writer = SidecarWriter::anybody)
        : parent_{folder}, name_{std::move(name)}, writer_{writer} {}

    // nullopt: the file with this key has none.
    [[nodiscard]] Result<std::optional<std::vector<std::byte>>> read(const std::string& key);
    // Durably, and atomically: a reader finds the old bytes or the new ones.
    Result<void> write(const std::string& key, std::span<const std::byte> bytes);
    // Durably; one that does not exist is no error.
    Result<void> remove(const std::string& key);
    [[nodiscard]] bool has(const std::string& key);

private:
    // -1: there is none.
    int open_folder();

    int parent_;
    std::string name_;
    SidecarWriter writer_;
    std::mutex mutex_;      // protects the next two
    OwnFd folder_;          // once it is open it stays so
    bool missing_ = false;  // it need not be looked for
};

class RecordStore {
public:
    // `attribute` is the extended attribute's name.
    RecordStore(SidecarFolder& sidecars, const char* attribute)
        : sidecars_{sidecars}, attribute_{attribute} {}

    // `key` names the file among sidecars; `path` is for messages.
    struct Place {
        int fd = -1;
        std::string key;
        std::string path;
    };
    [[nodiscard]] Result<std::optional<std::vector<std::byte>>> read(const Place& place);
    Result<void> write(const Place& place, std::span<const std::byte> bytes);
    Result<void> remove(const Place& place);

private:
    SidecarFolder& sidecars_;
    const char* attribute_;
};

}  // namespace forebay::tier
