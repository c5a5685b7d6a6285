// Port to files by name, as layouts need them: kind, extended attributes, creating an empty file
// and removing it.
#pragma once

#include "foundation/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forebay::ports {

enum class PathKind { missing, file, directory, other };

struct PathFacts {
    PathKind kind = PathKind::missing;
    std::int64_t bytes = 0;
    std::uint64_t device = 0;       // st_dev: the same for all files of one file system
    std::uint64_t file_system = 0;  // statfs's f_type; 0 if the path does not exist
};

using AttributeValue = std::vector<std::byte>;

class FileAttributes {
public:
    virtual ~FileAttributes() = default;

    // A path that does not exist is PathKind::missing, not an error.
    [[nodiscard]] virtual Result<PathFacts> look(const std::string& path) const = 0;
    // The value; nullopt if the path has no such attribute.
    [[nodiscard]] virtual Result<std::optional<AttributeValue>> get(const std::string& path,
                                                                    const char* name) const = 0;
    virtual Result<void> set(const std::string& path, const char* name,
                             std::span<const std::byte> value) = 0;
    // Creates an empty file whose storage is not allocated yet. On Lustre, open() would already
    // choose its targets (OSTs), so mknod() does it. Error with system EEXIST: the path exists
    // already.
    virtual Result<void> make_file(const std::string& path) = 0;
    virtual Result<void> remove_file(const std::string& path) = 0;
};

}  // namespace forebay::ports
