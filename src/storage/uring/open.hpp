// Opens a file with the storage adapter that suits its kernel and its requests.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "foundation/ports/storage.hpp"
#include "storage/uring/storage.hpp"

#include <memory>
#include <string>

namespace forebay::adapters {

// The setting `storage` has the first three. `written_out`: as `posix`, and a write is complete
// when the device has it, for a process that has no room for dirty pages.
enum class StoragePreference { automatic, uring, posix, written_out };

// Opens an existing file, through io_uring if the system allows it and `preference` does not
// exclude it, else through threads. StoragePreference::uring fails if io_uring is not allowed. With
// StoragePreference::automatic only a descriptor is opened until a request needs a queue: most
// ranks do all their requests synchronously.
[[nodiscard]] Result<std::unique_ptr<ports::FileStorage>> open_storage(
    const std::string& path, IoDirection direction,
    StoragePreference preference = StoragePreference::automatic);
// As open_storage(), for a file that is open already; `path` is for messages.
[[nodiscard]] Result<std::unique_ptr<ports::FileStorage>> storage_of(
    OwnFd fd, const std::string& path, StoragePreference preference = StoragePreference::automatic,
    SubmitterKind caller = SubmitterKind::may_wait);

}  // namespace forebay::adapters
