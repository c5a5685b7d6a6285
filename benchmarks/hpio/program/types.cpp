// Builds MPI datatypes from layouts.
#include "benchmarks/hpio/program/types.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>
#include <vector>

namespace forebay::bench {

namespace {

using hpio::ArrayDimension;
using hpio::ArrayPattern;
using hpio::LayoutAxis;
using hpio::PatternShape;
using hpio::RegionPattern;
using hpio::RunProduct;

constexpr std::int64_t int_max = std::numeric_limits<int>::max();

Result<int> small(std::int64_t number, std::string_view what) {
    if (number > int_max) {
        return failure(
            {.code = ErrorCode::argument,
             .message = fmt::format("{} is {} (MPI's counts end at {}). Make it smaller.", what,
                                    number, int_max)});
    }
    return static_cast<int>(number);
}

MPI_Datatype bytes(std::int64_t count) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(static_cast<int>(count), MPI_BYTE, &type);
    return type;
}

// `count` regions of `size` bytes, `stride` bytes apart.
MPI_Datatype strided(std::int64_t count, std::int64_t size, std::int64_t stride,
                     hpio::DatatypeKind types) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (types == hpio::DatatypeKind::vector) {
        MPI_Type_create_hvector(static_cast<int>(count), static_cast<int>(size), stride, MPI_BYTE,
                                &type);
        return type;
    }
    const auto entries = static_cast<std::size_t>(count);
    std::vector<int> lengths(entries, static_cast<int>(size));
    std::vector<MPI_Aint> places(entries);
    const std::vector<MPI_Datatype> of(entries, MPI_CHAR);
    for (std::size_t at = 0; at < entries; ++at) {
        places[at] = static_cast<MPI_Aint>(at) * stride;
    }
    MPI_Type_create_struct(static_cast<int>(count), lengths.data(), places.data(), of.data(),
                           &type);
    return type;
}

// Wraps one axis around `inner`: its whole runs as a vector, followed by a last run that is cut.
MPI_Datatype around(const LayoutAxis& axis, MPI_Datatype inner) {
    MPI_Datatype element = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(inner, 0, axis.step_bytes, &element);
    const std::int64_t runs = axis.runs.count();
    const hpio::IndexRun last = axis.runs.at(runs - 1);
    const std::int64_t whole = last.length == axis.runs.length ? runs : runs - 1;
    std::vector<MPI_Datatype> parts;
    std::vector<MPI_Aint> places;
    if (whole > 0) {
        MPI_Datatype part = MPI_DATATYPE_NULL;
        MPI_Type_create_hvector(static_cast<int>(whole), static_cast<int>(axis.runs.length),
                                axis.runs.stride * axis.step_bytes, element, &part);
        parts.push_back(part);
        places.push_back(axis.runs.first * axis.step_bytes);
    }
    if (whole < runs) {
        MPI_Datatype part = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(static_cast<int>(last.length), element, &part);
        parts.push_back(part);
        places.push_back(last.begin * axis.step_bytes);
    }
    const std::vector<int> ones(parts.size(), 1);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(static_cast<int>(parts.size()), ones.data(), places.data(), parts.data(),
                           &type);
    for (MPI_Datatype& part : parts) {
        MPI_Type_free(&part);
    }
    MPI_Type_free(&element);
    return type;
}

MPI_Datatype nested(const RunProduct& layout, std::int64_t extent_bytes) {
    MPI_Datatype type = bytes(layout.element_bytes);
    for (auto axis = layout.axes.rbegin(); axis != layout.axes.rend(); ++axis) {
        MPI_Datatype outer = around(*axis, type);
        MPI_Type_free(&type);
        type = outer;
    }
    MPI_Datatype resized = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(type, 0, extent_bytes, &resized);
    MPI_Type_free(&type);
    return resized;
}

// The arguments of MPI_Type_create_subarray.
struct SubarrayBox {
    std::vector<int> sizes;
    std::vector<int> counts;
    std::vector<int> starts;
};

MPI_Datatype subarray(const SubarrayBox& box, std::int64_t element_bytes) {
    MPI_Datatype element = bytes(element_bytes);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(static_cast<int>(box.sizes.size()), box.sizes.data(),
                             box.counts.data(), box.starts.data(), MPI_ORDER_C, element, &type);
    MPI_Type_free(&element);
    return type;
}

bool all_blocks(const ArrayPattern& array) {
    return std::all_of(array.dimensions.begin(), array.dimensions.end(),
                       [](const ArrayDimension& one) { return one.block == 0; });
}

bool all_cyclic(const ArrayPattern& array) {
    return std::all_of(
        array.dimensions.begin(), array.dimensions.end(),
        [](const ArrayDimension& one) { return one.block > 0 && one.count == one.size; });
}

