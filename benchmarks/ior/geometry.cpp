// Offsets of transfers, and reordering of tasks.
#include "benchmarks/ior/geometry.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace forebay::ior {

Result<TestGeometry> geometry_of(const IorOptions& options, std::int64_t tasks) {
    TestGeometry made;
    made.tasks = tasks;
    made.block_bytes = options.block_bytes;
    made.transfer_bytes = options.transfer_bytes;
    made.segments = options.segments;
    made.sharing = options.file_per_process ? FileSharing::file_per_process : FileSharing::shared;
    made.order = options.random_offset == 0   ? OffsetOrder::sequential
                 : options.random_offset == 1 ? OffsetOrder::shuffled
                                              : OffsetOrder::overlapping;
    made.order_seed = static_cast<std::uint64_t>(
        options.random_offset_seed >= 0 ? options.random_offset_seed : options.signature);
    std::int64_t all = 0;
    if (__builtin_mul_overflow(options.block_bytes, options.segments, &all) ||
        __builtin_mul_overflow(all, tasks, &all)) {
        return failure({ErrorCode::argument, 0,
                        fmt::format("{} tasks cannot move -b {} -s {} each (all of it has 2^63 "
                                    "bytes at most). Give smaller -b or -s.",
                                    tasks, options.block_bytes, options.segments)});
    }
    return made;
}

TransferOffsets::TransferOffsets(const TestGeometry& geometry, std::int64_t task) noexcept
    : geometry_(geometry),
      task_(task),
      permutation_(static_cast<std::uint64_t>(geometry.sharing == FileSharing::shared
                                                  ? geometry.transfers_of_block() * geometry.tasks
                                                  : geometry.transfers_of_block()),
                   geometry.sharing == FileSharing::shared
                       ? measure::mixed(geometry.order_seed)
                       : measure::mixed(geometry.order_seed, static_cast<std::uint64_t>(task))) {}

Offset TransferOffsets::in_sequence(std::int64_t task, std::int64_t index) const noexcept {
    const std::int64_t segment = index / geometry_.transfers_of_block();
    const std::int64_t within = index % geometry_.transfers_of_block();
    const std::int64_t blocks =
        geometry_.sharing == FileSharing::shared ? segment * geometry_.tasks + task : segment;
    return Offset{blocks * geometry_.block_bytes + within * geometry_.transfer_bytes};
}

Offset TransferOffsets::in_file(std::uint64_t transfer) const noexcept {
    return Offset{static_cast<std::int64_t>(transfer) * geometry_.transfer_bytes};
}

Offset TransferOffsets::operator()(std::int64_t index) const noexcept {
    const bool shared = geometry_.sharing == FileSharing::shared;
    const std::int64_t of_block = geometry_.transfers_of_block();
    const std::int64_t of_segment = shared ? of_block * geometry_.tasks : of_block;
    const auto first = static_cast<std::uint64_t>(index / of_block * of_segment);
    const auto dealt =
        static_cast<std::uint64_t>((shared ? task_ * of_block : 0) + index % of_block);
    switch (geometry_.order) {
        case OffsetOrder::shuffled: return in_file(first + permutation_(dealt));
        case OffsetOrder::overlapping: {
            const std::uint64_t random = measure::mixed(
                measure::mixed(geometry_.order_seed, static_cast<std::uint64_t>(task_)),
                static_cast<std::uint64_t>(index));
            return in_file(first + measure::below(random, static_cast<std::uint64_t>(of_segment)));
        }
        case OffsetOrder::sequential: break;
    }
    return in_sequence(task_, index);
}

std::int64_t TaskReordering::source_of(std::int64_t task, std::int64_t further) const noexcept {
    // -Q is taken modulo the number of tasks.
    const std::int64_t node_step = by_block ? std::clamp<std::int64_t>(tasks_of_node, 1, tasks) : 1;
    const std::int64_t away = (task_per_node_offset % tasks + further) * node_step;
    if (random == 1) {
        // A random task among those at least that far away, cyclically.
        const std::int64_t nodes = std::abs(std::clamp(task_per_node_offset, -tasks, tasks));
        const std::int64_t near = std::min(nodes * node_step, tasks - 1);
        const std::uint64_t draw =
            measure::mixed(measure::mixed(seed, static_cast<std::uint64_t>(further)),
                           static_cast<std::uint64_t>(task));
        const auto step = static_cast<std::int64_t>(
            measure::below(draw, static_cast<std::uint64_t>(tasks - near)));
        return (task + near + step) % tasks;
    }
    if (random >= 2) {
        const measure::SeededPermutation order(
            static_cast<std::uint64_t>(tasks),
            measure::mixed(seed, static_cast<std::uint64_t>(further)));
        return static_cast<std::int64_t>(order(static_cast<std::uint64_t>(task)));
    }
    if (constant) {
        return ((task + away) % tasks + tasks) % tasks;
    }
    return task;
}

std::uint64_t reorder_seed(std::int64_t option, std::int64_t repetition) noexcept {
    // The unsigned difference is defined for INT64_MIN, too, where -option would overflow.
    const auto seed = static_cast<std::uint64_t>(option);
    return option < 0 ? measure::mixed(0 - seed, static_cast<std::uint64_t>(repetition)) : seed;
}

}  // namespace forebay::ior
