// Compiled with MPICH's mpi.h: handles are numbers, and those of named datatypes contain their
// size.
#include "collective/mpi/scripted/mpi.hpp"

#include "collective/mpi/process.hpp"
#include "entry/functions.hpp"
#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace forebay::interposer::scripted {

Script& script() {
    static Script one;
    return one;
}

int called(std::string_view name) {
    Script& s = script();
    s.log.emplace_back(name);
    const auto failing = s.failing.extract(std::string(name));
    return failing.empty() ? MPI_SUCCESS : failing.mapped();
}

std::string own_path(std::string_view name) {
    return std::filesystem::temp_directory_path() /
           (std::string(name) + std::to_string(::getpid()));
}

int Script::calls(std::string_view name) const {
    return static_cast<int>(std::ranges::count(log, name));
}

MPI_Datatype Script::make_vector(int count, int length, int stride) {
    const auto handle = static_cast<MPI_Datatype>(0x8c000000 + types.size());
    Type type;
    type.combiner = MPI_COMBINER_HVECTOR;
    type.integers = {count, length};
    type.addresses = {stride};
    type.types = {MPI_BYTE};
    type.size = MPI_Count{count} * length;
    type.extent = MPI_Count{count - 1} * stride + length;
    types[handle] = type;
    return handle;
}

MPI_File Script::make_file(const std::string& name, int amode) {
    files.push_back(std::make_unique<File>());
    files.back()->name = name;
    files.back()->amode = amode;
    return reinterpret_cast<MPI_File>(files.back().get());
}

File& file_of(MPI_File handle) { return *reinterpret_cast<File*>(handle); }

void begin() {
    script() = Script();
    std::array<void*, function_count> real{};
    for (std::size_t i = 0; i < function_count; ++i) {
        real.at(i) =
            file_function(std::string_view(function_names[i]).substr(sizeof "MPI_File_" - 1));
    }
    static_cast<void>(start_process(real.data(), nullptr, true));
}

namespace {

const Type* derived(MPI_Datatype type) {
    const auto found = script().types.find(type);
    return found == script().types.end() ? nullptr : &found->second;
}

MPI_Count size_of_type(MPI_Datatype type) {
    const Type* own = derived(type);
    return own != nullptr ? own->size : (static_cast<unsigned>(type) & 0xff00U) >> 8U;
}

void reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op) {
    Script& s = script();
    if (from != MPI_IN_PLACE) {
        std::memcpy(to, from, static_cast<std::size_t>(count * size_of_type(type)));
    }
    if (s.operation != nullptr && !s.others_table.empty()) {
        s.operation(s.others_table.data(), to, &count, &type);
    } else if (count == 1 && type == MPI_INT && !s.others.empty()) {
        int& mine = *static_cast<int*>(to);
        mine = op == MPI_MIN ? std::min(mine, s.others.front()) : std::max(mine, s.others.front());
        s.others.erase(s.others.begin());
    }
}

}  // namespace

}  // namespace forebay::interposer::scripted

using namespace forebay::interposer::scripted;  // NOLINT(google-build-using-namespace): its
                                                // functions

extern "C" {

int PMPI_Abort(MPI_Comm /*comm*/, int /*code*/) {
    called("Abort");
    forebay::contract_failed("scripted MPI", "MPI_Abort was called",
                             std::source_location::current());
}

int PMPI_Allgather(const void* mine, int count, MPI_Datatype type, void* all, int /*all_count*/,
                   MPI_Datatype /*all_type*/, MPI_Comm /*comm*/) {
    std::memcpy(all, mine, static_cast<std::size_t>(count * size_of_type(type)));
    return called("Allgather");
}

int PMPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm /*comm*/) {
    reduce(from, to, count, type, op);
    return called("Allreduce");
}

int PMPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm /*comm*/, MPI_Request* request) {
    *request = MPI_REQUEST_NULL;
    reduce(from, to, count, type, op);
    return called("Iallreduce");
}

int PMPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int /*root*/,
                MPI_Comm /*comm*/) {
    reduce(from, to, count, type, op);
    return called("Reduce");
}

int PMPI_Bcast(void* /*buffer*/, int /*count*/, MPI_Datatype /*type*/, int /*root*/,
               MPI_Comm /*comm*/) {
    return called("Bcast");
}

int PMPI_Ibcast(void* /*buffer*/, int /*count*/, MPI_Datatype /*type*/, int /*root*/,
                MPI_Comm /*comm*/, MPI_Request* request) {
    *request = MPI_REQUEST_NULL;
    return called("Ibcast");
}

int PMPI_Wait(MPI_Request* /*request*/, MPI_Status* /*status*/) { return called("Wait"); }

int PMPI_Test(MPI_Request* /*request*/, int* flag, MPI_Status* /*status*/) {
    *flag = 1;
    return called("Test");
}

int PMPI_Get_count(const MPI_Status* /*status*/, MPI_Datatype /*type*/, int* count) {
    *count = 0;
    return called("Get_count");
}

