// Each collective access goes to the engine or, if that refuses, to the MPI. Pools are settled
// before the file is accessed past them.
#include "collective/mpi/blocking_access.hpp"

#include "collective/mpi/status.hpp"
#include "entry/functions.hpp"

#include <new>

namespace forebay::interposer {

BlockingAccess::BlockingAccess(FileContext& file, FileEngine& engine, ProgramView& view,
                               NodePools& pools)
    : file_{file}, engine_{engine}, view_{view}, pools_{pools} {}

// This rank's own reason against the call, or none. The engine makes it everyone's.
engine::Refusal BlockingAccess::refusal_of(const AccessCall& access,
                                           IoDirection direction) const noexcept {
    using engine::Refusal;
    const bool writes = direction == IoDirection::write;
    const auto mode = writes ? Setting::collective_write : Setting::collective_read;
    if (engine_.settings().text(mode) == "disable") {
        return Refusal::disabled;
    }
    if (atomic_) {
        return Refusal::atomic_mode;
    }
    // Invalid arguments are left to the MPI, so that the error is the MPI's own.
    const int forbidden = writes ? MPI_MODE_RDONLY : MPI_MODE_WRONLY;
    if ((file_.facts.amode & forbidden) != 0 || access.count < 0 || begun_.has_value() ||
        access.datatype == MPI_DATATYPE_NULL ||
        (access.start == AccessStart::offset && access.offset < 0)) {
        return Refusal::other;
    }
    return view_.decoded().refusal;
}

// Decoding datatypes may need much memory. A rank that has none refuses, so that the other ranks
// learn of it in the agreement.
RankRequest BlockingAccess::request_of(const AccessCall& access, IoDirection direction) const {
    const engine::Refusal own = refusal_of(access, direction);
    if (own != engine::Refusal::none) {
        return {view_.decoded(), own};
    }
    try {
        const MPI_Offset first = view_.first_etype(access.start, access.offset);
        return {view_.decoded(), access, first, file_.inquiry};
    } catch (const std::bad_alloc&) {
        return {view_.decoded(), engine::Refusal::no_memory};
    }
}

engine::CallOutcome BlockingAccess::transfer(const AccessCall& access, IoDirection direction) {
    file_.counters.now_in(access.function);
    const RankRequest request = request_of(access, direction);
    engine::CollectiveFile& file = engine_.get();
    if (direction == IoDirection::read) {
        return file.read(request.call());
    }
    engine::CallOutcome outcome = file.write(request.call());
    pools_.deposited(outcome.span);
    return outcome;
}

// Passes a collective access on to the MPI; all ranks do so together.
int BlockingAccess::pass(const AccessCall& access, engine::Refusal refusal, PassOn pass) {
    mpi_under_way_ = true;
    if (const Result<void> settled = pools_.settle_together(); !settled) {
        return file_.reported(settled.error());
    }
    file_.counters.passed(access.function, refusal, bytes_of(access.count, access.datatype));
    const int code = view_.pass_held_view_to_mpi();
    return code == MPI_SUCCESS ? pass(file_.handle) : code;
}

// The file pointer moves by what was asked for, even if the file ended before that. MPI-4.1,
// 14.4.3.
int BlockingAccess::complete(const AccessCall& access, const engine::CallOutcome& outcome) {
    if (outcome.error) {
        return file_.raised(*outcome.error);
    }
    if (access.start == AccessStart::pointer) {
        return view_.move_pointer(access.count * size_of(access.datatype));
    }
    return MPI_SUCCESS;
}

// Carries an access out by the engine or, if any rank refuses, by the MPI. `tell` gets the number
// of bytes moved; it is not called if the MPI had the access.
template <class Tell>
int BlockingAccess::take_over(const AccessCall& access, IoDirection direction, PassOn pass,
                              Tell tell) {
    if (!file_.ours()) {
        return this->pass(access, engine::Refusal::none, pass);
    }
    if (direction == IoDirection::read) {
        if (const Result<void> settled = pools_.settle_together(); !settled) {
            return file_.reported(settled.error());
        }
    }
    const engine::CallOutcome outcome = transfer(access, direction);
    if (outcome.refusal != engine::Refusal::none) {
        return this->pass(access, outcome.refusal, pass);
    }
    mpi_under_way_ = false;
    tell(outcome.bytes.bytes());
    return complete(access, outcome);
}

int BlockingAccess::access(const AccessCall& access, IoDirection direction, PassOn pass) {
    return take_over(access, direction, pass,
                     [&](std::int64_t bytes) { set_status(access.status, bytes); });
}

// MPI allows to do all the work in the begin function; the end function then only sets the status.
int BlockingAccess::begin(const AccessCall& access, IoDirection direction, PassOn pass) {
    return take_over(access, direction, pass, [&](std::int64_t bytes) { begun_ = bytes; });
}

int BlockingAccess::end(const SplitEnd& split_end, PassOn pass) {
    if (!begun_) {
        return pass(file_.handle);
    }
    set_status(split_end.status, *begun_);
    begun_.reset();
    return MPI_SUCCESS;
}

Result<void> BlockingAccess::settle_before(const PassedAccess& passed) {
    if (passed.collective) {
        return pools_.settle_together();
    }
    return pools_.several() ? pools_.settle_alone(view_.extent_of(passed)) : Result<void>{};
}

int BlockingAccess::leave(const PassedAccess& passed, PassOn pass) {
    if (passed.collective) {
        engine_.forget();
        mpi_under_way_ = true;
    }
    file_.counters.passed(passed.function, engine::Refusal::none,
                          bytes_of(passed.count, passed.datatype));
    if (const Result<void> settled = settle_before(passed); !settled) {
        return file_.reported(settled.error());
    }
    if (!passed.collective) {
        return view_.access_alone(passed.start, pass);
    }
    const int code = view_.pass_held_view_to_mpi();
    return code == MPI_SUCCESS ? pass(file_.handle) : code;
}

int BlockingAccess::set_atomicity(int flag) {
    int code = view_.pass_held_view_to_mpi();
    if (code == MPI_SUCCESS) {
        code = real::set_atomicity(file_.handle, flag);
    }
    if (code == MPI_SUCCESS) {
        atomic_ = flag != 0;
    }
    return code;
}

}  // namespace forebay::interposer
