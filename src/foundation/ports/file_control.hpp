// The pool's calls on a file beside reading and writing it.
#pragma once

#include "foundation/base/units.hpp"
#include "foundation/ports/stamp.hpp"

#include <cstdint>
#include <optional>

namespace forebay::ports {

class FileControl {
public:
    virtual ~FileControl() = default;

    // Errnos; 0: done.
    [[nodiscard]] virtual int truncate(Length bytes) = 0;
    // Makes durable what anybody has written to the file, also where this may not write to it.
    [[nodiscard]] virtual int sync() = 0;
    // When the file was last changed, as who asks for it is to see; nanoseconds of CLOCK_REALTIME.
    [[nodiscard]] virtual int set_modified(std::int64_t time_ns) = 0;
    // False where no name is left: nobody will ever read what is not open.
    [[nodiscard]] virtual bool has_name() = 0;
    // The file's attributes as of now; nullopt: not known.
    [[nodiscard]] virtual std::optional<ChangeStamp> stamp() = 0;
    // Bytes that a user may still write to its file system; negative where that cannot be told.
    [[nodiscard]] virtual std::int64_t room() = 0;
};

}  // namespace forebay::ports
