// Decoding validates the whole message in a first pass and applies it in a second one, so that an
// invalid message changes nothing.
#include "foundation/pattern/encode.hpp"

#include "foundation/pattern/words.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>

namespace forebay::pattern {

namespace {

constexpr std::uint32_t magic = 0x31434246;  // "FBC1"

enum class CoverageForm : std::uint8_t { bitmap, runs, packed };
enum class DataPresence : std::uint8_t { none, follows };

struct CoverageHeader {
    std::uint32_t magic = pattern::magic;
    CoverageForm form = CoverageForm::bitmap;
    DataPresence data = DataPresence::none;
    std::uint8_t shift = 0;  // the sender's granularity is 1 << shift bytes
    std::uint8_t reserved = 0;
    std::int64_t image_bytes = 0;
    std::int64_t covered_bytes = 0;
    // Number of 64-bit entries that follow: words of the bitmap, or runs; 0 for packed.
    std::int64_t entries = 0;
};
static_assert(sizeof(CoverageHeader) == 32);

// A run in units of the granularity; `gap` counts the units from the end of the run before.
struct WireRun {
    std::uint32_t gap = 0;
    std::uint32_t units = 0;
};
static_assert(sizeof(WireRun) == sizeof(std::uint64_t), "both forms have entries of one size");

std::int64_t units_of(std::int64_t image_bytes, int shift) noexcept {
    const std::int64_t last = (image_bytes & ((std::int64_t{1} << shift) - 1)) != 0 ? 1 : 0;
    return (image_bytes >> shift) + last;
}

// Appends to a buffer that the caller has made large enough.
class BufferWriter {
public:
    explicit BufferWriter(std::span<std::byte> out) noexcept : out_(out) {}
    void put(const void* bytes, std::size_t length) noexcept {
        expects(length <= out_.size() - used_, "a message fits its buffer");
        if (length > 0) {
            std::memcpy(out_.data() + used_, bytes, length);
        }
        used_ += length;
    }
    [[nodiscard]] std::size_t used() const noexcept { return used_; }

private:
    std::span<std::byte> out_;
    std::size_t used_ = 0;
};

template <class Each>
void for_each_run(const Coverage& coverage, Each&& each) {
    for (auto run = coverage.next_run(0); run.length > 0;
         run = coverage.next_run(run.begin + run.length)) {
        each(run);
    }
}

std::int64_t runs_of(const Coverage& coverage) noexcept {
    std::int64_t runs = 0;
    std::uint64_t before = 0;  // the highest bit of the word before
    for (const Coverage::Bits& bits : coverage.words()) {
        const std::uint64_t word = bits.load(std::memory_order_relaxed);
        runs += std::popcount(word & ~((word << 1) | before));
        before = word >> (bits_per_word - 1);
    }
    return runs;
}

CoverageHeader header_of(const Coverage& coverage, DataPresence data) noexcept {
    CoverageHeader header;
    header.data = data;
    header.shift = static_cast<std::uint8_t>(
        std::countr_zero(static_cast<std::uint64_t>(coverage.granularity())));
    header.image_bytes = coverage.image_bytes();
    header.covered_bytes = coverage.covered_bytes();
    const auto words = static_cast<std::int64_t>(coverage.words().size());
    const std::int64_t runs = runs_of(coverage);
    const bool fits =
        units_of(header.image_bytes, header.shift) <= std::numeric_limits<std::uint32_t>::max();
    header.form = fits && runs < words ? CoverageForm::runs : CoverageForm::bitmap;
    header.entries = header.form == CoverageForm::runs ? runs : words;
    return header;
}

void put_coverage(BufferWriter& writer, const Coverage& coverage, const CoverageHeader& header) {
    writer.put(&header, sizeof(header));
    if (header.form == CoverageForm::bitmap) {
        for (const Coverage::Bits& bits : coverage.words()) {
            const std::uint64_t word = bits.load(std::memory_order_relaxed);
            writer.put(&word, sizeof(word));
        }
        return;
    }
    std::int64_t end = 0;
    for_each_run(coverage, [&](const Coverage::Run& run) {
        const std::int64_t begin = run.begin >> header.shift;
        const std::int64_t units = units_of(run.length, header.shift);
        const WireRun wire{static_cast<std::uint32_t>(begin - end),
                           static_cast<std::uint32_t>(units)};
        writer.put(&wire, sizeof(wire));
        end = begin + units;
    });
}

// Iterates over the runs that a message lists.
class RunReader {
public:
    // Precondition: the message is long enough for the entries that its header announces.
    RunReader(const CoverageHeader& header, std::span<const std::byte> message) noexcept
        : header_(header),
          entries_(message.subspan(sizeof(CoverageHeader))),
          units_(units_of(header.image_bytes, header.shift)) {}

