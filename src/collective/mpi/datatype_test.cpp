// Every constructor against MPI_Pack: byte number i of the packed data must be the byte at the
// nest's i-th displacement.
#include "collective/mpi/datatype.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

namespace forebay::interposer {
namespace {

LargeCountInquiry inquiry() {
    LargeCountInquiry found;
    found.envelope =
        reinterpret_cast<decltype(found.envelope)>(dlsym(RTLD_DEFAULT, "PMPI_Type_get_envelope_c"));
    found.contents =
        reinterpret_cast<decltype(found.contents)>(dlsym(RTLD_DEFAULT, "PMPI_Type_get_contents_c"));
    return found;
}

std::vector<std::byte> noise(std::size_t bytes) {
    std::vector<std::byte> made(bytes);
    std::uint64_t state = 88172645463325252ULL;
    for (std::byte& byte : made) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        byte = static_cast<std::byte>(state >> 32);
    }
    return made;
}

std::vector<std::byte> packed(const std::byte* origin, MPI_Datatype type, std::int64_t size) {
    std::vector<std::byte> out(static_cast<std::size_t>(size) + 64);
    int position = 0;
    MPI_Pack(origin, 1, type, out.data(), static_cast<int>(out.size()), &position, MPI_COMM_SELF);
    out.resize(static_cast<std::size_t>(position));
    return out;
}

// Commits a datatype, compares its nest with MPI_Pack, and frees it (if `owned`).
void compare(const char* what, MPI_Datatype type, bool owned = true) {
    if (owned) {
        MPI_Type_commit(&type);
    }
    const auto decoded = decode(type, inquiry());
    ASSERT_TRUE(decoded.has_value()) << what << ": " << decoded.error().message;
    MPI_Aint low = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(type, &low, &extent);
    EXPECT_EQ(decoded->extent, extent) << what;
    const pattern::Nest& nest = decoded->nest;
    const std::int64_t below = std::max<std::int64_t>(0, -nest.low());
    const std::int64_t above = std::max<std::int64_t>(nest.high(), 1);
    const auto memory = noise(static_cast<std::size_t>(below + above));
    const std::byte* origin = memory.data() + below;
    const auto wanted = packed(origin, type, decoded->size);
    ASSERT_EQ(std::ssize(wanted), nest.size()) << what << ' ' << nest.describe();
    for (std::int64_t i = 0; i < nest.size(); ++i) {
        ASSERT_EQ(origin[nest.displacement_of(i)], wanted[static_cast<std::size_t>(i)])
            << what << " byte " << i << " of " << nest.describe();
    }
    if (owned) {
        MPI_Type_free(&type);
    }
}

MPI_Datatype holey() {  // a struct with a hole, to nest in others
    const std::array<int, 2> lengths{1, 2};
    const std::array<MPI_Aint, 2> at{0, 8};
    const std::array<MPI_Datatype, 2> types{MPI_CHAR, MPI_DOUBLE};
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths.data(), at.data(), types.data(), &made);
    return made;
}

TEST(Datatype, named_types_and_pairs) {
    for (const MPI_Datatype type : {MPI_BYTE, MPI_CHAR, MPI_INT, MPI_DOUBLE, MPI_LONG_DOUBLE,
                                    MPI_C_DOUBLE_COMPLEX, MPI_FLOAT_INT, MPI_DOUBLE_INT,
                                    MPI_LONG_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_2INT}) {
        compare("named", type, false);
    }
}

TEST(Datatype, vectors) {
    for (const MPI_Datatype inner : {MPI_INT, MPI_DOUBLE_INT, MPI_SHORT_INT}) {
        MPI_Datatype made = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(7, inner, &made);
        compare("contiguous", made);
        MPI_Type_vector(5, 2, 3, inner, &made);
        compare("vector", made);
        MPI_Type_vector(5, 2, -3, inner, &made);
        compare("vector, negative stride", made);
        MPI_Type_create_hvector(4, 3, 101, inner, &made);
        compare("hvector", made);
        MPI_Type_vector(0, 2, 3, inner, &made);
        compare("empty vector", made);
    }
}

