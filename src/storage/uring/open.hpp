// Opens a file in the way that suits its kernel and its requests.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "foundation/ports/storage.hpp"
#include "storage/uring/storage.hpp"

#include <memory>
#include <string>

namespace forebay::adapters {

enum class Preference { automatic, uring, posix };

// Opens an existing file: through io_uring where that is allowed and not unwanted, else through
// threads. Preference::uring fails where it is not allowed. With Preference::automatic nothing but
// a descriptor is made until a request needs more: most ranks only ever do requests at once.
[[nodiscard]] Result<std::unique_ptr<ports::Storage>> open_storage(
    const std::string& path, Direction direction, Preference preference = Preference::automatic);
// The same for a file that is open already; `path` is for messages.
[[nodiscard]] Result<std::unique_ptr<ports::Storage>> storage_of(
    OwnFd fd, const std::string& path, Preference preference = Preference::automatic,
    Caller caller = Caller::may_wait);

}  // namespace forebay::adapters
