// The daemon's options, from its command line, the user's settings and, where these leave it open,
// the machine.
#pragma once

#include "foundation/base/result.hpp"
#include "pool/daemon/server.hpp"
#include "pool/policy/memory_limit.hpp"
#include "settings/settings.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace forebay::daemon {

// The properties of the node and of the environment that options depend on.
struct NodeFacts {
    pool::MemoryLimit memory{};  // of the node, or of a control group if that allows less
    std::size_t processors = 0;
    std::string folder;  // the working directory
    std::string temporary_folder;
    std::string host;            // this node's name
    std::int64_t job_end_s = 0;  // in seconds since 1970; 0: not known
};
[[nodiscard]] NodeFacts probe_node();

// `words` are the arguments after the program's name: --socket PATH and, any number of times,
// --rescue FOLDER, and --samples COUNT (at most CountSamples::most), for samples of its counts in
// the final report. The daemons of a job on several nodes, which learn each other's addresses from
// standard input, also have --node NUMBER, --nodes COUNT, and --host NAME, by which other nodes
// reach this one.
[[nodiscard]] Result<ServerOptions> options_of(std::span<char* const> words,
                                               const UserSettings& settings,
                                               const NodeFacts& around);

}  // namespace forebay::daemon
