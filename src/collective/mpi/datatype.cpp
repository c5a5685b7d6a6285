// Decoding datatypes: one short function for each constructor.
#include "collective/mpi/datatype.hpp"

#include "collective/mpi/darray.hpp"
#include "collective/mpi/envelope.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace forebay::interposer {

namespace {

using pattern::Nest;

tl::unexpected<Error> unknown(const char* what) {
    return failure(
        {ErrorCode::unsupported, 0,
         std::string("cannot decode a datatype (") + what + "). The call is left to the MPI."});
}

// A predefined pair type is a C struct of a value and an int; some have padding between the two or
// after them.
struct Pair {
    MPI_Datatype type;
    std::int64_t first;      // bytes
    std::int64_t second_at;  // displacement of the int
};

template <class First>
struct PairOf {
    First value;
    int index;
};

Nest pair_nest(const Pair& pair) {
    const std::array children{Nest::run(pair.first), Nest::run(sizeof(int))};
    const std::array<std::int64_t, 2> at{0, pair.second_at};
    return Nest::each(children, at);
}

std::optional<Pair> find_pair(MPI_Datatype type) {
    const std::array pairs{
        Pair{MPI_FLOAT_INT, sizeof(float), offsetof(PairOf<float>, index)},
        Pair{MPI_DOUBLE_INT, sizeof(double), offsetof(PairOf<double>, index)},
        Pair{MPI_LONG_INT, sizeof(long), offsetof(PairOf<long>, index)},
        Pair{MPI_SHORT_INT, sizeof(short), offsetof(PairOf<short>, index)},
        Pair{MPI_LONG_DOUBLE_INT, sizeof(long double), offsetof(PairOf<long double>, index)},
        Pair{MPI_2INT, sizeof(int), offsetof(PairOf<int>, index)},
    };
    const auto found = std::ranges::find(pairs, type, &Pair::type);
    return found == pairs.end() ? std::nullopt : std::optional(*found);
}

Result<Nest> named(MPI_Datatype type) {
    if (const auto pair = find_pair(type)) {
        return pair_nest(*pair);
    }
    MPI_Count low = 0;
    MPI_Count extent = 0;
    const std::int64_t size = size_of(type);
    PMPI_Type_get_true_extent_x(type, &low, &extent);
    if (size > 0 && (low != 0 || extent != size)) {
        return unknown("a predefined type with holes that Forebay does not know");
    }
    return size > 0 ? Nest::run(size) : Nest();
}

Nest block(const DecodedType& child, std::int64_t length) {
    return Nest::repeat(child.nest, length, child.extent);
}

Nest contiguous(TypeEnvelope& envelope, const DecodedType& child) {
    return block(child, envelope.count());
}

Nest vector(TypeEnvelope& envelope, const DecodedType& child) {
    const std::int64_t count = envelope.count();
    const std::int64_t length = envelope.count();
    return Nest::repeat(block(child, length), count, envelope.count() * child.extent);
}

Nest hvector(TypeEnvelope& envelope, const DecodedType& child) {
    const std::int64_t count = envelope.count();
    const std::int64_t length = envelope.count();
    return Nest::repeat(block(child, length), count, envelope.address());
}

Nest blocks(const DecodedType& child, std::span<const std::int64_t> lengths,
            std::span<const std::int64_t> displacements) {
    if (lengths.empty()) {
        return {};
    }
    if (std::ranges::count(lengths, lengths.front()) == std::ssize(lengths)) {
        return Nest::list(block(child, lengths.front()), displacements);
    }
    std::vector<Nest> children;
    children.reserve(lengths.size());
    for (const std::int64_t length : lengths) {
        children.push_back(block(child, length));
    }
    return Nest::each(children, displacements);
}

void scale(std::span<std::int64_t> displacements, std::int64_t unit) noexcept {
    for (std::int64_t& displacement : displacements) {
        displacement *= unit;
    }
}

Nest indexed(TypeEnvelope& envelope, const DecodedType& child) {
    const std::int64_t count = envelope.count();
    const auto lengths = envelope.counts(count);
    auto displacements = envelope.counts(count);
    scale(displacements, child.extent);
    return blocks(child, lengths, displacements);
}

Nest hindexed(TypeEnvelope& envelope, const DecodedType& child) {
    const std::int64_t count = envelope.count();
    const auto lengths = envelope.counts(count);
    return blocks(child, lengths, envelope.addresses(count));
}

Nest indexed_block(TypeEnvelope& envelope, const DecodedType& child) {
    const std::int64_t count = envelope.count();
    const std::int64_t length = envelope.count();
    auto displacements = envelope.counts(count);
    scale(displacements, child.extent);
    return Nest::list(block(child, length), displacements);
}

Nest hindexed_block(TypeEnvelope& envelope, const DecodedType& child) {
    const std::int64_t count = envelope.count();
    const std::int64_t length = envelope.count();
    return Nest::list(block(child, length), envelope.addresses(count));
}

Nest subarray(TypeEnvelope& envelope, const DecodedType& child) {
    const std::int64_t dimensions = envelope.integer();
    auto sizes = envelope.counts(dimensions);
    auto subsizes = envelope.counts(dimensions);
    auto starts = envelope.counts(dimensions);
    if (envelope.integer() == MPI_ORDER_C) {  // brings the fastest dimension to the front
        std::ranges::reverse(sizes);
        std::ranges::reverse(subsizes);
        std::ranges::reverse(starts);
    }
    Nest nest = child.nest;
    std::int64_t stride = child.extent;
    std::int64_t start = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        nest = Nest::repeat(nest, subsizes[d], stride);
        start += starts[d] * stride;
        stride *= sizes[d];
    }
    return Nest::shifted(nest, start);
}

