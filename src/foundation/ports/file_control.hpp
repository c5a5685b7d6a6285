// Port to a pooled file's metadata, for the daemon: everything except reading and writing its
// bytes.
#pragma once

#include "foundation/base/units.hpp"
#include "foundation/ports/stamp.hpp"

#include <cstdint>
#include <optional>

namespace forebay::ports {

class FileControl {
public:
    virtual ~FileControl() = default;

    // Functions that return int return an errno; 0: success.
    [[nodiscard]] virtual int truncate(Length bytes) = 0;
    // Makes durable (fsync) all writes to the file by any process. Works also on a read-only
    // descriptor.
    [[nodiscard]] virtual int sync() = 0;
    // Sets the modification time that later callers of stat see; nanoseconds of CLOCK_REALTIME.
    [[nodiscard]] virtual int set_modified(std::int64_t time_ns) = 0;
    // False if the last link is gone: then nobody can open the file any more, so its bytes may be
    // dropped.
    [[nodiscard]] virtual bool has_name() = 0;
    // The file's present attributes; nullopt if they cannot be read.
    [[nodiscard]] virtual std::optional<ChangeStamp> stamp() = 0;
    // Bytes that an unprivileged user may still write to the file system; negative if it does not
    // tell.
    [[nodiscard]] virtual std::int64_t room() = 0;
};

}  // namespace forebay::ports
