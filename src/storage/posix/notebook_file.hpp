// The port Notebook over a file in the user's cache directory, and the names of file systems in it.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/ports/notebook.hpp"

#include <string>
#include <utility>

namespace forebay::adapters {

class NotebookFile final : public ports::Notebook {
public:
    explicit NotebookFile(std::string path) : path_{std::move(path)} {}

    [[nodiscard]] Result<std::string> read() override;
    // Creates missing directories; writes a temporary file and renames it (atomic replacement).
    Result<void> write(const std::string& text) override;

private:
    std::string path_;
};

// Type and ID of the file system that holds `path`, as one word. The ID of a parallel file system
// follows from its name and is the same on every node.
[[nodiscard]] Result<std::string> file_system_of(const std::string& path);

}  // namespace forebay::adapters