Result<Nest> structure(TypeEnvelope& envelope, const LargeCountInquiry& inquiry) {
    const std::int64_t count = envelope.count();
    const auto lengths = envelope.counts(count);
    const auto displacements = envelope.addresses(count);
    std::vector<Nest> children;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const auto child = decode(envelope.types()[i], inquiry);
        if (!child) {
            return failure(child.error());
        }
        children.push_back(block(*child, lengths[i]));
    }
    return Nest::each(children, displacements);
}

// Decodes types of constructors with one inner type, `child`.
Result<Nest> derived(TypeEnvelope& envelope, const DecodedType& child) {
    switch (envelope.combiner()) {
        case MPI_COMBINER_DUP:
        case MPI_COMBINER_RESIZED: return child.nest;
        case MPI_COMBINER_CONTIGUOUS: return contiguous(envelope, child);
        case MPI_COMBINER_VECTOR: return vector(envelope, child);
        case hvector_integer:
        case MPI_COMBINER_HVECTOR: return hvector(envelope, child);
        case MPI_COMBINER_INDEXED: return indexed(envelope, child);
        case hindexed_integer:
        case MPI_COMBINER_HINDEXED: return hindexed(envelope, child);
        case MPI_COMBINER_INDEXED_BLOCK: return indexed_block(envelope, child);
        case MPI_COMBINER_HINDEXED_BLOCK: return hindexed_block(envelope, child);
        case MPI_COMBINER_SUBARRAY: return subarray(envelope, child);
        case MPI_COMBINER_DARRAY: return darray(envelope, child);
        default: return unknown("made by a constructor that Forebay does not know");
    }
}

Result<Nest> nest_of(MPI_Datatype type, const LargeCountInquiry& inquiry) {
    auto envelope = TypeEnvelope::open(type, inquiry);
    if (!envelope) {
        return failure(envelope.error());
    }
    switch (envelope->combiner()) {
        case MPI_COMBINER_NAMED:
        case MPI_COMBINER_F90_REAL:
        case MPI_COMBINER_F90_COMPLEX:
        case MPI_COMBINER_F90_INTEGER: return named(type);
        case struct_integer:
        case MPI_COMBINER_STRUCT: return structure(*envelope, inquiry);
        default: break;
    }
    if (envelope->types().size() != 1) {
        return unknown("made by a constructor that Forebay does not know");
    }
    const auto child = decode(envelope->types().front(), inquiry);
    return child ? derived(*envelope, *child) : Result<Nest>(failure(child.error()));
}

}  // namespace

std::int64_t size_of(MPI_Datatype type) noexcept {
    MPI_Count size = 0;
    const bool said = PMPI_Type_size_x(type, &size) == MPI_SUCCESS && size != MPI_UNDEFINED;
    return said ? static_cast<std::int64_t>(size) : -1;
}

std::int64_t bytes_of(MPI_Count count, MPI_Datatype type) noexcept {
    const std::int64_t size = type == MPI_DATATYPE_NULL ? -1 : size_of(type);
    std::int64_t bytes = 0;
    const bool known = size >= 0 && count >= 0 && !__builtin_mul_overflow(count, size, &bytes);
    return known ? bytes : -1;
}

Result<DecodedType> decode(MPI_Datatype type, const LargeCountInquiry& inquiry) {
    if (type == MPI_BYTE) {  // by far the most frequent
        return DecodedType{Nest::run(1), 1, 1};
    }
    auto nest = nest_of(type, inquiry);
    if (!nest) {
        return failure(nest.error());
    }
    MPI_Count low = 0;
    MPI_Count extent = 0;
    PMPI_Type_get_extent_x(type, &low, &extent);
    if (nest->size() != size_of(type)) {
        return unknown("its size is not what its construction says");
    }
    return DecodedType{std::move(*nest), extent, size_of(type)};
}

}  // namespace forebay::interposer