int PMPI_Iprobe(int /*source*/, int /*tag*/, MPI_Comm /*comm*/, int* flag, MPI_Status* /*status*/) {
    *flag = 0;
    return called("Iprobe");
}

int PMPI_Isend(const void* /*buffer*/, int /*count*/, MPI_Datatype /*type*/, int /*to*/,
               int /*tag*/, MPI_Comm /*comm*/, MPI_Request* /*request*/) {
    return called("Isend");
}

int PMPI_Irecv(void* /*buffer*/, int /*count*/, MPI_Datatype /*type*/, int /*from*/, int /*tag*/,
               MPI_Comm /*comm*/, MPI_Request* /*request*/) {
    return called("Irecv");
}

int PMPI_Comm_rank(MPI_Comm /*comm*/, int* rank) {
    *rank = script().rank;
    return MPI_SUCCESS;
}

int PMPI_Comm_size(MPI_Comm /*comm*/, int* size) {
    *size = script().ranks;
    return MPI_SUCCESS;
}

int PMPI_Comm_compare(MPI_Comm one, MPI_Comm other, int* result) {
    const auto origin = [](MPI_Comm comm) {
        const auto made = script().made_of.find(comm);
        return made == script().made_of.end() ? comm : made->second;
    };
    *result = origin(one) == origin(other) ? MPI_CONGRUENT : MPI_UNEQUAL;
    return called("Comm_compare");
}

int PMPI_Comm_group(MPI_Comm /*comm*/, MPI_Group* group) {
    *group = MPI_GROUP_EMPTY;
    return called("Comm_group");
}

int PMPI_Comm_create(MPI_Comm comm, MPI_Group /*group*/, MPI_Comm* made) {
    const int code = called("Comm_create");
    if (code == MPI_SUCCESS) {
        *made = 1000 + script().calls("Comm_create");
        script().made_of[*made] = comm;
    }
    return code;
}

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int /*tag*/, MPI_Comm* made) {
    return PMPI_Comm_create(comm, group, made);
}

int PMPI_Comm_free(MPI_Comm* comm) {
    script().made_of.erase(*comm);
    *comm = MPI_COMM_NULL;
    return called("Comm_free");
}

int PMPI_Comm_set_errhandler(MPI_Comm /*comm*/, MPI_Errhandler /*handler*/) {
    return called("Comm_set_errhandler");
}

int PMPI_Comm_test_inter(MPI_Comm /*comm*/, int* flag) {
    *flag = 0;
    return called("Comm_test_inter");
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* /*copy*/,
                            MPI_Comm_delete_attr_function* at_delete, int* key, void* /*extra*/) {
    script().at_finalize = at_delete;
    *key = 1;
    return called("Comm_create_keyval");
}

int PMPI_Comm_free_keyval(int* /*key*/) { return called("Comm_free_keyval"); }

int PMPI_Comm_set_attr(MPI_Comm /*comm*/, int /*key*/, void* /*value*/) {
    return called("Comm_set_attr");
}

int PMPI_Group_incl(MPI_Group /*group*/, int /*count*/, const int* /*ranks*/, MPI_Group* made) {
    *made = MPI_GROUP_EMPTY;
    return called("Group_incl");
}

int PMPI_Group_free(MPI_Group* /*group*/) { return called("Group_free"); }

int PMPI_Error_string(int /*code*/, char* text, int* length) {
    *length = 0;
    *text = '\0';
    return called("Error_string");
}

int PMPI_File_delete(const char* /*name*/, MPI_Info /*info*/) { return called("File_delete"); }

int PMPI_Finalized(int* flag) {
    *flag = script().finalized ? 1 : 0;
    return MPI_SUCCESS;
}

int PMPI_Query_thread(int* level) {
    *level = MPI_THREAD_SINGLE;
    return MPI_SUCCESS;
}

int PMPI_Get_library_version(char* text, int* length) {
    constexpr std::string_view version = "Scripted MPI\t1.0\nof nobody";
    *length = static_cast<int>(version.copy(text, version.size()));
    text[version.size()] = '\0';
    return called("Get_library_version");
}

int PMPI_Grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
                        MPI_Grequest_cancel_function* cancel, void* state, MPI_Request* request) {
    const int code = called("Grequest_start");
    if (code == MPI_SUCCESS) {
        script().requests.push_back({query, free, cancel, state});
        *request = static_cast<MPI_Request>(script().requests.size());
    }
    return code;
}

int PMPI_Grequest_complete(MPI_Request request) {
    script().requests.at(static_cast<std::size_t>(request) - 1).complete = true;
    return called("Grequest_complete");
}

int PMPI_Info_free(MPI_Info* info) {
    *info = MPI_INFO_NULL;
    return called("Info_free");
}

