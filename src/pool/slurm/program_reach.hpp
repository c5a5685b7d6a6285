// Whether the program of a step's tasks can be captured at all. slurmstepd starts it, which nobody
// captures: of a program that is started by a captured one, that one sees to it (pool/capture).
#pragma once

#include <string>
#include <string_view>

namespace forebay::slurm {

// The file that execvp() would execute in this folder with this PATH; "" if there is none.
[[nodiscard]] std::string program_file(std::string_view word, const std::string& folder,
                                       std::string_view search_path);

// Why LD_PRELOAD does not reach the program in this file; "" if it does. Reads the file with the
// permissions of this thread.
[[nodiscard]] std::string why_not_captured(const std::string& file);

}  // namespace forebay::slurm
