// The part of an open file that does non-blocking collective calls: each rank for itself, and done
// when the call returns, where that needs nobody else (decision 0021).
#include "collective/mpi/completed_request.hpp"
#include "collective/mpi/guard.hpp"
#include "collective/mpi/open_file.hpp"
#include "collective/mpi/status.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace forebay::interposer {

// Where its datatype lies now.
pattern::Memory OpenFile::memory_of(const Asked& ask) noexcept {
    pattern::Memory memory = ask.call.memory;
    memory.nest = &ask.memory.nest;
    return memory;
}

// Nothing here may differ between the ranks.
plan::SharedFacts OpenFile::shared_facts(Direction direction) const noexcept {
    plan::SharedFacts facts;
    facts.pooled = file_.ours() && file_.facts.pooled;
    facts.nodes = facts.pooled ? file_.group().place().nodes : 1;
    if (pools_.several()) {
        facts.nodes = std::max(facts.nodes, 2);  // nodes of the pool
    }
    facts.disabled =
        direction == Direction::write ? disabled_at_open_.write : disabled_at_open_.read;
    facts.atomic = atomic_;
    facts.mpi_under_way = mpi_under_way_;
    return facts;
}

int OpenFile::start(const Access& access, Direction direction, const StartArguments& arguments) {
    forget();
    const plan::SharedFacts facts = shared_facts(direction);
    plan::Choice choice = plan::choose_course(facts, engine::Refusal::none);
    if (choice.course != plan::Course::itself) {
        return start_by_mpi(access, choice, arguments);
    }
    by_itself_ = true;
    const Asked ask = asked_if_possible(access, direction);
    engine::Refusal own = ask.call.refusal;
    if (own == engine::Refusal::none && ask.call.request.length > 0) {
        own = own_part_.open(direction);
    }
    if (all_come(ask, own)) {
        return guarded(file_.handle, file_.waiting(),
                       [&] { return move_together(access, direction, ask, *arguments.request); });
    }
    choice = plan::choose_course(facts, own);
    return choice.course == plan::Course::itself
               ? move_own_part(access, direction, ask, *arguments.request)
               : start_by_mpi(access, choice, arguments);
}

// Whether all ranks are in this call at the moment: then it is carried out as a blocking one, which
// is faster where pieces are short.
bool OpenFile::all_come(const Asked& ask, engine::Refusal own) {
    if (!rendezvous_) {
        rendezvous_.emplace(file_.group(), file_.clock, number_);
    }
    const bool may = own == engine::Refusal::none;
    const std::int64_t memory_piece =
        may ? plan::memory_piece(memory_of(ask), ask.call.request) : 0;
    return rendezvous_->all_come(
        may ? plan::patience_ns(plan::summarise(*ask.call.view, ask.call.request, memory_piece),
                                memory_piece)
            : 0);
}

// Where a rank turns out to be unable to, all of them go on alone.
int OpenFile::move_together(const Access& access, Direction direction, const Asked& ask,
                            MPI_Request& request) {
    file_.counters.now_in(access.function);
    engine::Call call = ask.call;
    call.memory = memory_of(ask);
    const engine::Outcome outcome =
        direction == Direction::write ? engine().write(call) : engine().read(call);
    if (outcome.passed != engine::Refusal::none) {
        return move_own_part(access, direction, ask, request);
    }
    if (outcome.span.length.bytes() == 0 && !outcome.error) {
        ports::CallRecord record;  // the engine does not count what moves nothing
        record.direction = direction;
        file_.counters.call(record);
    }
    request = MPI_REQUEST_NULL;
    const int code = complete(access, outcome);
    return code == MPI_SUCCESS ? completed_request(outcome.bytes.bytes(), &request) : code;
}

// Where some rank holds its view from the MPI, no rank may make a collective call of the MPI.
int OpenFile::start_by_mpi(const Access& access, const plan::Choice& choice,
                           const StartArguments& arguments) {
    const std::int64_t size = access.datatype == MPI_DATATYPE_NULL ? -1 : size_of(access.datatype);
    const bool known = size >= 0 && access.count >= 0;
    file_.counters.passed(access.function, choice.why, known ? size * access.count : -1);
    // It waits for no other rank.
    if (const Result<void> settled = pools_.settle_alone(std::nullopt); !settled) {
        return file_.reported(settled.error());
    }
    if (view_.held_here()) {
        return view_.access_alone(access.start, arguments.alone);
    }
    const bool alone = choice.course == plan::Course::alone || view_.held_anywhere();
    mpi_under_way_ = mpi_under_way_ || choice.course == plan::Course::together;
    return alone ? arguments.alone(file_.handle) : arguments.pass(file_.handle);
}

int OpenFile::move_own_part(const Access& access, Direction direction, const Asked& ask,
                            MPI_Request& request) {
    request = MPI_REQUEST_NULL;
    file_.counters.now_in(access.function);
    const std::int64_t begin = file_.clock.now_ns();
    transfer::OwnMove move;
    if (ask.call.request.length > 0) {
        const transfer::OwnRequest own{ask.call.view, ask.call.request, memory_of(ask)};
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
        const char* verb = direction == Direction::write ? "write" : "read";
        const Error error =
            system_error(move.failure.system,
                         fmt::format("{} {} at byte {}", verb, file_.facts.path, move.failure.at));
        return file_.reported(error);
    }
    if (access.start == Start::pointer) {
        const int code = view_.move_pointer(ask.call.request.length);
        if (code != MPI_SUCCESS) {
            return code;
        }
    }
    return completed_request(move.bytes, &request);
}

// Late errors of this rank's own part; before the file is closed, by all ranks.
Result<void> OpenFile::close_own_part() {
    if (by_itself_) {
        engine();  // by which the ranks agree on them
    }
    return own_part_.close();
}

}  // namespace forebay::interposer