TEST(Datatype, lists) {
    const std::array<int, 4> lengths{2, 1, 0, 3};
    const std::array<int, 4> at{9, 0, 20, 3};
    const std::array<MPI_Aint, 4> bytes{200, 0, 77, 32};
    MPI_Datatype inner = holey();
    for (const MPI_Datatype type : {MPI_DATATYPE_NULL, inner}) {
        const MPI_Datatype element = type == MPI_DATATYPE_NULL ? MPI_FLOAT : type;
        MPI_Datatype made = MPI_DATATYPE_NULL;
        MPI_Type_indexed(4, lengths.data(), at.data(), element, &made);
        compare("indexed", made);
        MPI_Type_create_indexed_block(4, 2, at.data(), element, &made);
        compare("indexed_block", made);
        MPI_Type_create_hindexed(4, lengths.data(), bytes.data(), element, &made);
        compare("hindexed", made);
        MPI_Type_create_hindexed_block(4, 2, bytes.data(), element, &made);
        compare("hindexed_block", made);
    }
    MPI_Type_free(&inner);
}

TEST(Datatype, structs_dups_and_resized) {
    compare("struct", holey());
    MPI_Datatype inner = holey();
    MPI_Datatype dup = MPI_DATATYPE_NULL;
    MPI_Type_dup(inner, &dup);
    MPI_Datatype resized = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(dup, -16, 100, &resized);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(3, resized, &made);
    compare("contiguous of resized of dup of struct", made);
    const std::array<int, 3> lengths{1, 2, 1};
    const std::array<MPI_Aint, 3> at{-64, 0, 500};
    const std::array<MPI_Datatype, 3> types{dup, resized, MPI_DOUBLE_INT};
    MPI_Type_create_struct(3, lengths.data(), at.data(), types.data(), &made);
    compare("struct of derived types, negative displacement", made);
    MPI_Type_free(&inner);
    MPI_Type_free(&dup);
    MPI_Type_free(&resized);
}

TEST(Datatype, subarrays) {
    const std::array<int, 4> sizes{5, 4, 3, 6};
    const std::array<int, 4> subsizes{2, 3, 1, 4};
    const std::array<int, 4> starts{3, 0, 2, 1};
    for (int dimensions = 1; dimensions <= 4; ++dimensions) {
        for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
            MPI_Datatype made = MPI_DATATYPE_NULL;
            MPI_Type_create_subarray(dimensions, sizes.data(), subsizes.data(), starts.data(),
                                     order, MPI_DOUBLE_INT, &made);
            compare("subarray", made);
        }
    }
}

// All ranks of one grid, so that blocks cut short and empty ones come up.
void compare_darray(const std::array<int, 3>& sizes, const std::array<int, 3>& kinds,
                    const std::array<int, 3>& arguments, const std::array<int, 3>& grid) {
    const int processes = grid[0] * grid[1] * grid[2];
    for (int rank = 0; rank < processes; ++rank) {
        for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
            MPI_Datatype made = MPI_DATATYPE_NULL;
            MPI_Type_create_darray(processes, rank, 3, sizes.data(), kinds.data(), arguments.data(),
                                   grid.data(), order, MPI_INT, &made);
            compare("darray", made);
        }
    }
}

TEST(Datatype, distributed_arrays) {
    const int standard = MPI_DISTRIBUTE_DFLT_DARG;
    const int block = MPI_DISTRIBUTE_BLOCK;
    const int cyclic = MPI_DISTRIBUTE_CYCLIC;
    const int none = MPI_DISTRIBUTE_NONE;
    compare_darray({7, 5, 4}, {block, cyclic, none}, {standard, standard, standard}, {2, 3, 1});
    compare_darray({11, 7, 6}, {cyclic, block, cyclic}, {3, 4, 2}, {2, 2, 2});
    compare_darray({9, 3, 5}, {none, cyclic, block}, {standard, 2, standard}, {1, 3, 2});
}

