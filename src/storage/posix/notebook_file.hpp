// A notebook in a file of the user's cache folder, and what a file system is called there.
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
    // Makes missing folders; writes beside the file and renames.
    Result<void> write(const std::string& text) override;

private:
    std::string path_;
};

// Type and number of the file system that holds `path`, as one word. On a parallel file system the
// number comes from its name and is the same on every node.
[[nodiscard]] Result<std::string> file_system_of(const std::string& path);

}  // namespace forebay::adapters
