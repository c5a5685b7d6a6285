// The arithmetic of record markers and sub-records: where a part of a record lies in the file, and
// which markers belong to it.
#include "output/plan/fortran_record.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace forebay::output {
namespace {

std::int64_t subrecord_of(const RecordFormat& format) {
    return format.marker == MarkerSize::four ? format.subrecord_max
                                             : std::numeric_limits<std::int64_t>::max();
}

std::int64_t marker_bytes(const RecordFormat& format) {
    return static_cast<std::int64_t>(format.marker);
}

void append_marker(std::vector<std::byte>& image, const RecordFormat& format, std::int64_t value) {
    std::array<std::byte, 8> bytes{};
    const std::size_t size = static_cast<std::size_t>(format.marker);
    if (format.marker == MarkerSize::four) {
        const auto narrow = static_cast<std::int32_t>(value);
        std::memcpy(bytes.data(), &narrow, size);
    } else {
        std::memcpy(bytes.data(), &value, size);
    }
    if (format.order != std::endian::native) {
        std::reverse(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    }
    image.insert(image.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
}

}  // namespace

std::int64_t framed_bytes(const RecordFormat& format, std::int64_t data) {
    const std::int64_t parts = data == 0 ? 1 : (data - 1) / subrecord_of(format) + 1;
    return data + 2 * marker_bytes(format) * parts;
}

std::int64_t framed_offset(const RecordFormat& format, std::int64_t begin) {
    const std::int64_t most = subrecord_of(format);
    const std::int64_t marker = begin % most == 0 ? 0 : marker_bytes(format);
    return begin + 2 * marker_bytes(format) * (begin / most) + marker;
}

std::vector<RecordPiece> pieces_of(const RecordFormat& format, std::int64_t data,
                                   std::int64_t begin, std::int64_t end) {
    expects(begin < end && end <= data, "a part of the record");
    const std::int64_t most = subrecord_of(format);
    std::vector<RecordPiece> made;
    for (std::int64_t at = begin; at < end;) {
        const std::int64_t first = at / most * most;
        const std::int64_t length = std::min(most, data - first);
        RecordPiece piece{at, std::min(end, first + length)};
        piece.opens = at == first;
        piece.closes = piece.end == first + length;
        piece.before = first + length < data ? -length : length;
        piece.behind = first > 0 ? -length : length;
        at = piece.end;
        made.push_back(piece);
    }
    return made;
}

std::vector<std::byte> framed_image(const RecordFormat& format, std::int64_t data,
                                    std::int64_t begin, std::span<const std::byte> bytes) {
    std::vector<std::byte> image;
    image.reserve(bytes.size() + 16);
    const auto end = begin + static_cast<std::int64_t>(bytes.size());
    for (const RecordPiece& piece : pieces_of(format, data, begin, end)) {
        if (piece.opens) {
            append_marker(image, format, piece.before);
        }
        const auto part = bytes.subspan(static_cast<std::size_t>(piece.begin - begin),
                                        static_cast<std::size_t>(piece.end - piece.begin));
        image.insert(image.end(), part.begin(), part.end());
        if (piece.closes) {
            append_marker(image, format, piece.behind);
        }
    }
    return image;
}

void swap_elements(std::span<std::byte> bytes, std::size_t element_bytes) {
    for (std::size_t at = 0; at + element_bytes <= bytes.size(); at += element_bytes) {
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes.begin() + static_cast<std::ptrdiff_t>(at + element_bytes));
    }
}

}  // namespace forebay::output
