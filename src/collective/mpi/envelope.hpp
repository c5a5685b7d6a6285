// How a datatype was constructed, read once into plain numbers. It hides which of the MPI's two
// sets of inquiry functions they came from (with int or MPI_Count), and in which argument arrays
// they were.
#pragma once

#include "collective/mpi/datatype.hpp"
#include "foundation/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <vector>

namespace forebay::interposer {

class TypeEnvelope {
public:
    static Result<TypeEnvelope> open(MPI_Datatype type, const LargeCountInquiry& inquiry);
    ~TypeEnvelope();
    TypeEnvelope(TypeEnvelope&& other) noexcept;
    TypeEnvelope& operator=(TypeEnvelope&&) = delete;
    TypeEnvelope(const TypeEnvelope&) = delete;
    TypeEnvelope& operator=(const TypeEnvelope&) = delete;

    [[nodiscard]] int combiner() const noexcept { return combiner_; }
    [[nodiscard]] const std::vector<MPI_Datatype>& types() const noexcept { return types_; }

    // The next argument of the constructor, in the order of its parameters. Counts and byte
    // displacements of a large-count constructor lie in an array of their own; constructors of
    // MPI-1 keep their byte displacements among the integers.
    [[nodiscard]] std::int64_t integer() noexcept { return take(integers_, next_integer_); }
    [[nodiscard]] std::int64_t count() noexcept {
        return large_ ? take(counts_, next_count_) : integer();
    }
    [[nodiscard]] std::int64_t address() noexcept {
        if (large_) {
            return take(counts_, next_count_);
        }
        return addresses_.empty() ? integer() : take(addresses_, next_address_);
    }
    [[nodiscard]] std::vector<std::int64_t> counts(std::int64_t number);
    [[nodiscard]] std::vector<std::int64_t> addresses(std::int64_t number);
    [[nodiscard]] std::vector<std::int64_t> integers(std::int64_t number);

private:
    TypeEnvelope() = default;
    static std::int64_t take(const std::vector<std::int64_t>& from, std::size_t& next) noexcept;
    // `ask` and `get` have the parameters of the large-count inquiry functions, without the
    // datatype; `Number`: the type of their numbers.
    template <class Number, class Ask, class Get>
    bool read(Ask ask, Get get);
    bool read_small(MPI_Datatype type);
    bool read_large(MPI_Datatype type, const LargeCountInquiry& inquiry);

    int combiner_ = MPI_COMBINER_NAMED;
    bool large_ = false;
    const LargeCountInquiry* inquiry_ = nullptr;
    std::vector<std::int64_t> integers_;
    std::vector<std::int64_t> addresses_;
    std::vector<std::int64_t> counts_;
    std::vector<MPI_Datatype> types_;  // owned: derived ones are freed
    std::size_t next_integer_ = 0;
    std::size_t next_address_ = 0;
    std::size_t next_count_ = 0;
};

// The combiner alone; MPI_COMBINER_NAMED if the MPI does not tell it.
[[nodiscard]] int combiner_of(MPI_Datatype type, const LargeCountInquiry& inquiry) noexcept;

// Combiners of constructors that MPI-3 removed; Open MPI's mpi.h hides their names. The standard
// ABI has none of them, and no negative combiner.
#if defined(MPI_ABI_VERSION)
inline constexpr int hvector_integer = -1;
inline constexpr int hindexed_integer = -2;
inline constexpr int struct_integer = -3;
#elif defined(OPEN_MPI) && !OMPI_ENABLE_MPI1_COMPAT
inline constexpr int hvector_integer = OMPI_WAS_MPI_COMBINER_HVECTOR_INTEGER;
inline constexpr int hindexed_integer = OMPI_WAS_MPI_COMBINER_HINDEXED_INTEGER;
inline constexpr int struct_integer = OMPI_WAS_MPI_COMBINER_STRUCT_INTEGER;
#else
inline constexpr int hvector_integer = MPI_COMBINER_HVECTOR_INTEGER;
inline constexpr int hindexed_integer = MPI_COMBINER_HINDEXED_INTEGER;
inline constexpr int struct_integer = MPI_COMBINER_STRUCT_INTEGER;
#endif

}  // namespace forebay::interposer
