// Which bytes of which file a task moves, and in which order. Layout of a shared file (2 tasks, 2
// segments, 2 transfers per block; r: rank, t: transfer):
//
//   | r0 t0 | r0 t1 | r1 t0 | r1 t1 || r0 t0 | r0 t1 | r1 t0 | r1 t1 |
//    `--- block ----'                  `--- second segment …
//
// With a file per process, the blocks of a task are adjacent in its own file.
#pragma once

#include "benchmarks/ior/options.hpp"
#include "benchmarks/measure/mixing.hpp"
#include "foundation/base/result.hpp"
#include "foundation/base/units.hpp"

#include <cstdint>

namespace forebay::ior {

enum class FileSharing { shared, file_per_process };
enum class OffsetOrder { sequential, shuffled, overlapping };

struct TestGeometry {
    std::int64_t tasks = 1;
    std::int64_t block_bytes = 0;
    std::int64_t transfer_bytes = 0;
    std::int64_t segments = 1;
    FileSharing sharing = FileSharing::shared;
    OffsetOrder order = OffsetOrder::sequential;
    std::uint64_t order_seed = 0;

    [[nodiscard]] std::int64_t transfers_of_block() const noexcept {
        return block_bytes / transfer_bytes;
    }
    [[nodiscard]] std::int64_t transfers_of_task() const noexcept {
        return transfers_of_block() * segments;
    }
    [[nodiscard]] std::int64_t bytes_of_task() const noexcept { return block_bytes * segments; }
    [[nodiscard]] std::int64_t bytes_of_file() const noexcept {
        return sharing == FileSharing::shared ? bytes_of_task() * tasks : bytes_of_task();
    }
    [[nodiscard]] std::int64_t bytes_of_all() const noexcept { return bytes_of_task() * tasks; }
};

// Error: the sizes exceed the 63 bits of a file offset.
Result<TestGeometry> geometry_of(const IorOptions& options, std::int64_t tasks);

// The offsets of the transfers that belong to `task` (another task may do them), in order. Random
// orders take no memory. As in IOR, they stay within a segment: the transfers of a shared file are
// permuted together and dealt to the tasks, those of a file per process are permuted separately.
class TransferOffsets {
public:
    TransferOffsets(const TestGeometry& geometry, std::int64_t task) noexcept;

    [[nodiscard]] std::int64_t count() const noexcept { return geometry_.transfers_of_task(); }
    [[nodiscard]] Offset operator()(std::int64_t index) const noexcept;

private:
    [[nodiscard]] Offset in_sequence(std::int64_t task, std::int64_t index) const noexcept;
    [[nodiscard]] Offset in_file(std::uint64_t transfer) const noexcept;

    TestGeometry geometry_;
    std::int64_t task_;
    measure::SeededPermutation permutation_;
};

// Determines which task reads whose data (-C, -Q, -Z).
struct TaskReordering {
    std::int64_t tasks = 1;
    std::int64_t tasks_of_node = 1;
    bool by_block = true;  // adjacent ranks share a node; false: round robin over nodes
    bool constant = false;
    // 1: any task at least task_per_node_offset nodes away; 2: a permutation.
    std::int64_t random = 0;
    std::int64_t task_per_node_offset = 1;
    std::uint64_t seed = 0;

    // The task whose data `task` reads; the check after writing adds `further` nodes.
    [[nodiscard]] std::int64_t source_of(std::int64_t task, std::int64_t further) const noexcept;
};

// The seed of -X in a repetition; a negative option gives a new order in each repetition.
[[nodiscard]] std::uint64_t reorder_seed(std::int64_t option, std::int64_t repetition) noexcept;

}  // namespace forebay::ior
