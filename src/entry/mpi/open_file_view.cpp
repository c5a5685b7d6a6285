// The part of an open file that has to do with its view and its pointers; see file_view.hpp for
// what "held back" means.
#include "entry/mpi/open_file.hpp"

#include "entry/functions.hpp"
#include "entry/mpi/status.hpp"

#include <cstring>
#include <utility>

namespace forebay::entry {

int OpenFile::set_view(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                       const char* datarep, MPI_Info info) {
    // All ranks give the same representation, so all go this way or none. MPI-4.1, 14.3.
    const bool native = datarep != nullptr && std::strcmp(datarep, "native") == 0;
    if (!ours() || !native || !is_valid_view(displacement, etype, filetype)) {
        const int code =
            real::set_view(handle_, displacement, etype, filetype, datarep, info);
        if (code == MPI_SUCCESS) {
            view_ = FileView();
            view_.refusal = engine::Refusal::data_representation;
        }
        return code;
    }
    read_hints(info, settings_);
    view_ = FileView::make(displacement, etype, filetype, *inquiry_);
    view_serial_ += 1;
    // Whether to hold back must be the same on every rank, so it may depend on nothing but how
    // often this collective call was made.
    view_.held_back = ++views_set_ > views_told;
    if (view_.held_back) {
        return MPI_SUCCESS;
    }
    const int code = real::set_view(handle_, displacement, etype, filetype, datarep, info);
    told_ = view_.key();
    return code;
}

// Collective: every rank holds its view back, or none does.
int OpenFile::tell_view() {
    if (!view_.held_back) {
        return MPI_SUCCESS;
    }
    int code = real::set_view(handle_, view_.displacement, view_.etype.get(),
                              view_.filetype.get(), "native", MPI_INFO_NULL);
    if (code == MPI_SUCCESS) {
        view_.held_back = false;
        told_ = view_.key();
        code = real::seek(handle_, view_.position, MPI_SEEK_SET);
    }
    return code;
}

int OpenFile::get_view(MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                       char* datarep) const {
    if (!view_.held_back) {
        return real::get_view(handle_, displacement, etype, filetype, datarep);
    }
    *displacement = view_.displacement;
    *etype = view_.etype.copy();
    *filetype = view_.filetype.copy();
    std::strcpy(datarep, "native");
    return MPI_SUCCESS;
}

int OpenFile::advance(MPI_Offset etypes) {
    if (view_.held_back) {
        view_.position += etypes;
        return MPI_SUCCESS;
    }
    return real::seek(handle_, etypes, MPI_SEEK_CUR);
}

int OpenFile::seek(MPI_Offset offset, int whence) {
    if (!view_.held_back) {
        return real::seek(handle_, offset, whence);
    }
    const std::lock_guard lock(pointer_);
    MPI_Offset target = offset;
    if (whence == MPI_SEEK_CUR) {
        target += view_.position;
    }
    if ((whence == MPI_SEEK_SET || whence == MPI_SEEK_CUR) && target >= 0) {
        view_.position = target;
        return MPI_SUCCESS;
    }
    // From the end of the file, or wrong: as the MPI says.
    int code = stand_in_.prepare(facts_.name, facts_.amode, view_, view_serial_);
    if (code == MPI_SUCCESS) {
        real::seek(stand_in_.get(), view_.position, MPI_SEEK_SET);
        code = real::seek(stand_in_.get(), offset, whence);
        real::get_position(stand_in_.get(), &view_.position);
    }
    return code == MPI_SUCCESS ? code : raise(handle_, code);
}

int OpenFile::get_position(MPI_Offset* offset) const {
    if (!view_.held_back) {
        return real::get_position(handle_, offset);
    }
    *offset = view_.position;
    return MPI_SUCCESS;
}

int OpenFile::get_byte_offset(MPI_Offset offset, MPI_Offset* displacement) {
    if (!view_.held_back) {
        return real::get_byte_offset(handle_, offset, displacement);
    }
    const std::lock_guard lock(pointer_);
    int code = stand_in_.prepare(facts_.name, facts_.amode, view_, view_serial_);
    if (code == MPI_SUCCESS) {
        code = real::get_byte_offset(stand_in_.get(), offset, displacement);
    }
    return code == MPI_SUCCESS ? code : raise(handle_, code);
}

int OpenFile::seek_shared(MPI_Offset offset, int whence) {
    const int code = tell_view();  // a collective call
    return code == MPI_SUCCESS ? real::seek_shared(handle_, offset, whence) : code;
}

int OpenFile::get_position_shared(MPI_Offset* offset) {
    return real::get_position_shared(handle_, offset);
}

int OpenFile::leave(const Left& left, PassOn pass) {
    const std::int64_t size = left.datatype == MPI_DATATYPE_NULL ? -1 : size_of(left.datatype);
    const bool known = size >= 0 && left.count >= 0;
    counters_->passed(left.function, engine::Refusal::none, known ? size * left.count : -1);
    if (left.collective) {
        const int code = tell_view();
        return code == MPI_SUCCESS ? pass(handle_) : code;
    }
    return view_.held_back ? leave_alone(left, pass) : pass(handle_);
}

// One rank's own call while the view is held back.
int OpenFile::leave_alone(const Left& left, PassOn pass) {
    if (left.start == Start::shared_pointer) {
        say("cannot use the shared file pointer of " + facts_.path +
            " (Forebay holds the file's view back). Open it with the hint forebay_enabled=false.");
        return raise(handle_, MPI_ERR_UNSUPPORTED_OPERATION);
    }
    // The MPI's own handle will do where this rank's view there happens to be the right one, as it
    // is for HDF5's metadata.
    const bool told = told_.plain && told_ == view_.key();
    std::unique_lock lock(pointer_);
    int code = told ? MPI_SUCCESS
                    : stand_in_.prepare(facts_.name, facts_.amode, view_, view_serial_);
    const MPI_File handle = told ? handle_ : stand_in_.get();
    if (code == MPI_SUCCESS && left.start == Start::pointer) {
        code = real::seek(handle, view_.position, MPI_SEEK_SET);
        if (code == MPI_SUCCESS) {
            code = pass(handle);
            real::get_position(handle, &view_.position);
        }
    } else if (code == MPI_SUCCESS) {
        lock.unlock();
        code = pass(handle);
    }
    return code == MPI_SUCCESS || told ? code : raise(handle_, code);
}

int OpenFile::set_info(MPI_Info info) {
    read_hints(info, settings_);
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
    tell("active", ours() ? "true" : "false");
    tell("reason", reason_of(facts_.standing));
    return MPI_SUCCESS;
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

// Collective. What aggregators wrote through their own descriptors is made durable first.
int OpenFile::sync() {
    int code = stand_in_.sync();
    if (engine_) {
        const auto synced = engine_->sync();
        const auto error = engine_->agree(synced ? std::nullopt : std::optional(synced.error()));
        if (error) {
            counters_->error(*error);
            code = fail(*error);
        }
    }
    const int real_code = real::sync(handle_);
    return code == MPI_SUCCESS ? real_code : code;
}

}  // namespace forebay::entry
