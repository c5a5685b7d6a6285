// The names of a test's files, which are removed if a run ends early. See test_run.hpp.
#include "benchmarks/ior/file_names.hpp"
#include "benchmarks/ior/program/test_run.hpp"

#include <unistd.h>

namespace forebay::bench {

std::vector<std::string> files_of(const ior::IorOptions& options, std::int64_t first,
                                  std::int64_t end) {
    std::vector<std::string> names;
    const std::int64_t repetitions = options.multi_file ? options.repetitions : 1;
    for (std::int64_t task = first; task < end; ++task) {
        std::string directory;
        for (std::int64_t rep = 0; rep < repetitions; ++rep) {
            const ior::FileName name = ior::file_name(options, task, rep);
            names.push_back(name.on_disk);
            directory = name.directory;
        }
        if (!directory.empty()) {
            names.push_back(directory + "/");
        }
    }
    return names;
}

void remove_files_of(const ior::IorOptions& options, std::int64_t task) {
    if (!options.file_per_process && task != 0) {
        return;
    }
    for (const std::string& name : files_of(options, task, task + 1)) {
        if (name.ends_with('/')) {
            ::rmdir(name.c_str());
        } else {
            ::unlink(name.c_str());
        }
    }
}

}  // namespace forebay::bench
