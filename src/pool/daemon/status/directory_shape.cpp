// Lists offsets and sizes of the directory as the compiler has chosen them.
#include "pool/daemon/status/directory_shape.hpp"

#include "pool/protocol/directory.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>

namespace forebay::daemon {

std::string directory_shape() {
    using pool::FileSlot;
    const nlohmann::ordered_json shape = {{"format", pool::format},
                                          {"alive", offsetof(pool::DirectoryHeader, alive)},
                                          {"high", offsetof(pool::DirectoryHeader, high)},
                                          {"files", offsetof(pool::Directory, files)},
                                          {"files_max", pool::files_max},
                                          {"file_bytes", sizeof(FileSlot)},
                                          {"state", offsetof(FileSlot, state)},
                                          {"error", offsetof(FileSlot, error)},
                                          {"taken", offsetof(FileSlot, taken)},
                                          {"drained", offsetof(FileSlot, drained)},
                                          {"path", offsetof(FileSlot, path)},
                                          {"path_bytes", pool::path_bytes}};
    return shape.dump();
}

}  // namespace forebay::daemon
