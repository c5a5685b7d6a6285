// One field after the other, then BLAKE2b with the key over all of them.
#include "tier/catalogue/tier_record.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <sodium/crypto_generichash.h>

namespace forebay::tier {

namespace {

constexpr std::uint32_t record_magic = 0x72746266;  // "fbtr"
constexpr std::uint16_t record_version = 1;
constexpr std::size_t sum_bytes = 16;
constexpr std::size_t head_bytes = 8;
enum class RecordForm : std::uint8_t { replica = 1, marker = 2 };

using RecordSum = std::array<std::byte, sum_bytes>;

RecordSum sum_of(std::span<const std::byte> bytes, const RecordKey& key) {
    RecordSum sum{};
    const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
    crypto_generichash(reinterpret_cast<unsigned char*>(sum.data()), sum.size(), from, bytes.size(),
                       reinterpret_cast<const unsigned char*>(key.data()), key.size());
    return sum;
}

class RecordWriter {
public:
    RecordWriter(RecordForm form, ReplicaState state) {
        put(record_magic, 4);
        put(record_version, 2);
        put(static_cast<std::uint64_t>(form), 1);
        put(static_cast<std::uint64_t>(state), 1);
    }

    void put(std::uint64_t number, int bytes = 8) {
        for (int i = 0; i < bytes; ++i) {
            out_.push_back(static_cast<std::byte>(number >> (8 * i)));
        }
    }
    void put_signed(std::int64_t number) { put(static_cast<std::uint64_t>(number)); }
    void put_text(const std::string& text) {
        put(text.size());
        const auto bytes = std::as_bytes(std::span{text});
        out_.insert(out_.end(), bytes.begin(), bytes.end());
    }
    std::vector<std::byte> seal(const RecordKey& key) {
        const RecordSum sum = sum_of(out_, key);
        out_.insert(out_.end(), sum.begin(), sum.end());
        return std::move(out_);
    }

private:
    std::vector<std::byte> out_;
};

// Reads what a RecordWriter has written; too few bytes make it `short_`, and numbers 0.
class RecordReader {
public:
    explicit RecordReader(std::span<const std::byte> bytes) : left_{bytes} {}

