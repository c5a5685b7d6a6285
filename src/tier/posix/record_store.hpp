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

// A folder of sidecar files, made when the first is needed. A sidecar goes before the attribute: it
// is there only where the attribute could not be set, and from then on the attribute is not used.
// Threads may use it at once, for different files.
class SidecarFolder {
public:
    // `folder` is an open directory that outlives this object, in which the sidecars' folder `name`
    // is made.
    SidecarFolder(int folder, std::string name) : parent_{folder}, name_{std::move(name)} {}

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
    std::mutex mutex_;  // protects folder_, which once it is open stays so
    OwnFd folder_;
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
