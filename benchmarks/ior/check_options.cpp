// Checks combinations of options for consistency. See parse.hpp.
#include "benchmarks/ior/options.hpp"
#include "benchmarks/ior/parse.hpp"
#include "benchmarks/measure/byte_units.hpp"

#include "benchmarks/command_line/options.hpp"

#include <cstdint>
#include <fmt/format.h>
#include <limits>

namespace forebay::ior {

PacketType IorOptions::packet() const noexcept {
    switch (packet_type.empty() ? 't' : static_cast<char>(packet_type.front() | 0x20)) {
        case 'o': return PacketType::offset;
        case 'i': return PacketType::incompressible;
        case 'r': return PacketType::random;
        default: return PacketType::timestamp;
    }
}

bool IorOptions::writes() const noexcept { return write || (!read && !check_write && !check_read); }

bool IorOptions::reads() const noexcept {
    return read || check_read || (!write && !check_write && own.read_percent == 0);
}

namespace {

using command_line::same_name;

constexpr std::int64_t queue_depth_max = 1024;
constexpr std::int64_t queued_bytes_max = std::numeric_limits<std::uint32_t>::max();

tl::unexpected<Error> nonsense(std::string_view problem, std::string_view why,
                               std::string_view next) {
    return failure({ErrorCode::argument, 0, fmt::format("{} ({}). {}", problem, why, next)});
}

Result<void> check_sizes(const IorOptions& o) {
    if (o.transfer_bytes < 8 || o.transfer_bytes % 8 != 0) {
        return nonsense(fmt::format("the transfer size -t {} cannot be used", o.transfer_bytes),
                        "it must be a positive multiple of 8 bytes",
                        "Give -t a size such as 4k or 1m.");
    }
    if (o.block_bytes < 8 || o.block_bytes % o.transfer_bytes != 0) {
        return nonsense(fmt::format("the block size -b {} cannot be used with -t {}", o.block_bytes,
                                    o.transfer_bytes),
                        "block size must be a multiple of transfer size",
                        fmt::format("Give -b a multiple of {}.", o.transfer_bytes));
    }
    std::int64_t of_task = 0;
    if (o.segments < 1 || __builtin_mul_overflow(o.block_bytes, o.segments, &of_task)) {
        return nonsense(
            fmt::format("-s {} segments of -b {} cannot be had", o.segments, o.block_bytes),
            o.segments < 1 ? "there must be one" : "a file has 2^63 bytes at most",
            o.segments < 1 ? "Give -s a positive number." : "Give smaller -s or -b.");
    }
    if (o.repetitions < 1) {
        return nonsense(fmt::format("-i {} repetitions cannot be had", o.repetitions),
                        "there must be one", "Give -i a positive number.");
    }
    return {};
}

Result<void> check_numbers(const IorOptions& o) {
    const bool negative = o.stonewall_seconds < 0 || o.delay_between_tests < 0 ||
                          o.duration_min_seconds < 0 || o.duration_max_minutes < 0 ||
                          o.delay_between_transfers_us < 0 || o.outlier_seconds < 0 ||
                          o.wear_out_iterations < 0;
    if (negative) {
        return nonsense("a time or count is negative", "-d, -D, -T, -j and their like count up",
                        "Give them 0 or more.");
    }
    if (o.tasks == 0 || o.tasks < -1) {
        return nonsense(fmt::format("-N {} tasks cannot run", o.tasks), "there must be one",
                        "Give -N a positive number, or leave it out for all ranks.");
    }
    if (o.random_prefill != 0 && (o.random_prefill < 8 || o.block_bytes % o.random_prefill != 0)) {
        return nonsense(fmt::format("--randomPrefill {} cannot be used", o.random_prefill),
                        "it must divide the block size", "Give it a divisor of -b.");
    }
    return {};
}

// -M: a size, or a percentage of the node's memory.
Result<void> check_memory(const IorOptions& o) {
    for (const std::string& text : {o.memory_per_node, o.memory_per_task}) {
        const bool share = text.ends_with('%');
        const auto number = measure::parse_size(text.substr(0, text.find('%')));
        const bool fits = number && *number >= 0 && (!share || *number <= 100);
        if (!text.empty() && !fits) {
            return nonsense(fmt::format("-M {} cannot be taken", text),
                            "it is no size, and no share between 0% and 100%",
                            "Give -M a size such as 2g, or 80%.");
        }
    }
    return {};
}

Result<void> check_words(const IorOptions& o) {
    const char packet =
        o.packet_type.empty() ? 't' : static_cast<char>(o.packet_type.front() | 0x20);
    if (std::string_view("toir").find(packet) == std::string_view::npos) {
        return nonsense(fmt::format("there is no data of type -l {}", o.packet_type),
                        "the types are timestamp, offset, incompressible and random",
                        "Name one of them.");
    }
    std::string format;
    for (const char c : o.summary_format) {
        format += static_cast<char>(c | 0x20);
    }
    if (format != "default" && format != "json" && format != "csv") {
        return nonsense(fmt::format("there is no summaryFormat {}", o.summary_format),
                        "the formats are default, JSON and CSV", "Name one of them.");
    }
    if (o.test_file.empty()) {
        return nonsense("the test file has no name", "-o is empty", "Give -o a file name.");
    }
    return {};
}

Result<void> check_contradictions(const IorOptions& o) {
    if (o.reorder_constant && o.reorder_random > 0) {
        return nonsense("-C and -Z exclude each other", "both say who reads what",
                        "Leave one of them out.");
    }
    if (o.check_read && o.signature == 0 && !o.writes()) {
        return nonsense("-R cannot check what another run wrote",
                        "the seed of that data is not known",
                        "Give both runs the same -G, or write with -w in this one.");
    }
    if (o.check_write && o.signature == 0 && !o.writes()) {
        return nonsense("-W cannot check what another run wrote",
                        "the seed of that data is not known",
                        "Give both runs the same -G, or write with -w in this one.");
    }
    if (o.dual_mount && !o.file_per_process) {
        return nonsense("-y needs -F", "two mount points hold different files", "Add -F.");
    }
    if (o.random_offset > 0 && (o.mpiio.file_view || o.mpiio.strided_datatype)) {
        return nonsense("random offsets cannot go through a file view",
                        "MPI wants a view's offsets to ascend",
                        "Leave -z, useFileView or useStridedDatatype out.");
    }
    return {};
}

// Checks --iodepth, --rwmixpct, --limitwrite and --limitread.
Result<void> check_load(const IorOptions& o) {
    const OwnOptions& own = o.own;
    if (own.queue_depth < 1 || own.queue_depth > queue_depth_max) {
        return nonsense(fmt::format("--iodepth {} cannot be had", own.queue_depth),
                        fmt::format("it is from 1 to {}", queue_depth_max), "Give another.");
    }
    if (own.read_percent < 0 || own.read_percent > 99) {
        return nonsense(fmt::format("--rwmixpct {} cannot be had", own.read_percent),
                        "it is from 0 to 99 percent", "Give another, or -r to read only.");
    }
    if (own.write_rate_max < 0 || own.read_rate_max < 0) {
        return nonsense("--limitwrite and --limitread cannot be negative", "0 is no limit",
                        "Give them 0 or more.");
    }
    if (own.read_percent > 0 && (o.read || o.check_read || !o.writes())) {
        return nonsense("--rwmixpct reads within the write phase", "there is to be another phase",
                        "Leave -r and -R out, and -w in.");
    }
    if ((own.queue_depth > 1 || own.read_percent > 0) && !same_name(o.api, "POSIX")) {
        return nonsense(fmt::format("--iodepth and --rwmixpct cannot be had with {}", o.api),
                        "only POSIX has them", "Leave them out, or give -a POSIX.");
    }
    if (own.queue_depth > 1 && o.transfer_bytes > queued_bytes_max) {
        return nonsense(fmt::format("-t {} cannot be had with --iodepth", o.transfer_bytes),
                        "io_uring counts a transfer's bytes in 32 bits",
                        "Give -t less than 4g, or leave --iodepth out.");
    }
    if (own.queue_depth > 1 && (o.fsync_per_write || o.single_attempt || o.posix.rangelocks ||
                                o.delay_between_transfers_us > 0)) {
        return nonsense("--iodepth cannot be had with -Y, -x, range locks or interIODelay",
                        "they go from transfer to transfer", "Leave one of them out.");
    }
    return {};
}

void note_odd_ones(ParsedOptions& parsed) {
    const IorOptions& o = parsed.options;
    const auto note = [&](std::string line) { parsed.advice.push_back(std::move(line)); };
    if (o.wear_out && o.stonewall_seconds == 0 && o.wear_out_iterations == 0 && o.writes()) {
        note("stoneWallingWearOut has no effect (there is no -D).");
    }
    if (!o.stonewall_status_file.empty() && !o.keep_file && !o.reads()) {
        note("stoneWallingStatusFile is written for a file that is then removed. Add -k.");
    }
    if (o.random_offset == 1 && o.block_bytes == o.transfer_bytes && o.segments == 1 &&
        o.file_per_process) {
        note("-z has no effect (each file is one transfer).");
    }
    if (o.unique_directory && !o.file_per_process) {
        note("-u has no effect (it needs -F).");
    }
    if (o.dual_mount) {
        note("-y has no effect (files are where -o says). Name both mounts: -o /m0/f@/m1/f.");
    }
    if (o.posix.ignore_locks) {
        note("posix.lustre.ignorelocks has no effect (Lustre's own locks stay).");
    }
}

// These back ends truncate an existing file when they open it for writing, so that options which
// keep its content have no effect.
void note_new_files(ParsedOptions& parsed) {
    IorOptions& o = parsed.options;
    if ((o.api != "HDF5" && o.api != "NCMPI") || !o.writes()) {
        return;
    }
    if (o.random_prefill > 0) {
        parsed.advice.push_back(
            fmt::format("--randomPrefill has no effect ({} makes the file anew).", o.api));
        o.random_prefill = 0;
    }
    if (o.use_existing) {
        parsed.advice.push_back(
            fmt::format("-E keeps nothing of an existing file ({} makes it anew).", o.api));
    }
}

}  // namespace

Result<void> check_options(ParsedOptions& parsed) {
    for (const auto check : {check_sizes, check_numbers, check_memory, check_words,
                             check_contradictions, check_load}) {
        if (auto done = check(parsed.options); !done) {
            return done;
        }
    }
    note_odd_ones(parsed);
    note_new_files(parsed);
    return {};
}

}  // namespace forebay::ior
