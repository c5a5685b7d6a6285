// Builds file names as IOR does.
#include "benchmarks/ior/file_names.hpp"

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

std::string base_name(const IorOptions& options, std::int64_t task) {
    const std::vector<std::string> names = listed(options.test_file);
    const auto turn = options.file_per_process ? static_cast<std::size_t>(task) : 0;
    return names[turn % names.size()];
}

// The MPI takes the text before a colon as the name of a file system driver.
std::string without_prefix(const IorOptions& options, const std::string& path) {
    const bool by_mpi = options.api == "MPIIO" || options.api == "HDF5" || options.api == "NCMPI";
    const std::size_t colon = path.find_first_of(":/");
    const bool has_prefix = by_mpi && colon != std::string::npos && colon > 1 && path[colon] == ':';
    return has_prefix ? path.substr(colon + 1) : path;
}

FileName without_repetition(const IorOptions& options, std::int64_t task) {
    FileName made;
    made.path = base_name(options, task);
    if (!options.file_per_process) {
        return made;
    }
    if (options.unique_directory) {
        // For a name without a directory, IOR inserts the number after the first letter: "tf"
        // becomes "t0/f", and "f" becomes a file without a name in "f0".
        const std::size_t slash = made.path.rfind('/');
        const std::size_t at = slash == std::string::npos ? 1 : slash + 1;
        const std::string file = made.path.substr(at);
        const std::string directory = fmt::format("{}{}", made.path.substr(0, at), task);
        made.directory = without_prefix(options, directory);
        made.path = directory + "/" + file;
    }
    made.path += fmt::format(".{:08}", task);
    return made;
}

}  // namespace

FileName file_name(const IorOptions& options, std::int64_t task, std::int64_t repetition) {
    FileName made = without_repetition(options, task);
    if (options.multi_file) {
        made.path += fmt::format(".{}", repetition);
    }
    made.on_disk = without_prefix(options, made.path);
    return made;
}

FileName shown_name(const IorOptions& options) {
    FileName made = without_repetition(options, 0);
    made.on_disk = without_prefix(options, made.path);
    return made;
}

std::string identity(const IorOptions& options, std::int64_t task) {
    const std::string name = base_name(options, task);
    return name.substr(name.rfind('/') + 1);
}

}  // namespace forebay::ior
