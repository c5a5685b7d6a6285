// The files of a test, named as IOR names them: FILE, FILE.00000003 with -F, 3/FILE.00000003 with
// -u (of a bare name: F3/ILE.00000003, as IOR has it), and .1 behind for the second repetition with
// -m. a@b@c are several names in turn.
#pragma once

#include "benchmarks/ior/options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::ior {

struct FileName {
    std::string path;
    std::string on_disk;    // the same without ROMIO's prefix ("lustre:/scratch/f"), for the kernel
    std::string directory;  // made for -u, as the kernel knows it; empty otherwise
};

[[nodiscard]] FileName file_name(const IorOptions& options, std::int64_t task,
                                 std::int64_t repetition);
// As the head of a test shows it: of task 0, without the repetition.
[[nodiscard]] FileName shown_name(const IorOptions& options);
// The part of -o that the data of a file depends on: the last component, so that the same file may
// be reached by another way when it is checked.
[[nodiscard]] std::string identity(const IorOptions& options, std::int64_t task);

}  // namespace forebay::ior
