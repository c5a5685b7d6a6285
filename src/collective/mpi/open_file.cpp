// Functions that concern several parts of an open file; the others are calls of one part.
#include "collective/mpi/open_file.hpp"

#include "collective/mpi/report.hpp"
#include "entry/functions.hpp"

#include <utility>

namespace forebay::interposer {

OpenFile::OpenFile(MPI_File handle, FileFacts facts, UserSettings settings,
                   CachedCommunicator* cached_communicator, const LargeCountInquiry& inquiry)
    : file_{handle, std::move(facts), cached_communicator, inquiry},
      engine_{file_, std::move(settings)},
      view_{file_},
      pools_{file_},
      blocking_{file_, engine_, view_, pools_},
      nonblocking_{file_, engine_, view_, pools_, blocking_} {}

int OpenFile::set_view(const ViewArguments& arguments) {
    if (!file_.ours()) {
        return real::set_view(file_.handle, arguments.displacement, arguments.etype,
                              arguments.filetype, arguments.datarep, arguments.info);
    }
    const int code = view_.set(arguments, settings().number(Setting::view_pieces_max));
    engine_.forget();
    if (code == MPI_SUCCESS) {
        engine_.take_hints(arguments.info);
    }
    if (view_.held_anywhere()) {
        engine_.get();  // makes the engine (collective), for which rank 0 identifies the file
        if (engine_.identity()) {
            view_.know(*engine_.identity());
        }
    }
    return code;
}

int OpenFile::seek(MPI_Offset offset, int whence) {
    if (whence == MPI_SEEK_END) {
        if (const Result<void> settled = pools_.settle_alone(std::nullopt); !settled) {
            return file_.reported(settled.error());
        }
    }
    return view_.seek(offset, whence);
}

int OpenFile::seek_shared(MPI_Offset offset, int whence) {
    if (whence == MPI_SEEK_END) {
        if (const Result<void> settled = pools_.settle_together(); !settled) {
            return file_.reported(settled.error());
        }
    }
    const int code = view_.pass_held_view_to_mpi();
    return code == MPI_SUCCESS ? real::seek_shared(file_.handle, offset, whence) : code;
}

int OpenFile::get_size(MPI_Offset* size) {
    const Result<void> settled = pools_.settle_alone(std::nullopt);
    return settled ? real::get_size(file_.handle, size) : file_.reported(settled.error());
}

int OpenFile::set_size(MPI_Offset size) {
    const Result<void> settled = pools_.settle_together();
    return settled ? real::set_size(file_.handle, size) : file_.reported(settled.error());
}

int OpenFile::preallocate(MPI_Offset size) {
    const Result<void> settled = pools_.settle_together();
    return settled ? real::preallocate(file_.handle, size) : file_.reported(settled.error());
}

int OpenFile::set_info(MPI_Info info) {
    engine_.take_hints(info);
    return real::set_info(file_.handle, info);
}

int OpenFile::get_info(MPI_Info* info) const {
    const int code = real::get_info(file_.handle, info);
    if (code != MPI_SUCCESS) {
        return code;
    }
    const auto set_hint = [&](const std::string& name, const std::string& value) {
        if (!value.empty()) {
            PMPI_Info_set(*info, ("forebay_" + name).c_str(), value.c_str());
        }
    };
    for (std::size_t i = 0; i < setting_count; ++i) {
        set_hint(setting_rows[i].name, settings().text(static_cast<Setting>(i)));
    }
    if (file_.facts.layout.stripe_bytes > 0) {
        PMPI_Info_set(*info, "striping_factor", std::to_string(file_.facts.layout.targets).c_str());
        PMPI_Info_set(*info, "striping_unit",
                      std::to_string(file_.facts.layout.stripe_bytes).c_str());
    }
    set_hint("active", ours() ? "true" : "false");
    set_hint("reason", reason_of(file_.facts.standing));
    return MPI_SUCCESS;
}

// Returns the access mode that the program asked for: the MPI may have got another one, without
// MPI_MODE_EXCL, after rank 0 had created the file.
int OpenFile::get_amode(int* amode) const {
    const int code = real::get_amode(file_.handle, amode);
    if (code == MPI_SUCCESS && amode != nullptr) {
        *amode = file_.facts.amode;
    }
    return code;
}

// Collective. First makes durable what the aggregators wrote by their own descriptors.
int OpenFile::sync() {
    int code = view_.sync();
    engine::CollectiveFile* const engine = engine_.made();
    const Result<void> synced = engine != nullptr ? engine->sync() : Result<void>{};
    const int real_code = real::sync(file_.handle);
    code = settle(synced ? pools_.arrives() : synced, code);
    return code == MPI_SUCCESS ? real_code : code;
}

// Agrees with the other ranks on this rank's result `done`; all ranks come here together. Returns
// `code`, or the code of the error of any rank.
int OpenFile::settle(const Result<void>& done, int code) {
    const std::optional<Error> mine = done ? std::nullopt : std::optional(done.error());
    engine::CollectiveFile* const engine = engine_.made();
    const std::optional<Error> error = engine != nullptr ? engine->agree(mine) : pools_.agree(mine);
    if (!error) {
        return code;
    }
    return file_.reported(*error);
}

int OpenFile::finish() {
    int code = view_.close();
    Result<void> done = nonblocking_.close();
    if (engine::CollectiveFile* const engine = engine_.made()) {
        Result<void> closed = engine->close();
        done = done ? std::move(closed) : std::move(done);
    }
    code = settle(done ? pools_.arrives() : done, code);
    engine_.remember_limits();
    report_closed(*this);
    return code;
}

}  // namespace forebay::interposer
