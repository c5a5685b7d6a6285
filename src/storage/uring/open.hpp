// Opens a file in the way that suits its kernel and its requests.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "foundation/ports/storage.hpp"
#include "storage/uring/storage.hpp"

#include <memory>
#include <string>

namespace forebay::adapters {

enum class StoragePreference { automatic, uring, posix };

// Opens an existing file: through io_uring where that is allowed and not unwanted, else through
// threads. StoragePreference::uring fails where it is not allowed. With
// StoragePreference::automatic nothing but a descriptor is made until a request needs more: most
// ranks only ever do requests at once.
[[nodiscard]] Result<std::unique_ptr<ports::FileStorage>> open_storage(
    const std::string& path, IoDirection direction,
    StoragePreference preference = StoragePreference::automatic);
// The same for a file that is open already; `path` is for messages.
[[nodiscard]] Result<std::unique_ptr<ports::FileStorage>> storage_of(
    OwnFd fd, const std::string& path, StoragePreference preference = StoragePreference::automatic,
    SubmitterKind caller = SubmitterKind::may_wait);

}  // namespace forebay::adapters
