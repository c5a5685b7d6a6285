// The table of options, and the expansion of HPIO's axes to points.
#include "benchmarks/hpio/command.hpp"

#include "benchmarks/hpio/grammar.hpp"
#include "benchmarks/hpio/words.hpp"
#include "benchmarks/measure/byte_units.hpp"
#include "benchmarks/measure/saturated.hpp"
#include "foundation/base/units.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <type_traits>

namespace forebay::hpio {

namespace {

using command_line::CommandOption;
using command_line::GivenOption;
using command_line::OptionArgument;
using measure::saturated_product;

// HPIO's axes, before they are expanded to points.
struct SweepAxes {
    Numbers counts{4};
    Numbers sizes{8};
    Numbers spaces{8};
    bool band_tests = false;
    std::string bands;
    std::string shapes = "1111";
    std::string methods = "10";
    std::string directions = "11";
    std::vector<Pattern> patterns;
    std::string resume;
    bool checks = false;
};

struct ParseState {
    HpioCommand request;
    SweepAxes axes;
};

using Setter = Result<void> (*)(ParseState&, const std::string&);

struct HpioOption {
    CommandOption option;
    Setter put;
};

// The object whose member is `member`: the HpioCommand with its RunOptions, or the SweepAxes.
template <auto member>
auto& place_of(ParseState& state) {
    if constexpr (requires { state.axes.*member; }) {
        return state.axes.*member;
    } else {
        return state.request.*member;
    }
}

template <auto member>
Result<void> put_text(ParseState& to, const std::string& text) {
    place_of<member>(to) = text;
    return {};
}

template <Numbers SweepAxes::* member>
Result<void> put_numbers(ParseState& to, const std::string& text) {
    auto numbers = parse_values(text);
    if (!numbers) {
        return failure(numbers.error());
    }
    to.axes.*member = std::move(*numbers);
    return {};
}

Result<void> put_bits(std::string& to, const std::string& text, std::size_t digits) {
    const bool bits = !text.empty() && text.size() <= digits &&
                      text.find_first_not_of("01") == std::string::npos &&
                      text.find('1') != std::string::npos;
    if (!bits) {
        return wrong(
            fmt::format("\"{}\" chooses nothing (up to {} digits 0 or 1, at least one of "
                        "them 1). See --help.",
                        text, digits));
    }
    to = text;
    to.resize(digits, '0');
    return {};
}

template <std::string SweepAxes::* member, std::size_t digits>
Result<void> put_bits(ParseState& to, const std::string& text) {
    return put_bits(to.axes.*member, text, digits);
}

template <auto member, int choices>
Result<void> put_choice(ParseState& to, const std::string& text) {
    const auto number = command_line::whole_number("the choice", text);
    if (!number || *number < 0 || *number >= choices) {
        return wrong(fmt::format("no choice \"{}\" (0 to {}). See --help.", text, choices - 1));
    }
    auto& chosen = place_of<member>(to);
    chosen = static_cast<std::remove_reference_t<decltype(chosen)>>(*number);
    return {};
}

Result<void> put_count(std::int64_t& to, const std::string& text, std::int64_t least) {
    const auto number = command_line::whole_number("the number", text);
    if (!number || *number < least) {
        return wrong(fmt::format("cannot use \"{}\" (it is no number of at least {}). Give one.",
                                 text, least));
    }
    to = *number;
    return {};
}

template <std::int64_t HpioCommand::* member, std::int64_t least>
Result<void> put_count(ParseState& to, const std::string& text) {
    return put_count(to.request.*member, text, least);
}

Result<void> put_flag(bool& to, const std::string& text) {
    const auto on = command_line::flag("the flag", text);
    if (!on) {
        return failure(on.error());
    }
    to = *on;
    return {};
}

template <auto member>
Result<void> put_flag(ParseState& to, const std::string& text) {
    return put_flag(place_of<member>(to), text);
}

Result<void> put_hint(HpioCommand& to, const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        return wrong(fmt::format("no hint \"{}\" (it is KEY=VALUE). Write -H cb_nodes=2.", text));
    }
    to.hints.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    return {};
}

Result<void> put_method_names(std::string& to, const std::string& text) {
    to = "000";
    for (const std::string& word : command_line::split(text, ',')) {
        const std::array<std::string_view, 3> names{"individual", "collective", "posix"};
        const auto found = std::find(names.begin(), names.end(), word);
        if (found == names.end()) {
            return wrong(
                fmt::format("unknown method \"{}\" (known: individual, collective, "
                            "posix). Name one of them.",
                            word));
        }
        to[static_cast<std::size_t>(found - names.begin())] = '1';
    }
    return {};
}

Result<void> put_pattern(SweepAxes& to, const std::string& text) {
    auto patterns = parse_patterns(text);
    if (!patterns) {
        return failure(patterns.error());
    }
    to.patterns.insert(to.patterns.end(), patterns->begin(), patterns->end());
    return {};
}

constexpr auto yes = OptionArgument::value;
constexpr auto no = OptionArgument::nothing;

// Letters and long names are HPIO's; options that HPIO lacks have a long name only. A plain array,
// because GCC 12 places a std::array of relocated pointers in writable memory.
constexpr HpioOption entries[]{
    HpioOption{{'h', "help", no, "show this and exit", ""}, put_flag<&HpioCommand::help>},
    HpioOption{{0, "version", no, "show the version and exit", ""},
               put_flag<&HpioCommand::version>},
    HpioOption{{'d', "dir", yes, "directory of the files", "."},
               [](ParseState& s, const std::string& v) {
                   s.request.directory = v;
                   return v.empty()
                              ? wrong(
                                    "the directory has no name (it would be the root). Write . "
                                    "for this one.")
                              : Result<void>{};
               }},
    HpioOption{{'o', "output_dir", yes, "directory of hpio.json and hpio.csv", ""},
               [](ParseState& s, const std::string& v) {
                   s.request.json_file = v + "/hpio.json";
                   s.request.csv_file = v + "/hpio.csv";
                   return Result<void>{};
               }},
    HpioOption{{'c', "region_count", yes, "regions of a rank; 4|16 and 4..4096*4 sweep", "4"},
               put_numbers<&SweepAxes::counts>},
    HpioOption{{'s', "region_size", yes, "bytes of a region; may sweep", "8"},
               put_numbers<&SweepAxes::sizes>},
    HpioOption{{'p', "region_spacing", yes, "bytes between regions; may sweep", "8"},
               put_numbers<&SweepAxes::spaces>},
    HpioOption{{'r', "reps", yes, "repetitions", "1"}, put_count<&HpioCommand::repetitions, 1>},
    HpioOption{
        {'a', "average_method", yes, "0 all, 1 without extremes, 2 best (of the table)", "0"},
        put_choice<&HpioCommand::average, 3>},
    HpioOption{{'b', "band_tests", yes, "sweep region count, size, spacing (bits)", ""},
               [](ParseState& s, const std::string& v) {
                   s.axes.band_tests = true;
                   return put_bits(s.axes.bands, v, 3);
               }},
    HpioOption{{'B', "band_single", no, "the points of -c -s -p (what happens anyway)", ""},
               [](ParseState& s, const std::string& v) {
                   bool on = true;
                   auto fine = put_flag(on, v);
                   s.axes.band_tests = s.axes.band_tests && !on;
                   return fine;
               }},
    HpioOption{{'x', "check_tests", yes, "small patterns, fully verified", ""},
               [](ParseState& s, const std::string& v) {
                   std::string bits;
                   s.axes.checks = true;
                   return put_bits(bits, v, 2);
               }},
    HpioOption{{'X', "check_single", yes, "as -x", ""},
               [](ParseState& s, const std::string&) {
                   s.axes.checks = true;
                   return Result<void>{};
               }},
    HpioOption{
        {'n', "noncontig", yes, "mem|file: 1000 c-c, 0100 nc-c, 0010 c-nc, 0001 nc-nc", "1111"},
        put_bits<&SweepAxes::shapes, 4>},
    HpioOption{{'m', "io_methods", yes, "10 individual, 01 collective, 001 POSIX loop", "10"},
               put_bits<&SweepAxes::methods, 3>},
    HpioOption{
        {0, "methods", yes, "the same by name: individual,collective,posix", ""},
        [](ParseState& s, const std::string& v) { return put_method_names(s.axes.methods, v); }},
    HpioOption{{0, "pattern", yes, "a pattern as text (repeatable); see below", ""},
               [](ParseState& s, const std::string& v) { return put_pattern(s.axes, v); }},
    HpioOption{{'D', "pattern_dtype", yes, "0 vector, 1 struct of chars", "0"},
               put_choice<&HpioCommand::types, 2>},
    HpioOption{{'O', "readwrite", yes, "10 write, 01 read", "11"},
               put_bits<&SweepAxes::directions, 2>},
    HpioOption{{'f', "fsync", yes, "1: fsync after writing, 0: not", "1"},
               put_flag<&HpioCommand::fsync>},
    HpioOption{{'F', "fsync_method", yes, "0 each rank opens and syncs alone, 1 together", "0"},
               put_flag<&HpioCommand::collective_fsync>},
    HpioOption{{'w', "wait_time", yes, "seconds between repetitions", "0"},
               put_count<&HpioCommand::wait_seconds, 0>},
    HpioOption{{'g', "generate_files", yes, "0 full before any test, 1 before reads, 2 never", "1"},
               put_choice<&HpioCommand::generate, 3>},
    HpioOption{{'k', "keep_files", no, "leave the files", ""}, put_flag<&HpioCommand::keep_files>},
    HpioOption{{'S', "same_file", yes, "1: one file for all repetitions", "0"},
               put_flag<&HpioCommand::same_file>},
    HpioOption{{'e', "enable_flush", no, "drop the file from the page cache before reading", ""},
               put_flag<&HpioCommand::drop_caches>},
    HpioOption{{'C', "cache_size", yes, "ignored: -e needs none here", ""},
               [](ParseState& s, const std::string&) {
                   s.request.advice.emplace_back(
                       "-C is ignored (-e drops the file's own pages and needs no size).");
                   return Result<void>{};
               }},
    HpioOption{{'v', "verify", yes, "0 nothing, 1 data, 2 data and gaps of the whole file", "2"},
               put_choice<&HpioCommand::verify, 3>},
    HpioOption{{'R', "resume", yes, "oXXtXXXnXXXXmXXvN: begin at that point", ""},
               put_text<&SweepAxes::resume>},
    HpioOption{{'E', "estimate_space", no, "as --dry-run", ""}, put_flag<&HpioCommand::dry_run>},
    HpioOption{{0, "dry-run", no, "print the estimate and what would run; touch nothing", ""},
               put_flag<&HpioCommand::dry_run>},
    HpioOption{{'A', "atomicity", yes, "MPI's atomic mode, 0 or 1", "0"},
               put_flag<&HpioCommand::atomic>},
    HpioOption{{'H', "mpi-io-hint", yes, "KEY=VALUE (repeatable)", ""},
               [](ParseState& s, const std::string& v) { return put_hint(s.request, v); }},
    HpioOption{{0, "seed", yes, "of the data", "1"},
               [](ParseState& s, const std::string& v) {
                   std::int64_t seed = 0;
                   auto fine = put_count(seed, v, 0);
                   s.request.seed = static_cast<std::uint64_t>(seed);
                   return fine;
               }},
    HpioOption{{0, "json", yes, "write the result here as JSON (forebay.bench.hpio/1)", ""},
               put_text<&HpioCommand::json_file>},
    HpioOption{{0, "csv", yes, "write a line a point here", ""}, put_text<&HpioCommand::csv_file>},
    HpioOption{{0, "no-live", no, "no live line on a terminal", ""},
               [](ParseState& s, const std::string& v) {
                   bool off = true;
                   auto fine = put_flag(off, v);
                   s.request.live = !off;
                   return fine;
               }},
};

std::vector<CommandOption> table() {
    std::vector<CommandOption> result;
    for (const HpioOption& entry : entries) {
        result.push_back(entry.option);
    }
    const auto limits = command_line::limit_options_of(command_line::run_limits);
    result.insert(result.end(), limits.begin(), limits.end());
    return result;
}

// A sweep along one axis; the shapes are added later.
struct AxisSweep {
    std::string test;
    std::vector<RegionPattern> regions;
};

// -b: sweeps along each chosen axis, with the base values on the other axes.
std::vector<AxisSweep> band_sweeps(const SweepAxes& axes, const RegionPattern& base) {
    const std::array<std::string_view, 3> names{"region_count", "region_size", "region_spacing"};
    const std::array<Numbers, 3> values{Numbers{4, 16, 64, 256, 1024, 4096},
                                        Numbers{8, 32, 128, 512, 2048, 8192},
                                        Numbers{0, 8, 64, 512, 4096}};
    const std::array given{&axes.counts, &axes.sizes, &axes.spaces};
    const std::array members{&RegionPattern::count, &RegionPattern::size_bytes,
                             &RegionPattern::spacing_bytes};
    std::vector<AxisSweep> sweeps;
    for (std::size_t axis = 0; axis < names.size(); ++axis) {
        if (axes.bands[axis] != '1') {
            continue;
        }
        AxisSweep sweep{.test = std::string(names[axis]), .regions = {}};
        for (const std::int64_t value : given[axis]->size() > 1 ? *given[axis] : values[axis]) {
            sweep.regions.push_back(base);
            sweep.regions.back().*members[axis] = value;
        }
        sweeps.push_back(std::move(sweep));
    }
    return sweeps;
}

std::vector<AxisSweep> sweeps_of(const SweepAxes& axes) {
    if (axes.band_tests) {
        return band_sweeps(axes, {.count = axes.counts.front(),
                                  .size_bytes = axes.sizes.front(),
                                  .spacing_bytes = axes.spaces.front()});
    }
    AxisSweep single{.test = "bandwidth_single", .regions = {}};
    for (const std::int64_t count : axes.counts) {
        for (const std::int64_t size : axes.sizes) {
            for (const std::int64_t space : axes.spaces) {
                single.regions.push_back(
                    {.count = count, .size_bytes = size, .spacing_bytes = space});
            }
        }
    }
    return {single};
}

std::vector<AxisSweep> checks() {
    AxisSweep sweep{.test = "check", .regions = {}};
    for (const std::int64_t count : {1, 2, 7, 64}) {
        for (const std::int64_t size : {1, 3, 8, 4096}) {
            for (const std::int64_t space : {0, 1, 13, 4096}) {
                sweep.regions.push_back(
                    {.count = count, .size_bytes = size, .spacing_bytes = space});
            }
        }
    }
    return {sweep};
}

// Adds a point for each chosen method and pattern.
void add_points(const SweepAxes& axes, const std::string& test, HpioDirection direction,
                const std::vector<Pattern>& patterns, std::vector<Point>& points) {
    for (std::size_t method = 0; method < axes.methods.size(); ++method) {
        if (axes.methods[method] != '1') {
            continue;
        }
        for (const Pattern& pattern : patterns) {
            points.push_back({.test = test,
                              .direction = direction,
                              .method = static_cast<AccessMethod>(method),
                              .pattern = pattern});
        }
    }
}

// The patterns of a sweep in one of HPIO's four shapes: bit 0 of `shape` is memory, bit 1 the file.
std::vector<Pattern> shaped(const AxisSweep& sweep, std::size_t shape) {
    std::vector<Pattern> patterns;
    patterns.reserve(sweep.regions.size());
    for (RegionPattern one : sweep.regions) {
        one.memory = shape % 2 == 1 ? PatternShape::noncontiguous : PatternShape::contiguous;
        one.file = shape / 2 == 1 ? PatternShape::noncontiguous : PatternShape::contiguous;
        patterns.emplace_back(one);
    }
    return patterns;
}

void add_sweep(const SweepAxes& axes, const AxisSweep& sweep, HpioDirection direction,
               std::vector<Point>& points) {
    for (std::size_t shape = 0; shape < axes.shapes.size(); ++shape) {
        if (axes.shapes[shape] == '1') {
            add_points(axes, sweep.test, direction, shaped(sweep, shape), points);
        }
    }
}

// Expands the axes in HPIO's order: write or read, test, shape, method, value.
std::vector<Point> points_of(const SweepAxes& axes) {
    const std::vector<AxisSweep> sweeps = axes.checks ? checks() : sweeps_of(axes);
    std::vector<Point> points;
    for (std::size_t direction = 0; direction < axes.directions.size(); ++direction) {
        if (axes.directions[direction] != '1') {
            continue;
        }
        const auto now = static_cast<HpioDirection>(direction);
        if (!axes.patterns.empty()) {
            add_points(axes, "pattern", now, axes.patterns, points);
            continue;
        }
        for (const AxisSweep& sweep : sweeps) {
            add_sweep(axes, sweep, now, points);
        }
    }
    return points;
}

// A point named by HPIO's resume string: "o10t010n0100m001v4096" is direction, test, shape, method
// and value.
struct ResumePoint {
    std::string direction;
    std::string test;
    std::string shape;
    std::string method;
    std::int64_t value = 0;
};

Result<ResumePoint> parse_resume(const std::string& text) {
    ResumePoint resume;
    const std::array fields{std::pair{'o', &resume.direction}, std::pair{'t', &resume.test},
                            std::pair{'n', &resume.shape}, std::pair{'m', &resume.method}};
    std::size_t at = 0;
    for (const auto& [letter, to] : fields) {
        const std::size_t end = text.find_first_not_of("01", at + 1);
        if (at >= text.size() || text[at] != letter || end == std::string::npos ||
            text.find('1', at) >= end) {
            return wrong(fmt::format("cannot resume at \"{}\". Write o10t010n0100m10v4096.", text));
        }
        *to = text.substr(at + 1, end - at - 1);
        at = end;
    }
    const auto value = measure::parse_size(text.substr(std::min(at + 1, text.size())));
    if (text[at] != 'v' || !value) {
        return wrong(
            fmt::format("cannot resume at \"{}\" (no v and value at its end). Write "
                        "o10t010n0100m10v4096.",
                        text));
    }
    resume.value = *value;
    return resume;
}

bool is_there(const Point& point, const ResumePoint& resume) {
    const auto* regions = std::get_if<RegionPattern>(&point.pattern);
    if (regions == nullptr) {
        return false;
    }
    const std::array<std::string_view, 3> tests{"region_count", "region_size", "region_spacing"};
    const std::size_t test = resume.test.find('1');
    const std::size_t shape = (regions->memory == PatternShape::noncontiguous ? 1U : 0U) +
                              (regions->file == PatternShape::noncontiguous ? 2U : 0U);
    const std::array values{regions->count, regions->size_bytes, regions->spacing_bytes};
    return resume.direction.find('1') == static_cast<std::size_t>(point.direction) &&
           test < tests.size() && point.test == tests[test] && resume.shape.find('1') == shape &&
           resume.method.find('1') == static_cast<std::size_t>(point.method) &&
           values[test] == resume.value;
}

Result<void> skip_to(std::vector<Point>& points, const std::string& text) {
    const auto resume = parse_resume(text);
    if (!resume) {
        return failure(resume.error());
    }
    const auto found = std::find_if(points.begin(), points.end(),
                                    [&](const Point& point) { return is_there(point, *resume); });
    if (found == points.end()) {
        return wrong(
            fmt::format("cannot resume at \"{}\" (no such point in this sweep). Give the "
                        "options of the sweep that was interrupted.",
                        text));
    }
    points.erase(points.begin(), found);
    return {};
}

}  // namespace

