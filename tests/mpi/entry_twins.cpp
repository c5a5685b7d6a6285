// The same random calls on two files: one with the hint forebay_enabled=false, one without. Bytes
// of the files, bytes read, statuses, file pointers and error codes must be the same. Without
// Forebay both are the MPI's own, so the program also tests itself.
//
//   entry_twins FOLDER [SEED [CASES]]
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

int rank = 0;
int ranks = 1;
std::string now;  // what is being done, for messages

void must(bool held, const std::string& what) {
    if (!held) {
        std::fprintf(stderr, "entry_twins: rank %d: %s (%s)\n", rank, what.c_str(), now.c_str());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

// The same numbers on every rank.
struct Dice {
    std::mt19937_64 engine;
    int below(int limit) { return static_cast<int>(engine() % static_cast<unsigned>(limit)); }
    bool chance(int percent) { return below(100) < percent; }
};

struct Twins {
    MPI_File plain = MPI_FILE_NULL;
    MPI_File ours = MPI_FILE_NULL;
};

// A tile of cells dealt to the ranks or to nobody, and this rank's part as a filetype.
struct View {
    MPI_Offset displacement = 0;
    MPI_Datatype etype = MPI_BYTE;
    MPI_Datatype filetype = MPI_BYTE;
    bool derived = false;
    int etype_bytes = 1;
};

MPI_Datatype resized_list(const std::vector<int>& cells, int cell, MPI_Datatype etype, int tile) {
    std::vector<MPI_Aint> at;
    for (const int k : cells) {
        at.push_back(static_cast<MPI_Aint>(k) * cell);
    }
    int etype_bytes = 1;
    MPI_Type_size(etype, &etype_bytes);
    MPI_Datatype list = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed_block(static_cast<int>(at.size()), cell / etype_bytes, at.data(),
                                   etype, &list);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(list, 0, static_cast<MPI_Aint>(tile) * cell, &made);
    MPI_Type_commit(&made);
    MPI_Type_free(&list);
    return made;
}

MPI_Datatype grid_part(Dice& dice, MPI_Datatype etype) {
    const int order = dice.chance(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    const int sizes[2] = {ranks * (1 + dice.below(5)), 3 + dice.below(40)};
    const int kinds[2] = {dice.chance(50) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC,
                          MPI_DISTRIBUTE_NONE};
    const int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    const int grid[2] = {ranks, 1};
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_darray(ranks, rank, 2, sizes, kinds, arguments, grid, order, etype, &made);
    MPI_Type_commit(&made);
    return made;
}

View random_view(Dice& dice) {
    View view;
    const MPI_Datatype etypes[] = {MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE};
    view.etype = etypes[dice.below(4)];
    MPI_Type_size(view.etype, &view.etype_bytes);
    view.displacement = dice.below(5000);
    const int kind = dice.below(4);
    if (kind == 0) {  // every rank its own contiguous part
        view.filetype = view.etype;
        view.displacement += static_cast<MPI_Offset>(rank) << 23;
        return view;
    }
    view.derived = true;
    if (kind == 1) {
        view.filetype = grid_part(dice, view.etype);
        return view;
    }
    const int tile = ranks * (1 + dice.below(6)) + dice.below(4);
    const int cell = view.etype_bytes * (1 + dice.below(dice.chance(20) ? 2000 : 40));
    std::vector<int> mine;
    for (int k = 0; k < tile; ++k) {
        const int owner = k < ranks ? k : dice.below(ranks + 1);
        if (owner == rank) {
            mine.push_back(k);
        }
    }
    view.filetype = resized_list(mine, cell, view.etype, tile);
    return view;
}

// Memory: `count` of a datatype of a multiple of the etype's size, over `buffer`.
struct Memory {
    std::vector<char> bytes;
    char* origin = nullptr;
    MPI_Datatype type = MPI_BYTE;
    int count = 0;
    bool derived = false;
};

Memory random_memory(Dice& dice, int etype_bytes, int seed) {
    Memory memory;
    std::mt19937_64 own(static_cast<unsigned>(seed * 7919 + rank));
    const int blocks = 1 + dice.below(5);
    const int length = etype_bytes * (1 + dice.below(dice.chance(20) ? 3000 : 60));
    const int kind = dice.below(4);
    memory.count = dice.chance(10) ? 0 : 1 + dice.below(20);
    if (dice.chance(30) && static_cast<int>(own() % 3) == 0) {
        memory.count = 0;  // some ranks have nothing
    }
    MPI_Aint below = 0;
    if (kind == 0) {
        MPI_Type_contiguous(blocks * length, MPI_BYTE, &memory.type);
    } else if (kind == 1) {
        MPI_Type_vector(blocks, length, length + 1 + dice.below(50), MPI_BYTE, &memory.type);
    } else if (kind == 2) {
        MPI_Type_create_hvector(blocks, length, -(length + 3), MPI_BYTE, &memory.type);
        below = static_cast<MPI_Aint>(blocks) * (length + 3);
    } else {
        const int lengths[2] = {length, etype_bytes};
        const MPI_Aint at[2] = {8, length + 50};
        const MPI_Datatype types[2] = {MPI_BYTE, MPI_BYTE};
        MPI_Datatype inner = MPI_DATATYPE_NULL;
        MPI_Type_create_struct(2, lengths, at, types, &inner);
        // No negative lower bound: ROMIO of MPICH 4.0.2 writes bytes from before the type's first.
        MPI_Type_create_resized(inner, 0, length + 100, &memory.type);
        MPI_Type_free(&inner);
    }
    MPI_Type_commit(&memory.type);
    MPI_Aint low = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(memory.type, &low, &extent);
    const MPI_Aint span = (std::abs(extent) + 4000) * (memory.count + 1) + 2 * below;
    memory.bytes.resize(static_cast<std::size_t>(span + below * (memory.count + 1)));
    for (char& byte : memory.bytes) {
        byte = static_cast<char>(own());
    }
    memory.origin = memory.bytes.data() + below * (memory.count + 1);
    return memory;
}

struct Result {
    int code = 0;
    MPI_Count bytes = 0;
    MPI_Offset position = 0;
    bool operator==(const Result&) const = default;
};

enum class Verb { all, at_all, split, at_split, alone, alone_at, verbs };

int call(MPI_File file, Verb verb, bool write, MPI_Offset at, char* buffer, const Memory& m,
         MPI_Status* status) {
    int code = 0;
    switch (verb) {
        case Verb::all:
            return write ? MPI_File_write_all(file, buffer, m.count, m.type, status)
                         : MPI_File_read_all(file, buffer, m.count, m.type, status);
        case Verb::at_all:
            return write ? MPI_File_write_at_all(file, at, buffer, m.count, m.type, status)
                         : MPI_File_read_at_all(file, at, buffer, m.count, m.type, status);
        case Verb::split:
            code = write ? MPI_File_write_all_begin(file, buffer, m.count, m.type)
                         : MPI_File_read_all_begin(file, buffer, m.count, m.type);
            return code != MPI_SUCCESS ? code
                   : write             ? MPI_File_write_all_end(file, buffer, status)
                                       : MPI_File_read_all_end(file, buffer, status);
        case Verb::at_split:
            code = write ? MPI_File_write_at_all_begin(file, at, buffer, m.count, m.type)
                         : MPI_File_read_at_all_begin(file, at, buffer, m.count, m.type);
            return code != MPI_SUCCESS ? code
                   : write             ? MPI_File_write_at_all_end(file, buffer, status)
                                       : MPI_File_read_at_all_end(file, buffer, status);
        case Verb::alone:
            return write ? MPI_File_write(file, buffer, m.count, m.type, status)
                         : MPI_File_read(file, buffer, m.count, m.type, status);
        default:
            return write ? MPI_File_write_at(file, at, buffer, m.count, m.type, status)
                         : MPI_File_read_at(file, at, buffer, m.count, m.type, status);
    }
}

Result result_of(MPI_File file, Verb verb, bool write, MPI_Offset at, char* buffer,
                 const Memory& memory) {
    Result result;
    MPI_Status status;
    std::memset(&status, 0, sizeof status);
    result.code = call(file, verb, write, at, buffer, memory, &status);
    MPI_Get_elements_x(&status, MPI_BYTE, &result.bytes);
    MPI_File_get_position(file, &result.position);
    return result;
}

void same(const Result& plain, const Result& ours, bool write) {
    must(plain.code == ours.code,
         "codes " + std::to_string(plain.code) + " and " + std::to_string(ours.code));
    must(plain.bytes == ours.bytes,
         "statuses " + std::to_string(plain.bytes) + " and " + std::to_string(ours.bytes));
    // Where a read ends at the end of the file, MPIs differ in where they leave the pointer.
    must(!write || plain.position == ours.position,
         "positions " + std::to_string(plain.position) + " and " + std::to_string(ours.position));
}

void access(Dice& dice, const Twins& twins, const View& view, int seed) {
    const auto verb = static_cast<Verb>(dice.below(static_cast<int>(Verb::verbs)));
    const bool write = dice.chance(60);
    const MPI_Offset at = dice.below(3000);
    Memory memory = random_memory(dice, view.etype_bytes, seed);
    now +=
        std::string(write ? " write" : " read") + " verb " + std::to_string(static_cast<int>(verb));
    std::vector<char> other = memory.bytes;
    char* other_origin = other.data() + (memory.origin - memory.bytes.data());
    // Open MPI's own split reads hang at the end of the file (4.1.4, without Forebay): the blocking
    // form does the same.
    const Verb blocking = verb == Verb::split      ? Verb::all
                          : verb == Verb::at_split ? Verb::at_all
                                                   : verb;
    const Result plain = result_of(twins.plain, blocking, write, at, memory.origin, memory);
    const Result ours = result_of(twins.ours, verb, write, at, other_origin, memory);
    same(plain, ours, write);
    must(memory.bytes == other, "memory differs");
    MPI_Type_free(&memory.type);
    if (plain.position != ours.position) {
        MPI_File_seek(twins.ours, plain.position, MPI_SEEK_SET);
    }
    MPI_File_sync(twins.plain);
    MPI_File_sync(twins.ours);
    MPI_Barrier(MPI_COMM_WORLD);
}

void set_view(Dice& dice, const Twins& twins, View& view) {
    if (view.derived) {
        MPI_Type_free(&view.filetype);
    }
    view = random_view(dice);
    for (MPI_File file : {twins.plain, twins.ours}) {
        must(MPI_File_set_view(file, view.displacement, view.etype, view.filetype, "native",
                               MPI_INFO_NULL) == MPI_SUCCESS,
             "set_view");
    }
    MPI_Offset there[2] = {0, 0};
    const MPI_Offset at = dice.below(1000);
    MPI_File_get_byte_offset(twins.plain, at, &there[0]);
    MPI_File_get_byte_offset(twins.ours, at, &there[1]);
    must(there[0] == there[1], "get_byte_offset");
}

void seek(Dice& dice, const Twins& twins) {
    const int whence = dice.chance(70) ? MPI_SEEK_SET : MPI_SEEK_CUR;
    const MPI_Offset to = dice.below(2000);
    MPI_Offset at[2] = {0, 0};
    MPI_File_seek(twins.plain, to, whence);
    MPI_File_seek(twins.ours, to, whence);
    MPI_File_get_position(twins.plain, &at[0]);
    MPI_File_get_position(twins.ours, &at[1]);
    must(at[0] == at[1], "seek");
}

std::vector<char> content(const std::string& path) {
    std::vector<char> bytes;
    std::FILE* file = std::fopen(path.c_str(), "rb");
    must(file != nullptr, "fopen");
    std::fseek(file, 0, SEEK_END);
    bytes.resize(static_cast<std::size_t>(std::ftell(file)));
    std::rewind(file);
    must(std::fread(bytes.data(), 1, bytes.size(), file) == bytes.size(), "fread");
    std::fclose(file);
    return bytes;
}

MPI_File open_file(const std::string& path, bool plain) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    if (plain) {
        MPI_Info_set(info, "forebay_enabled", "false");
    }
    MPI_File file = MPI_FILE_NULL;
    must(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, info,
                       &file) == MPI_SUCCESS,
         "open " + path);
    MPI_Info_free(&info);
    return file;
}

void fill(const std::string& path, int bytes) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    must(file != nullptr, "fopen");
    for (int i = 0; i < bytes; ++i) {
        std::fputc('a' + i % 26, file);
    }
    // No read ends at the end of the file: what MPIs leave in memory behind it differs.
    must(ftruncate(fileno(file), (static_cast<off_t>(ranks) + 1) << 23) == 0, "ftruncate");
    std::fclose(file);
}

