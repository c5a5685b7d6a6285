// forebay-layout show PATH
// forebay-layout set PATH STRIPE_COUNT STRIPE_BYTES FIRST_OST POOL
//
// Shows or sets how a file is striped, for `forebay layout` and `forebay doctor`, which get layouts
// from nowhere else. Prints one line of JSON (schema/layout.md). Exit status: 0 done, 1 not done or
// not as asked for, 2 wrong arguments.
#include "storage/layout/document/document.hpp"
#include "storage/posix/attributes.hpp"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <string_view>

namespace {

using forebay::Error;
using forebay::Result;
using forebay::layout::WantedLayout;
using Words = std::span<char* const>;

constexpr int done = 0;
constexpr int not_done = 1;
constexpr int wrong_arguments = 2;

int print(const std::string& line, int status) {
    std::puts(line.c_str());
    return status;
}

int fail(const std::string& path, const Error& error) {
    return print(forebay::apps::to_json(path, error), not_done);
}

int show(const std::string& path) {
    const forebay::adapters::PosixAttributes files;
    const auto described = forebay::layout::describe(files, path);
    return described ? print(forebay::apps::to_json(path, *described, nullptr), done)
                     : fail(path, described.error());
}

// An argument of `set` and its range, which includes whatever a file system allows.
struct NumberOption {
    const char* name;
    std::int64_t least;
    std::int64_t most;
};

constexpr NumberOption stripe_count{"STRIPE_COUNT", -1, 65536};
constexpr NumberOption stripe_bytes{"STRIPE_BYTES", 0, 4294967295};
constexpr NumberOption first_ost{"FIRST_OST", -1, 65534};

template <class Value>
bool take(const NumberOption& number, std::string_view text, Value& value) {
    std::int64_t taken = 0;
    const auto [end, problem] = std::from_chars(text.begin(), text.end(), taken);
    if (problem == std::errc{} && end == text.end() && taken >= number.least &&
        taken <= number.most) {
        value = static_cast<Value>(taken);
        return true;
    }
    std::fprintf(stderr,
                 "forebay-layout: cannot use %s %.*s (it is no whole number from %lld to %lld). "
                 "Give one.\n",
                 number.name, static_cast<int>(text.size()), text.data(),
                 static_cast<long long>(number.least), static_cast<long long>(number.most));
    return false;
}

int set(const std::string& path, const WantedLayout& wanted) {
    forebay::adapters::PosixAttributes files;
    const auto change = forebay::layout::set_layout_or_nothing(files, path, wanted);
    if (change.obstacle) {
        return fail(path, *change.obstacle);
    }
    const auto described = forebay::layout::describe(files, path);
    return described ? print(forebay::apps::to_json(path, *described, &change),
                             change.differs ? not_done : done)
                     : fail(path, described.error());
}

int run(Words words) {
    const std::string_view what = words.size() > 1 ? words[1] : "";
    if (what == "show" && words.size() == 3) {
        return show(words[2]);
    }
    if (what == "set" && words.size() == 7) {
        WantedLayout wanted;
        if (!take(stripe_count, words[3], wanted.stripe_count) ||
            !take(stripe_bytes, words[4], wanted.stripe_bytes) ||
            !take(first_ost, words[5], wanted.first_ost)) {
            return wrong_arguments;
        }
        wanted.pool = words[6];
        if (wanted.says_something()) {
            return set(words[2], wanted);
        }
    }
    std::fputs(
        "forebay-layout: cannot use these arguments (it takes `show PATH` or `set PATH "
        "STRIPE_COUNT STRIPE_BYTES FIRST_OST POOL`). Use `forebay layout --help`.\n",
        stderr);
    return wrong_arguments;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv, static_cast<std::size_t>(argc)});
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "forebay-layout: cannot go on (%s). Tell us how to see it again.\n",
                     problem.what());
        return not_done;
    }
}
