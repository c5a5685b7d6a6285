// The part of an open file that has to do with the pools of several nodes (decision 0024). Its
// collective writes are deposits of the aggregators, each in the pool of its own node and into its
// own stripes. Whatever else is done to the file is done past the pools, once all of them have
// drained what they had of it by then.
#include "collective/mpi/open_file.hpp"
#include "collective/mpi/status.hpp"
#include "collective/plan/summary.hpp"

#include <cerrno>

namespace forebay::interposer {

// 0, or an errno.
int OpenFile::ask_to_settle() const noexcept {
    const ports::Identity& file = *facts_.identity;
    return facts_.pool->settle(file.device, file.inode) == 0 ? 0 : errno;
}

int OpenFile::could_not_settle(int error) {
    const Error said =
        system_error(error, "have all nodes write out what their pools hold of " + facts_.path);
    counters_->error(said);
    return fail(said);
}

// By a collective call, which all ranks have taken part in.
void OpenFile::deposited(const Extent& span) {
    const std::scoped_lock lock{undrained_mutex_};
    undrained_.add(span);
    ++times_added_;
    any_undrained_ = true;
}

// Before this rank accesses `extent` (nullopt: anything) by itself.
int OpenFile::settle_alone(const std::optional<Extent>& extent) {
    std::uint64_t times_added = 0;
    {
        const std::scoped_lock lock{undrained_mutex_};
        const bool may_matter = extent ? undrained_.touches(*extent) : !undrained_.empty();
        if (!may_matter) {
            return MPI_SUCCESS;
        }
        times_added = times_added_;
    }
    const int error = ask_to_settle();
    if (error != 0) {
        return could_not_settle(error);
    }
    const std::scoped_lock lock{undrained_mutex_};
    if (times_added_ == times_added) {
        undrained_.clear();
    }
    return MPI_SUCCESS;
}

// Before all ranks access the file past the pools. They come here together, and wait for rank 0.
int OpenFile::settle_together() {
    if (!any_undrained_) {
        return MPI_SUCCESS;
    }
    int error = facts_.rank == 0 ? ask_to_settle() : 0;
    cached_communicator_->group->tell(std::as_writable_bytes(std::span{&error, 1}));
    if (error != 0) {
        return could_not_settle(error);
    }
    const std::scoped_lock lock{undrained_mutex_};
    undrained_.clear();
    any_undrained_ = false;
    return MPI_SUCCESS;
}

// nullopt: it cannot be told.
std::optional<Extent> OpenFile::extent_of(const PassedAccess& passed) {
    const std::int64_t size = passed.datatype == MPI_DATATYPE_NULL ? -1 : size_of(passed.datatype);
    if (passed.start == Start::shared_pointer || size < 0 || passed.count < 0 ||
        view_.refusal != engine::Refusal::none) {
        return std::nullopt;
    }
    MPI_Offset offset = passed.offset;
    if (passed.start == Start::pointer) {
        real::get_position(handle_, &offset);
    }
    pattern::Range range;
    const bool fits = offset >= 0 && !__builtin_mul_overflow(passed.count, size, &range.length) &&
                      !__builtin_mul_overflow(offset, view_.etype_bytes, &range.position) &&
                      view_.reaches(range.position, range.length);
    if (!fits) {
        return std::nullopt;
    }
    return plan::summarise(view_.bytes, range, range.length).span();
}

int OpenFile::settle_before(const PassedAccess& passed) {
    if (passed.collective) {
        return settle_together();
    }
    return facts_.group == 0 ? MPI_SUCCESS : settle_alone(extent_of(passed));
}

// The pool also holds writes that the MPI made by its own descriptors, and not every MPI passes on
// the errors of closing or syncing these.
Result<void> OpenFile::arrives() const {
    const pool::PoolCalls* const pool = facts_.covered ? facts_.pool : nullptr;
    if (pool == nullptr || !facts_.identity ||
        pool->arrives(facts_.identity->device, facts_.identity->inode) == 0) {
        return {};
    }
    return failure(system_error(errno, "write out what the pool holds of " + facts_.path));
}

// Where no collective call was made, by which one would be there.
std::optional<Error> OpenFile::agree_without_engine(const std::optional<Error>& mine) const {
    if (!facts_.pooled || cached_communicator_ == nullptr || !cached_communicator_->group) {
        return mine;
    }
    int error = mine ? mine->system : 0;
    PMPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX, cached_communicator_->group->own());
    return error == 0 ? std::nullopt : std::optional(system_error(error, "finish " + facts_.path));
}

int OpenFile::get_size(MPI_Offset* size) {
    const int code = settle_alone(std::nullopt);
    return code == MPI_SUCCESS ? real::get_size(handle_, size) : code;
}

int OpenFile::set_size(MPI_Offset size) {
    const int code = settle_together();
    return code == MPI_SUCCESS ? real::set_size(handle_, size) : code;
}

int OpenFile::preallocate(MPI_Offset size) {
    const int code = settle_together();
    return code == MPI_SUCCESS ? real::preallocate(handle_, size) : code;
}

}  // namespace forebay::interposer
