// How a node tells another one which file it hands bytes over of, and how that one opens it.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "pool/cluster/handover/handover_client.hpp"
#include "pool/cluster/handover/handover_server.hpp"

#include <optional>
#include <string>

namespace forebay::daemon {

// The file's identity, with the path by which another node is to open it. nullopt: it has none that
// another node can use.
[[nodiscard]] std::optional<cluster::FileForOthers> file_for_others(const OwnFd& fd,
                                                                    const std::string& place);

// Opens the file for durable writing by threads (O_DSYNC): a completed write needs no fsync on this
// node, and none is made by the kernel after this process has ended. Fails where the path leads to
// nothing that can be written, or to another file. May block on the file system.
[[nodiscard]] Result<cluster::OpenedForOthers> open_for_others(const protocol::HandedFile& identity,
                                                               const std::string& path);

}  // namespace forebay::daemon
