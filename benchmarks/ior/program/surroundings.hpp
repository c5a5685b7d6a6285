// Reads a run's environment: machine, file system, environment variables, files.
#pragma once

#include "benchmarks/ior/options.hpp"
#include "benchmarks/ior/results.hpp"
#include "foundation/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forebay::bench {

using Hints = std::vector<std::pair<std::string, std::string>>;

struct MachineText {
    std::string brief;     // "Linux vm"
    std::string platform;  // "vm(Linux)"
    std::string full;      // with release, version and architecture
};
[[nodiscard]] MachineText machine_text();

// IOR_HINT__MPI__name=value, first of the environment, then of the hints file. Whole values, also
// with a second '='. Other IOR_HINT__… (GPFS) are named in `ignored`.
Result<Hints> read_hints(const std::string& hints_file, std::vector<std::string>& ignored);

// IOR_FAKE_NODES and IOR_FAKE_TASK_PER_NODES, to try -C and -Q on one node; 0: not set.
struct FakeNodes {
    std::int64_t nodes = 0;
    std::int64_t tasks_of_node = 0;
};
[[nodiscard]] FakeNodes fake_nodes();

// Fills capacity, free space and inodes of `test` from the file system that `file` is on.
void look_at_file_system(const std::string& file, ior::TestResult& test);

// Free bytes of the file system that `file` is or will be on; nullopt: not known.
[[nodiscard]] std::optional<std::int64_t> free_bytes_at(const std::string& file);

[[nodiscard]] std::int64_t memory_of_node();

Result<std::string> read_text(const std::string& path);
// The bytes of a file; nullopt when there is none.
[[nodiscard]] std::optional<std::int64_t> file_bytes(const std::string& path);
// As other nodes have left it: NFS asks its server when a file is opened, and not for each stat.
[[nodiscard]] std::optional<std::int64_t> file_bytes_now(const std::string& path);

[[nodiscard]] std::vector<std::string> environment_lines();

}  // namespace forebay::bench
