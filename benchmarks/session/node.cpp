// Counts the node's cores, and allocates its progress slots.
#include "benchmarks/session/node.hpp"

#include "foundation/base/host_name.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <sched.h>
#include <unistd.h>

namespace forebay::bench {

namespace {

int cores_of(MPI_Comm node) {
    cpu_set_t own;
    CPU_ZERO(&own);
    cpu_set_t all = own;
    ::sched_getaffinity(0, sizeof own, &own);
    MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, node);
    // With more cores than a mask holds, sched_getaffinity fails and the mask is empty.
    const long online = std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L);
    return CPU_COUNT(&all) > 0 ? CPU_COUNT(&all) : static_cast<int>(online);
}

}  // namespace

HostName own_host() noexcept {
    HostName name{};
    host_name().copy(name.data(), name.size() - 1);
    return name;
}

NodeRanks::NodeRanks(MPI_Comm all) {
    MPI_Comm_rank(all, &leader_);
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, leader_, MPI_INFO_NULL, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
    MPI_Bcast(&leader_, 1, MPI_INT32_T, 0, comm_);
    cores_ = cores_of(comm_);
    share_slots();
}

NodeRanks::~NodeRanks() {
    MPI_Win_free(&window_);
    MPI_Comm_free(&comm_);
}

void NodeRanks::share_slots() {
    // Open MPI's shared memory is aligned to 16 bytes, a slot to 64: one more slot is allocated.
    constexpr auto slot = static_cast<MPI_Aint>(sizeof(measure::ProgressSlot));
    void* base = nullptr;
    MPI_Win_allocate_shared(rank_ == 0 ? slot * (ranks_ + 1) : 0, 1, MPI_INFO_NULL, comm_,
                            static_cast<void*>(&base), &window_);
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &bytes, &unit, static_cast<void*>(&base));
    auto room = static_cast<std::size_t>(bytes);
    std::align(alignof(measure::ProgressSlot), sizeof(measure::ProgressSlot), base, room);
    slots_ = {static_cast<measure::ProgressSlot*>(base), static_cast<std::size_t>(ranks_)};
    ::new (&own_slot()) measure::ProgressSlot{};
    MPI_Barrier(comm_);
}

}  // namespace forebay::bench
