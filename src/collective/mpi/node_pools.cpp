// To drain on all nodes takes long, so the pools are asked only if they may have bytes that matter.
#include "collective/mpi/node_pools.hpp"

#include "collective/mpi/communicator/failure.hpp"
#include "foundation/base/contracts.hpp"

#include <span>

namespace forebay::interposer {

// Has all nodes drain the file. Returns 0 or an errno.
int NodePools::ask_to_settle() const noexcept {
    const FileFacts& facts = file_.facts;
    expects(facts.pool != nullptr && facts.identity.has_value(),
            "a file in pools of several nodes is known to all of them");
    return facts.pool->settle(facts.identity->device, facts.identity->inode);
}

Error NodePools::could_not_settle(int error) const {
    return system_error(error,
                        "have all nodes write out what their pools hold of " + file_.facts.path);
}

void NodePools::deposited(const Extent& span) {
    if (!several() || span.length.bytes() == 0) {
        return;
    }
    const std::scoped_lock lock{undrained_mutex_};
    undrained_.add(span);
    ++times_added_;
    any_undrained_ = true;
    ensures(undrained_.touches(span), "bytes that pools have are settled before they are read");
}

Result<void> NodePools::settle_alone(const std::optional<Extent>& extent) {
    std::uint64_t times_added = 0;
    {
        const std::scoped_lock lock{undrained_mutex_};
        const bool may_matter = extent ? undrained_.touches(*extent) : !undrained_.empty();
        if (!may_matter) {
            return {};
        }
        times_added = times_added_;
    }
    const int error = ask_to_settle();
    if (error != 0) {
        return failure(could_not_settle(error));
    }
    const std::scoped_lock lock{undrained_mutex_};
    if (times_added_ == times_added) {
        undrained_.clear();
    }
    return {};
}

Result<void> NodePools::settle_together() {
    if (!any_undrained_) {
        return {};
    }
    int error = file_.facts.rank == 0 ? ask_to_settle() : 0;
    file_.group().broadcast(std::as_writable_bytes(std::span{&error, 1}));
    if (error != 0) {
        return failure(could_not_settle(error));
    }
    const std::scoped_lock lock{undrained_mutex_};
    undrained_.clear();
    any_undrained_ = false;
    return {};
}

// The pool also has bytes that the MPI wrote by its own descriptors, and not every MPI passes on
// the errors of closing or syncing these.
Result<void> NodePools::arrives() const {
    const FileFacts& facts = file_.facts;
    if (!facts.covered || facts.pool == nullptr || !facts.identity) {
        return {};
    }
    const int error = facts.pool->arrives(facts.identity->device, facts.identity->inode);
    if (error == 0) {
        return {};
    }
    return failure(system_error(error, "write out what the pool holds of " + facts.path));
}

std::optional<Error> NodePools::agree(const std::optional<Error>& mine) const {
    const CachedCommunicator* const ranks = file_.cached_communicator;
    if (!file_.facts.pooled || ranks == nullptr || !ranks->group) {
        return mine;
    }
    int error = mine ? mine->system : 0;
    adapters::abort_if_failed(
        PMPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX, ranks->group->own()),
        ranks->group->own(), "learn of other ranks' errors");
    return error == 0 ? std::nullopt
                      : std::optional(system_error(error, "finish " + file_.facts.path));
}

}  // namespace forebay::interposer