std::string_view name_of(HpioDirection direction) noexcept {
    return direction == HpioDirection::write ? "write" : "read";
}

std::string_view name_of(AccessMethod method) noexcept {
    constexpr std::array<std::string_view, 3> names{"individual", "collective", "posix"};
    return names[static_cast<std::size_t>(method)];
}

Result<HpioCommand> parse_command(std::span<const std::string> words) {
    const std::vector<CommandOption> known = table();
    auto parsed = command_line::parse(known, words);
    if (!parsed) {
        return failure(parsed.error());
    }
    ParseState state;
    for (const GivenOption& given : *parsed) {
        const std::size_t own = std::size(entries);
        const auto fine =
            given.option < own
                ? entries[given.option].put(state, given.value)
                : command_line::put_limit(given.option - own, given.value, state.request.limits);
        if (!fine) {
            return wrong(fmt::format("{}: {}", command_line::shown(known[given.option]),
                                     fine.error().message));
        }
    }
    state.request.points = points_of(state.axes);
    if (state.request.points.size() > points_max) {
        return wrong(
            fmt::format("too many points (more than {}). Sweep less at a time.", points_max));
    }
    if (state.axes.checks) {
        state.request.verify = VerifiedData::whole_file;
    }
    if (!state.axes.resume.empty()) {
        if (auto fine = skip_to(state.request.points, state.axes.resume); !fine) {
            return failure(fine.error());
        }
    }
    return std::move(state.request);
}