TEST(Datatype, large_count_constructors) {
    using Vector = int (*)(MPI_Count, MPI_Count, MPI_Count, MPI_Datatype, MPI_Datatype*);
    using Subarray = int (*)(int, const MPI_Count[], const MPI_Count[], const MPI_Count[], int,
                             MPI_Datatype, MPI_Datatype*);
    using Struct = int (*)(MPI_Count, const MPI_Count[], const MPI_Count[], const MPI_Datatype[],
                           MPI_Datatype*);
    using Darray = int (*)(int, int, int, const MPI_Count[], const int[], const int[], const int[],
                           int, MPI_Datatype, MPI_Datatype*);
    const auto vector = reinterpret_cast<Vector>(dlsym(RTLD_DEFAULT, "MPI_Type_vector_c"));
    const auto hvector = reinterpret_cast<Vector>(dlsym(RTLD_DEFAULT, "MPI_Type_create_hvector_c"));
    const auto subarray =
        reinterpret_cast<Subarray>(dlsym(RTLD_DEFAULT, "MPI_Type_create_subarray_c"));
    const auto structure =
        reinterpret_cast<Struct>(dlsym(RTLD_DEFAULT, "MPI_Type_create_struct_c"));
    const auto darray = reinterpret_cast<Darray>(dlsym(RTLD_DEFAULT, "MPI_Type_create_darray_c"));
    if (vector == nullptr || inquiry().envelope == nullptr) {
        GTEST_SKIP() << "this MPI is older than MPI-4";
    }
    MPI_Datatype made = MPI_DATATYPE_NULL;
    vector(4, 2, 5, MPI_DOUBLE_INT, &made);
    compare("vector_c", made);
    hvector(4, 2, 55, MPI_FLOAT, &made);
    compare("hvector_c", made);
    const std::array<MPI_Count, 3> sizes{5, 4, 3};
    const std::array<MPI_Count, 3> subsizes{2, 3, 1};
    const std::array<MPI_Count, 3> starts{3, 0, 2};
    subarray(3, sizes.data(), subsizes.data(), starts.data(), MPI_ORDER_C, MPI_INT, &made);
    compare("subarray_c", made);
    const std::array<MPI_Datatype, 3> types{MPI_CHAR, MPI_DOUBLE, MPI_INT};
    const std::array<MPI_Count, 3> at{0, 16, 100};
    structure(3, subsizes.data(), at.data(), types.data(), &made);
    compare("struct_c", made);
    const std::array<int, 3> kinds{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
                                   MPI_DISTRIBUTE_NONE};
    const std::array<int, 3> arguments{MPI_DISTRIBUTE_DFLT_DARG, 2, MPI_DISTRIBUTE_DFLT_DARG};
    const std::array<int, 3> grid{2, 2, 1};
    darray(4, 3, 3, sizes.data(), kinds.data(), arguments.data(), grid.data(), MPI_ORDER_C, MPI_INT,
           &made);
    compare("darray_c", made);
}

TEST(Datatype, millions_of_pieces_take_bytes) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_vector(8'000'000, 16, 64, MPI_BYTE, &made);
    MPI_Type_commit(&made);
    const auto decoded = decode(made, inquiry());
    ASSERT_TRUE(decoded.has_value());
    EXPECT_LT(decoded->nest.footprint(), std::size_t{4096});
    MPI_Type_free(&made);
}

TEST(Datatype, fortran_parametrised_types) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_f90_real(15, 300, &made);
    compare("f90_real", made, false);
    MPI_Type_create_f90_integer(9, &made);
    compare("f90_integer", made, false);
}

}  // namespace
}  // namespace forebay::interposer
