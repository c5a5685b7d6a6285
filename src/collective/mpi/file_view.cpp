// Decodes views. A rank that cannot decode its view refuses collective calls instead of failing
// alone.
#include "collective/mpi/file_view.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace forebay::interposer {

namespace {

// The maximum file offset; it leaves room for rounding up to windows and blocks in 63 bits.
constexpr std::int64_t last_offset = std::int64_t{1} << 61;

// Rounds up to a multiple of 4096, which does not make the granularity of the view finer.
Length round_up(std::int64_t span) noexcept { return Length{(span + 4095) / 4096 * 4096}; }

}  // namespace

FileView FileView::make(const ViewArguments& arguments, const LargeCountInquiry& inquiry) {
    try {
        return decoded(arguments, inquiry);
    } catch (const std::bad_alloc&) {
        FileView refused;
        refused.refusal = engine::Refusal::no_memory;
        return refused;
    }
}

FileView FileView::decoded(const ViewArguments& arguments, const LargeCountInquiry& inquiry) {
    FileView made;
    const char* datarep = arguments.datarep;
    if (datarep == nullptr || std::strcmp(datarep, "native") != 0) {
        made.refusal = engine::Refusal::data_representation;
        return made;
    }
    MPI_Datatype filetype = arguments.filetype;
    if (arguments.displacement < 0 || arguments.etype == MPI_DATATYPE_NULL ||
        filetype == MPI_DATATYPE_NULL) {
        made.refusal = engine::Refusal::view_unsupported;
        return made;
    }
    made.etype_bytes = size_of(arguments.etype);
    if (made.etype_bytes <= 0) {
        made.refusal = engine::Refusal::view_unsupported;
        return made;
    }
    made.without_data = size_of(filetype) == 0;
    if (made.without_data) {
        return made;
    }
    const auto layout = decode(filetype, inquiry);
    made.refusal = engine::Refusal::view_unsupported;
    if (!layout) {
        return made;
    }
    // PnetCDF writes its header and an array by one filetype whose extent is smaller than its true
    // extent. The bounds of the type are the explicit ones of the array (MPI's lb_marker and
    // ub_marker), but the bytes of the header lie below them. Such a filetype can be used for its
    // first tile only.
    const std::int64_t span = layout->nest.high() - layout->nest.low();
    made.one_tile = layout->extent < span;
    const Length extent = made.one_tile ? round_up(span) : Length{layout->extent};
    auto view = pattern::View::make(Offset{arguments.displacement}, layout->nest, extent,
                                    Length{made.etype_bytes});
    if (view) {
        made.bytes = std::move(*view);
        made.refusal = engine::Refusal::none;
    }
    return made;
}

bool FileView::reaches(std::int64_t position, std::int64_t length) const noexcept {
    std::int64_t end = 0;
    if (position < 0 || __builtin_add_overflow(position, length, &end)) {
        return false;
    }
    if (without_data) {
        return length == 0;
    }
    if (one_tile && end > bytes.filetype().size()) {
        return false;
    }
    const std::int64_t size = bytes.contiguous() ? 1 : bytes.filetype().size();
    const std::int64_t extent = bytes.contiguous() ? 1 : bytes.extent().bytes();
    const std::int64_t high = bytes.contiguous() ? 1 : bytes.filetype().high();
    std::int64_t last = 0;
    return !__builtin_mul_overflow(end / size + 1, extent, &last) &&
           !__builtin_add_overflow(last, bytes.displacement().bytes(), &last) &&
           !__builtin_add_overflow(last, high, &last) && last < last_offset;
}

}  // namespace forebay::interposer
