// Arbitrary bytes where a journal lies, and arbitrary records of a good one: what is made of them
// is within its bounds.
#include "base/must_check.hpp"
#include "pool/journal/chain.hpp"
#include "pool/journal/story.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace forebay;
using namespace forebay::pool::journal;

namespace {

void look_at(std::span<const std::byte> bytes) {
    const std::size_t half = bytes.size() / 2 / group_unit * group_unit;
    const std::vector<SegmentBytes> segments{{0, bytes.first(half)}, {1, bytes.subspan(half)}};
    const Chain chain = chain_of(segments);
    for (const Group& group : chain.groups) {
        must(group.header.bytes <= bytes.size(), "a group is within its segment");
        must(group.header.first + group.header.records <= chain.next_record, "numbers are below");
        must(group.header.epoch < chain.next_epoch, "epochs are below");
    }
    for (const Story& story : stories_of(chain.groups)) {
        std::int64_t end = 0;
        for (const Run& run : story.runs) {
            must(run.at.bytes() >= end && !run.bytes.empty(), "runs ascend and do not overlap");
            must(run.bytes.data() >= bytes.data() &&
                     run.bytes.data() + run.bytes.size() <= bytes.data() + bytes.size(),
                 "they lie in the journal");
            end = run.at.bytes() + static_cast<std::int64_t>(run.bytes.size());
        }
        must(!story.empty(), "something is left of it");
        must(story.length_least.bytes() >= end, "the file is as long as what is written");
        must(!story.cut || story.cut->bytes() >= 0, "a length is one");
        must(story.path.size() <= path_bytes_max, "the path is within its bound");
    }
}

// Every 16 bytes are a record.
void look_at_records(std::span<const std::byte> bytes) {
    std::vector<std::byte> memory(std::size_t{1} << 18);
    GroupWriter writer{memory};
    const std::vector<std::byte> payload(256, std::byte{1});
    while (bytes.size() >= 16) {
        RecordHeader record;
        std::uint32_t what = 0;
        std::memcpy(&what, bytes.data(), sizeof what);
        std::memcpy(&record.number, bytes.data() + 8, sizeof record.number);
        record.kind = static_cast<Kind>(1 + what % 6);
        record.file = record.kind == Kind::life ? 0 : 1 + (what >> 8U) % 3;
        record.length = record.kind == Kind::deposit ? 1 + (what >> 16U) % 200 : 0;
        record.length = record.kind == Kind::file ? sizeof(FileFacts) : record.length;
        record.number &= std::numeric_limits<std::int64_t>::max() >> (what >> 28U) * 3U;
        if (!writer.fits(record.length)) {
            break;
        }
        writer.add(record, std::span{payload}.first(record.length));
        bytes = bytes.subspan(16);
    }
    GroupHeader header;
    header.first = 1;
    header.epoch = 1;
    std::vector<std::byte> segment(memory.size());
    const auto sealed = writer.seal(header);
    std::ranges::copy(sealed, segment.begin() + static_cast<std::ptrdiff_t>(segment.size() / 2));
    look_at(segment);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span bytes{reinterpret_cast<const std::byte*>(data), size};
    look_at(bytes);
    look_at_records(bytes);
    return 0;
}
