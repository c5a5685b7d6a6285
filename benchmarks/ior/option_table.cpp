// Looks up options and renders the help.
#include "benchmarks/ior/option_table.hpp"

#include "ior_options/rows.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>

namespace forebay::ior {

std::span<const OptionSpec> specs() noexcept { return option_rows; }

const OptionSpec* find_letter(char letter) noexcept {
    const auto* found = std::ranges::find_if(option_rows, [&](const OptionSpec& spec) {
        return letter != '\0' && spec.letter == letter;
    });
    return found == std::end(option_rows) ? nullptr : found;
}

const OptionSpec* find_name(std::string_view name) noexcept {
    const auto* found = std::ranges::find_if(option_rows, [&](const OptionSpec& spec) {
        return !spec.name.empty() && command_line::same_name(spec.name, name);
    });
    return found == std::end(option_rows) ? nullptr : found;
}

std::span<const std::string_view> foreign_modules() noexcept {
    static constexpr std::array<std::string_view, 18> modules{
        "dfs",   "chfs",    "finchfs", "cephfs",  "rados",  "hdfs", "ime",   "s3",   "s3-libs3",
        "s3-4c", "S3_plus", "S3_EMC",  "s3-curl", "libnfs", "nfs",  "gfarm", "pmdk", "im"};
    return modules;
}

namespace {

std::string_view value_of(OptionKind kind) {
    switch (kind) {
        case OptionKind::flag:
        case OptionKind::count: return "";
        case OptionKind::text: return "=TEXT";
        case OptionKind::size:
        case OptionKind::rate: return "=SIZE";
        case OptionKind::limit: return "=LIMIT";
        case OptionKind::number: break;
    }
    return "=N";
}

// The default limit for the help, " [300s]"; "" if there is none.
std::string initial_limit(const OptionSpec& spec) {
    const auto limits = command_line::limit_options_of({.free_share = "", .stall = "300s"});
    const Limit* const which = std::get_if<Limit>(&spec.place);
    const std::string_view initial = which != nullptr ? limits.at(*which).initial : "";
    return initial.empty() ? "" : fmt::format(" [{}]", initial);
}

}  // namespace

std::string help_text() {
    std::string text =
        "forebay-ior: IOR's benchmark of parallel I/O. Use it as ior is used:\n"
        "  mpirun -np 4 forebay-ior -t 1m -b 16m -s 16 -F -C -e\n\n"
        "Exit status: 0 good, 1 usage, 2 I/O error, 3 data wrong, 4 time limit, 5 refused by the\n"
        "budget, 128 + n ended by the signal n.\n"
        "Sizes: 8, 4k, 2m, 1g. Without -w, -r, -W and -R both -w and -r are meant.\n\n";
    for (const OptionSpec& spec : option_rows) {
        if (spec.help.empty()) {
            continue;
        }
        std::string how = spec.letter != '\0' ? fmt::format("-{}, ", spec.letter) : "    ";
        const bool directive = spec.name.find_first_of(".-") == std::string_view::npos;
        how += (directive ? "-O " : "--") + std::string(spec.name);
        how += value_of(spec.kind);
        text += fmt::format("  {:<42} {}{}\n", how, spec.help, initial_limit(spec));
    }
    return text + "\nDirectives (-O a=1,b=2) may also be written as long options (--a=1).\n";
}

}  // namespace forebay::ior
