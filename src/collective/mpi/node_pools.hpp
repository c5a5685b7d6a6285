// A file that the pools of several nodes have parts of (decision 0024). Its collective writes are
// deposits of the aggregators, each in the pool of its own node and into its own stripes. Anything
// else is done to the file past the pools, once all of them have drained what they had of it by
// then: they are *settled*.
#pragma once

#include "collective/mpi/file_context.hpp"
#include "collective/plan/undrained.hpp"
#include "foundation/base/result.hpp"
#include "foundation/base/units.hpp"

#include <cstdint>
#include <mutex>
#include <optional>

namespace forebay::interposer {

// Of a file that is in no pool, or in the pool of one node only, there is nothing to settle.
class NodePools {
public:
    // `file` outlives it.
    explicit NodePools(const FileContext& file) : file_{file} {}
    NodePools(const NodePools&) = delete;
    NodePools& operator=(const NodePools&) = delete;
    ~NodePools() = default;

    // The file lies in pools of several nodes; the same on all ranks.
    [[nodiscard]] bool several() const noexcept { return file_.facts.group != 0; }

    // A collective write, in which all ranks have taken part, may have left bytes of `span` in any
    // of the pools.
    void deposited(const Extent& span);
    // Before this rank accesses `extent` (nullopt: anything) by itself.
    Result<void> settle_alone(const std::optional<Extent>& extent);
    // Before all ranks access the file past the pools. They come here together, and wait for rank
    // 0.
    Result<void> settle_together();

    // The error that closing a descriptor of the file would have, whoever wrote to it.
    [[nodiscard]] Result<void> arrives() const;
    // The error of any rank where all of them come here, in place of an engine: that is not there
    // where no collective call was made. A file that is in no pool has nothing to agree on.
    [[nodiscard]] std::optional<Error> agree(const std::optional<Error>& mine) const;

private:
    [[nodiscard]] int ask_to_settle() const noexcept;
    [[nodiscard]] Error could_not_settle(int error) const;

    const FileContext& file_;
    // The bytes that the pools may have, as this rank knows it, and how often some were added.
    // Threads may access the file independently meanwhile: under the mutex.
    std::mutex undrained_mutex_;
    plan::UndrainedRanges undrained_;
    std::uint64_t times_added_ = 0;
    bool any_undrained_ = false;  // as any rank knows it: the same on all ranks
};

}  // namespace forebay::interposer