    std::uint64_t take(std::size_t bytes = 8) {
        std::uint64_t number = 0;
        if (left_.size() < bytes) {
            short_ = true;
            left_ = {};
            return 0;
        }
        for (std::size_t i = 0; i < bytes; ++i) {
            number |= static_cast<std::uint64_t>(left_[i]) << (8 * i);
        }
        left_ = left_.subspan(bytes);
        return number;
    }
    std::int64_t take_signed() { return static_cast<std::int64_t>(take()); }
    std::string take_text() {
        const std::uint64_t size = take();
        if (size > left_.size() || size > record_path_bytes_max) {
            short_ = true;
            return {};
        }
        std::string text(size, '\0');
        std::memcpy(text.data(), left_.data(), size);
        left_ = left_.subspan(size);
        return text;
    }
    [[nodiscard]] bool whole() const noexcept { return !short_ && left_.empty(); }

private:
    std::span<const std::byte> left_;
    bool short_ = false;
};

struct RecordBody {
    ReplicaState state = ReplicaState::none;
    std::span<const std::byte> fields;
};

// Checks everything that both kinds have in common; with a null key, not the sum.
tl::expected<RecordBody, RecordDefect> open_record(std::span<const std::byte> bytes,
                                                   RecordForm form, const RecordKey* key) {
    RecordReader head{bytes.first(std::min(bytes.size(), head_bytes))};
    if (head.take(4) != record_magic) {
        return tl::unexpected{RecordDefect::not_a_record};
    }
    if (head.take(2) > record_version) {
        return tl::unexpected{RecordDefect::newer};
    }
    const std::uint64_t kind = head.take(1);
    const std::uint64_t state = head.take(1);
    if (!head.whole() || bytes.size() < head_bytes + sum_bytes) {
        return tl::unexpected{RecordDefect::damaged};
    }
    const auto message = bytes.first(bytes.size() - sum_bytes);
    if ((key != nullptr && !std::ranges::equal(sum_of(message, *key), bytes.last(sum_bytes))) ||
        state > static_cast<std::uint64_t>(ReplicaState::rescued)) {
        return tl::unexpected{RecordDefect::damaged};
    }
    if (kind != static_cast<std::uint64_t>(form)) {
        return tl::unexpected{RecordDefect::not_a_record};
    }
    return RecordBody{static_cast<ReplicaState>(state), message.subspan(head_bytes)};
}

}  // namespace

std::vector<std::byte> encode(const ReplicaRecord& record, const RecordKey& key) {
    expects(record.path.size() <= record_path_bytes_max, "a path is no longer than the kernel's");
    RecordWriter out{RecordForm::replica, record.state};
    out.put(record.owner);
    out.put(record.generation);
    out.put(record.moving);
    out.put_signed(record.target_ns);
    out.put_signed(record.copied);
    out.put_signed(record.dirtied_ns);
    const VersionStamp& base = record.base;
    out.put(base.file_system);
    out.put(base.inode);
    out.put_signed(base.bytes);
    out.put_signed(base.modified_ns);
    out.put_signed(base.changed_ns);
    out.put(base.change_cookie);
    out.put(base.layout_generation);
    out.put_signed(base.taken_ns);
    out.put_text(record.path);
    return out.seal(key);
}

std::vector<std::byte> encode(const FileMarker& marker, const RecordKey& key) {
    RecordWriter out{RecordForm::marker, marker.state};
    out.put(marker.owner);
    out.put(marker.generation);
    out.put(marker.inode);
    out.put_signed(marker.bytes);
    out.put_signed(marker.modified_ns);
    return out.seal(key);
}

tl::expected<ReplicaRecord, RecordDefect> decode_replica(std::span<const std::byte> bytes,
                                                         const RecordKey& key) {
    const auto body = open_record(bytes, RecordForm::replica, &key);
    if (!body) {
        return tl::unexpected{body.error()};
    }
    RecordReader in{body->fields};
    ReplicaRecord record{.state = body->state};
    record.owner = in.take();
    record.generation = in.take();
    record.moving = in.take();
    record.target_ns = in.take_signed();
    record.copied = in.take_signed();
    record.dirtied_ns = in.take_signed();
    VersionStamp& base = record.base;
    base.file_system = in.take();
    base.inode = in.take();
    base.bytes = in.take_signed();
    base.modified_ns = in.take_signed();
    base.changed_ns = in.take_signed();
    base.change_cookie = in.take();
    base.layout_generation = in.take();
    base.taken_ns = in.take_signed();
    record.path = in.take_text();
    if (!in.whole() || record.copied < 0) {
        return tl::unexpected{RecordDefect::damaged};
    }
    return record;
}

namespace {

tl::expected<FileMarker, RecordDefect> read_fields(
    const tl::expected<RecordBody, RecordDefect>& body) {
    if (!body) {
        return tl::unexpected{body.error()};
    }
    RecordReader in{body->fields};
    FileMarker marker{.state = body->state};
    marker.owner = in.take();
    marker.generation = in.take();
    marker.inode = in.take();
    marker.bytes = in.take_signed();
    marker.modified_ns = in.take_signed();
    if (!in.whole() || marker.bytes < 0) {
        return tl::unexpected{RecordDefect::damaged};
    }
    return marker;
}

}  // namespace

tl::expected<FileMarker, RecordDefect> decode_marker(std::span<const std::byte> bytes,
                                                     const RecordKey& key) {
    return read_fields(open_record(bytes, RecordForm::marker, &key));
}

std::optional<FileMarker> decode_foreign_marker(std::span<const std::byte> bytes,
                                                std::uint64_t own) {
    const auto marker = read_fields(open_record(bytes, RecordForm::marker, nullptr));
    return marker && marker->owner != own ? std::optional{*marker} : std::nullopt;
}

}  // namespace forebay::tier
