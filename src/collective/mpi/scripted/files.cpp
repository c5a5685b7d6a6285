// The files of the scripted MPI: they return what has been set.
#include "collective/mpi/scripted/mpi.hpp"

#include <array>
#include <cstring>
#include <utility>

namespace forebay::interposer::scripted {

namespace {

int open(MPI_Comm /*comm*/, const char* name, int amode, MPI_Info /*info*/, MPI_File* fh) {
    const int code = called("File_open");
    if (code == MPI_SUCCESS) {
        *fh = script().make_file(name, amode);
    }
    return code;
}

int close(MPI_File* fh) {
    file_of(*fh).open = false;
    *fh = MPI_FILE_NULL;
    return called("File_close");
}

int set_view(MPI_File fh, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
             const char* /*datarep*/, MPI_Info /*info*/) {
    const int code = called("File_set_view");
    if (code == MPI_SUCCESS) {
        File& file = file_of(fh);
        file.displacement = displacement;
        file.etype = etype;
        file.filetype = filetype;
        file.position = 0;
    }
    return code;
}

int get_view(MPI_File fh, MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
             char* datarep) {
    const File& file = file_of(fh);
    *displacement = file.displacement;
    *etype = file.etype;
    *filetype = file.filetype;
    std::memcpy(datarep, "native", sizeof "native");
    return called("File_get_view");
}

int get_position(MPI_File fh, MPI_Offset* position) {
    *position = file_of(fh).position;
    return called("File_get_position");
}

// MPI_SEEK_END counts as if every file had 1000 etypes.
int seek(MPI_File fh, MPI_Offset offset, int whence) {
    const int code = called("File_seek");
    if (code == MPI_SUCCESS) {
        MPI_Offset& position = file_of(fh).position;
        position = offset + (whence == MPI_SEEK_CUR ? position : whence == MPI_SEEK_END ? 1000 : 0);
    }
    return code;
}

int get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset* displacement) {
    *displacement = file_of(fh).displacement + offset;
    return called("File_get_byte_offset");
}

int get_info(MPI_File /*fh*/, MPI_Info* info) {
    *info = MPI_INFO_ENV;
    return called("File_get_info");
}

int set_info(MPI_File /*fh*/, MPI_Info /*info*/) { return called("File_set_info"); }

int get_amode(MPI_File fh, int* amode) {
    *amode = file_of(fh).amode;
    return called("File_get_amode");
}

int set_atomicity(MPI_File /*fh*/, int /*flag*/) { return called("File_set_atomicity"); }

int sync(MPI_File /*fh*/) { return called("File_sync"); }

int set_errhandler(MPI_File /*fh*/, MPI_Errhandler /*handler*/) {
    return called("File_set_errhandler");
}

int get_errhandler(MPI_File /*fh*/, MPI_Errhandler* handler) {
    *handler = script().handler_at_open;
    return called("File_get_errhandler");
}

int call_errhandler(MPI_File fh, int code) {
    if (fh != MPI_FILE_NULL) {
        file_of(fh).raised.push_back(code);
    }
    return called("File_call_errhandler");
}

int get_type_extent(MPI_File /*fh*/, MPI_Datatype type, MPI_Aint* extent) {
    MPI_Aint low = 0;
    PMPI_Type_get_extent(type, &low, extent);
    return called("File_get_type_extent");
}

template <class Function>
constexpr void* address(Function* function) {
    return reinterpret_cast<void*>(function);
}

}  // namespace

void* file_function(std::string_view name) {
    const std::array<std::pair<std::string_view, void*>, 17> table{{
        {"open", address(&open)},
        {"close", address(&close)},
        {"set_view", address(&set_view)},
        {"get_view", address(&get_view)},
        {"get_position", address(&get_position)},
        {"seek", address(&seek)},
        {"seek_shared", address(&seek)},
        {"get_byte_offset", address(&get_byte_offset)},
        {"get_info", address(&get_info)},
        {"set_info", address(&set_info)},
        {"get_amode", address(&get_amode)},
        {"set_atomicity", address(&set_atomicity)},
        {"sync", address(&sync)},
        {"set_errhandler", address(&set_errhandler)},
        {"get_errhandler", address(&get_errhandler)},
        {"call_errhandler", address(&call_errhandler)},
        {"get_type_extent", address(&get_type_extent)},
    }};
    for (const auto& [known, function] : table) {
        if (known == name) {
            return function;
        }
    }
    return nullptr;
}

}  // namespace forebay::interposer::scripted
