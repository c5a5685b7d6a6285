// IOR's scripts: IOR START, directives, RUN, IOR STOP. See parse.hpp. RUN ends a test, and the next
// directive begins another one, which is run even if no RUN follows.
#include "benchmarks/ior/parse.hpp"

#include "foundation/base/letters.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace forebay::ior {

namespace {

std::string folded(std::string_view line) {
    std::string made;
    for (const char c : line) {
        if (c == ' ' || c == '\t' || c == '\r') {
            if (!made.empty() && made.back() != ' ') {
                made += ' ';
            }
        } else {
            made += c;
        }
    }
    while (!made.empty() && made.back() == ' ') {
        made.pop_back();
    }
    return made;
}

class ScriptReader {
public:
    ScriptReader(const std::string& file, const ParsedOptions& defaults)
        : file_(file), current_(defaults) {}

    Result<void> line(std::string_view raw) {
        ++number_;
        const std::string text = folded(raw.substr(0, raw.find('#')));
        const std::string word = lowered(text);
        if (word == "ior start") {
            started_ = true;
        } else if (word == "ior stop" || word == "stop") {
            stopped_ = true;
        } else if (word == "run" && inside()) {
            add_test(place_of(text));
        } else if (!text.empty() && inside()) {
            if (begun_.empty()) {
                begun_ = place_of(text);
            }
            return directives(text);
        }
        return {};
    }

    Result<std::vector<ParsedOptions>> finish() {
        if (!started_) {
            return wrong("it has no line \"IOR START\"");
        }
        if (!begun_.empty()) {
            add_test(begun_);
        }
        if (tests_.empty()) {
            return wrong("there is neither a directive nor a RUN in it, so nothing would happen");
        }
        return std::move(tests_);
    }

private:
    [[nodiscard]] bool inside() const noexcept { return started_ && !stopped_; }

    [[nodiscard]] std::string place_of(std::string_view text) const {
        return fmt::format("{}, line {}: \"{}\"", file_, number_, text);
    }

    void add_test(std::string place) {
        tests_.push_back(current_);
        tests_.back().place = std::move(place);
        current_.advice.clear();
        begun_.clear();
    }

    tl::unexpected<Error> wrong(std::string_view why) const {
        return failure({ErrorCode::argument, 0,
                        fmt::format("cannot use the script {} ({}). Write IOR START, directives, "
                                    "RUN and IOR STOP.",
                                    file_, why)});
    }

    Result<void> directives(const std::string& text) {
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t comma = std::min(text.find(',', begin), text.size());
            const std::string one = folded(std::string_view(text).substr(begin, comma - begin));
            if (!one.empty()) {
                if (auto done = apply_directive(one, current_); !done) {
                    return failure({ErrorCode::argument, 0,
                                    fmt::format("{}, line {}: \"{}\": {}", file_, number_, text,
                                                done.error().message)});
                }
            }
            begin = comma + 1;
        }
        return {};
    }

    std::string file_;
    ParsedOptions current_;
    std::vector<ParsedOptions> tests_;
    std::string begun_;  // the first line that does not belong to a test yet
    std::size_t number_ = 0;
    bool started_ = false;
    bool stopped_ = false;
};

}  // namespace

Result<std::vector<ParsedOptions>> parse_script(std::string_view text, const std::string& file,
                                                const ParsedOptions& defaults) {
    ScriptReader script(file, defaults);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        if (auto done = script.line(text.substr(begin, end - begin)); !done) {
            return tl::unexpected<Error>(done.error());
        }
        begin = end + 1;
    }
    return script.finish();
}

}  // namespace forebay::ior