int PMPI_Info_get(MPI_Info /*info*/, const char* key, int length_max, char* value, int* flag) {
    const auto found = script().info.find(key);
    *flag = found == script().info.end() ? 0 : 1;
    if (*flag != 0) {
        value[found->second.copy(value, static_cast<std::size_t>(length_max))] = '\0';
    }
    return MPI_SUCCESS;
}

int PMPI_Info_set(MPI_Info /*info*/, const char* key, const char* value) {
    script().info[key] = value;
    return called("Info_set");
}

int PMPI_Op_create(MPI_User_function* operation, int /*commutes*/, MPI_Op* made) {
    script().operation = operation;
    *made = MPI_OP_NULL;
    return called("Op_create");
}

int PMPI_Op_free(MPI_Op* /*op*/) {
    script().operation = nullptr;
    return called("Op_free");
}

int PMPI_Request_free(MPI_Request* request) {
    *request = MPI_REQUEST_NULL;
    return called("Request_free");
}

int PMPI_Status_set_cancelled(MPI_Status* /*status*/, int /*flag*/) {
    return called("Status_set_cancelled");
}

int PMPI_Status_set_elements_x(MPI_Status* /*status*/, MPI_Datatype /*type*/, MPI_Count count) {
    script().elements = count;
    return called("Status_set_elements_x");
}

int PMPI_Type_commit(MPI_Datatype* /*type*/) { return called("Type_commit"); }

int PMPI_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype* made) {
    const auto size = static_cast<MPI_Count>(size_of_type(type));
    *made = script().make_vector(1, 1, 1);
    Type& own = script().types[*made];
    own.combiner = MPI_COMBINER_CONTIGUOUS;
    own.integers = {count};
    own.addresses = {};
    own.types = {type};
    own.size = own.extent = count * size;
    return called("Type_contiguous");
}

int PMPI_Type_create_struct(int count, const int* lengths, const MPI_Aint* at,
                            const MPI_Datatype* types, MPI_Datatype* made) {
    *made = script().make_vector(1, 1, 1);
    Type own;
    own.combiner = MPI_COMBINER_STRUCT;
    own.integers = {count};
    for (int i = 0; i < count; ++i) {
        own.integers.push_back(lengths[i]);
        own.addresses.push_back(at[i]);
        own.types.push_back(types[i]);
        own.size += lengths[i] * size_of_type(types[i]);
        own.extent = std::max(own.extent, at[i] + lengths[i] * size_of_type(types[i]));
    }
    script().types[*made] = own;
    return called("Type_create_struct");
}

int PMPI_Type_dup(MPI_Datatype type, MPI_Datatype* made) {
    const Type copy = *derived(type);
    *made = script().make_vector(1, 1, 1);
    script().types[*made] = copy;
    return called("Type_dup");
}

// A freed type can still be looked up, because a later check of its nest needs it.
int PMPI_Type_free(MPI_Datatype* type) {
    *type = MPI_DATATYPE_NULL;
    return called("Type_free");
}

int PMPI_Type_get_envelope(MPI_Datatype type, int* integers, int* addresses, int* types,
                           int* combiner) {
    const Type named;
    const Type& own = derived(type) != nullptr ? *derived(type) : named;
    *integers = static_cast<int>(own.integers.size());
    *addresses = static_cast<int>(own.addresses.size());
    *types = static_cast<int>(own.types.size());
    *combiner = own.combiner;
    return called("Type_get_envelope");
}

int PMPI_Type_get_contents(MPI_Datatype type, int /*integers_max*/, int /*addresses_max*/,
                           int /*types_max*/, int* integers, MPI_Aint* addresses,
                           MPI_Datatype* types) {
    const Type& own = *derived(type);
    std::ranges::copy(own.integers, integers);
    std::ranges::copy(own.addresses, addresses);
    std::ranges::copy(own.types, types);
    return called("Type_get_contents");
}

int PMPI_Type_size(MPI_Datatype type, int* size) {
    *size = static_cast<int>(size_of_type(type));
    return MPI_SUCCESS;
}

int PMPI_Type_size_x(MPI_Datatype type, MPI_Count* size) {
    *size = size_of_type(type);
    return MPI_SUCCESS;
}

int PMPI_Type_get_extent_x(MPI_Datatype type, MPI_Count* low, MPI_Count* extent) {
    *low = 0;
    *extent = derived(type) != nullptr ? derived(type)->extent : size_of_type(type);
    return MPI_SUCCESS;
}

int PMPI_Type_get_extent(MPI_Datatype type, MPI_Aint* low, MPI_Aint* extent) {
    MPI_Count from = 0;
    MPI_Count length = 0;
    PMPI_Type_get_extent_x(type, &from, &length);
    *low = from;
    *extent = length;
    return MPI_SUCCESS;
}

int PMPI_Type_get_true_extent_x(MPI_Datatype type, MPI_Count* low, MPI_Count* extent) {
    return PMPI_Type_get_extent_x(type, low, extent);
}

}  // extern "C"
