// A non-blocking call first decides what all ranks decide alike, then tries to meet the other
// ranks, and else goes on alone.
#include "collective/mpi/nonblocking_access.hpp"

#include "collective/mpi/completed_request.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace forebay::interposer {

NonBlockingAccess::NonBlockingAccess(FileContext& file, FileEngine& engine, ProgramView& view,
                                     NodePools& pools, BlockingAccess& blocking)
    : file_{file},
      engine_{engine},
      view_{view},
      pools_{pools},
      blocking_{blocking},
      disabled_at_open_{engine.settings().text(Setting::collective_write) == "disable",
                        engine.settings().text(Setting::collective_read) == "disable"},
      own_part_{file.facts.pool, file.clock, file.facts.path, file.facts.identity},
      number_{file.cached_communicator != nullptr ? ++file.cached_communicator->opened : 0} {}

// The result must be the same on all ranks.
plan::SharedFacts NonBlockingAccess::shared_facts(IoDirection direction) const noexcept {
    plan::SharedFacts facts;
    facts.pooled = file_.ours() && file_.facts.pooled;
    facts.nodes = facts.pooled ? file_.group().place().nodes : 1;
    if (pools_.several()) {
        facts.nodes = std::max(facts.nodes, 2);  // the pools of several nodes take part
    }
    facts.disabled =
        direction == IoDirection::write ? disabled_at_open_.write : disabled_at_open_.read;
    facts.atomic = blocking_.atomic();
    facts.mpi_under_way = blocking_.mpi_under_way();
    return facts;
}

int NonBlockingAccess::start(const AccessCall& access, IoDirection direction,
                             const StartArguments& arguments) {
    engine_.forget();
    const plan::SharedFacts facts = shared_facts(direction);
    plan::CourseChoice choice = plan::choose_course(facts, engine::Refusal::none);
    if (choice.course != plan::CallCourse::itself) {
        return start_by_mpi(access, choice, arguments);
    }
    by_itself_ = true;
    const RankRequest request = blocking_.request_of(access, direction);
    engine::Refusal own = request.refusal();
    if (own == engine::Refusal::none && request.range().length > 0) {
        own = own_part_.open(direction);
    }
    if (all_come(request, own)) {
        return guarded(file_.handle, file_.waiting(), [&] {
            return move_together(access, direction, request, *arguments.request);
        });
    }
    choice = plan::choose_course(facts, own);
    return choice.course == plan::CallCourse::itself
               ? move_own_part(access, direction, request, *arguments.request)
               : start_by_mpi(access, choice, arguments);
}

// Whether all ranks are in this call at the moment. Then they carry it out together, as a blocking
// one, which is faster if pieces are short.
bool NonBlockingAccess::all_come(const RankRequest& request, engine::Refusal own) {
    if (!rendezvous_) {
        rendezvous_.emplace(file_.group(), file_.clock, number_);
    }
    const bool may = own == engine::Refusal::none;
    const std::int64_t memory_piece =
        may ? plan::memory_piece(request.memory(), request.range()) : 0;
    return rendezvous_->all_come(
        may ? plan::patience_ns(plan::summarise(request.view(), request.range(), memory_piece),
                                memory_piece)
            : 0);
}

// Carries the call out by the engine. If a rank turns out to be unable to take part, each rank
// moves its own part instead.
int NonBlockingAccess::move_together(const AccessCall& access, IoDirection direction,
                                     const RankRequest& request, MPI_Request& made) {
    file_.counters.now_in(access.function);
    const engine::CollectiveCall call = request.call();
    const engine::CallOutcome outcome =
        direction == IoDirection::write ? engine_.get().write(call) : engine_.get().read(call);
    if (outcome.refusal != engine::Refusal::none) {
        return move_own_part(access, direction, request, made);
    }
    if (outcome.span.length.bytes() == 0 && !outcome.error) {
        ports::CallRecord record;  // the engine records no call that moves nothing
        record.direction = direction;
        file_.counters.call(record);
    }
    made = MPI_REQUEST_NULL;
    const int code = blocking_.complete(access, outcome);
    return code == MPI_SUCCESS ? completed_request(outcome.bytes.bytes(), &made) : code;
}

// Leaves the call to the MPI. If any rank holds its view from the MPI, no rank may make a
// collective call of the MPI; all make the independent one.
int NonBlockingAccess::start_by_mpi(const AccessCall& access, const plan::CourseChoice& choice,
                                    const StartArguments& arguments) {
    file_.counters.passed(access.function, choice.why, bytes_of(access.count, access.datatype));
    // Settling alone waits for no other rank.
    if (const Result<void> settled = pools_.settle_alone(std::nullopt); !settled) {
        return file_.reported(settled.error());
    }
    if (choice.course == plan::CallCourse::together) {
        // Also on a rank that holds its view: this must be the same on all ranks.
        blocking_.mpi_starts();
    }
    if (view_.held_here()) {
        return view_.access_alone(access.start, arguments.alone);
    }
    const bool alone = choice.course == plan::CallCourse::alone || view_.held_anywhere();
    return alone ? arguments.alone(file_.handle) : arguments.pass(file_.handle);
}

int NonBlockingAccess::move_own_part(const AccessCall& access, IoDirection direction,
                                     const RankRequest& request, MPI_Request& made) {
    made = MPI_REQUEST_NULL;
    file_.counters.now_in(access.function);
    const std::int64_t begin = file_.clock.now_ns();
    transfer::OwnMove move;
    if (request.range().length > 0) {
        const transfer::OwnRequest own{&request.view(), request.range(), request.memory()};
        move = own_part_.move(own, direction);
    }
    ports::CallRecord record;
    record.direction = direction;
    record.bytes = Length{move.bytes};
    record.requests = move.requests;
    record.bypassed = true;
    record.total_ns = file_.clock.now_ns() - begin;
    record.storage_ns = move.busy_ns;
    file_.counters.call(record);
    if (move.failure.happened()) {
        const char* verb = direction == IoDirection::write ? "write" : "read";
        const Error error =
            system_error(move.failure.system,
                         fmt::format("{} {} at byte {}", verb, file_.facts.path, move.failure.at));
        return file_.reported(error);
    }
    if (access.start == AccessStart::pointer) {
        const int code = view_.move_pointer(request.range().length);
        if (code != MPI_SUCCESS) {
            return code;
        }
    }
    return completed_request(move.bytes, &made);
}

Result<void> NonBlockingAccess::close() {
    if (by_itself_) {
        engine_.get();  // makes the engine, by which the ranks agree on errors
    }
    return own_part_.close();
}

}  // namespace forebay::interposer
