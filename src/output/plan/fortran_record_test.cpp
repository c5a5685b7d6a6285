// Records against a naive oracle, which frames the whole record at once.
#include "output/plan/fortran_record.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace forebay::output {
namespace {

using Bytes = std::vector<std::byte>;

void append(Bytes& bytes, std::int32_t marker) {
    Bytes four(4);
    std::memcpy(four.data(), &marker, 4);
    bytes.insert(bytes.end(), four.begin(), four.end());
}

// As libgfortran's write_us_marker and next_record_w_unf do it.
Bytes whole(const Bytes& data, std::int64_t most) {
    Bytes made;
    const auto size = static_cast<std::int64_t>(data.size());
    for (std::int64_t at = 0; at < size; at += most) {
        const std::int64_t length = std::min(most, size - at);
        append(made, static_cast<std::int32_t>(at + length < size ? -length : length));
        made.insert(made.end(), data.begin() + at, data.begin() + at + length);
        append(made, static_cast<std::int32_t>(at > 0 ? -length : length));
    }
    return made;
}

RC_GTEST_PROP(FramedImage, PartsThatAreWrittenWhereTheyBelongAreTheRecord, ()) {
    const auto size = *rc::gen::inRange<std::int64_t>(1, 100);
    Bytes data(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = static_cast<std::byte>(i + 1);
    }
    RecordFormat format;
    format.subrecord_max = *rc::gen::inRange<std::int64_t>(1, 120);
    const Bytes expected = whole(data, format.subrecord_max);
    RC_ASSERT(framed_bytes(format, size) == static_cast<std::int64_t>(expected.size()));
    Bytes file(expected.size());
    for (std::int64_t at = 0; at < size;) {
        const auto end = *rc::gen::inRange<std::int64_t>(at + 1, size + 1);
        const Bytes image =
            framed_image(format, size, at,
                         std::span(data).subspan(static_cast<std::size_t>(at),
                                                 static_cast<std::size_t>(end - at)));
        const auto place = static_cast<std::size_t>(framed_offset(format, at));
        RC_ASSERT(place + image.size() <= file.size());
        std::ranges::copy(image, file.begin() + static_cast<std::ptrdiff_t>(place));
        at = end;
    }
    RC_ASSERT(file == expected);
}

TEST(FramedImage, HasMarkersOfEightBytesAndTheOtherOrder) {
    const Bytes data{std::byte{1}, std::byte{2}};
    const RecordFormat format{.marker = MarkerSize::eight, .order = std::endian::big};
    Bytes expected(18);
    expected[7] = expected[17] = std::byte{2};
    expected[8] = std::byte{1};
    expected[9] = std::byte{2};
    EXPECT_EQ(framed_image(format, 2, 0, data), expected);
}

TEST(PiecesOf, ARecordOfFiveGibibytesIsThreeSubrecords) {
    const std::int64_t size = std::int64_t{5} << 30;
    const std::int64_t most = subrecord_bytes_max;
    const std::vector<RecordPiece> pieces = pieces_of({}, size, 0, size);
    ASSERT_EQ(pieces.size(), 3);
    EXPECT_EQ(pieces[0], (RecordPiece{0, most, -most, most, true, true}));
    EXPECT_EQ(pieces[1], (RecordPiece{most, 2 * most, -most, -most, true, true}));
    const std::int64_t rest = size - 2 * most;
    EXPECT_EQ(pieces[2], (RecordPiece{2 * most, size, rest, -rest, true, true}));
    EXPECT_EQ(framed_bytes({}, size), size + 24);
    EXPECT_EQ(framed_bytes({.marker = MarkerSize::eight}, size), size + 16);
}

TEST(FramedBytes, AnEmptyRecordIsTwoMarkers) { EXPECT_EQ(framed_bytes({}, 0), 8); }

TEST(SwapElements, TurnsEachElement) {
    Bytes bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
    swap_elements(bytes, 2);
    EXPECT_EQ(bytes, (Bytes{std::byte{2}, std::byte{1}, std::byte{4}, std::byte{3}}));
}

}  // namespace
}  // namespace forebay::output
