// The part of an open file that has to do with its view, its hints and what it passes on.
#include "entry/functions.hpp"
#include "entry/mpi/open_file.hpp"
#include "entry/mpi/status.hpp"

#include <utility>

namespace forebay::entry {

// The MPI is always told: calls that are left to it must mean the same, at any time and on any
// rank.
int OpenFile::set_view(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                       const char* datarep, MPI_Info info) {
    const int code = real::set_view(handle_, displacement, etype, filetype, datarep, info);
    if (code == MPI_SUCCESS && ours()) {
        take_hints(info);
        view_ = FileView::make(displacement, etype, filetype, datarep, *inquiry_);
    }
    return code;
}

int OpenFile::advance(MPI_Offset etypes) { return real::seek(handle_, etypes, MPI_SEEK_CUR); }

// Hints count until the first collective access; there rank 0's become everyone's.
void OpenFile::take_hints(MPI_Info info) {
    if (!engine_) {
        read_hints(info, settings_);
    }
}

int OpenFile::leave(const Left& left, PassOn pass) {
    const std::int64_t size = left.datatype == MPI_DATATYPE_NULL ? -1 : size_of(left.datatype);
    const bool known = size >= 0 && left.count >= 0;
    counters_->passed(left.function, engine::Refusal::none, known ? size * left.count : -1);
    return pass(handle_);
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
    tell("active", ours() ? "true" : "false");
    tell("reason", reason_of(facts_.standing));
    return MPI_SUCCESS;
}

int OpenFile::set_atomicity(int flag) {
    const int code = real::set_atomicity(handle_, flag);
    if (code == MPI_SUCCESS) {
        atomic_ = flag != 0;
    }
    return code;
}

// Collective. What aggregators wrote through their own descriptors is made durable first.
int OpenFile::sync() {
    int code = MPI_SUCCESS;
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