std::string help_text() {
    return "forebay-hpio: HPIO's patterns and decompositions of arrays, verified.\n\n"
           "  mpiexec -n 4 forebay-hpio -n 1111 -m 11 -c 1024 -s 1k -p 128 -d /scratch\n\n" +
           command_line::help(table()) +
           "\nPatterns:\n"
           "  hpio:count=4..4096*4,size=1k,space=128,mem=c|nc,file=c|nc\n"
           "  block:shape=360x180x50[,grid=2x2x1][,element=8]\n"
           "  subarray:shape=…[,start=0x0x0][,part=1x180x50][,halo=0x2x2][,grid=…][,element=8]\n"
           "  cyclic:shape=1024x1024,block=16x8[,start=…][,part=…][,grid=…][,element=8]\n"
           "Exit status: 0 good, 1 usage, 2 I/O error, 3 data wrong, 4 time limit, 5 refused by\n"
           "the budget, 128 + n ended by the signal n.\n";
}

namespace {

void add_to(std::int64_t& total, std::int64_t more) noexcept { total = saturated_sum(total, more); }

// Whether the file is filled before each repetition, its gaps or all of it.
bool fills_before(const HpioCommand& request, HpioDirection direction) noexcept {
    return request.verify == VerifiedData::whole_file || request.generate == GeneratedData::full ||
           direction == HpioDirection::read;
}

}  // namespace

