// The command line that a user can paste where the plugin refuses a step of several nodes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::slurm {

// The words of a text in which each is ended by a byte of zero, such as /proc/self/cmdline.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

// `forebay run` with these paths in front of a command line of srun, of which the last
// `program_words` words are the user's program. The plugin's own options among the others fall
// away; --forebay-record becomes --record. Where no words are known, "srun ..." stands for them.
// Each word is quoted for a shell.
[[nodiscard]] std::string run_line(std::span<const std::string> srun, std::size_t program_words,
                                   std::span<const std::string> paths);

}  // namespace forebay::slurm
