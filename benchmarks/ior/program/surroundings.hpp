// Reads a run's environment: machine, file system, environment variables and files.
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

// Hints IOR_HINT__MPI__name=value, first from the environment, then from the hints file. A value
// may contain '='. Other IOR_HINT__… variables (GPFS) are appended to `ignored`.
Result<Hints> read_hints(const std::string& hints_file, std::vector<std::string>& ignored);

// IOR_FAKE_NODES and IOR_FAKE_TASK_PER_NODES, for trying -C and -Q on one node; 0: not set.
struct FakeNodes {
    std::int64_t nodes = 0;
    std::int64_t tasks_of_node = 0;
};
[[nodiscard]] FakeNodes fake_nodes();

// Fills capacity, free space and inodes of `test` for the file system of `file`.
void look_at_file_system(const std::string& file, ior::TestResult& test);

// Free bytes of the file system on which `file` is, or will be created; nullopt: unknown.
[[nodiscard]] std::optional<std::int64_t> free_bytes_at(const std::string& file);

[[nodiscard]] std::int64_t memory_of_node();

Result<std::string> read_text(const std::string& path);
// The size of a file; nullopt if it does not exist.
[[nodiscard]] std::optional<std::int64_t> file_bytes(const std::string& path);
// The size after writes on other nodes: opens the file, because an NFS client asks its server at
// open() but not at each stat().
[[nodiscard]] std::optional<std::int64_t> file_bytes_now(const std::string& path);

[[nodiscard]] std::vector<std::string> environment_lines();

}  // namespace forebay::bench
