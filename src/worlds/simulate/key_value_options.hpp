// Command-line options of the form KEY=VALUE, described by tables (name, meaning, bounds). The
// tables are generated from schema/simulator.toml.
#pragma once

#include "foundation/base/result.hpp"
#include "worlds/simgrid/platform.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace forebay::sim {

[[nodiscard]] tl::unexpected<Error> refuse(const std::string& word, const std::string& why);
// Parses a number without or with a unit: "4", "4MiB". The error's message is the reason only.
[[nodiscard]] Result<double> number(const std::string& text, const std::string& unit);

struct OptionName {
    const char* name;
    const char* meaning;
};

// A key's name and meaning, and its valid values. `times` is a factor on the value before it is
// stored.
struct KeyDescription {
    const char* name;
    const char* meaning;
    const char* unit;
    adapters::NumberBounds bounds;
    double times = 1;
};

// A key that sets a member of a Subject.
template <class Subject>
struct OptionKey {
    KeyDescription described;
    std::function<void(Subject&, double)> put;
};

// The key that sets the number that `place` returns a reference to.
template <class Subject, class Place>
OptionKey<Subject> settable(const KeyDescription& described, Place place) {
    return {described, [place, times = described.times](Subject& subject, double value) {
                using Number = std::remove_reference_t<decltype(place(subject))>;
                place(subject) = static_cast<Number>(value * times);
            }};
}

inline constexpr double gibibyte = 1024 * 1024 * 1024;
inline constexpr double tebibyte = 1024 * gibibyte;

// Keys that override a number of the platform.
[[nodiscard]] std::vector<OptionName> platform_words();
// Sets a platform key; nullopt if there is no such key. The error's message is the reason only.
[[nodiscard]] std::optional<Result<void>> put_platform(const std::string& name,
                                                       const std::string& text,
                                                       adapters::MachinePlatform& platform);

struct OptionWord {
    std::string name;
    std::string text;
};
[[nodiscard]] Result<OptionWord> split(const std::string& word);
// The platform that the first word names.
[[nodiscard]] Result<adapters::MachinePlatform> first_word(const std::vector<std::string>& words);

// Applies one key. The error's message is the reason only.
template <class Subject>
Result<void> put(const OptionWord& word, const std::vector<OptionKey<Subject>>& keys,
                 Subject& subject) {
    if (const auto of_platform = put_platform(word.name, word.text, subject.platform)) {
        return *of_platform;
    }
    const auto found = std::ranges::find(
        keys, word.name, [](const auto& key) { return std::string{key.described.name}; });
    if (found == keys.end()) {
        return failure({ErrorCode::argument, 0, "there is no such key"});
    }
    return number(word.text, found->described.unit).and_then([&](double value) {
        return found->described.bounds.check(value).map([&] { found->put(subject, value); });
    });
}

// Parses and applies one word; the error's message names the word.
template <class Subject>
Result<void> take(const std::string& said, const std::vector<OptionKey<Subject>>& keys,
                  Subject& subject) {
    return split(said).and_then([&](const OptionWord& word) -> Result<void> {
        const auto done = put(word, keys, subject);
        return done ? done : refuse(said, done.error().message);
    });
}

// Applies all words to `subject`: the first one names its platform, `take_one` gets each other one.
template <class Subject, class TakeOne>
Result<Subject> read_words(const std::vector<std::string>& words, Subject subject,
                           TakeOne take_one) {
    auto platform = first_word(words);
    if (!platform) {
        return failure(platform.error());
    }
    subject.platform = *std::move(platform);
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (const Result<void> taken = take_one(words[i], subject); !taken) {
            return failure(taken.error());
        }
    }
    return subject;
}

// As read_words(), if every word is a key.
template <class Subject>
Result<Subject> read_keys(const std::vector<std::string>& words, Subject subject,
                          const std::vector<OptionKey<Subject>>& keys) {
    return read_words(words, std::move(subject),
                      [&](const std::string& said, Subject& to) { return take(said, keys, to); });
}

template <class Subject>
using Check = Result<void> (*)(const Subject&);

// Checks whether values that are valid by themselves are consistent; returns the first error.
template <class Subject>
Result<Subject> checked(Result<Subject> subject, std::initializer_list<Check<Subject>> checks) {
    for (const Check<Subject> check : checks) {
        if (subject) {
            if (const Result<void> right = check(*subject); !right) {
                subject = failure(right.error());
            }
        }
    }
    return subject;
}

// One line per key, for the usage text.
[[nodiscard]] std::string listed(const std::vector<OptionName>& words);
template <class Subject>
std::string listed(const std::vector<OptionKey<Subject>>& keys) {
    std::vector<OptionName> words;
    words.reserve(keys.size());
    for (const OptionKey<Subject>& key : keys) {
        words.push_back({key.described.name, key.described.meaning});
    }
    return listed(words);
}

}  // namespace forebay::sim