void one_case(const std::string& folder, int seed) {
    Dice dice{std::mt19937_64(static_cast<unsigned>(seed))};
    const std::string plain = folder + "/twin-plain";
    const std::string ours = folder + "/twin-ours";
    const int before = dice.below(100000);
    if (rank == 0) {
        fill(plain, before);
        fill(ours, before);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const Twins twins{open_file(plain, true), open_file(ours, false)};
    View view;
    const int steps = 3 + dice.below(10);
    for (int step = 0; step < steps; ++step) {
        now = "seed " + std::to_string(seed) + " step " + std::to_string(step);
        if (step == 0 || dice.chance(40)) {
            set_view(dice, twins, view);
        }
        if (dice.chance(30)) {
            seek(dice, twins);
        }
        access(dice, twins, view, seed * 100 + step);
    }
    if (view.derived) {
        MPI_Type_free(&view.filetype);
    }
    MPI_File plain_file = twins.plain;
    MPI_File our_file = twins.ours;
    MPI_File_close(&plain_file);
    MPI_File_close(&our_file);
    now = "seed " + std::to_string(seed) + " at the end";
    if (rank == 0) {
        must(content(plain) == content(ours), "the files differ");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(argc >= 2, "usage: entry_twins FOLDER [SEED [CASES]]");
    const int seed = argc > 2 ? std::atoi(argv[2]) : 1;
    const int cases = argc > 3 ? std::atoi(argv[3]) : 20;
    for (int i = 0; i < cases; ++i) {
        one_case(argv[1], seed + i);
    }
    if (rank == 0) {
        std::printf("ok\n");
    }
    MPI_Finalize();
    return 0;
}