    // The next run in bytes of the image; nullopt at the end. A run that is empty or exceeds the
    // image is returned with length 0: it is invalid.
    std::optional<Coverage::Run> next() noexcept {
        return header_.form == CoverageForm::bitmap ? next_of_bitmap() : next_of_list();
    }

private:
    template <class Entry>
    [[nodiscard]] Entry entry(std::int64_t index) const noexcept {
        Entry entry;
        std::memcpy(&entry, entries_.data() + static_cast<std::size_t>(index) * sizeof(entry),
                    sizeof(entry));
        return entry;
    }

    [[nodiscard]] Coverage::Run run(std::int64_t begin, std::int64_t end) const noexcept {
        if (begin >= end || end > units_) {
            return Coverage::Run{};
        }
        const std::int64_t first = begin << header_.shift;
        const std::int64_t last = end == units_ ? header_.image_bytes : end << header_.shift;
        return Coverage::Run{first, last - first};
    }

    std::optional<Coverage::Run> next_of_list() noexcept {
        if (index_ == header_.entries) {
            return std::nullopt;
        }
        const auto wire = entry<WireRun>(index_++);
        const std::int64_t begin = at_ + wire.gap;
        at_ = begin + wire.units;
        return run(begin, at_);
    }

    // The first bit at or after `from` that equals `wanted`; bits beyond the bitmap are zeros.
    [[nodiscard]] std::int64_t find(std::int64_t from, bool wanted) const noexcept {
        std::uint64_t mask = all_bits << (from % bits_per_word);
        for (std::int64_t word = from / bits_per_word; word < header_.entries; ++word) {
            const auto value = entry<std::uint64_t>(word);
            const std::uint64_t bits = (wanted ? value : ~value) & mask;
            if (bits != 0) {
                return word * bits_per_word + std::countr_zero(bits);
            }
            mask = all_bits;
        }
        return header_.entries * bits_per_word;
    }

    std::optional<Coverage::Run> next_of_bitmap() noexcept {
        const std::int64_t begin = find(at_, true);
        if (begin == header_.entries * bits_per_word) {
            return std::nullopt;
        }
        at_ = find(begin, false);
        return run(begin, at_);
    }

