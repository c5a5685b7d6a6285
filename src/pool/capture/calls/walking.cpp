// Captured nftw, ftw and fts: libc calls stat internally, without the capture, and gives the
// program sizes and times without deposits. So each regular file is examined once more here.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "pool/capture/files/other_names.hpp"
#include "pool/capture/files/path_filter.hpp"
#include "pool/capture/processes/process.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace forebay::capture {

namespace {

// Replaces `found` by the captured fstatat's answer; `flags` are fstatat's. Keeps `found` if the
// name means another file by now. Returns 0, or EIO if the file lacks deposits that were lost.
int add_deposits(const char* path, int flags, struct stat& found) noexcept {
    if (!capturing() || !S_ISREG(found.st_mode) || !may_be_known(AT_FDCWD, path, found)) {
        return 0;
    }
    const int before = errno;
    struct stat again{};
    const bool done = captured::fstatat(AT_FDCWD, path, &again, flags) == 0;
    const int error = !done && errno == EIO ? EIO : 0;
    if (done && again.st_ino == found.st_ino && again.st_dev == found.st_dev) {
        found = again;
    }
    errno = before;
    return error;
}

// Callbacks of nftw get no user pointer, so the program's callback is kept in the thread. It is
// stored again after each call, since the callback may itself have walked a tree and left that by
// longjmp.
int visit_with_flags(const char* path, const struct stat* found, int kind, FTW* place) {
    const TreeWalk walk = own_walk();
    struct stat corrected = *found;
    const char* const here = walk.changes_folder ? path + place->base : path;
    const int error = add_deposits(here, walk.follows ? 0 : AT_SYMLINK_NOFOLLOW, corrected);
    const int said =
        walk.visit_with_flags(path, &corrected, error != 0 ? int{FTW_NS} : kind, place);
    own_walk() = walk;
    return said;
}

int visit(const char* path, const struct stat* found, int kind) {
    const TreeWalk walk = own_walk();
    struct stat corrected = *found;
    const int error = add_deposits(path, 0, corrected);
    const int said = walk.visit(path, &corrected, error != 0 ? int{FTW_NS} : kind);
    own_walk() = walk;
    return said;
}

// The path of an entry of fts_children, relative to the directory in which the process is now
// (fts_accpath is relative to another one). Empty if it is too long.
const char* path_of_child(const FTSENT& child, PathBuffer& buffer) noexcept {
    if (child.fts_level <= FTS_ROOTLEVEL || child.fts_parent == nullptr) {
        return child.fts_accpath;
    }
    const std::string_view folder = child.fts_parent->fts_accpath;
    const std::string_view name{child.fts_name, child.fts_namelen};
    if (folder.size() + 1 + name.size() + 1 > buffer.size()) {
        return "";
    }
    char* to = buffer.data();
    std::memcpy(to, folder.data(), folder.size());
    to += folder.size();
    *to++ = '/';
    std::memcpy(to, name.data(), name.size());
    to[name.size()] = '\0';
    return buffer.data();
}

int flags_of(const FTS& tree) noexcept {
    return (tree.fts_options & FTS_PHYSICAL) != 0 ? AT_SYMLINK_NOFOLLOW : 0;
}

// FTS_F: a regular file of which libc has called stat.
bool is_looked_at(const FTSENT& one) noexcept {
    return one.fts_info == FTS_F && one.fts_statp != nullptr;
}

// add_deposits() of an entry; one that lacks deposits is an entry of which stat has failed.
void add_deposits_to(FTSENT& one, const char* path, int flags) noexcept {
    if (const int error = add_deposits(path, flags, *one.fts_statp); error != 0) {
        one.fts_info = FTS_NS;
        one.fts_errno = error;
    }
}

}  // namespace

namespace captured {

int nftw(const char* path, NftwVisit* visit, int depth, int flags) noexcept {
    if (!capturing() || visit == nullptr) {
        return real::nftw(path, visit, depth, flags);
    }
    const TreeWalk before = own_walk();
    own_walk() = {.visit_with_flags = visit,
                  .follows = (flags & FTW_PHYS) == 0,
                  .changes_folder = (flags & FTW_CHDIR) != 0};
    const int said = real::nftw(path, &visit_with_flags, depth, flags);
    own_walk() = before;
    return said;
}

int ftw(const char* path, FtwVisit* visit, int depth) noexcept {
    if (!capturing() || visit == nullptr) {
        return real::ftw(path, visit, depth);
    }
    const TreeWalk before = own_walk();
    own_walk() = {.visit = visit};
    const int said = real::ftw(path, &capture::visit, depth);
    own_walk() = before;
    return said;
}

FTSENT* fts_read(FTS* tree) noexcept {
    FTSENT* const one = real::fts_read(tree);
    if (one != nullptr && is_looked_at(*one)) {
        const bool followed = (one->fts_flags & FTS_SYMFOLLOW) != 0;
        add_deposits_to(*one, one->fts_accpath, followed ? 0 : flags_of(*tree));
    }
    return one;
}

FTSENT* fts_children(FTS* tree, int options) noexcept {
    FTSENT* const first = real::fts_children(tree, options);
    if (!capturing()) {
        return first;
    }
    for (FTSENT* one = first; one != nullptr; one = one->fts_link) {
        if (is_looked_at(*one)) {
            PathBuffer buffer;
            add_deposits_to(*one, path_of_child(*one, buffer), flags_of(*tree));
        }
    }
    return first;
}

}  // namespace captured

}  // namespace forebay::capture
