// The part of an open file that has to do with its view, its hints and what it passes on.
#include "collective/mpi/open_file.hpp"
#include "collective/mpi/status.hpp"
#include "entry/functions.hpp"

#include <utility>

namespace forebay::interposer {

// Arguments that the MPI would not take go to it as they are.
int OpenFile::set_view(const ViewArguments& arguments) {
    if (!ours()) {
        return real::set_view(handle_, arguments.displacement, arguments.etype, arguments.filetype,
                              arguments.datarep, arguments.info);
    }
    FileView view = FileView::make(arguments, *inquiry_);
    const bool dear =
        is_dear(view, arguments, settings_.number(Setting::view_pieces_max), *inquiry_);
    const int code = held_.set(arguments, dear, cached_communicator_->group->own());
    forget();
    if (code == MPI_SUCCESS) {
        take_hints(arguments.info);
        view_ = std::move(view);
    }
    if (held_.anywhere()) {
        engine();  // where rank 0 says which file it is; all ranks come here or none
    }
    return code;
}

int OpenFile::get_view(MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                       char* datarep) const {
    return held_.here() ? held_.get_view(displacement, etype, filetype, datarep)
                        : real::get_view(handle_, displacement, etype, filetype, datarep);
}

// The pointer counts etypes, which the MPI knows; where the file ends, it does not.
int OpenFile::seek(MPI_Offset offset, int whence) {
    const int settled = whence == MPI_SEEK_END ? settle_alone(std::nullopt) : MPI_SUCCESS;
    if (settled != MPI_SUCCESS) {
        return settled;
    }
    return held_.here() && whence == MPI_SEEK_END ? held_.seek_from_end(offset)
                                                  : real::seek(handle_, offset, whence);
}

// Before a collective call that is left to the MPI.
int OpenFile::tell_view() {
    return held_.anywhere() ? held_.tell(cached_communicator_->group->own()) : MPI_SUCCESS;
}

int OpenFile::seek_shared(MPI_Offset offset, int whence) {
    int code = whence == MPI_SEEK_END ? settle_together() : MPI_SUCCESS;
    if (code == MPI_SUCCESS) {
        code = tell_view();
    }
    return code == MPI_SUCCESS ? real::seek_shared(handle_, offset, whence) : code;
}

int OpenFile::get_byte_offset(MPI_Offset offset, MPI_Offset* displacement) {
    return held_.here() ? held_.get_byte_offset(offset, displacement)
                        : real::get_byte_offset(handle_, offset, displacement);
}

int OpenFile::advance(MPI_Offset etypes) { return real::seek(handle_, etypes, MPI_SEEK_CUR); }

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
    counters_->passed(passed.function, engine::Refusal::none, known ? size * passed.count : -1);
    const int settled = settle_before(passed);
    if (settled != MPI_SUCCESS) {
        return settled;
    }
    if (!held_.anywhere()) {
        return pass(handle_);
    }
    if (passed.collective) {
        const int code = tell_view();
        return code == MPI_SUCCESS ? pass(handle_) : code;
    }
    return held_.here() ? held_.access(passed.start, pass) : pass(handle_);
}

int OpenFile::set_info(MPI_Info info) {
    take_hints(info);
    return real::set_info(handle_, info);
}

int OpenFile::get_info(MPI_Info* info) const {
    const int code = real::get_info(handle_, info);
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
    if (facts_.layout.stripe_bytes > 0) {
        PMPI_Info_set(*info, "striping_factor", std::to_string(facts_.layout.targets).c_str());
        PMPI_Info_set(*info, "striping_unit", std::to_string(facts_.layout.stripe_bytes).c_str());
    }
    tell("active", ours() ? "true" : "false");
    tell("reason", reason_of(facts_.standing));
    return MPI_SUCCESS;
}

// The MPI may have been asked for less (opening.hpp).
int OpenFile::get_amode(int* amode) const {
    const int code = real::get_amode(handle_, amode);
    if (code == MPI_SUCCESS && amode != nullptr) {
        *amode = facts_.amode;
    }
    return code;
}

int OpenFile::set_atomicity(int flag) {
    int code = tell_view();
    if (code == MPI_SUCCESS) {
        code = real::set_atomicity(handle_, flag);
    }
    if (code == MPI_SUCCESS) {
        atomic_ = flag != 0;
    }
    return code;
}

// Collective. Makes the aggregators' writes through their own descriptors durable first.
int OpenFile::sync() {
    int code = held_.sync();
    const Result<void> synced = engine_ ? engine_->sync() : Result<void>{};
    const int real_code = real::sync(handle_);
    code = settle(synced ? arrives() : synced, code);
    return code == MPI_SUCCESS ? real_code : code;
}

}  // namespace forebay::interposer