Result<measure::RunEstimate> estimate(const HpioCommand& request, std::int32_t ranks) {
    measure::RunEstimate total;
    for (const Point& point : request.points) {
        const auto pattern = resolved(point.pattern, ranks);
        if (!pattern) {
            return failure(pattern.error());
        }
        const ResolvedPattern job{.pattern = *pattern, .ranks = ranks};
        const bool writes = point.direction == HpioDirection::write;
        const bool makes = writes || request.generate != GeneratedData::none;
        const std::int64_t files = !makes ? 0 : request.same_file ? 1 : request.repetitions;
        const std::int64_t data = saturated_product(job.data_bytes(), request.repetitions);
        const std::int64_t whole = saturated_product(job.watched_bytes(), request.repetitions);
        const bool fills = makes && fills_before(request, point.direction);
        add_to(total.bytes_written, fills ? whole : 0);
        add_to(total.bytes_written, writes ? data : 0);
        add_to(total.bytes_read, !writes                                   ? data
                                 : request.verify == VerifiedData::nothing ? 0
                                                                           : whole);
        add_to(total.files, files);
        if (request.keep_files) {
            add_to(total.bytes_kept_max, saturated_product(job.watched_bytes(), files));
        } else {  // each file is removed before the next is created
            const std::int64_t one = makes ? job.watched_bytes() : 0;
            total.bytes_kept_max = std::max(total.bytes_kept_max, one);
        }
    }
    total.seconds = request.limits.budget.seconds;
    return total;
}

}  // namespace forebay::hpio
