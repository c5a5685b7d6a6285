// Reads and sets the layouts of files and directories by name. A layout that was set is always read
// back: Lustre silently ignores a layout for a file that has one already, and gives fewer stripes
// if it has fewer targets (OSTs).
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/ports/attributes.hpp"
#include "storage/layout/layout.hpp"

#include <optional>
#include <string>

namespace forebay::layout {

// The file system of a path; for a new file that of its directory.
[[nodiscard]] LayoutSource source_of(const ports::FileAttributes& files, const std::string& path);

// A file's layout. Source `none`: its file system has no layouts. Error: it cannot be parsed.
[[nodiscard]] Result<FileLayout> layout_of_file(const ports::FileAttributes& files,
                                                const std::string& path);

// A path with its layout; a directory's layout is the default of new files in it.
struct DescribedPath {
    ports::PathKind kind = ports::PathKind::file;
    std::int64_t bytes = 0;
    FileLayout layout;
    // For a directory: the path that its layout comes from; empty: the file system's default.
    std::string from;
};

[[nodiscard]] Result<DescribedPath> describe(const ports::FileAttributes& files,
                                             const std::string& path);

// The result of setting a layout.
struct LayoutChange {
    LayoutSource source = LayoutSource::none;
    bool made = false;                   // the file did not exist before
    FileLayout layout;                   // as read back
    std::optional<Error> obstacle;       // why nothing was set
    std::optional<std::string> differs;  // how `layout` differs from the wanted one
};

// Whether the layout of an existing file is changed. `is_left_alone`: the obstacle's system is
// EEXIST.
enum class ExistingFile { is_changed, is_left_alone };

// Gives `path` the wanted layout, if it is a new or empty file, or a directory (for its future
// files). A missing file is created if its file system can give it a layout; it remains even if the
// layout cannot be set.
[[nodiscard]] LayoutChange set_layout(ports::FileAttributes& files, const std::string& path,
                                      const WantedLayout& wanted,
                                      ExistingFile existing = ExistingFile::is_changed);

// As set_layout(), but removes a file that it created and could not give the layout.
[[nodiscard]] LayoutChange set_layout_or_nothing(ports::FileAttributes& files,
                                                 const std::string& path,
                                                 const WantedLayout& wanted);

// Why a change is not the wanted one, as one sentence for users ("cannot give …"); nullopt if it
// is.
[[nodiscard]] std::optional<std::string> complaint(const std::string& path,
                                                   const LayoutChange& change);

}  // namespace forebay::layout
