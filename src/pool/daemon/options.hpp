// The daemon's options: its command line, the settings, and what they leave to the machine.
#pragma once

#include "foundation/base/result.hpp"
#include "pool/daemon/server.hpp"
#include "pool/policy/memory_limit.hpp"
#include "settings/settings.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace forebay::daemon {

// The resources that the daemon may use on this machine.
struct NodeResources {
    pool::MemoryLimit memory{};  // the node's, or a control group's where that is less
    std::size_t processors = 0;
    std::string folder;  // it was started in
    std::string temporary_folder;
    std::string host;            // its name
    std::int64_t job_end_s = 0;  // since 1970; 0: not known
};
[[nodiscard]] NodeResources look_around();

// Words behind the program's name: --socket PATH and, any number of times, --rescue FOLDER. For the
// daemons of a job, which learn of each other on standard input: --node NUMBER --nodes COUNT, and
// --host NAME by which the others reach this node.
[[nodiscard]] Result<ServerOptions> options_of(std::span<char* const> words,
                                               const UserSettings& settings,
                                               const NodeResources& around);

}  // namespace forebay::daemon
