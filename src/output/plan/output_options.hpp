// Options of a file, as a program gives them to fbo_create(): "format=fortran endian=big".
#pragma once

#include "foundation/base/result.hpp"
#include "output/plan/fortran_record.hpp"

#include <cstdint>
#include <string_view>

namespace forebay::output {

enum class FileFormat : std::uint8_t { netcdf, netcdf4, fortran };

// How a file is to get its name: at once, or when it is closed and complete.
enum class NameTime : std::uint8_t { at_once, at_close };

struct OutputOptions {
    FileFormat format = FileFormat::netcdf;
    RecordFormat record;
    std::int32_t compress = 0;  // level of deflate; 0: none
    NameTime named = NameTime::at_once;
    std::int32_t writers = 0;                            // 0: chosen by the number of nodes
    std::int64_t window_bytes = std::int64_t{16} << 20;  // of one writer, in one round
};

inline constexpr std::int64_t window_bytes_min = 4096;
inline constexpr std::int64_t window_bytes_max = std::int64_t{1} << 30;

// Words key=value, with blanks between them. Keys: format (netcdf, netcdf4, fortran), marker (4,
// 8), endian (native, little, big), compress (0 to 9, of netcdf4 only), complete (rename), writers
// (0: chosen), window (a size such as 16MiB).
[[nodiscard]] Result<OutputOptions> parse_output_options(std::string_view text);

}  // namespace forebay::output
