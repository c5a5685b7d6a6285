// Files by name, as far as layouts need them: what they are, their extended attributes, making an
// empty one and removing it.
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
    std::uint64_t device = 0;       // the same on all of one file system
    std::uint64_t file_system = 0;  // statfs's f_type; 0 where it is missing
};

using AttributeValue = std::vector<std::byte>;

class FileAttributes {
public:
    virtual ~FileAttributes() = default;

    // A missing file is a fact, not an error.
    [[nodiscard]] virtual Result<PathFacts> look(const std::string& path) const = 0;
    // nullopt: the file system has no such attribute there.
    [[nodiscard]] virtual Result<std::optional<AttributeValue>> get(const std::string& path,
                                                                    const char* name) const = 0;
    virtual Result<void> set(const std::string& path, const char* name,
                             std::span<const std::byte> value) = 0;
    // An empty file that nothing has been placed for yet; not by opening it, which on Lustre would
    // choose its targets. Error with system EEXIST: it is there already.
    virtual Result<void> make_file(const std::string& path) = 0;
    virtual Result<void> remove_file(const std::string& path) = 0;
};

}  // namespace forebay::ports
