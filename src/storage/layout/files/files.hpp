// Layouts of files and directories by name: asked, and set where that is still possible. Whatever a
// file system says, what was set is read back: Lustre accepts a layout for a file that has one
// already and does nothing, and gives fewer stripes where it has fewer targets.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/ports/attributes.hpp"
#include "storage/layout/layout.hpp"

#include <optional>
#include <string>

namespace forebay::layout {

// Which file system a path is on (of a new file: which its directory is on).
[[nodiscard]] LayoutSource source_of(const ports::FileAttributes& files, const std::string& path);

// A file's layout. Source `none`: its file system has none to tell. Error: it cannot be parsed.
[[nodiscard]] Result<FileLayout> layout_of_file(const ports::FileAttributes& files,
                                                const std::string& path);

// The description of a path: a directory's layout is the one that new files in it get.
struct DescribedPath {
    ports::PathKind kind = ports::PathKind::file;
    std::int64_t bytes = 0;
    FileLayout layout;
    // A directory: where its layout comes from. Empty: from nowhere, it is the file system's own.
    std::string from;
};

[[nodiscard]] Result<DescribedPath> describe(const ports::FileAttributes& files,
                                             const std::string& path);

// The result of asking for a layout.
struct LayoutChange {
    LayoutSource source = LayoutSource::none;
    bool made = false;                   // the file was not there
    FileLayout layout;                   // as it was read back
    std::optional<Error> obstacle;       // why nothing was set
    std::optional<std::string> differs;  // in what `layout` is not what was wanted
};

// The treatment of an existing file. `is_left_alone`: the obstacle's system is EEXIST.
enum class ExistingFile { is_changed, is_left_alone };

// Gives a file that is new or empty, or a directory for the files to come, the wanted layout. A
// missing file is made, where its file system can give it a layout; it stays also where it cannot
// be given the one that was asked for.
[[nodiscard]] LayoutChange set_layout(ports::FileAttributes& files, const std::string& path,
                                      const WantedLayout& wanted,
                                      ExistingFile existing = ExistingFile::is_changed);

// The same, but a file that was made and cannot be given the layout is removed again.
[[nodiscard]] LayoutChange set_layout_or_nothing(ports::FileAttributes& files,
                                                 const std::string& path,
                                                 const WantedLayout& wanted);

// Why a change is not what was wanted, as one sentence for people, or nullopt. "cannot give …"
[[nodiscard]] std::optional<std::string> complaint(const std::string& path,
                                                   const LayoutChange& change);

}  // namespace forebay::layout
