// From the words of a command line, the directives of -O and the lines of a script to IorOptions.
// Pure: what is in a script file is handed in.
#pragma once

#include "benchmarks/ior/options.hpp"
#include "foundation/base/result.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::ior {

struct ParsedOptions {
    IorOptions options;
    std::vector<std::string> advice;  // one line for each old or ineffective spelling
    std::string place;                // of the RUN in its script
};

// `words` without the program's name. Attached values (-t4k), groups (-wr, -vvv), -x=VALUE,
// --long=VALUE and --long VALUE, in the order in which they stand; the last one wins.
Result<ParsedOptions> parse_words(std::span<const std::string> words);

// One "name=value"; a flag may stand alone. `where` is put into the message.
Result<void> apply_directive(std::string_view directive, ParsedOptions& parsed);

// The tests of a script, each inheriting from the one before and the first from `defaults`.
// An error names the line's number and its text.
Result<std::vector<ParsedOptions>> parse_script(std::string_view text, const std::string& file,
                                                const ParsedOptions& defaults);

// Checks for mistakes that do not depend on the number of tasks: sizes, contradictions, missing -G.
// The warnings go to `advice`.
Result<void> check_options(ParsedOptions& parsed);

}  // namespace forebay::ior
