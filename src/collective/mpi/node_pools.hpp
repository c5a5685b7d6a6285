// A file of which the pools of several nodes have parts (decision 0024). In a collective write,
// each aggregator deposits its own stripes in the pool of its node. Any other access goes to the
// file past the pools, once all of them have drained (flushed) what they had of it by then: they
// are *settled*.
#pragma once

#include "collective/mpi/file_context.hpp"
#include "collective/plan/undrained.hpp"
#include "foundation/base/result.hpp"
#include "foundation/base/units.hpp"

#include <cstdint>
#include <mutex>
#include <optional>

namespace forebay::interposer {

// A file that is in no pool, or in the pool of one node only, needs no settling.
class NodePools {
public:
    // `file` outlives the object.
    explicit NodePools(const FileContext& file) : file_{file} {}
    NodePools(const NodePools&) = delete;
    NodePools& operator=(const NodePools&) = delete;
    ~NodePools() = default;

    // Whether the file lies in the pools of several nodes; the same on all ranks.
    [[nodiscard]] bool several() const noexcept { return file_.facts.group != 0; }

    // To be called after a collective write in which all ranks have taken part: it may have left
    // bytes of `span` in any of the pools.
    void deposited(const Extent& span);
    // Has the pools settled before this rank accesses `extent` by itself (nullopt: any part of the
    // file).
    Result<void> settle_alone(const std::optional<Extent>& extent);
    // Has the pools settled before all ranks access the file past them. Collective: rank 0 asks the
    // pools, the others wait for it.
    Result<void> settle_together();

    // The error that close() on a descriptor of the file would return, whichever process wrote to
    // it.
    [[nodiscard]] Result<void> arrives() const;
    // An all-reduce of errors, if all ranks call it: returns the error of any of them. It takes the
    // place of the engine's agreement, because there is no engine if no collective call was made.
    // For a file that is in no pool it returns `mine` and does not communicate.
    [[nodiscard]] std::optional<Error> agree(const std::optional<Error>& mine) const;

private:
    [[nodiscard]] int ask_to_settle() const noexcept;
    [[nodiscard]] Error could_not_settle(int error) const;

    const FileContext& file_;
    // The bytes that the pools may have, as far as this rank knows, and how often some were added.
    // Under the mutex, because threads may access the file independently at the same time.
    std::mutex undrained_mutex_;
    plan::UndrainedRanges undrained_;
    std::uint64_t times_added_ = 0;
    bool any_undrained_ = false;  // whether any rank knows of such bytes: the same on all ranks
};

}  // namespace forebay::interposer
