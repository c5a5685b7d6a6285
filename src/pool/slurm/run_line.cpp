// Takes the plugin's options out of srun's command line, and puts `forebay run` in front.
#include "pool/slurm/run_line.hpp"

#include "foundation/base/printable.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace forebay::slurm {

namespace {

constexpr std::string_view pool_option = "--forebay";
constexpr std::string_view record_option = "--forebay-record";

// The words that one of the plugin's options takes at the beginning of `words`, and its value.
// None: something else begins there.
struct OptionWords {
    std::size_t count = 0;
    std::string value = {};
};

OptionWords option_words(std::string_view name, std::span<const std::string> words) {
    const std::string_view word = words.front();
    if (word == name) {
        return words.size() > 1 ? OptionWords{2, words[1]} : OptionWords{1};
    }
    if (word.starts_with(name) && word.substr(name.size()).starts_with('=')) {
        return {1, std::string{word.substr(name.size() + 1)}};
    }
    return {};
}

void append_word(std::string& line, std::string_view word) {
    line += line.empty() ? "" : " ";
    line += shell_word(word);
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\0'), text.size());
        words.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

std::string run_line(std::span<const std::string> srun, std::size_t program_words,
                     std::span<const std::string> paths) {
    const std::size_t options = srun.size() - std::min(program_words, srun.size());
    std::vector<std::string> kept;
    std::string record;
    for (std::size_t at = 0; at < srun.size();) {
        OptionWords found;
        if (at > 0 && at < options) {
            const auto rest = srun.subspan(at, options - at);
            found = option_words(pool_option, rest);
            if (found.count == 0 && (found = option_words(record_option, rest)).count > 0) {
                record = found.value;
            }
        }
        if (found.count == 0) {
            kept.push_back(srun[at]);
        }
        at += std::max<std::size_t>(found.count, 1);
    }
    std::string line = "forebay run";
    for (const std::string& path : paths) {
        append_word(line, "--pool");
        append_word(line, path);
    }
    if (!record.empty()) {
        append_word(line, "--record");
        append_word(line, record);
    }
    line += " --";
    for (const std::string& word : kept) {
        append_word(line, word);
    }
    return kept.empty() ? line + " srun ..." : line;
}

}  // namespace forebay::slurm