    const CoverageHeader& header_;
    std::span<const std::byte> entries_;
    std::int64_t units_;
    std::int64_t index_ = 0;
    std::int64_t at_ = 0;  // units
};

// Reads the header and checks that its fields agree with each other, with the message's length and
// with the image's size.
Result<CoverageHeader> header_in(std::span<const std::byte> message, std::int64_t image_bytes) {
    CoverageHeader header;
    if (message.size() < sizeof(header)) {
        return failure(unusable_message("it is shorter than a header"));
    }
    std::memcpy(&header, message.data(), sizeof(header));
    const auto room = static_cast<std::int64_t>(message.size() - sizeof(header));
    if (header.magic != magic || header.shift > 62 || header.reserved != 0 ||
        header.form > CoverageForm::packed || header.data > DataPresence::follows) {
        return failure(unusable_message("it is of another kind"));
    }
    if (header.image_bytes != image_bytes) {
        return failure(unusable_message("it is about another window"));
    }
    if (header.covered_bytes < 0 || header.covered_bytes > image_bytes || header.entries < 0 ||
        header.entries > room / static_cast<std::int64_t>(sizeof(std::uint64_t))) {
        return failure(unusable_message("it is cut short"));
    }
    const std::int64_t entries_bytes =
        header.entries * static_cast<std::int64_t>(sizeof(std::uint64_t));
    if (header.data == DataPresence::follows && header.covered_bytes > room - entries_bytes) {
        return failure(unusable_message("it is cut short"));
    }
    return header;
}

// Reads the header, and checks also that the runs ascend, lie in the image and add up to the
// header's covered bytes.
Result<CoverageHeader> checked_header(std::span<const std::byte> message, DataPresence data,
                                      const Coverage& coverage) {
    auto header = header_in(message, coverage.image_bytes());
    if (!header) {
        return header;
    }
    if (header->form == CoverageForm::packed || header->data != data) {
        return failure(unusable_message("it is of another kind"));
    }
    const std::int64_t units = units_of(header->image_bytes, header->shift);
    if (header->form == CoverageForm::bitmap &&
        header->entries != (units + bits_per_word - 1) / bits_per_word) {
        return failure(unusable_message("its bitmap has another size"));
    }
    RunReader reader(*header, message);
    std::int64_t bytes = 0;
    while (const auto run = reader.next()) {
        const std::int64_t end = run->begin + run->length;
        if (run->length <= 0) {
            return failure(unusable_message("it names bytes outside its window"));
        }
        if (run->begin % coverage.granularity() != 0 ||
            (end % coverage.granularity() != 0 && end != coverage.image_bytes())) {
            return failure(unusable_message("it is finer than this node's coverage"));
        }
        bytes += run->length;
    }
    if (bytes != header->covered_bytes) {
        return failure(unusable_message("its coverage and its length differ"));
    }
    return header;
}

}  // namespace

Error unusable_message(std::string_view why) {
    return Error{ErrorCode::input_output, 0,
                 fmt::format("cannot use a message of another node ({}). Check that all nodes run "
                             "the same version of Forebay.",
                             why)};
}

std::size_t encoded_coverage_bytes_max(std::int64_t image_bytes, std::int64_t granularity) {
    return sizeof(CoverageHeader) +
           Coverage::words_for(image_bytes, granularity) * sizeof(std::uint64_t);
}

std::size_t encoded_bytes_max(std::int64_t image_bytes, std::int64_t granularity) {
    return encoded_coverage_bytes_max(image_bytes, granularity) +
           static_cast<std::size_t>(image_bytes);
}

std::size_t encode(const Coverage& coverage, std::span<const std::byte> image,
                   std::span<std::byte> out) {
    expects(image.size() >= static_cast<std::size_t>(coverage.image_bytes()),
            "an image is as long as its coverage says");
    BufferWriter writer(out);
    put_coverage(writer, coverage, header_of(coverage, DataPresence::follows));
    for_each_run(coverage, [&](const Coverage::Run& run) {
        writer.put(image.data() + run.begin, static_cast<std::size_t>(run.length));
    });
    return writer.used();
}

std::size_t encode_coverage(const Coverage& coverage, std::span<std::byte> out) {
    BufferWriter writer(out);
    put_coverage(writer, coverage, header_of(coverage, DataPresence::none));
    return writer.used();
}

Result<std::int64_t> decode_into(std::span<const std::byte> message, std::span<std::byte> image,
                                 Coverage& coverage) {
    expects(image.size() >= static_cast<std::size_t>(coverage.image_bytes()),
            "an image is as long as its coverage says");
    const auto header = checked_header(message, DataPresence::follows, coverage);
    if (!header) {
        return failure(header.error());
    }
    const std::byte* bytes = message.data() + sizeof(CoverageHeader) +
                             static_cast<std::size_t>(header->entries) * sizeof(std::uint64_t);
    RunReader reader(*header, message);
    while (const auto run = reader.next()) {
        std::memcpy(image.data() + run->begin, bytes, static_cast<std::size_t>(run->length));
        bytes += run->length;
        coverage.mark(run->begin, run->length);
    }
    return header->covered_bytes;
}

Result<std::int64_t> decode_coverage(std::span<const std::byte> message, Coverage& coverage) {
    const auto header = checked_header(message, DataPresence::none, coverage);
    if (!header) {
        return failure(header.error());
    }
    RunReader reader(*header, message);
    while (const auto run = reader.next()) {
        coverage.mark(run->begin, run->length);
    }
    return header->covered_bytes;
}

std::size_t encode_covered(const Coverage& wanted, std::span<const std::byte> image,
                           std::span<std::byte> out) {
    const auto held = std::min(static_cast<std::int64_t>(image.size()), wanted.image_bytes());
    CoverageHeader header;
    header.form = CoverageForm::packed;
    header.data = DataPresence::follows;
    header.image_bytes = wanted.image_bytes();
    for_each_run(wanted, [&](const Coverage::Run& run) {
        header.covered_bytes += std::clamp<std::int64_t>(held - run.begin, 0, run.length);
    });
    BufferWriter writer(out);
    writer.put(&header, sizeof(header));
    for_each_run(wanted, [&](const Coverage::Run& run) {
        if (run.begin < held) {
            writer.put(image.data() + run.begin,
                       static_cast<std::size_t>(std::min(run.length, held - run.begin)));
        }
    });
    return writer.used();
}

Result<std::int64_t> decode_covered(std::span<const std::byte> message, const Coverage& wanted,
                                    std::span<std::byte> image) {
    expects(image.size() >= static_cast<std::size_t>(wanted.image_bytes()),
            "an image is as long as its coverage says");
    const auto header = header_in(message, wanted.image_bytes());
    if (!header) {
        return failure(header.error());
    }
    if (header->form != CoverageForm::packed || header->data != DataPresence::follows ||
        header->entries != 0) {
        return failure(unusable_message("it is of another kind"));
    }
    if (header->covered_bytes > wanted.covered_bytes()) {
        return failure(unusable_message("it has more than was asked for"));
    }
    const std::byte* bytes = message.data() + sizeof(CoverageHeader);
    std::int64_t left = header->covered_bytes;
    for (auto run = wanted.next_run(0); left > 0 && run.length > 0;
         run = wanted.next_run(run.begin + run.length)) {
        const std::int64_t length = std::min(run.length, left);
        std::memcpy(image.data() + run.begin, bytes, static_cast<std::size_t>(length));
        bytes += length;
        left -= length;
    }
    return header->covered_bytes;
}

}  // namespace forebay::pattern
