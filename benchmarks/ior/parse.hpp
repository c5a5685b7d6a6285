// Converts the words of a command line, the directives of -O and the lines of a script to
// IorOptions. Pure: the caller reads the script's file.
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
    std::vector<std::string> advice;  // one line per obsolete or ineffective option
    std::string place;                // the RUN's position in its script
};

// `words` exclude the program's name. Accepts attached values (-t4k), groups (-wr, -vvv), -x=VALUE,
// --long=VALUE and --long VALUE; options are applied in order, and the last one wins.
Result<ParsedOptions> parse_words(std::span<const std::string> words);

// Applies one "name=value"; a flag may omit the value.
Result<void> apply_directive(std::string_view directive, ParsedOptions& parsed);

// The tests of a script; each one inherits from the one before, and the first one from `defaults`.
// An error has the line's number and text.
Result<std::vector<ParsedOptions>> parse_script(std::string_view text, const std::string& file,
                                                const ParsedOptions& defaults);

// Checks everything that does not depend on the number of tasks: sizes, contradictions, a missing
// -G. Adds warnings to `advice`.
Result<void> check_options(ParsedOptions& parsed);

}  // namespace forebay::ior
