// See open_file.hpp. Collective access: say what is asked, let the engine do it, and tell the MPI
// and the program what came of it.
#include "collective/mpi/open_file.hpp"

#include "collective/mpi/creation.hpp"
#include "collective/mpi/file_storage.hpp"
#include "collective/mpi/gpu.hpp"
#include "collective/mpi/limit_cache.hpp"
#include "collective/mpi/process.hpp"
#include "collective/mpi/report.hpp"
#include "collective/mpi/status.hpp"
#include "pool/mpi_bridge/storage.hpp"

#include <new>
#include <span>
#include <utility>

namespace forebay::interposer {

namespace {

struct Known {  // what rank 0 tells the others before the first collective access
    std::int32_t targets = 1;
    std::int32_t has_identity = 0;
    std::int32_t aggregators_per_node = 1;
    std::int32_t spare = 0;
    std::int64_t stripe_bytes = 0;
    ports::Identity identity;
    engine::FoundLimits limits;  // what earlier runs found
    Settings::Numbers settings{};
};

}  // namespace

OpenFile::OpenFile(MPI_File handle, FileFacts facts, Settings settings,
                   CachedCommunicator* cached_communicator, const LargeCountInquiry& inquiry)
    : file_{handle, std::move(facts), cached_communicator, inquiry},
      settings_(std::move(settings)),
      view_{file_},
      pools_{file_},
      disabled_at_open_{settings_.text(Setting::collective_write) == "disable",
                        settings_.text(Setting::collective_read) == "disable"},
      own_part_(file_.facts.pool, file_.clock, file_.facts.path, file_.facts.identity),
      number_(cached_communicator != nullptr ? ++cached_communicator->opened : 0) {}

engine::File& OpenFile::engine() {
    if (engine_) {
        return *engine_;
    }
    Known known;
    if (file_.facts.rank == 0) {
        const Stripes layout = found_or_told(file_.facts.path, settings_, file_.facts.warnings);
        known.targets = layout.targets;
        known.stripe_bytes = layout.stripe_bytes;
        known.has_identity = file_.facts.identity ? 1 : 0;
        known.identity = file_.facts.identity.value_or(ports::Identity{});
        known.aggregators_per_node = aggregators_per_node();
        if (remembers_limits(settings_)) {
            known.limits = recall_limits(settings_, file_.facts.path, layout);
        }
        known.settings = settings_.numbers();
    }
    file_.group().tell(std::as_writable_bytes(std::span{&known, 1}));
    settings_.take_numbers(known.settings);
    layout_ = {known.targets, known.stripe_bytes};
    engine::FileOptions options;
    options.path = file_.facts.path;
    options.layout = layout_;
    options.tuning = settings_.tuning();
    if (pools_.several()) {
        options.tuning.write = plan::Mode::enable;  // each stripe has one node, whoever writes it
    }
    if (file_.facts.pooled) {
        borrow(options);
    }
    options.aggregators_per_node_max = known.aggregators_per_node;
    options.known = known.limits;
    options.only_read = (file_.facts.amode & MPI_MODE_RDONLY) != 0;
    if (known.has_identity != 0) {
        options.identity = known.identity;
        view_.know(known.identity);
    }
    const auto opener = [this](Direction direction) {
        return open_file_storage(file_.facts, settings_, direction);
    };
    engine_ =
        std::make_unique<engine::File>(file_.group(), file_.clock, file_.counters, opener, options);
    return *engine_;
}

// Windows are put together in the pool's memory, where that is possible.
void OpenFile::borrow(engine::FileOptions& options) {
    if (!settings_.flag(Setting::pool_lends_windows)) {
        return;
    }
    options.tuning.lent_bytes_max = adapters::lent_bytes_max;
    if (file_.facts.pool != nullptr && !file_.cached_communicator->borrower) {
        file_.cached_communicator->borrower = adapters::borrower_of(*file_.facts.pool);
    }
    options.borrower = file_.cached_communicator->borrower.get();
}

// This rank's own reasons against the call; the engine makes them everyone's.
engine::Refusal OpenFile::refusal_of(const Access& access, Direction direction) const noexcept {
    using engine::Refusal;
    const bool writes = direction == Direction::write;
    const auto mode = writes ? Setting::collective_write : Setting::collective_read;
    if (settings_.text(mode) == "disable") {
        return Refusal::disabled;
    }
    if (atomic_) {
        return Refusal::atomic_mode;
    }
    // Wrong arguments are left to the MPI, so that the error is its own.
    const int forbidden = writes ? MPI_MODE_RDONLY : MPI_MODE_WRONLY;
    if ((file_.facts.amode & forbidden) != 0 || access.count < 0 || begun_.has_value() ||
        access.datatype == MPI_DATATYPE_NULL ||
        (access.start == Start::offset && access.offset < 0)) {
        return Refusal::other;
    }
    return view_.decoded().refusal;
}

OpenFile::Asked OpenFile::asked(const Access& access, Direction direction) const {
    Asked asked;
    engine::Call& call = asked.call;
    call.view = &view_.decoded().bytes;
    call.refusal = refusal_of(access, direction);
    if (call.refusal != engine::Refusal::none) {
        return asked;
    }
    auto memory = decode(access.datatype, file_.inquiry);
    const FileView& view = view_.decoded();
    const MPI_Offset first = view_.first_etype(access.start, access.offset);
    const bool fits = memory &&
                      !__builtin_mul_overflow(access.count, memory->size, &call.request.length) &&
                      call.request.length % view.etype_bytes == 0 &&
                      !__builtin_mul_overflow(first, view.etype_bytes, &call.request.position);
    if (!fits || !view.reaches(call.request.position, call.request.length)) {
        call.refusal =
            fits ? engine::Refusal::view_unsupported : engine::Refusal::memory_unsupported;
        call.request = {};
        return asked;
    }
    if (call.request.length > 0 && is_gpu_memory(access.buffer)) {
        call.refusal = engine::Refusal::gpu_memory;
    }
    asked.memory = std::move(*memory);
    call.memory.base = static_cast<std::byte*>(access.buffer);
    call.memory.extent = asked.memory.extent;
    return asked;
}

// Datatypes may need much memory; the other ranks do not know yet.
OpenFile::Asked OpenFile::asked_if_possible(const Access& access, Direction direction) const {
    try {
        return asked(access, direction);
    } catch (const std::bad_alloc&) {
        Asked refused;
        refused.call.view = &view_.decoded().bytes;
        refused.call.refusal = engine::Refusal::no_memory;
        return refused;
    }
}

engine::Outcome OpenFile::transfer(const Access& access, Direction direction) {
    file_.counters.now_in(access.function);
    Asked ask = asked_if_possible(access, direction);
    ask.call.memory.nest = &ask.memory.nest;
    engine::File& file = engine();
    if (direction == Direction::read) {
        return file.read(ask.call);
    }
    engine::Outcome outcome = file.write(ask.call);
    pools_.deposited(outcome.span);
    return outcome;
}

// All ranks come here together.
int OpenFile::pass(const Access& access, engine::Refusal refusal, PassOn pass) {
    mpi_under_way_ = true;
    if (const Result<void> settled = pools_.settle_together(); !settled) {
        return file_.reported(settled.error());
    }
    const std::int64_t size = access.datatype == MPI_DATATYPE_NULL ? -1 : size_of(access.datatype);
    file_.counters.passed(access.function, refusal, size < 0 ? -1 : size * access.count);
    const int code = view_.tell();
    return code == MPI_SUCCESS ? pass(file_.handle) : code;
}

// The pointer moves by what was asked for, also where the file ended before. MPI-4.1, 14.4.3.
int OpenFile::complete(const Access& access, const engine::Outcome& outcome) {
    if (outcome.error) {
        return file_.raised(*outcome.error);
    }
    if (access.start == Start::pointer) {
        return view_.move_pointer(access.count * size_of(access.datatype));
    }
    return MPI_SUCCESS;
}

// `tell`: what to do with the number of bytes, where the MPI was not asked.
template <class Tell>
int OpenFile::take_over(const Access& access, Direction direction, PassOn pass, Tell tell) {
    if (!file_.ours()) {
        return this->pass(access, engine::Refusal::none, pass);
    }
    if (direction == Direction::read) {
        if (const Result<void> settled = pools_.settle_together(); !settled) {
            return file_.reported(settled.error());
        }
    }
    const engine::Outcome outcome = transfer(access, direction);
    if (outcome.passed != engine::Refusal::none) {
        return this->pass(access, outcome.passed, pass);
    }
    mpi_under_way_ = false;
    tell(outcome.bytes.bytes());
    return complete(access, outcome);
}

int OpenFile::access(const Access& access, Direction direction, PassOn pass) {
    return take_over(access, direction, pass,
                     [&](std::int64_t bytes) { set_status(access.status, bytes); });
}

// MPI allows to do everything in `begin`; then `end` has only the status to give.
int OpenFile::begin(const Access& access, Direction direction, PassOn pass) {
    return take_over(access, direction, pass, [&](std::int64_t bytes) { begun_ = bytes; });
}

int OpenFile::end(const SplitEnd& split_end, PassOn pass) {
    if (!begun_) {
        return pass(file_.handle);
    }
    set_status(split_end.status, *begun_);
    begun_.reset();
    return MPI_SUCCESS;
}

// Agrees with the other ranks on this rank's result, where they come here, too. Returns `code`, or
// that of the error of any of them.
int OpenFile::settle(const Result<void>& done, int code) {
    const std::optional<Error> mine = done ? std::nullopt : std::optional(done.error());
    const std::optional<Error> error = engine_ ? engine_->agree(mine) : pools_.agree(mine);
    if (!error) {
        return code;
    }
    return file_.reported(*error);
}

int OpenFile::finish() {
    int code = view_.close();
    Result<void> done = close_own_part();
    if (engine_) {
        Result<void> closed = engine_->close();
        done = done ? std::move(closed) : std::move(done);
    }
    code = settle(done ? pools_.arrives() : done, code);
    if (engine_) {
        if (file_.facts.rank == 0 && remembers_limits(settings_)) {
            remember_limits(settings_, file_.facts.path, layout_,
                            {engine_->found(Direction::write), engine_->found(Direction::read)});
        }
    }
    report_closed(*this);
    return code;
}

std::string OpenFile::aggregators() const {
    return engine_ ? engine_->aggregators() : std::string();
}

}  // namespace forebay::interposer
