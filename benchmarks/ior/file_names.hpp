// The files of a test, named as IOR names them: FILE; FILE.00000003 with -F; 3/FILE.00000003 with
// -u (for a name without a directory: F3/ILE.00000003, as in IOR); with -m followed by .1 for the
// second repetition. a@b@c lists several names that are used in turn.
#pragma once

#include "benchmarks/ior/options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::ior {

struct FileName {
    std::string path;
    std::string on_disk;    // path without ROMIO's prefix ("lustre:/scratch/f"), for the kernel
    std::string directory;  // directory created for -u, without the prefix; else empty
};

[[nodiscard]] FileName file_name(const IorOptions& options, std::int64_t task,
                                 std::int64_t repetition);
// The name in the head of a test: task 0's, without the repetition.
[[nodiscard]] FileName shown_name(const IorOptions& options);
// The part of -o that determines a file's data: the last component, so that a file may be checked
// under another path.
[[nodiscard]] std::string identity(const IorOptions& options, std::int64_t task);

}  // namespace forebay::ior
