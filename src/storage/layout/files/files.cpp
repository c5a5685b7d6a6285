// Finds out the file system of a path, and reads and sets layouts through extended attributes.
#include "storage/layout/files/files.hpp"

#include "storage/layout/ceph.hpp"
#include "storage/layout/lustre.hpp"
#include "storage/layout/stripes.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <string_view>

namespace forebay::layout {

namespace {

using ports::AttributeValue;
using ports::FileAttributes;
using ports::PathKind;

constexpr std::uint64_t lustre_file_system = 0x0BD00BD0;
constexpr std::uint64_t ceph_file_system = 0x00C36400;
// Between a path and the root of its file system; also bounds paths of "..".
constexpr int directories_max = 256;

std::string directory_of(const std::string& path) {
    const std::size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) {
        return ".";
    }
    return slash == 0 ? "/" : path.substr(0, slash);
}

// The parent directory; for a name that ends in "." or ".." that is the name with "/.." added.
std::string directory_above(const std::string& path) {
    const std::string last = path.substr(path.find_last_of('/') + 1);
    if (path == ".") {
        return "..";
    }
    return last == "." || last == ".." ? path + "/.." : directory_of(path);
}

std::string_view text_of(const AttributeValue& value) noexcept {
    return {reinterpret_cast<const char*>(value.data()), value.size()};
}

bool has(const FileAttributes& files, const std::string& path, const char* name) {
    const auto value = files.get(path, name);
    return value && value->has_value();
}

Result<FileLayout> parse(LayoutSource source, const AttributeValue& value) {
    return source == LayoutSource::lustre ? parse_lustre(value) : parse_ceph(text_of(value));
}

// The layout of `path` itself; source `none` if it has none.
Result<FileLayout> own_layout(const FileAttributes& files, const std::string& path,
                              LayoutSource source, const char* name) {
    const auto value = files.get(path, name);
    if (!value) {
        return failure(value.error());
    }
    return *value ? parse(source, **value) : FileLayout{};
}

const char* attribute_of(LayoutSource source, PathKind kind) noexcept {
    if (source == LayoutSource::lustre) {
        return lustre_attribute;
    }
    return kind == PathKind::directory ? ceph_directory_attribute : ceph_file_attribute;
}

// The default layout of new files in a directory: its own, or that of the nearest ancestor with
// one. (On Lustre only the root of the file system passes its default on; directories in between
// then have none, so that searching upwards comes to the same.)
Result<DescribedPath> inherited(const FileAttributes& files, std::string path,
                                LayoutSource source) {
    const auto here = files.look(path);
    const std::uint64_t device = here ? here->device : 0;
    const char* name = attribute_of(source, PathKind::directory);
    for (int i = 0; i < directories_max; ++i) {
        auto layout = own_layout(files, path, source, name);
        if (!layout) {
            return failure(layout.error());
        }
        if (layout->source != LayoutSource::none) {
            return DescribedPath{PathKind::directory, 0, std::move(*layout), path};
        }
        std::string above = directory_above(path);
        const auto facts = files.look(above);
        if (path == "/" || path == above || !facts || facts->device != device) {
            break;
        }
        path = std::move(above);
    }
    const FileLayout none{source, {Component{}}};
    return DescribedPath{PathKind::directory, 0,
                         source == LayoutSource::ceph ? ceph_default() : none, ""};
}

LayoutSource source_of_directory(const FileAttributes& files, const std::string& path) {
    const auto facts = files.look(path);
    if (!facts) {
        return LayoutSource::none;
    }
    if (facts->file_system == lustre_file_system || has(files, path, lustre_attribute)) {
        return LayoutSource::lustre;
    }
    const bool ceph =
        facts->file_system == ceph_file_system || has(files, path, ceph_entries_attribute);
    return ceph ? LayoutSource::ceph : LayoutSource::none;
}

// The attribute's value that requests `wanted`.
Result<AttributeValue> encode(const WantedLayout& wanted, LayoutSource source,
                              const FileLayout& now) {
    if (source == LayoutSource::lustre) {
        return encode_lustre(wanted);
    }
    const auto text = encode_ceph(wanted, now);
    if (!text) {
        return failure(text.error());
    }
    const auto bytes = std::as_bytes(std::span(*text));
    return AttributeValue(bytes.begin(), bytes.end());
}

Error not_empty(const std::string& path, std::int64_t bytes) {
    return {ErrorCode::argument, 0,
            fmt::format("cannot change how {} is laid out (it has {} bytes already). Copy it to a "
                        "new file.",
                        path, bytes)};
}

Error no_layouts(const std::string& path) {
    return {ErrorCode::unsupported, 0,
            fmt::format("cannot lay {} out (its file system has no layouts that can be set). Put "
                        "it on Lustre or CephFS, or leave the layout out.",
                        path)};
}

Error no_directory(const std::string& path) {
    return {ErrorCode::no_such_file, ENOENT,
            fmt::format("cannot lay {} out (there is no directory {}). Make it first.", path,
                        directory_of(path))};
}

Error neither(const std::string& path) {
    return {ErrorCode::argument, 0,
            fmt::format("cannot lay {} out (it is neither file nor directory). Name one.", path)};
}

// Creates `path`. False if another process has created it meanwhile and `existing` allows that.
Result<bool> make_missing(FileAttributes& files, const std::string& path, ExistingFile existing) {
    const auto done = files.make_file(path);
    if (!done && (done.error().system != EEXIST || existing == ExistingFile::is_left_alone)) {
        return failure(done.error());
    }
    return done.has_value();
}

struct LayoutRequest {
    std::string path;
    WantedLayout wanted;
    ExistingFile existing;
    PathKind kind;
};

// Sets the layout. `change` comes with the present layout, or the one that the path would inherit,
// and gets the layout that is read back.
Result<void> give(FileAttributes& files, const LayoutRequest& asked, LayoutChange& change) {
    const auto value = encode(asked.wanted, change.source, change.layout);
    if (!value) {
        return failure(value.error());
    }
    const std::string& path = asked.path;
    if (asked.kind == PathKind::missing) {
        const auto made = make_missing(files, path, asked.existing);
        if (!made) {
            return failure(made.error());
        }
        change.made = *made;
    }
    if (const auto set = files.set(path, attribute_of(change.source, asked.kind), *value); !set) {
        return set;
    }
    auto then = describe(files, path);
    if (!then) {
        return failure(then.error());
    }
    change.layout = std::move(then->layout);
    return {};
}

}  // namespace

