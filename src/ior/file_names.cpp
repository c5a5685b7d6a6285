// See file_names.hpp.
#include "ior/file_names.hpp"

#include <fmt/format.h>

namespace forebay::ior {

namespace {

std::vector<std::string> listed(const std::string& text) {
    std::vector<std::string> names;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find('@', begin), text.size());
        if (end > begin) {
            names.push_back(text.substr(begin, end - begin));
        }
        begin = end + 1;
    }
    if (names.empty()) {
        names.push_back(text);
    }
    return names;
}

std::string base_name(const Options& options, std::int64_t task) {
    const std::vector<std::string> names = listed(options.test_file);
    const auto turn = options.file_per_process ? static_cast<std::size_t>(task) : 0;
    return names[turn % names.size()];
}

FileName without_repetition(const Options& options, std::int64_t task) {
    FileName made;
    made.path = base_name(options, task);
    if (!options.file_per_process) {
        return made;
    }
    if (options.unique_directory) {
        const std::size_t slash = made.path.rfind('/');
        const std::string parent = slash == std::string::npos ? "." : made.path.substr(0, slash);
        const std::string file =
            slash == std::string::npos ? made.path : made.path.substr(slash + 1);
        made.directory = fmt::format("{}/{}", parent, task);
        made.path = made.directory + "/" + file;
    }
    made.path += fmt::format(".{:08}", task);
    return made;
}

}  // namespace

FileName file_name(const Options& options, std::int64_t task, std::int64_t repetition) {
    FileName made = without_repetition(options, task);
    if (options.multi_file) {
        made.path += fmt::format(".{}", repetition);
    }
    return made;
}

std::string shown_path(const Options& options) { return without_repetition(options, 0).path; }

std::string identity(const Options& options, std::int64_t task) {
    const std::string name = base_name(options, task);
    return name.substr(name.rfind('/') + 1);
}

}  // namespace forebay::ior
