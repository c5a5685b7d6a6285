// Sequential unformatted records as Fortran's run-time libraries write them: the length of the data
// as a marker before and behind it. With markers of 4 bytes, a record of more than 2 GiB is divided
// into sub-records: the marker before one is negative if another follows, the marker behind one is
// negative if another precedes. Source: "Unformatted sequential file format" of gfortran's manual;
// Intel's compilers write the same.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay::output {

enum class MarkerSize : std::uint8_t { four = 4, eight = 8 };

// gfortran's and Intel's longest sub-record, in bytes.
inline constexpr std::int64_t subrecord_bytes_max = 2'147'483'639;

struct RecordFormat {
    MarkerSize marker = MarkerSize::four;
    std::endian order = std::endian::native;
    std::int64_t subrecord_max = subrecord_bytes_max;  // counts with markers of 4 bytes only
};

// A part of a record's data within one sub-record, and the markers that go with it.
struct RecordPiece {
    std::int64_t begin = 0;  // bytes of data
    std::int64_t end = 0;
    std::int64_t before = 0;  // value of the marker before it
    std::int64_t behind = 0;
    bool opens = false;   // it begins the sub-record: a marker stands before it
    bool closes = false;  // it ends the sub-record: a marker stands behind it

    bool operator==(const RecordPiece&) const noexcept = default;
};

// The bytes of a record with its markers.
[[nodiscard]] std::int64_t framed_bytes(const RecordFormat& format, std::int64_t data);
// Where in the record, markers counted, the image of bytes [begin, …) of its data begins: before
// the marker, if a sub-record begins there.
[[nodiscard]] std::int64_t framed_offset(const RecordFormat& format, std::int64_t begin);
// Bytes [begin, end) of the data of a record of `data` bytes. Contract: begin < end <= data.
[[nodiscard]] std::vector<RecordPiece> pieces_of(const RecordFormat& format, std::int64_t data,
                                                 std::int64_t begin, std::int64_t end);
// The file's bytes for bytes [begin, begin + bytes.size()) of the data: these, and markers.
[[nodiscard]] std::vector<std::byte> framed_image(const RecordFormat& format, std::int64_t data,
                                                  std::int64_t begin,
                                                  std::span<const std::byte> bytes);

// Turns the order of the bytes of each element.
void swap_elements(std::span<std::byte> bytes, std::size_t element_bytes);

}  // namespace forebay::output
