// Reads envelope and contents of a datatype by either set of inquiry functions, and frees the inner
// types that the MPI hands out.
#include "collective/mpi/envelope.hpp"

#include "foundation/base/contracts.hpp"

#include <utility>

namespace forebay::interposer {

namespace {

tl::unexpected<Error> cannot_ask() {
    return failure({ErrorCode::unsupported, 0,
                    "cannot decode a datatype (the MPI does not say how it was made). The call is "
                    "left to the MPI."});
}

template <class From>
std::vector<std::int64_t> widened(const std::vector<From>& from) {
    return {from.begin(), from.end()};
}

bool is_derived(int combiner) noexcept {
    return combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL &&
           combiner != MPI_COMBINER_F90_COMPLEX && combiner != MPI_COMBINER_F90_INTEGER;
}

}  // namespace

int combiner_of(MPI_Datatype type, const LargeCountInquiry& inquiry) noexcept {
    int combiner = MPI_COMBINER_NAMED;
    if (inquiry.envelope != nullptr) {
        MPI_Count integers = 0;
        MPI_Count addresses = 0;
        MPI_Count counts = 0;
        MPI_Count types = 0;
        inquiry.envelope(type, &integers, &addresses, &counts, &types, &combiner);
        return combiner;
    }
    int integers = 0;
    int addresses = 0;
    int types = 0;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner;
}

bool is_named(MPI_Datatype type, const LargeCountInquiry& inquiry) noexcept {
    return !is_derived(combiner_of(type, inquiry));
}

Result<TypeEnvelope> TypeEnvelope::open(MPI_Datatype type, const LargeCountInquiry& inquiry) {
    TypeEnvelope made;
    made.inquiry_ = &inquiry;
    // The inquiry functions with int abort for types of large-count constructors, so the new
    // functions are asked if the MPI has them.
    const bool large = inquiry.envelope != nullptr && inquiry.contents != nullptr;
    if (!(large ? made.read_large(type, inquiry) : made.read_small(type))) {
        return cannot_ask();
    }
    return made;
}

TypeEnvelope::TypeEnvelope(TypeEnvelope&& other) noexcept
    : combiner_(other.combiner_),
      large_(other.large_),
      inquiry_(other.inquiry_),
      integers_(std::move(other.integers_)),
      addresses_(std::move(other.addresses_)),
      counts_(std::move(other.counts_)),
      types_(std::exchange(other.types_, {})) {}

TypeEnvelope::~TypeEnvelope() {
    for (MPI_Datatype& type : types_) {
        if (!is_named(type, *inquiry_)) {
            PMPI_Type_free(&type);
        }
    }
}

template <class Number, class Ask, class Get>
bool TypeEnvelope::read(Ask ask, Get get) {
    Number integers = 0;
    Number addresses = 0;
    Number counts = 0;
    Number types = 0;
    if (ask(&integers, &addresses, &counts, &types, &combiner_) != MPI_SUCCESS) {
        return false;
    }
    if (!is_derived(combiner_)) {
        return true;
    }
    std::vector<int> i(static_cast<std::size_t>(integers));
    std::vector<MPI_Aint> a(static_cast<std::size_t>(addresses));
    std::vector<MPI_Count> c(static_cast<std::size_t>(counts));
    std::vector<MPI_Datatype> t(static_cast<std::size_t>(types));
    if (get(integers, addresses, counts, types, i.data(), a.data(), c.data(), t.data()) !=
        MPI_SUCCESS) {
        return false;
    }
    large_ = counts > 0;
    integers_ = widened(i);
    addresses_ = widened(a);
    counts_ = widened(c);
    types_ = std::move(t);
    return true;
}

bool TypeEnvelope::read_small(MPI_Datatype type) {
    return read<int>(
        [type](int* integers, int* addresses, int*, int* types, int* combiner) {
            return PMPI_Type_get_envelope(type, integers, addresses, types, combiner);
        },
        [type](int integers, int addresses, int, int types, int* i, MPI_Aint* a, MPI_Count*,
               MPI_Datatype* t) {
            return PMPI_Type_get_contents(type, integers, addresses, types, i, a, t);
        });
}

bool TypeEnvelope::read_large(MPI_Datatype type, const LargeCountInquiry& inquiry) {
    return read<MPI_Count>([&](auto... of) { return inquiry.envelope(type, of...); },
                           [&](auto... of) { return inquiry.contents(type, of...); });
}

std::int64_t TypeEnvelope::take(const std::vector<std::int64_t>& from, std::size_t& next) noexcept {
    invariant(next < from.size(), "the MPI gives all arguments of a datatype's constructor");
    return from[next++];
}

std::vector<std::int64_t> TypeEnvelope::counts(std::int64_t number) {
    std::vector<std::int64_t> taken(static_cast<std::size_t>(number));
    for (std::int64_t& value : taken) {
        value = count();
    }
    return taken;
}

std::vector<std::int64_t> TypeEnvelope::addresses(std::int64_t number) {
    std::vector<std::int64_t> taken(static_cast<std::size_t>(number));
    for (std::int64_t& value : taken) {
        value = address();
    }
    return taken;
}

std::vector<std::int64_t> TypeEnvelope::integers(std::int64_t number) {
    std::vector<std::int64_t> taken(static_cast<std::size_t>(number));
    for (std::int64_t& value : taken) {
        value = integer();
    }
    return taken;
}

}  // namespace forebay::interposer
