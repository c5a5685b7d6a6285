// The part of an open file that has to do with its view, its hints and what it passes on.
#include "collective/mpi/open_file.hpp"
#include "collective/mpi/status.hpp"
#include "entry/functions.hpp"

#include <utility>

namespace forebay::interposer {

// Arguments that the MPI would not take go to it as they are.
int OpenFile::set_view(const ViewArguments& arguments) {
    if (!file_.ours()) {
        return real::set_view(file_.handle, arguments.displacement, arguments.etype,
                              arguments.filetype, arguments.datarep, arguments.info);
    }
    const int code = view_.set(arguments, settings_.number(Setting::view_pieces_max));
    forget();
    if (code == MPI_SUCCESS) {
        take_hints(arguments.info);
    }
    if (view_.held_anywhere()) {
        engine();  // where rank 0 says which file it is; all ranks come here or none
    }
    return code;
}

int OpenFile::get_view(MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                       char* datarep) const {
    return view_.get(displacement, etype, filetype, datarep);
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
    const int code = view_.tell();
    return code == MPI_SUCCESS ? real::seek_shared(file_.handle, offset, whence) : code;
}

int OpenFile::get_byte_offset(MPI_Offset offset, MPI_Offset* displacement) {
    return view_.get_byte_offset(offset, displacement);
}

// Makes the engine forget how the last call went.
void OpenFile::forget() noexcept {
    if (engine_) {
        engine_->forget();
    }
}

// Hints count until the first collective access; there rank 0's become everyone's.
void OpenFile::take_hints(MPI_Info info) {
    if (!engine_) {
        read_hints(info, settings_);
    }
}

int OpenFile::leave(const PassedAccess& passed, PassOn pass) {
    const std::int64_t size = passed.datatype == MPI_DATATYPE_NULL ? -1 : size_of(passed.datatype);
    const bool known = size >= 0 && passed.count >= 0;
    if (passed.collective) {
        forget();
        mpi_under_way_ = true;
    }
    file_.counters.passed(passed.function, engine::Refusal::none, known ? size * passed.count : -1);
    if (const Result<void> settled = settle_before(passed); !settled) {
        return file_.reported(settled.error());
    }
    if (!passed.collective) {
        return view_.access_alone(passed.start, pass);
    }
    const int code = view_.tell();
    return code == MPI_SUCCESS ? pass(file_.handle) : code;
}

int OpenFile::set_info(MPI_Info info) {
    take_hints(info);
    return real::set_info(file_.handle, info);
}

int OpenFile::get_info(MPI_Info* info) const {
    const int code = real::get_info(file_.handle, info);
    if (code != MPI_SUCCESS) {
        return code;
    }
    const auto tell = [&](const std::string& name, const std::string& value) {
        if (!value.empty()) {
            PMPI_Info_set(*info, ("forebay_" + name).c_str(), value.c_str());
        }
    };
    for (std::size_t i = 0; i < setting_count; ++i) {
        tell(setting_rows[i].name, settings_.text(static_cast<Setting>(i)));
    }
    if (file_.facts.layout.stripe_bytes > 0) {
        PMPI_Info_set(*info, "striping_factor", std::to_string(file_.facts.layout.targets).c_str());
        PMPI_Info_set(*info, "striping_unit",
                      std::to_string(file_.facts.layout.stripe_bytes).c_str());
    }
    tell("active", ours() ? "true" : "false");
    tell("reason", reason_of(file_.facts.standing));
    return MPI_SUCCESS;
}

// The MPI may have been asked for less (opening.hpp).
int OpenFile::get_amode(int* amode) const {
    const int code = real::get_amode(file_.handle, amode);
    if (code == MPI_SUCCESS && amode != nullptr) {
        *amode = file_.facts.amode;
    }
    return code;
}

int OpenFile::set_atomicity(int flag) {
    int code = view_.tell();
    if (code == MPI_SUCCESS) {
        code = real::set_atomicity(file_.handle, flag);
    }
    if (code == MPI_SUCCESS) {
        atomic_ = flag != 0;
    }
    return code;
}

// Collective. Makes the aggregators' writes through their own descriptors durable first.
int OpenFile::sync() {
    int code = view_.sync();
    const Result<void> synced = engine_ ? engine_->sync() : Result<void>{};
    const int real_code = real::sync(file_.handle);
    code = settle(synced ? pools_.arrives() : synced, code);
    return code == MPI_SUCCESS ? real_code : code;
}

Result<void> OpenFile::settle_before(const PassedAccess& passed) {
    if (passed.collective) {
        return pools_.settle_together();
    }
    return pools_.several() ? pools_.settle_alone(view_.extent_of(passed)) : Result<void>{};
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

}  // namespace forebay::interposer