MPI_Datatype darray(const ArrayPattern& array, const hpio::ResolvedPattern& job, Rank rank) {
    std::vector<int> sizes;
    std::vector<int> blocks;
    std::vector<int> grid;
    for (const ArrayDimension& one : array.dimensions) {
        sizes.push_back(static_cast<int>(one.size));
        blocks.push_back(static_cast<int>(one.block));
        grid.push_back(one.ranks);
    }
    const std::vector<int> cyclic(sizes.size(), MPI_DISTRIBUTE_CYCLIC);
    MPI_Datatype element = bytes(array.element_bytes);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_darray(job.ranks, rank.value(), static_cast<int>(sizes.size()), sizes.data(),
                           cyclic.data(), blocks.data(), grid.data(), MPI_ORDER_C, element, &type);
    MPI_Type_free(&element);
    return type;
}

SubarrayBox box_of(const RunProduct& layout, const std::vector<std::int64_t>& sizes) {
    SubarrayBox box;
    for (std::size_t at = 0; at < sizes.size(); ++at) {
        box.sizes.push_back(static_cast<int>(sizes[at]));
        box.counts.push_back(static_cast<int>(layout.axes[at].runs.total()));
        box.starts.push_back(static_cast<int>(layout.axes[at].runs.first));
    }
    return box;
}

// The size of each dimension in memory, including the halo.
std::vector<std::int64_t> memory_sizes(const ArrayPattern& array, const RunProduct& memory) {
    std::vector<std::int64_t> sizes;
    sizes.reserve(array.dimensions.size());
    for (std::size_t at = 0; at < array.dimensions.size(); ++at) {
        sizes.push_back(memory.axes[at].runs.total() + 2 * array.dimensions[at].halo);
    }
    return sizes;
}

Result<MpiAccess> of_array(const ArrayPattern& array, const hpio::ResolvedPattern& job, Rank rank) {
    const RunProduct file = job.file_layout(rank);
    const RunProduct memory = job.memory_layout(rank);
    std::vector<std::int64_t> sizes;
    sizes.reserve(array.dimensions.size());
    for (const ArrayDimension& one : array.dimensions) {
        sizes.push_back(one.size);
    }
    for (const auto& list : {sizes, memory_sizes(array, memory), {array.element_bytes}}) {
        for (const std::int64_t one : list) {
            if (auto fits = small(one, "a dimension of the array"); !fits) {
                return failure(fits.error());
            }
        }
    }
    MpiAccess request;
    if (file.bytes() == 0) {
        request.filetype = OwnedDatatype(bytes(1));
        request.memory = OwnedDatatype(bytes(1));
        request.count = 0;
        return request;
    }
    if (all_blocks(array)) {
        request.filetype = OwnedDatatype(subarray(box_of(file, sizes), array.element_bytes));
    } else if (all_cyclic(array)) {
        request.filetype = OwnedDatatype(darray(array, job, rank));
    } else {
        request.filetype = OwnedDatatype(nested(file, job.watched_bytes()));
    }
    request.memory =
        OwnedDatatype(subarray(box_of(memory, memory_sizes(array, memory)), array.element_bytes));
    return request;
}

Result<MpiAccess> of_regions(const RegionPattern& regions, const hpio::ResolvedPattern& job,
                             Rank rank, hpio::DatatypeKind types) {
    const auto count = small(regions.count, "the region count");
    const auto size = small(regions.size_bytes, "the region size");
    if (!count || !size) {
        return failure(count ? size.error() : count.error());
    }
    const std::int64_t period = regions.size_bytes + regions.spacing_bytes;
    MpiAccess request;
    if (regions.file == PatternShape::contiguous) {
        request.displacement = regions.count * regions.size_bytes * rank.value();
        request.filetype = OwnedDatatype(bytes(regions.size_bytes));
    } else {
        request.displacement = period * rank.value();
        request.filetype =
            OwnedDatatype(strided(regions.count, regions.size_bytes, period * job.ranks, types));
    }
    if (regions.memory == PatternShape::contiguous) {
        request.memory = OwnedDatatype(bytes(regions.size_bytes));
        request.count = *count;
    } else {
        request.memory = OwnedDatatype(strided(regions.count, regions.size_bytes, period, types));
    }
    return request;
}

}  // namespace

OwnedDatatype::OwnedDatatype(MPI_Datatype type) : type_(type) { MPI_Type_commit(&type_); }

OwnedDatatype::~OwnedDatatype() {
    if (type_ != MPI_DATATYPE_NULL) {
        MPI_Type_free(&type_);
    }
}

OwnedDatatype::OwnedDatatype(OwnedDatatype&& other) noexcept
    : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}

OwnedDatatype& OwnedDatatype::operator=(OwnedDatatype&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
}

Result<MpiAccess> access_of(const hpio::ResolvedPattern& job, Rank rank, hpio::DatatypeKind types) {
    if (const auto* regions = std::get_if<RegionPattern>(&job.pattern)) {
        return of_regions(*regions, job, rank, types);
    }
    return of_array(std::get<ArrayPattern>(job.pattern), job, rank);
}

}  // namespace forebay::bench
