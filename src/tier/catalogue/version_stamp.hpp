// The version of a file of the parallel file system: which file it is, and by what can be told that
// somebody has changed it. Pure.
#pragma once

#include <cstdint>

namespace forebay::tier {

struct VersionStamp {
    // The file system (statfs' f_fsid, since st_dev differs from node to node); 0: it does not
    // tell.
    std::uint64_t file_system = 0;
    std::uint64_t inode = 0;
    std::int64_t bytes = 0;
    std::int64_t modified_ns = 0;  // mtime, which programs may set
    std::int64_t changed_ns = 0;   // ctime, which they may not
    // A number that changes with the contents or attributes; 0: there is none. (Linux keeps one,
    // STATX_CHANGE_COOKIE, but shows it to no program so far.)
    std::uint64_t change_cookie = 0;
    std::uint64_t layout_generation = 0;  // Lustre's; 0: there is none
    // The file system's time when the stamp was taken, or a time that was before that.
    std::int64_t taken_ns = 0;

    bool operator==(const VersionStamp&) const noexcept = default;
};

// How a file compares to what it was when a stamp was taken.
enum class StampVerdict {
    same,
    // Nothing differs, but the file was changed so shortly before the stamp was taken that a later
    // change could have the same times (git's rule for racily clean files). Compare the bytes.
    racy,
    // Owner, mode, links, extended attributes or the layout were changed. The bytes were not,
    // unless somebody has put the old mtime back.
    attributes,
    contents,    // its length or mtime is another
    other_file,  // the name now leads to another file
};

[[nodiscard]] StampVerdict compare_stamps(const VersionStamp& known,
                                          const VersionStamp& found) noexcept;

// Whether a change of the contents after the stamp was taken could leave the file with these times.
[[nodiscard]] bool is_racy(const VersionStamp& stamp) noexcept;

}  // namespace forebay::tier
