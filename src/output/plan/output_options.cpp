// Parses the options that a program gives for a file, and refuses words and values that it does not
// know.
#include "output/plan/output_options.hpp"

#include "foundation/base/byte_size.hpp"

#include <charconv>
#include <fmt/format.h>

namespace forebay::output {
namespace {

Result<void> unknown_value(std::string_view key, std::string_view value, std::string_view known) {
    return failure(Error{ErrorCode::argument, 0,
                         fmt::format("the option {}={} is unknown (values of {}: {}). Give one of "
                                     "these.",
                                     key, value, key, known)});
}

Result<void> take_number(std::string_view key, std::string_view value, std::int32_t& number) {
    const char* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc{} || stop != end || number < 0) {
        return unknown_value(key, value, "numbers from 0 on");
    }
    return {};
}

Result<void> take_window(std::string_view value, std::int64_t& window) {
    const Result<std::int64_t> size = parse_size(value);
    if (!size || *size < window_bytes_min || *size > window_bytes_max) {
        return unknown_value("window", value, "4KiB to 1GiB");
    }
    window = *size;
    return {};
}

Result<void> take_compress(std::string_view value, std::int32_t& level) {
    if (value.size() != 1 || value[0] < '0' || value[0] > '9') {
        return unknown_value("compress", value, "0 to 9");
    }
    level = value[0] - '0';
    return {};
}

// Refuses options that do not go together.
Result<void> checked(const OutputOptions& options) {
    if (options.compress > 0 && options.format != FileFormat::netcdf4) {
        return failure(Error{ErrorCode::unsupported, 0,
                             "the option compress cannot be had in this format (only netCDF-4 "
                             "files have compression). Give format=netcdf4, or leave it out."});
    }
    return {};
}

Result<void> take(std::string_view key, std::string_view value, OutputOptions& options) {
    if (key == "format") {
        options.format = value == "fortran"   ? FileFormat::fortran
                         : value == "netcdf4" ? FileFormat::netcdf4
                                              : FileFormat::netcdf;
        return value == "fortran" || value == "netcdf" || value == "netcdf4"
                   ? Result<void>{}
                   : unknown_value(key, value, "netcdf, netcdf4, fortran");
    }
    if (key == "marker") {
        options.record.marker = value == "8" ? MarkerSize::eight : MarkerSize::four;
        return value == "4" || value == "8" ? Result<void>{} : unknown_value(key, value, "4, 8");
    }
    if (key == "endian") {
        options.record.order = value == "big"      ? std::endian::big
                               : value == "little" ? std::endian::little
                                                   : std::endian::native;
        return value == "big" || value == "little" || value == "native"
                   ? Result<void>{}
                   : unknown_value(key, value, "native, little, big");
    }
    if (key == "compress") {
        return take_compress(value, options.compress);
    }
    if (key == "complete") {
        options.named = NameTime::at_close;
        return value == "rename" ? Result<void>{} : unknown_value(key, value, "rename");
    }
    if (key == "writers") {
        return take_number(key, value, options.writers);
    }
    if (key == "window") {
        return take_window(value, options.window_bytes);
    }
    return failure(Error{ErrorCode::argument, 0,
                         fmt::format("there is no option {} (known: format, marker, endian, "
                                     "compress, complete, writers, window). Correct the options.",
                                     key)});
}

}  // namespace

Result<OutputOptions> parse_output_options(std::string_view text) {
    OutputOptions options;
    while (true) {
        const std::size_t begin = text.find_first_not_of(' ');
        if (begin == std::string_view::npos) {
            const Result<void> good = checked(options);
            return good ? Result<OutputOptions>(options) : tl::unexpected(good.error());
        }
        text.remove_prefix(begin);
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(word.size());
        const std::size_t equals = std::min(word.find('='), word.size());
        const std::string_view value = word.substr(std::min(equals + 1, word.size()));
        if (const Result<void> taken = take(word.substr(0, equals), value, options); !taken) {
            return tl::unexpected(taken.error());
        }
    }
}

}  // namespace forebay::output