LayoutSource source_of(const FileAttributes& files, const std::string& path) {
    const auto facts = files.look(path);
    const bool is_directory = facts && facts->kind == PathKind::directory;
    return source_of_directory(files, is_directory ? path : directory_of(path));
}

Result<FileLayout> layout_of_file(const FileAttributes& files, const std::string& path) {
    auto layout = own_layout(files, path, LayoutSource::lustre, lustre_attribute);
    if (layout && layout->source == LayoutSource::none) {
        layout = own_layout(files, path, LayoutSource::ceph, ceph_file_attribute);
    }
    return layout;
}

Result<DescribedPath> describe(const FileAttributes& files, const std::string& path) {
    const auto facts = files.look(path);
    if (!facts) {
        return failure(facts.error());
    }
    if (facts->kind == PathKind::missing) {
        return failure(system_error(ENOENT, "look at " + path));
    }
    if (facts->kind == PathKind::directory) {
        const LayoutSource source = source_of_directory(files, path);
        return source == LayoutSource::none ? DescribedPath{PathKind::directory, 0, {}, ""}
                                            : inherited(files, path, source);
    }
    auto layout = layout_of_file(files, path);
    if (!layout) {
        return failure(layout.error());
    }
    return DescribedPath{facts->kind, facts->bytes, std::move(*layout), path};
}

LayoutChange set_layout(FileAttributes& files, const std::string& path, const WantedLayout& wanted,
                        ExistingFile existing) {
    LayoutChange change;
    const auto stop = [&](Error why) {
        change.obstacle = std::move(why);
        return change;
    };
    const auto facts = files.look(path);
    if (!facts) {
        return stop(facts.error());
    }
    const bool is_missing = facts->kind == PathKind::missing;
    if (const auto above = files.look(directory_of(path));
        is_missing && above && above->kind == PathKind::missing) {
        return stop(no_directory(path));
    }
    change.source = source_of(files, path);
    if (facts->kind == PathKind::other || change.source == LayoutSource::none) {
        return stop(facts->kind == PathKind::other ? neither(path) : no_layouts(path));
    }
    if (!is_missing && existing == ExistingFile::is_left_alone) {
        return stop(system_error(EEXIST, "make " + path));
    }
    const auto now = describe(files, is_missing ? directory_of(path) : path);
    if (!now) {
        return stop(now.error());
    }
    change.layout = now->layout;
    if (facts->kind == PathKind::file && facts->bytes > 0) {
        change.differs = difference(wanted, change.layout);
        return change.differs ? stop(not_empty(path, facts->bytes)) : change;
    }
    const LayoutRequest asked{path, wanted, existing, facts->kind};
    if (const auto given = give(files, asked, change); !given) {
        return stop(given.error());
    }
    change.differs = difference(wanted, change.layout);
    return change;
}

LayoutChange set_layout_or_nothing(FileAttributes& files, const std::string& path,
                                   const WantedLayout& wanted) {
    LayoutChange change = set_layout(files, path, wanted);
    if (!change.obstacle || !change.made) {
        return change;
    }
    const auto facts = files.look(path);  // another process may have written to it already
    if (facts && facts->kind == PathKind::file && facts->bytes == 0) {
        change.made = !files.remove_file(path).has_value();
    }
    if (change.made) {
        change.obstacle->message += " The file that was made for it is still there.";
    }
    return change;
}

std::optional<std::string> complaint(const std::string& path, const LayoutChange& change) {
    if (change.obstacle) {
        return change.obstacle->message;
    }
    if (!change.differs) {
        return std::nullopt;
    }
    if (!change.made && change.source == LayoutSource::lustre) {
        return fmt::format(
            "{} is not laid out as asked for ({}: it was there before, with targets "
            "of its own). Remove it first.",
            path, *change.differs);
    }
    return fmt::format("{} is not laid out as asked for ({}). Ask for what its file system has.",
                       path, *change.differs);
}

}  // namespace forebay::layout
